"""The marks by which values are compared, to see whether one has changed; no code of the program runs for that.

    number, text                  the text of it
    list, tuple, set, dict, deque the identities of all items
    array, bytearray, ndarray     its bytes
    another object, a class       its identity, and the identities of its attributes, in a dict and in slots

A change inside an item or attribute does not count, and the state of a generator or file is not seen at all:
`doubt_about` says so.
"""

from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final

from ..interpreter.safe_types import (
    FROZENDICT,
    ClassSet,
    defined,
    is_a,
    module_of,
    mro_of,
    names_in_class,
    once_per_class,
    simple_name,
    stored_dict,
)
from .replay_backend import backend

PLAIN: Final = (int, float, complex, str, bytes, bool, type(None))
_PLAIN: Final = ClassSet(*PLAIN)
_MAPPINGS: Final = ClassSet(dict, *FROZENDICT)
_SERIES: Final = ClassSet(list, tuple, set, frozenset)
_CONSTANT: Final = (FunctionType, BuiltinFunctionType, MethodType, ModuleType, CodeType, type, BaseException)
"""Kinds that keep more than attributes, which is rarely changed."""
_NONE: Final = type(None)
_SIZE: Final = type.__dict__["__basicsize__"].__get__
_POINTER_BYTES: Final = 8
_MOST_BYTES: Final = 1 << 24

type Mark = tuple[object, ...]


def base_in(kind: type, kinds: ClassSet) -> Any:  # noqa: ANN401 - a class
    """Return the first base of a class that is in a set, which may be the class itself; None without one."""
    return next((base for base in mro_of(kind) if base in kinds), None)


def plain_mark(value: Any) -> object:  # noqa: ANN401 - any value
    """Return the mark of a value that is one of many: the text of a number, the identity of most others."""
    kind = type(value)
    if kind is bytearray:
        return kind, bytes(value)
    if kind is tuple and all(base_in(type(item), _PLAIN) is not None for item in value):
        return kind, *map(plain_mark, value)
    base = kind if kind in _PLAIN else base_in(kind, _PLAIN)
    if base is int:
        return kind, int.__index__(value)  # the text of a long one is refused
    return id(value) if base is None else (kind, defined(base, "__repr__")(value))


def mark_of(value: Any) -> Mark:  # noqa: ANN401 - any value
    """Return the mark of a value: its class, its identity or 0, and the marks of its parts."""
    kind = type(value)
    if kind is bytearray or base_in(kind, _PLAIN) is not None:
        return kind, 0, plain_mark(value)
    if has_items(value):
        return kind, 0, *map(plain_mark, (*_items(value), *attributes(value)))
    if (content := _content(value)) is not None:
        return kind, 0, content
    return kind, id(value), *map(plain_mark, attributes(value))


def without_identity(mark: Mark) -> Mark:
    """Return a mark without the identity of the value itself."""
    return mark[0], 0, *mark[2:]


def has_items(value: object) -> bool:
    """Return whether a value keeps items as a container of the interpreter does."""
    kind = type(value)
    return base_in(kind, _MAPPINGS) is not None or _series(kind) is not None


def _series(kind: type) -> Any:  # noqa: ANN401 - a class
    """Return the class by which a list, set or deque keeps its items; None for another kind."""
    return base_in(kind, _SERIES) or next(filter(_is_deque, mro_of(kind)), None)


def _is_deque(kind: type) -> bool:
    """Return whether a class is `deque`: the program's, which is another one than ours."""
    if simple_name(kind) != "deque" or module_of(kind) != "collections":
        return False
    return type(names_in_class(kind).get("__iter__")) is WrapperDescriptorType


def _items(value: Any) -> list[object]:  # noqa: ANN401 - a container
    kind = type(value)
    mapping = base_in(kind, _MAPPINGS)
    if mapping is not None:
        return [part for pair in list(mapping.items(value)) for part in pair]
    return list(_series(kind).__iter__(value))


def attributes(value: object) -> list[object]:
    """Return the values of the attributes that an object or a class keeps."""
    if is_a(value, type):
        return list(names_in_class(value).values())
    names = stored_dict(value)
    parts = list(names.values()) if type(names) is dict else []
    for slot in slots_of(value):
        try:
            parts.append(slot.__get__(value))
        except AttributeError:
            parts.append(slot)
    return parts


@once_per_class
def slots_of(value: object) -> list[MemberDescriptorType]:
    """Return the slots of an object, where it keeps values."""
    members = [member for base in mro_of(type(value)) for member in names_in_class(base).values()]
    return [member for member in members if type(member) is MemberDescriptorType and backend.slot_offset(member) >= 0]


def _gives_bytes(kind: type) -> bool:
    """Return whether objects of a class give access to bytes, and run no code of the program for that."""
    return type(defined(kind, "__buffer__")) not in (_NONE, FunctionType)


def _content(value: Any) -> object:  # noqa: ANN401 - any value
    """Return the bytes that a value gives access to; None for no bytes, or for too many to keep."""
    if not _gives_bytes(type(value)):
        return None
    try:
        with memoryview(value) as view:
            return (view.format, view.shape, view.tobytes()) if view.nbytes <= _MOST_BYTES else None
    except (BufferError, NotImplementedError, TypeError, ValueError):
        return None


def is_seen_by_writes(value: object) -> bool:
    """Return whether its attributes are all that can change in an object: not in a class, nor in a container."""
    return not (is_a(value, type) or has_items(value) or _gives_bytes(type(value)))


def doubt_about(value: object) -> str:
    """Say which changes of a value are not seen; empty if all are."""
    kind = type(value)
    if kind is bytearray or base_in(kind, _PLAIN) is not None or is_a(value, *_CONSTANT):
        return ""
    if has_items(value):
        return "" if all(map(_is_constant, _items(value))) else "changes inside its items do not count"
    if _content(value) is not None:
        return ""
    if _has_hidden_state(value):
        return f"changes inside an object of the class {simple_name(kind)} are not seen"
    return "" if all(map(_is_constant, attributes(value))) else "changes inside its attributes do not count"


def _is_constant(value: object) -> bool:
    kind = type(value)
    if base_in(kind, _PLAIN) is not None or is_a(value, *_CONSTANT):
        return True
    return kind in (tuple, frozenset) and all(map(_is_constant, _items(value)))


def _has_hidden_state(value: object) -> bool:
    """Return whether an object keeps more than attributes, and its hash is of its identity."""
    kind = type(value)
    if defined(kind, "__hash__") not in (object.__hash__, None):
        return False
    return bool(_SIZE(kind) > object.__basicsize__ + _POINTER_BYTES * len(slots_of(value)))
