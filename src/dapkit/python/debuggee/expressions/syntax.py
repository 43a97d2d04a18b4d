"""Expressions as texts of the client: read, not run."""

import _ast

from ..interpreter.errors import RequestRefused
from ..sources.compilation import compiled


def parse_expression(text: str, what: str) -> _ast.expr:
    """Read one expression.

    Raises:
        RequestRefused: with the error and its place, if it is not one.

    """
    try:
        compiled(text.strip(), "eval", place=f"<{what}>")
        tree = compiled("(" + text.strip() + "\n)", "eval", _ast.PyCF_ONLY_AST, place=f"<{what}>")
    except SyntaxError as error:
        where = f"line {error.lineno}, column {error.offset}" if error.lineno != 1 else f"column {error.offset}"
        raise RequestRefused(f"{what} {text!r}: {error.msg}" + (f" ({where})" if error.offset else "")) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise RequestRefused(f"{what} {text[:80]!r}: {error}") from error
    return tree.body  # type: ignore[no-any-return]  # "eval" gives an Expression


def names_in(tree: _ast.AST) -> tuple[set[str], set[str]]:
    """Return the variable names that an expression reads, and those that it binds itself."""
    names: set[str] = set()
    bound: set[str] = set()
    todo: list[object] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo.extend(node)
        elif isinstance(node, _ast.AST):
            if isinstance(node, _ast.Name):
                (names if isinstance(node.ctx, _ast.Load) else bound).add(node.id)
            elif isinstance(node, _ast.arg):
                bound.add(node.arg)
            todo.extend(getattr(node, field, None) for field in node._fields)
    return names, bound
