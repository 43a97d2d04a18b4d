"""Command lines of Python, as what they start."""

from pathlib import Path

import pytest

from dapkit.python.program_command import ProgramCommand, python_command

PYTHON = Path("/usr/bin/python3")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("app.py --fast", ProgramCommand(script="app.py", args=("--fast",))),
        ("-X dev -u app.py -m", ProgramCommand(options=("-X", "dev", "-u"), script="app.py", args=("-m",))),
        ("-m shop.cart x", ProgramCommand(module="shop.cart", args=("x",))),
        ("-Im shop", ProgramCommand(options=("-I",), module="shop")),
        ("-mshop", ProgramCommand(module="shop")),
        ("-c print(1) x", ProgramCommand(code="print(1)", args=("x",))),
        ("-IXdev app.py", ProgramCommand(options=("-I", "-X", "dev"), script="app.py")),
        ("-Werror -- -app.py", ProgramCommand(options=("-W", "error"), script="-app.py")),
        (
            "--check-hash-based-pycs always app.py",
            ProgramCommand(options=("--check-hash-based-pycs", "always"), script="app.py"),
        ),
    ],
)
def test_command_line_of_python_names_what_it_runs(line: str, expected: ProgramCommand) -> None:
    found = python_command(PYTHON, line.split())
    assert found is not None
    assert found.interpreter == PYTHON
    assert (found.script, found.module, found.code) == (expected.script, expected.module, expected.code)
    assert (found.options, found.args) == (expected.options, expected.args)


@pytest.mark.parametrize("line", ["", "-i", "-", "-m", "-c", "-X", "--"])
def test_interpreter_without_a_program_is_the_program(line: str) -> None:
    assert python_command(PYTHON, line.split()) is None
