"""The steps by which an expression reaches its value: a variable, then attributes and items."""

import _ast
from typing import Any, Final

_AS_TREE: Final = 0x400  # ast.PyCF_ONLY_AST
KEYS: Final = (int, str, float, bytes)
"""Kinds of keys that are found again at other times."""

OBJECT: Final = "_"
"""The name of the object that an expression begins at, where the object is known by its address."""

CELL_CONTENTS: Final = "cell_contents"
"""The attribute of a cell that is the value of its variable."""

type Step = tuple[str, Any]
"""A `name`, an `attribute`, an `item` with its key, a `key` with the variable that holds it; or it is `computed`."""


def steps_of(expression: str) -> list[Step]:
    """Return the steps of an expression."""
    tree = compile(expression.strip(), "<dapkit: why>", "eval", _AS_TREE, dont_inherit=True)
    return _steps_of(tree.body)  # type: ignore[attr-defined]  # an expression


def text_of(name: str, steps: list[Step]) -> str:
    """Return the expression that takes steps from the value of a name."""
    return name + "".join(f".{key}" if kind == "attribute" else f"[{key!r}]" for kind, key in steps)


def _steps_of(node: Any) -> list[Step]:  # noqa: ANN401 - of `_ast`
    match node:
        case _ast.Name():
            return [("name", node.id)]
        case _ast.Attribute():
            return [*_steps_of(node.value), ("attribute", node.attr)]
        case _ast.Subscript(slice=_ast.Constant(value=key)) if type(key) in KEYS:
            return [*_steps_of(node.value), ("item", key)]
        case _ast.Subscript(slice=_ast.UnaryOp(op=_ast.USub(), operand=_ast.Constant(value=int() as key))):
            return [*_steps_of(node.value), ("item", -key)]
        case _ast.Subscript(slice=_ast.Name(id=name)):
            return [*_steps_of(node.value), ("key", name)]
        case _:
            return [("computed", None)]
