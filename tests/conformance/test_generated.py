"""The committed classes are those that the official schema gives."""

from pathlib import Path

from conformance import official
from dapkit.protocol import generated
from generate.modules import generate
from generate.schema import read_schema


def test_the_generated_modules_are_up_to_date() -> None:
    protocol = read_schema(official.schema())
    folder = Path(generated.__file__).parent
    committed = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    assert generate(protocol) == committed
