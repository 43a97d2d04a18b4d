"""Whether a write has changed a value, or put an equal object in the place of another.

Only values that compare at once and without code of the program: numbers, texts, bytes, None, and tuples of such, each
of exactly these types. All other objects are equal only if they are identical: their contents may differ.
"""

from collections.abc import Callable
from typing import Any, Final

from ..interpreter import limits


def is_same_value(old: object, new: object) -> bool:
    """Return whether two objects are one, or stand for the same value: 0.0 is not -0.0, and a NaN is a NaN."""
    todo: list[tuple[Any, Any]] = [(old, new)]
    for one, right in todo:
        if one is right:
            continue
        kind = type(one)
        if kind is not type(right):
            return False
        if kind is tuple:
            if len(one) != len(right) or len(todo) + len(one) > limits.COMPARED_ITEMS:
                return False
            todo.extend(zip(one, right, strict=True))
        elif kind not in _COMPARISONS or not _COMPARISONS[kind](one, right):
            return False
    return True


def _are_equal(one: object, right: object) -> bool:
    return one == right


def _are_texts_equal(one: str | bytes, right: str | bytes) -> bool:
    return len(one) == len(right) <= limits.COMPARED_CHARS and one == right


def _are_written_alike(one: float, right: float) -> bool:
    return one.hex() == right.hex()


def _are_parts_written_alike(one: complex, right: complex) -> bool:
    return _are_written_alike(one.real, right.real) and _are_written_alike(one.imag, right.imag)


_COMPARISONS: Final[dict[type, Callable[[Any, Any], bool]]] = {
    int: _are_equal,
    bool: _are_equal,
    float: _are_written_alike,
    complex: _are_parts_written_alike,
    str: _are_texts_equal,
    bytes: _are_texts_equal,
}
