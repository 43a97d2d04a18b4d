"""Breakpoints in their short form: what is read, and what is refused with the right spelling."""

from pathlib import Path

import pytest

from dapkit.agent.breakpoint_forms.specs import check_condition, specs_of
from dapkit.agent.calls.failures import InvalidArguments
from dapkit.catalog import Traits
from dapkit.client import BreakpointSpec, FunctionLocation, SourceLocation

PYTHON = Traits(python_expressions=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a program."""
    (tmp_path / "f.py").touch()
    (tmp_path / "Makefile").touch()
    return tmp_path


def test_lines_columns_functions_and_conditions_are_read(folder: Path) -> None:
    def read(text: str) -> BreakpointSpec:
        return specs_of([text], folders=[folder])[0]

    assert read("f.py:12") == BreakpointSpec(SourceLocation(folder / "f.py", 12))
    assert read("f.py:12:5") == BreakpointSpec(SourceLocation(folder / "f.py", 12, 5))
    assert read("Makefile:3") == BreakpointSpec(SourceLocation(folder / "Makefile", 3))
    assert read("/build/a:b/c.c:7") == BreakpointSpec(SourceLocation(Path("/build/a:b/c.c"), 7))
    assert read("f.py:1 if a[b:2] == 3") == BreakpointSpec(SourceLocation(folder / "f.py", 1), condition="a[b:2] == 3")
    for name in ("main", "ns::f", "operator,", "std::map<int, int>::at", "main.(*T).Close", "-[Cart add:]", "a.py"):
        assert read(name) == BreakpointSpec(FunctionLocation(name))


def test_name_of_an_executable_is_that_of_a_function(folder: Path) -> None:
    (folder / "sum").write_bytes(b"\x7fELF\x02\x01\x01")
    assert specs_of(["sum"], folders=[folder / "nowhere", folder]) == [BreakpointSpec(FunctionLocation("sum"))]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("12", "app.py:12"),
        ("Makefile", "Makefile:12"),
        ("f.py", "f.py:12"),
        ("accumulate:12", "the name of a function without a line: accumulate"),
        ("f.py:12, f.py:3", "f.py:12 and f.py:3"),
        ("f.py:12,f.py:3", "f.py:12 and f.py:3"),
        ("f.py:total += w", '{"file": "f.py", "text": "total += w"}'),
        ("f.py:abc", "the name of a function alone"),
        ("", "FILE:LINE"),
    ],
)
def test_wrong_spelling_is_refused_with_the_right_one(folder: Path, text: str, right: str) -> None:
    with pytest.raises(InvalidArguments) as refused:
        specs_of([text], folders=[folder])
    assert right in str(refused.value.hint)


def test_condition_that_python_cannot_read_is_refused() -> None:
    for fine in ("i == 3", " i", "(n := i)", None):
        check_condition(fine, PYTHON)
    with pytest.raises(InvalidArguments) as refused:
        check_condition("i = 3", PYTHON)
    assert "==" in str(refused.value.hint)
    with pytest.raises(InvalidArguments, match="cannot be read"):
        check_condition("i >", PYTHON)
    check_condition("i = 3", Traits())  # an expression of C
