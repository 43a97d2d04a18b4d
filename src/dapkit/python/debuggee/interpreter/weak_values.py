"""Objects of the program that we remember without keeping them alive.

Its end is something that the program can notice of most objects (`__del__`, weak references, memory, open files).
Those are remembered by a weak reference, or not at all; only plain data is kept.
"""

import _weakref
from collections.abc import Callable
from typing import Any, Final

from . import limits
from .safe_types import MAPPINGS

COLLECTED: Final = object()
"""Stands for an object that is no more."""

_ATOMS: Final = (int, float, complex, bool, str, bytes, bytearray, type(None))
_COLLECTIONS: Final = (tuple, list, set, frozenset)


def weak_getter(value: object) -> Callable[[], object] | None:
    """Return a function that finds an object as long as the program has it; None if only keeping it could."""
    if _is_data(value, limits.KEPT_ITEMS):
        return lambda: value
    try:
        reference = _weakref.ref(value)
    except TypeError:
        return None

    def find() -> object:
        value = reference()
        return COLLECTED if value is None else value

    return find


def _is_data(value: object, items: int) -> bool:
    """Return whether a value, and all of the few items in it, can end without anybody's notice."""
    kind = type(value)  # by identity: a metaclass may compare in its own way
    if any(kind is atom for atom in _ATOMS):
        return True
    if kind in MAPPINGS:
        pairs: Any = value
        return len(pairs) <= items and all(_is_data(part, 0) for pair in pairs.items() for part in pair)
    if any(kind is collection for collection in _COLLECTIONS):
        parts: Any = value
        return len(parts) <= items and all(_is_data(part, 0) for part in parts)
    return False
