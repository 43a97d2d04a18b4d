"""The class of a value, and the definitions of that class, found without running code of the program.

`isinstance`, `type.mro` and attributes of a class can be redefined by it or by its metaclass; the facts read here
cannot be. Classes are told apart by identity: `kind in (int, str)` and `table[kind]` compare and hash a class as its
metaclass has it, `kind in ClassSet(int, str)` does not.
"""

import builtins
import sys
import types
from collections.abc import Callable
from types import FrameType, GetSetDescriptorType, MappingProxyType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from typing import TypeGuard

type Passed = tuple[FrameType, int]
"""A frame that an exception has passed, and the line where."""

_MRO: Final = type.__dict__["__mro__"].__get__
_NAMES: Final = type.__dict__["__dict__"].__get__
_NAME: Final = type.__dict__["__name__"].__get__
_QUALIFIED_NAME: Final = type.__dict__["__qualname__"].__get__
_MODULE: Final = type.__dict__["__module__"].__get__
FROZENDICT: Final[tuple[type, ...]] = (vars(builtins)["frozendict"],) if sys.version_info >= (3, 15) else ()
"""The class `frozendict`, where there is one."""
LAZY_IMPORT: Final[type | None] = getattr(types, "LazyImportType", None)
"""The class of a `lazy import` in a namespace (PEP 810), on CPython 3.15 and later."""
HAS_LAZY_IMPORTS: Final = LAZY_IMPORT is not None
_STORED_BY: Final = {"exceptions": BaseExceptionGroup, "message": BaseExceptionGroup, "code": SystemExit}
"""The class that keeps an attribute of exceptions, if it is not common to all exceptions."""


class ClassSet:
    """Some classes that never change."""

    __slots__ = ("_ids", "_kinds")

    def __init__(self, *kinds: type) -> None:
        self._kinds = kinds  # so that their ids stay their own
        self._ids = frozenset(map(id, kinds))

    def __contains__(self, kind: type) -> bool:
        return id(kind) in self._ids


MAPPINGS: Final = ClassSet(dict, *FROZENDICT)


def is_a[T](value: object, *kinds: type[T]) -> "TypeGuard[T]":
    """Return whether a value is of one of some classes; `isinstance` would ask the value's own `__class__`."""
    for kind in _MRO(type(value)):
        for expected in kinds:
            if kind is expected:
                return True
    return False


def is_lazy_import(value: object) -> bool:
    """Return whether a value is the placeholder that a `lazy import` leaves in a namespace.

    The interpreter imports the module where code reads the name, or an attribute of the module around it; reading the
    dict does not.
    """
    return HAS_LAZY_IMPORTS and type(value) is LAZY_IMPORT


def mapping_of(value: object) -> Any:  # noqa: ANN401 - one of two classes with like methods
    """Return the class by which a value keeps entries, `dict` or `frozendict`; None if it keeps none."""
    return next((kind for kind in _MRO(type(value)) if kind in MAPPINGS), None)


def entry_of(names: Any, name: str) -> Any:  # noqa: ANN401 - a dict or frozendict, and whatever is in there
    """Return the value of a name in a namespace, None if it has none; the globals of a frame may be a frozendict."""
    return (mapping_of(names) or dict).get(names, name)


def entries(names: Any) -> list[tuple[Any, Any]]:  # noqa: ANN401 - the same
    """Return the contents of a dict or frozendict, in one call: other threads may run."""
    return list((mapping_of(names) or dict).items(names))


def once_per_class[T](find: Callable[[Any], T]) -> Callable[[Any], T]:
    """Let a question about a value that only its class decides be answered once, until `forget_classes`."""
    # By identity: hashing a class may run its metaclass.
    answers: dict[int, tuple[type, T]] = {}
    _known_of_classes.append(answers)

    def answer(value: object) -> T:
        kind = type(value)
        entry = answers.get(id(kind))
        if entry is None:
            entry = answers[id(kind)] = kind, find(value)
        return entry[1]

    return answer


_known_of_classes: list[dict[int, Any]] = []


def forget_classes() -> None:
    """Look at every class anew: the program may have changed it."""
    for answers in _known_of_classes:
        answers.clear()


def mro(value: object) -> tuple[type, ...]:
    """Return the classes of a value, as its metaclass cannot change them."""
    classes: tuple[type, ...] = _MRO(type(value))
    return classes


def mro_of(kind: type) -> tuple[type, ...]:
    """Return a class and those that it is derived from."""
    classes: tuple[type, ...] = _MRO(kind)
    return classes


def names_in_class(kind: type) -> MappingProxyType[str, Any]:
    """Return the definitions of a class itself, without those of its bases."""
    names: MappingProxyType[str, Any] = _NAMES(kind)
    return names


def defined(kind: type, name: str) -> Any:  # noqa: ANN401 - an attribute of any type
    """Return the definition of a name in the bases of a class, None if there is none."""
    for base in mro_of(kind):
        names = names_in_class(base)
        if name in names:
            return names[name]
    return None


def namespace(value: object) -> dict[str, object] | MappingProxyType[str, object]:
    """Return the `__dict__` of a value, whatever its class makes of that name; empty if it has no dict."""
    if is_a(value, type):
        return names_in_class(value)
    names = stored_dict(value)
    return names if type(names) is dict else _copied(names)


def stored_dict(value: object) -> dict[str, object] | None:
    """Return the very object that keeps the attributes of a value that is not a class; None if it has none."""
    descriptor = _descriptor_of_dict(value)
    if descriptor is None:
        return None
    try:
        names: dict[str, object] | None = descriptor.__get__(value)
    except Exception:  # a proxy in C asks its target, which may have none
        return None
    return names


def replace_dict(value: object, names: dict[object, object]) -> None:
    """Replace the object that keeps the attributes of a value."""
    descriptor = _descriptor_of_dict(value)
    if descriptor is not None:
        descriptor.__set__(value, names)


def _descriptor_of_dict(value: object) -> Any:  # noqa: ANN401 - one of two kinds with the same methods
    for base in mro(value):
        member = names_in_class(base).get("__dict__")
        if type(member) is GetSetDescriptorType or type(member) is MemberDescriptorType:  # not a property of that name
            return member
    return None


def _copied(names: object) -> dict[str, object]:
    """Return the entries of a dict whose class may have its own ways to read it."""
    pairs: list[tuple[object, object]] = entries(names) if mapping_of(names) is not None else []
    return {plain_text(name): value for name, value in pairs if is_a(name, str)}


def stored(exception: BaseException, name: str) -> Any:  # noqa: ANN401 - an attribute of any type
    """Return an attribute that every exception of a kind has, whatever its class makes of attributes."""
    return _STORED_BY.get(name, BaseException).__dict__[name].__get__(exception)


def traceback_of(exception: BaseException) -> list[Passed]:
    """Return the frames of an exception's traceback, from the newest; some of them have ended."""
    passed_frames: list[Passed] = []
    traceback = stored(exception, "__traceback__")
    while traceback is not None:
        passed_frames.append((traceback.tb_frame, traceback.tb_lineno or 0))
        traceback = traceback.tb_next
    return passed_frames[::-1]


def type_name(value: object) -> str:
    """Return the name of a value's type, with its module unless that is `builtins`."""
    return class_name(type(value))


def class_name(kind: type) -> str:
    """Return the full name of a class, as its metaclass cannot change it."""
    name, module = qualified_name(kind), module_of(kind)
    return name if module in ("", "builtins") else f"{module}.{name}"


def qualified_name(kind: type) -> str:
    """Return the name of a class, below the names of the classes and functions around it."""
    return plain_text(_QUALIFIED_NAME(kind))


def simple_name(kind: type) -> str:
    """Return the name of a class without the names around it."""
    return plain_text(_NAME(kind))


def module_of(kind: type) -> str:
    """Return the name of the module that defines a class, an empty text if it does not say."""
    try:
        return plain_text(_MODULE(kind))
    except AttributeError:  # made by `type(...)` where there was no `__name__`
        return ""


def plain_text(value: object) -> str:
    """Return a text without the overridden methods of a subclass of `str`, empty for a value that is not a text."""
    return value if type(value) is str else str.__str__(value) if is_a(value, str) else ""
