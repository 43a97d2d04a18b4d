"""Places of a source text from its syntax tree: statements, and the parts of them that may be executed apart.

Columns follow CPython: offsets in UTF-8 from 0.
"""

import _ast
from collections.abc import Container, Iterator
from typing import Any, Final, NamedTuple

from ..interpreter.gc_tracking import untrack


class Span(NamedTuple):
    """A piece of a text: lines from 1, columns in UTF-8 from 0, the end excluded."""

    line: int
    column: int
    end_line: int
    end_column: int

    def holds(self, other: "Span") -> bool:
        """Return whether another piece lies within this one."""
        return self[:2] <= other[:2] and other[2:] <= self[2:]


class Spot(NamedTuple):
    """A place to stop at: where it is shown, and which instructions of which code belong to it."""

    line: int
    column: int
    """In UTF-8 from 0."""
    span: Span
    owner: tuple[str, int]
    """Qualified name and first line of the code object."""
    is_statement: bool


def statements_in(tree: _ast.AST) -> Iterator[Any]:
    """Return all statements and handlers of exceptions in a tree."""
    todo: list[object] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo.extend(node)
        elif isinstance(node, _ast.stmt | _ast.mod | _ast.excepthandler | _ast.match_case):
            if isinstance(node, _ast.stmt | _ast.excepthandler):
                yield node
            todo.extend(getattr(node, field, None) for field in ("body", "orelse", "finalbody", "handlers", "cases"))


# Candidates

_HEADERS: Final = {
    _ast.If: "test",
    _ast.While: "test",
    _ast.For: "iter",
    _ast.AsyncFor: "iter",
    _ast.Match: "subject",
}
"""Of statements with a body, the part that is executed at their own line."""
_PARTS: Final = {
    _ast.Lambda: ("body",),
    _ast.IfExp: ("body", "orelse"),
    _ast.ListComp: ("elt",),
    _ast.SetComp: ("elt",),
    _ast.GeneratorExp: ("elt",),
    _ast.DictComp: ("key",),
    _ast.comprehension: ("ifs",),
}
"""Of expressions, the parts that are executed more or less often than the whole."""

type Candidate = tuple[int, int, Span, bool]


def candidates(tree: _ast.AST, lines: Container[int], first: int, last: int) -> Iterator[Candidate]:
    """Find the places that begin in the lines from `first` to `last`: line, column, text, whether it is a statement."""
    todo: list[object] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo.extend(node)
        elif isinstance(node, _ast.AST):
            if getattr(node, "end_lineno", last) < first or _first_line(node) > last:
                continue
            for line, column, span, is_statement in _places_of(node):
                if first <= line <= last and line in lines:
                    yield line, column, span, is_statement
            todo.extend(getattr(node, field, None) for field in node._fields)


def _first_line(node: _ast.AST) -> int:
    decorators = getattr(node, "decorator_list", None)
    line: int = decorators[0].lineno if decorators else getattr(node, "lineno", 0)
    return line


def _places_of(node: _ast.AST) -> Iterator[Candidate]:
    if isinstance(node, _ast.stmt):
        yield node.lineno, node.col_offset, span_of(header_of(node)), True
    elif isinstance(node, _ast.Call):
        yield _place_of_call(node)
    elif isinstance(node, _ast.BoolOp):
        for operand in node.values[1:]:
            yield *span_of(operand)[:2], span_of(operand), False
    elif isinstance(node, _ast.Await | _ast.Yield | _ast.YieldFrom):
        yield *span_of(node)[:2], span_of(node), False
    for field in _PARTS.get(type(node), ()):
        part = getattr(node, field)
        for expression in part if isinstance(part, list) else [part]:
            yield *span_of(expression)[:2], span_of(expression), False


def header_of(node: _ast.stmt) -> _ast.AST:
    """Return the part of a statement that is executed at its own line."""
    if isinstance(node, _ast.With | _ast.AsyncWith):
        return node.items[0].context_expr
    header: _ast.AST = getattr(node, _HEADERS.get(type(node), ""), node)
    return header


def _place_of_call(node: _ast.Call) -> Candidate:
    span = span_of(node)
    function = node.func
    if not isinstance(function, _ast.Attribute) or not _calls(function.value):
        return span.line, span.column, span, False
    # In a chain of calls each begins at its name: the whole begins where the first does.
    column = (function.end_col_offset or 0) - len(function.attr.encode())
    return function.end_lineno or span.line, column, untrack(Span(*span_of(function.value)[2:], *span[2:])), False


def span_of(node: object) -> Span:
    """Return the piece of text that an expression or a statement is."""
    return untrack(Span(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset))  # type: ignore[attr-defined]  # expressions and statements have them


def _calls(node: _ast.expr) -> bool:
    """Return whether the expression before a dot contains a call."""
    while isinstance(node, _ast.Attribute | _ast.Subscript):
        node = node.value
    return isinstance(node, _ast.Call)
