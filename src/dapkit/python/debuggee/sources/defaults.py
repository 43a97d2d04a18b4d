"""Default values of parameters as a text says them, as far as they are known without executing it."""

import _ast
from types import FunctionType
from typing import Any, Final

_IMMUTABLE: Final = (type(None), bool, int, float, complex, str, bytes, tuple, type(...))


class NotPlain(Exception):
    """A default value must be computed."""


class Signature:
    """The head of a function in a text."""

    def __init__(self, node: _ast.FunctionDef | _ast.AsyncFunctionDef) -> None:
        self.is_decorated = bool(node.decorator_list)
        self._positional = node.args.defaults
        keyword_pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        self._named = {argument.arg: default for argument, default in keyword_pairs if default is not None}
        self._parameters = [argument.arg for argument in node.args.posonlyargs + node.args.args]

    def values(self, function: FunctionType | None) -> tuple[tuple[Any, ...] | None, dict[str, Any] | None]:
        """Return `__defaults__` and `__kwdefaults__`; computed or mutable defaults stay as a function has them.

        Raises:
            NotPlain: a value is neither plain nor there.

        """
        before = _present(function) if function is not None else {}
        names = self._parameters[len(self._parameters) - len(self._positional) :]
        positional = tuple(_value(name, default, before) for name, default in zip(names, self._positional, strict=True))
        keyword_defaults = {name: _value(name, default, before) for name, default in self._named.items()}
        return positional or None, keyword_defaults or None


def signatures(tree: Any) -> dict[tuple[str, int], Signature]:  # noqa: ANN401 - of `_ast`
    """Return the heads of all functions of a text, by name and first line, which is the line of the first decorator."""
    by_place: dict[tuple[str, int], Signature] = {}
    todo = [tree]
    for node in todo:
        if isinstance(node, _ast.FunctionDef | _ast.AsyncFunctionDef):
            first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
            by_place[node.name, first] = Signature(node)
        for field in node._fields:
            child = getattr(node, field, None)
            children = child if isinstance(child, list) else [child]
            todo += [part for part in children if isinstance(part, _ast.AST)]
    return by_place


def _present(function: FunctionType) -> dict[str, Any]:
    """Return the default values that a function has, by the names of the parameters."""
    code = function.__code__
    values = function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
    return {**dict(zip(names, values, strict=False)), **(function.__kwdefaults__ or {})}


def _value(name: str, default: _ast.expr, before: dict[str, Any]) -> Any:  # noqa: ANN401 - of the program
    try:
        value = _plain(default)
    except NotPlain:
        if name not in before:
            raise NotPlain(f"the default value of {name} has to be computed") from None
        return before[name]
    if name in before and not (type(value) in _IMMUTABLE and type(before[name]) in _IMMUTABLE):
        return before[name]
    return value


def _plain(node: _ast.expr) -> Any:  # noqa: ANN401 - any plain value
    match node:
        case _ast.Constant():
            return node.value
        case _ast.UnaryOp(op=_ast.USub(), operand=_ast.Constant(value=int() | float() | complex() as number)):
            return -number
        case _ast.Tuple():
            return tuple(map(_plain, node.elts))
        case _ast.List():
            return list(map(_plain, node.elts))
        case _ast.Set():
            return set(map(_plain, node.elts))
        case _ast.Dict(keys=keys) if None not in keys:
            return {_plain(key): _plain(value) for key, value in zip(keys, node.values, strict=True) if key is not None}
    raise NotPlain
