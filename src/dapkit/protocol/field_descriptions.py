"""Descriptions of fields: the strings below them in the source, which editors show.

Python does not keep these strings, so they cost nothing unless they are read. They are read from the source, if it is
at hand.
"""

import ast
import functools
import inspect
import itertools
import sys
from collections.abc import Iterator, Mapping


def field_descriptions(kind: type) -> Mapping[str, str]:
    """Return the descriptions of the fields of a class, inherited ones too, by their names in Python.

    >>> from dapkit.protocol import ExitedEvent
    >>> field_descriptions(ExitedEvent)
    {'event': 'Name of the event.', 'exit_code': 'Exit code of the program.'}
    """
    descriptions: dict[str, str] = {}
    for part in reversed(kind.__mro__):
        descriptions.update(_in_module(part.__module__).get(part.__qualname__, {}))
    return descriptions


@functools.cache
def _in_module(name: str) -> Mapping[str, Mapping[str, str]]:
    """Read all classes of a module: qualified name -> field -> description."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[name]))
    except (KeyError, OSError, TypeError):  # no such module any more, no source, or a module that never had one
        return {}
    return dict(_classes(tree, ""))


def _classes(node: ast.AST, prefix: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.ClassDef(name=name, body=body):
                yield prefix + name, dict(_described(body))
                yield from _classes(child, f"{prefix}{name}.")
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield from _classes(child, f"{prefix}{name}.<locals>.")
            case _:
                yield from _classes(child, prefix)


def _described(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Find the fields that are followed by a string."""
    for statement, below in itertools.pairwise(body):
        match statement, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, " ".join(text.split())
