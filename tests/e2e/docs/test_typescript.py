"""The page about TypeScript counts two adapters, which are in examples/line_adapter."""

import ast
import re

from e2e.docs.blocks import ROOT

EXAMPLE = ROOT / "examples" / "line_adapter"
PAGE = ROOT / "docs" / "explanation" / "typescript.md"
NOT_CODE = re.compile(r"/\*\*.*?\*/|//[^\n]*", re.DOTALL)


def python_code() -> str:
    """Return the module without comments and docstrings; a string alone in its line is one, too."""
    tree = ast.parse((EXAMPLE / "line_adapter.py").read_text(encoding="utf-8"))
    lines = (EXAMPLE / "line_adapter.py").read_text(encoding="utf-8").splitlines()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            assert node.lineno == node.end_lineno
            lines[node.lineno - 1] = ""
    return "\n".join(line.partition("  #")[0] for line in lines)


def typescript_code() -> str:
    return NOT_CODE.sub("", (EXAMPLE / "line_adapter.ts").read_text(encoding="utf-8"))


def lines_of(code: str) -> int:
    return len([line for line in code.splitlines() if line.strip()])


def words_of(code: str) -> int:
    return len(re.findall(r"\w+|[^\w\s]", code))


def test_page_has_the_numbers_of_both_adapters() -> None:
    rows = dict(re.findall(r"^\| (lines of code|words and symbols) \| (.*) \|$", PAGE.read_text(), re.MULTILINE))
    both = python_code(), typescript_code()
    assert rows == {
        "lines of code": " | ".join(str(lines_of(code)) for code in both),
        "words and symbols": " | ".join(str(words_of(code)) for code in both),
    }
