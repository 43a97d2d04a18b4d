"""Assignments of a source text: the statement that binds a target, the expression of its value, and its inputs."""

import _ast
from collections.abc import Iterator
from typing import Any, Final

from ..bytecode.texts import ProgramText
from ..bytecode.tree_places import span_of
from ..interpreter.errors import RequestRefused
from .value_steps import Step

PLACES: Final = (_ast.Name, _ast.Attribute, _ast.Subscript)
_FUNCTIONS: Final = (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)
_HIDES_BODY: Final = (*_FUNCTIONS, _ast.Lambda, _ast.ListComp, _ast.SetComp, _ast.DictComp, _ast.GeneratorExp)

type Node = Any
"""A node of `_ast`, with the attributes of its class."""


class Part:
    """A part of a value that is not written out: the second of `a, b = f()`."""

    def __init__(self, whole: Node) -> None:
        self.whole = whole


def statements_at(text: ProgramText, line: int) -> list[Node]:
    """Return the statements whose own lines a line is among, the innermost first; without the bodies of others."""
    try:
        pieces = text.pieces(line, line, "this")
        trees = [text.compiled(piece, "this", as_tree=True) for piece in pieces]
    except RequestRefused:
        return []
    statements = [
        node for tree in trees for node in _walk(tree) if isinstance(node, _ast.stmt) and _has_line(node, line)
    ]
    return sorted(statements, key=lambda node: (-node.lineno, -node.col_offset))


def _has_line(node: Node, line: int) -> bool:
    body = getattr(node, "body", None)
    last = max(body[0].lineno - 1, node.lineno) if isinstance(body, list) and body else node.end_lineno
    return bool(node.lineno <= line <= last)


def _walk(root: object) -> Iterator[Node]:
    todo = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo.extend(node)
        elif isinstance(node, _ast.AST):
            yield node
            todo.extend(getattr(node, field, None) for field in node._fields)


def nodes_of(statement: Node) -> Iterator[Node]:
    """Yield the nodes that a statement executes itself: not the statements in it, and no functions."""
    todo: list[object] = [statement]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo.extend(node)
        elif isinstance(node, _ast.AST) and (node is statement or not isinstance(node, (_ast.stmt, _ast.Lambda))):
            yield node
            todo.extend(getattr(node, field, None) for field in node._fields)


def bindings(statement: Node) -> Iterator[tuple[Node, Node]]:
    """Yield the targets that a statement binds, each with the expression of its value; None for a definition."""
    match statement:
        case _ast.Assign():
            for target in statement.targets:
                yield from _unpacked(target, statement.value)
        case _ast.AnnAssign() | _ast.AugAssign():
            yield statement.target, statement.value
        case _ast.For() | _ast.AsyncFor() | _ast.With() | _ast.AsyncWith():
            yield from _bound_by_block(statement)
        case _:
            yield from ((_ast.Name(id=name), None) for name in _defined_names(statement))
    for node in nodes_of(statement):
        if isinstance(node, _ast.NamedExpr):
            yield node.target, node.value


def _bound_by_block(statement: Node) -> Iterator[tuple[Node, Node]]:
    if isinstance(statement, _ast.For | _ast.AsyncFor):
        pairs = [(statement.target, statement.iter)]
    else:
        pairs = [(item.optional_vars, item.context_expr) for item in statement.items if item.optional_vars is not None]
    for whole, value in pairs:
        for target, _ in _unpacked(whole, value):
            yield target, value


def _defined_names(statement: Node) -> list[str]:
    match statement:
        case _ast.FunctionDef() | _ast.AsyncFunctionDef() | _ast.ClassDef():
            return [statement.name]
        case _ast.Import() | _ast.ImportFrom():
            return [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
    return []


def _unpacked(target: Node, value: Node) -> Iterator[tuple[Node, Node]]:
    """Yield the targets of an assignment with their values; the parts of a tuple, where the value is written out."""
    if not isinstance(target, _ast.Tuple | _ast.List):
        yield target, value
        return
    is_written = isinstance(value, _ast.Tuple | _ast.List) and len(value.elts) == len(target.elts)
    is_plain = is_written and not any(isinstance(part, _ast.Starred) for part in (*value.elts, *target.elts))
    for at, part in enumerate(target.elts):
        yield from _unpacked(part, value.elts[at] if is_plain else value if isinstance(value, Part) else Part(value))


def is_target(target: Node, steps: list[Step]) -> bool:
    """Return whether the last step of an expression leads to a target."""
    kind, key = steps[-1]
    match target:
        case _ast.Name(id=name):
            return kind == "name" and name == key
        case _ast.Attribute(attr=name):
            return kind == "attribute" and name == key
        case _ast.Subscript(slice=_ast.Constant(value=value)):
            return kind == "item" and bool(value == key)
        case _ast.Subscript():
            return kind in ("item", "key")
        case _ast.Starred():
            return is_target(target.value, steps)
    return False


def inputs_of(root: Node) -> Iterator[Node]:
    """Yield the variables, attributes and items that an expression reads, in the order of the text."""
    todo: list[object] = [root]
    while todo:
        node = todo.pop(0)
        if isinstance(node, list):
            todo[:0] = node
        elif isinstance(node, PLACES) and _is_plain(node):
            yield node
        elif isinstance(node, _ast.Call):
            todo[:0] = [*node.args, *(keyword.value for keyword in node.keywords)]
            if isinstance(node.func, _ast.Attribute):
                todo.insert(0, node.func.value)
        elif isinstance(node, _ast.AST) and not isinstance(node, _HIDES_BODY):
            todo[:0] = [getattr(node, field, None) for field in node._fields]


def _is_plain(node: Node) -> bool:
    match node:
        case _ast.Name():
            return True
        case _ast.Attribute():
            return _is_plain(node.value)
        case _ast.Subscript(slice=_ast.Constant() | _ast.Name()):
            return _is_plain(node.value)
    return False


def expression_text(text: ProgramText, node: Node) -> str:
    """Return the text of an expression, on one line."""
    return " ".join(text.cut(span_of(node)).split())
