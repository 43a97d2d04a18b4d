"""Expressions under a mouse pointer: read, never run.

Names, attributes that are stored, and items of built-in containers; for what would call anything there is an
error that says so. An editor sends whatever text it finds there, and nobody asked for it to happen.
"""

import _ast
import builtins
from collections.abc import Mapping
from typing import Any, Final, cast

from . import containers
from .errors import RequestRefused
from .evaluate import NAME, Place, said
from .jobs import Guard
from .members import members, namespace
from .values import is_a, mro, type_name

_KEYS: Final = (int, str, bytes, bool, float, complex, type(None))
_CONTAINERS: Final = (list, tuple, dict, str, bytes, bytearray, range)


def look_up(text: str, place: Place, guard: Guard) -> object:
    """Return the value of an expression without running any code of the program.

    Raises:
        RequestRefused: if that cannot be.

    """
    try:
        tree = compile(text.strip(), NAME, "eval", _ast.PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RequestRefused(said(error)) from error
    return _value(cast("_ast.Expression", tree).body, place, guard)  # as "eval" gives


def _value(node: _ast.expr, place: Place, guard: Guard) -> object:
    match node:
        case _ast.Constant(value=value):
            return value
        case _ast.Name(id=name):
            return _named(name, place)
        case _ast.Attribute(value=owner, attr=name):
            return attribute(_value(owner, place, guard), name)
        case _ast.Subscript(value=container, slice=key):
            return _item(_value(container, place, guard), _value(key, place, guard))
        case _ast.UnaryOp(op=_ast.USub(), operand=_ast.Constant(value=int() | float() as number)):
            return -number
        case _ast.Tuple(elts=parts):
            return tuple(_value(part, place, guard) for part in parts)
        case _:
            raise RequestRefused(
                "a hover calls nothing and assigns nothing: only names, stored attributes and items of built-in "
                "containers; evaluate it in the console"
            )


def _named(name: str, place: Place) -> object:
    for names in (place.locals, place.globals, vars(builtins)):
        if name in names:
            return cast("Mapping[str, object]", names)[name]
    raise RequestRefused(f"NameError: name {name!r} is not defined")


def attribute(value: object, name: str) -> object:
    """Return an attribute as far as it is found without running code.

    Raises:
        RequestRefused: if it is not, or there is none.

    """
    for row in members(value, ""):
        if row.name == name:
            if row.lazy:
                raise RequestRefused(f"{name} is a property; a hover does not run it, evaluate it in the console")
            return row.value
    holders = type.__dict__["__mro__"].__get__(value) if is_a(value, type) else mro(value)
    for holder in holders:
        found: Any = namespace(holder).get(name, _MISSING)
        if found is not _MISSING:
            if type(found) in (staticmethod, classmethod):
                return found.__func__
            return found
    raise RequestRefused(f"no attribute {name!r} of {type_name(value)} can be found without running code")


_MISSING: Final = object()


def _item(container: object, key: object) -> object:
    kind = type(container)
    deque = containers.kind_of(container)
    if kind not in _CONTAINERS and (deque is not kind or deque.__name__ not in ("deque", "array")):
        raise RequestRefused(
            f"a hover reads items of built-in containers, not of {type_name(container)}; evaluate it in the console"
        )
    if not (type(key) in _KEYS or (type(key) is tuple and all(type(part) in _KEYS for part in key))):
        raise RequestRefused(f"a hover does not look for a {type_name(key)}; evaluate it in the console")
    try:
        found: object = cast("Any", container)[key]
    except (LookupError, TypeError) as error:
        raise RequestRefused(said(error)) from error
    return found
