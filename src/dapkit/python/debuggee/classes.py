"""What class a value is of, and what that class defines, found without running code of the program.

`isinstance`, `type.mro` and attributes of a class can be redefined by it or by its metaclass; what is read
here cannot be.
"""

from collections.abc import Callable
from typing import Any


def is_a(value: object, *kinds: type) -> bool:
    """Say whether a value is of one of some classes; `isinstance` would ask the value's own `__class__`."""
    for kind in mro(value):  # noqa: SIM110 - `any` would cost twice as much, and this is asked for each value shown
        if kind in kinds:
            return True
    return False


def once_per_class[T](find: Callable[[Any], T]) -> Callable[[Any], T]:
    """Let a question about a value that only its class decides be answered once, until `forget_classes`."""
    # By identity: hashing a class may run its metaclass.
    known: dict[int, tuple[type, T]] = {}
    _known_of_classes.append(known)

    def answer(value: object) -> T:
        kind = type(value)
        found = known.get(id(kind))
        if found is None:
            found = known[id(kind)] = kind, find(value)
        return found[1]

    return answer


_known_of_classes: list[dict[int, Any]] = []


def forget_classes() -> None:
    """Look at every class anew: the program may have changed it."""
    for known in _known_of_classes:
        known.clear()


def mro(value: object) -> tuple[type, ...]:
    """Return the classes of a value, as its metaclass cannot change them."""
    classes: tuple[type, ...] = type.__dict__["__mro__"].__get__(type(value))
    return classes


def stored(exception: BaseException, name: str) -> Any:  # noqa: ANN401 - an attribute of any type
    """Return an attribute that every exception has, or every group of them, whatever its class makes of attributes."""
    kind = BaseExceptionGroup if name in ("exceptions", "message") else BaseException
    return kind.__dict__[name].__get__(exception)


def type_name(value: object) -> str:
    """Return the name of a value's type, with its module unless that is `builtins`."""
    return class_name(type(value))


def class_name(kind: type) -> str:
    """Return the full name of a class, as its metaclass cannot change it."""
    name = type.__dict__["__qualname__"].__get__(kind)
    module = type.__dict__["__module__"].__get__(kind)
    if module == "builtins" or not isinstance(module, str):
        return str(name)
    return f"{module}.{name}"
