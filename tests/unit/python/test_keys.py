"""The tables of keys, and the pages that list them for users."""

import re
from pathlib import Path

import msgspec
import pytest

from dapkit.python.adapter import PythonAttach, PythonLaunch
from dapkit.python.adapter.configuration.keys import EDITOR_KEYS, FLAGS, NOT_NEEDED, REMARKS

DOCS = Path(__file__).parents[3] / "docs"
PAGES = (*sorted((DOCS / "reference" / "python").glob("*.md")), DOCS / "how-to" / "move-from-debugpy.md")
KEYS = {name for kind in (PythonLaunch, PythonAttach) for name in kind.__struct_encode_fields__} - {"extra"}


@pytest.mark.parametrize("names", [KEYS, EDITOR_KEYS, NOT_NEEDED, set(REMARKS), set(FLAGS)])
def test_every_key_that_is_known_is_on_the_pages(names: set[str]) -> None:
    listed = set(re.findall(r"`([$\w]+)`", "".join(page.read_text() for page in PAGES)))
    internal = {"__restart"}
    assert names - internal <= listed


def test_a_key_has_one_meaning() -> None:
    assert not EDITOR_KEYS & NOT_NEEDED
    assert not (EDITOR_KEYS | NOT_NEEDED) & (REMARKS.keys() | KEYS)


def test_flags_stand_for_fields() -> None:
    fields = {field.name for kind in (PythonLaunch, PythonAttach) for field in msgspec.structs.fields(kind)}
    assert set(FLAGS.values()) <= fields
