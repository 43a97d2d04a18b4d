"""What `from dapkit.protocol import *` brings, at run time and for type checkers."""

from pathlib import Path

from mypy import api

import dapkit.protocol
from dapkit.protocol import generated

USE = """
from dapkit.protocol import *

thread: Thread = Thread(id=1, name="main")
frames: StackTraceArguments = StackTraceArguments(thread_id=thread.id)
payload: bytes = encode(Request(1, "stackTrace", frames))
"""


def test_all_names_of_the_protocol_are_listed() -> None:
    assert set(generated.__all__) <= set(dapkit.protocol.__all__), "list what the generator has added in __init__.py"
    assert all(hasattr(dapkit.protocol, name) for name in dapkit.protocol.__all__)


def test_star_import_is_understood_by_a_type_checker(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(USE)
    report, errors, status = api.run(["--strict", "--config-file=", f"--cache-dir={tmp_path}", str(program)])
    assert (report, errors, status) == ("Success: no issues found in 1 source file\n", "", 0)
