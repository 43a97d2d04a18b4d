"""The prose of source files: docstrings, comments, and the texts that users read."""

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of prose, and the line where it begins."""

    line: int
    text: str


def of_page(text: str) -> Iterator[Passage]:
    """Yield the lines of a page or of a data file, which are all prose."""
    yield from (Passage(number, line) for number, line in enumerate(text.splitlines(), 1))


@cache
def docs_of(code: str) -> tuple[Passage, ...]:
    """Return docstrings, and texts that stand below a constant, of Python code."""
    return tuple(
        Passage(node.lineno, node.value.value)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )


@cache
def texts_of(code: str) -> tuple[Passage, ...]:
    """Return all string literals of Python code, docstrings among them, and of f-strings what is fixed."""
    return tuple(
        Passage(node.lineno, node.value)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


@cache
def tokens_of(code: str) -> tuple[tokenize.TokenInfo, ...]:
    """Return the tokens of Python code."""
    return tuple(tokenize.generate_tokens(io.StringIO(code).readline))


def comments_of(code: str) -> Iterator[Passage]:
    """Yield comments of Python code."""
    for token in tokens_of(code):
        if token.type == tokenize.COMMENT:
            yield Passage(token.start[0], token.string)


def python_files(root: Path) -> Iterator[Path]:
    """Yield the Python files below a folder, in order."""
    yield from sorted(root.rglob("*.py"))
