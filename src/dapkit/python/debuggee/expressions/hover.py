"""Expressions under a mouse pointer: read, never run.

Names, stored attributes, items of built-in containers, and arithmetic of plain numbers; an expression that would call
anything raises an error that says so. An editor sends whatever text it finds there, without the user asking for it.
"""

import _ast
import _operator
import builtins
from collections.abc import Callable
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, Final, cast

from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..interpreter.safe_types import (
    FROZENDICT,
    HAS_LAZY_IMPORTS,
    ClassSet,
    is_a,
    is_lazy_import,
    mro,
    mro_of,
    namespace,
    simple_name,
    type_name,
)
from ..sources.compilation import compiled
from ..sources.imported_modules import names_of
from ..values import containers
from ..values.members import is_trusted_field, members
from ..values.row_types import ValueRow
from ..values.storage import Attribute, GlobalVariable, Stored
from .evaluate import NAME, Namespaces, said
from .syntax import names_in

_KEYS: Final = ClassSet(int, str, bytes, bool, float, complex, type(None))
_NUMBERS: Final = ClassSet(int, float, complex, bool)
ARITHMETIC: Final[dict[type, Callable[[Any, Any], Any]]] = {
    _ast.Add: _operator.add,
    _ast.Sub: _operator.sub,
    _ast.Mult: _operator.mul,
    _ast.Div: _operator.truediv,
    _ast.FloorDiv: _operator.floordiv,
    _ast.Mod: _operator.mod,
}
_COMPARISONS: Final[dict[type, Callable[[Any, Any], Any]]] = {
    _ast.Eq: _operator.eq,
    _ast.NotEq: _operator.ne,
    _ast.Lt: _operator.lt,
    _ast.LtE: _operator.le,
    _ast.Gt: _operator.gt,
    _ast.GtE: _operator.ge,
    _ast.Is: _operator.is_,
    _ast.IsNot: _operator.is_not,
}
_CONTAINERS: Final = ClassSet(list, tuple, dict, str, bytes, bytearray, range, *FROZENDICT)
_IN_C: Final = ClassSet(GetSetDescriptorType, MemberDescriptorType)


def look_up(text: str, namespaces: Namespaces) -> object:
    """Return the value of an expression without running any code of the program.

    Raises:
        RequestRefused: if that cannot be.

    """
    return value_of(_parsed(text), namespaces)


def _parsed(text: str) -> _ast.expr:
    try:
        tree = compiled(text.strip(), "eval", _ast.PyCF_ONLY_AST, place=NAME)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RequestRefused(said(error)) from error
    return cast("_ast.Expression", tree).body  # as "eval" gives


def lazy_import(text: str, namespaces: Namespaces) -> ValueRow | None:
    """Return the row of a lazy import, if an expression is no more than its name, or an attribute of a module."""
    if not HAS_LAZY_IMPORTS:
        return None
    try:
        node = _parsed(text)
        stored: Stored
        match node:
            case _ast.Name(id=name):
                value = _named(name, namespaces)
                stored = GlobalVariable(namespaces.globals, name)
            case _ast.Attribute(value=owner, attr=name):
                module = value_of(owner, namespaces)
                value = (names_of(module) or {}).get(name)
                stored = Attribute(module, name)
            case _:
                return None
    except RequestRefused:
        return None
    return ValueRow(name, value, text.strip(), stored=stored) if is_lazy_import(value) else None


def refuse_lazy_imports(text: str, namespaces: Namespaces) -> None:
    """Raise RequestRefused if an expression names a lazy import that the program has not resolved."""
    if HAS_LAZY_IMPORTS:
        for name in sorted(names_in(_parsed(text))[0]):
            value = next((names[name] for names in namespaces.stored() if name in names), None)
            if is_lazy_import(value):
                raise RequestRefused(f"{name} is {value!r}, which was not imported yet")


def value_of(node: _ast.expr, namespaces: Namespaces) -> object:  # noqa: PLR0911 - one return per case
    """Return the value of an expression that was parsed.

    Raises:
        RequestRefused: if code would have to run for it.

    """
    match node:
        case _ast.Constant(value=value):
            return value
        case _ast.Name(id=name):
            return _named(name, namespaces)
        case _ast.Attribute(value=owner, attr=name):
            return attribute(value_of(owner, namespaces), name)
        case _ast.Subscript(value=container, slice=key):
            return _item(value_of(container, namespaces), value_of(key, namespaces))
        case _ast.UnaryOp(op=_ast.USub(), operand=_ast.Constant(value=int() | float() as number)):
            return -number
        case _ast.BinOp(left=left, op=operator, right=right) if type(operator) in ARITHMETIC:
            return calculated(value_of(left, namespaces), operator, value_of(right, namespaces))
        case _ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in _COMPARISONS:
            return calculated(value_of(left, namespaces), operator, value_of(right, namespaces))
        case _ast.Tuple(elts=parts):
            return tuple(value_of(part, namespaces) for part in parts)
        case _:
            raise RequestRefused(
                "a hover calls nothing and assigns nothing: only names, stored attributes and items of built-in "
                "containers; evaluate it in the console"
            )


def calculated(left_value: Any, operator: _ast.AST, right: Any) -> object:  # noqa: ANN401 - checked here
    """Combine two plain values; others could do anything.

    Raises:
        RequestRefused: if they are not plain, or do not go together.

    """
    kinds = _NUMBERS if type(operator) in ARITHMETIC else _KEYS
    for operand in (left_value, right):
        if type(operand) not in kinds or (type(operand) is int and operand.bit_length() > limits.INT_BITS):
            raise RequestRefused(
                f"a hover does not calculate with {type_name(operand)} like this; evaluate it in the console"
            )
    try:
        result: object = (ARITHMETIC.get(type(operator)) or _COMPARISONS[type(operator)])(left_value, right)
    except (ArithmeticError, TypeError) as error:
        raise RequestRefused(said(error)) from error
    return result


def _named(name: str, namespaces: Namespaces) -> object:
    for names in (*namespaces.stored(), vars(builtins)):
        if name in names:
            return names[name]
    raise RequestRefused(f"NameError: name {name!r} is not defined")


def attribute(value: object, name: str) -> object:
    """Return an attribute as far as it is found without running code.

    Raises:
        RequestRefused: if it is not, or does not exist.

    """
    if is_lazy_import(value):
        raise RequestRefused(f"{value!r} was not imported yet; a hover does not do so, evaluate it in the console")
    for row in members(value, ""):
        if row.name == name:
            if row.lazy:
                raise RequestRefused(f"{name} is a property; a hover does not run it, evaluate it in the console")
            return row.value
    of_class = mro_of(value) if is_a(value, type) else ()
    for holder in (*of_class, *mro(value)):
        names = namespace(holder)
        if name not in names:
            continue
        stored: Any = names[name]
        if type(stored) in _IN_C and not any(holder is kind for kind in of_class):
            if is_trusted_field(holder, names, name):
                return type(stored).__get__(stored, value, type(value))
            break
        return stored.__func__ if type(stored) is staticmethod or type(stored) is classmethod else stored
    raise RequestRefused(f"no attribute {name!r} of {type_name(value)} can be found without running code")


def _item(container: object, key: object) -> object:
    container = containers.unwrapped(container)
    kind = type(container)
    deque = containers.kind_of(container)
    if kind not in _CONTAINERS and (deque is not kind or simple_name(kind) not in ("deque", "array")):
        raise RequestRefused(
            f"a hover reads items of built-in containers, not of {type_name(container)}; evaluate it in the console"
        )
    if not (type(key) in _KEYS or (type(key) is tuple and all(type(part) in _KEYS for part in key))):
        raise RequestRefused(f"a hover does not look for a {type_name(key)}; evaluate it in the console")
    try:
        item: object = cast("Any", container)[key]
    except (LookupError, TypeError) as error:
        raise RequestRefused(said(error)) from error
    return item
