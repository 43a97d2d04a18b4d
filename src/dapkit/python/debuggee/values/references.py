"""Numbers that stand for frames and values of one stop.

DAP overview, "Lifetime of Object References": they are good until the program continues.
A number of an earlier stop is never reused, so that a late request gets an error with the reason.

An object that loses its number may have no other owner. Its end can be code of the program (`__del__`, callbacks
of weak references), which must not run in the link's thread. So it is put aside for the thread of the program that it
belongs to, which drops it before it leaves the place where it stands.
"""

import itertools
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..interpreter.gc_tracking import untrack

if TYPE_CHECKING:
    from typing import Protocol  # a class of it takes a quarter of a millisecond to make

    class Numbered(Protocol):
        """An object for which a client can have a number; `what` is its name in errors."""

        what: str


_ANY: Final = 0
"""Stands for any thread, where objects that are put aside belong to one that does not stand."""


class ObjectReferences:
    """Objects by number.

    Invariant: `_first` holds the first number of each of the latest stops, in order; `_objects` the numbers of the
    present stop only; `_aside`, by thread, the objects that a thread must still drop.
    """

    def __init__(self) -> None:
        self.stop = 0
        self._number = itertools.count(1).__next__  # several threads may ask at once
        self._last = 0
        self._first: list[int] = [1]
        self._objects: dict[int, tuple[Numbered, int]] = {}  # and the thread that each belongs to
        self._aside: dict[int, list[Numbered]] = {}
        self.valid = False

    def begin(self, only: int = 0, *, standing: Collection[int] = ()) -> int:
        """Start a new stop, of all threads or of one by its identity, and return its number.

        The threads of `standing` are those that can drop objects.
        """
        self.stop += 1
        self._first.append(self._last + 1)
        if len(self._first) > 2 * limits.STOPS_REMEMBERED:
            del self._first[: -limits.STOPS_REMEMBERED]
        self._put_aside(only, standing)
        self.valid = True
        return self.stop

    def end(self, only: int = 0, *, standing: Collection[int] = ()) -> None:
        """Take the numbers from all objects, or from the objects of one thread: it is about to continue."""
        self._put_aside(only, standing)
        self.valid = bool(self._objects) and bool(only)

    def _put_aside(self, only: int, standing: Collection[int]) -> None:
        objects = self._objects
        self._objects = {}
        for number, (value, owner) in list(objects.items()):
            if only not in (0, owner):
                self._objects[number] = value, owner
            elif standing:  # else all threads are inside native code, and still have their objects
                self._aside.setdefault(owner if owner in standing else _ANY, []).append(value)

    def take(self, ident: int, *, everything: bool) -> list["Numbered"]:
        """Give a thread the objects that it is to drop, with `everything` also those that still have numbers."""
        if everything:
            self._put_aside(ident, (ident,))
            self.valid = self.valid and bool(self._objects)
        return self._aside.pop(ident, []) + self._aside.pop(_ANY, [])

    def add(self, value: "Numbered", owner: int) -> int:
        """Give a number to an object of the present stop of a thread, by its identity."""
        number = self._last = self._number()
        self._objects[number] = untrack((untrack(value), owner))
        return number

    def passing(self) -> int:
        """Give a number to something that cannot be asked for: a frame of a running thread."""
        self._last = self._number()
        return self._last

    def find[T: Numbered](self, number: int, kind: type[T]) -> "T | None":  # unquoted, it imports `typing` for real
        """Return the object of a number, None if it is of an earlier stop."""
        value, _ = self._objects.get(number, (None, 0))
        return value if isinstance(value, kind) else None

    def get[T: Numbered](self, number: object, kind: type[T]) -> T:
        """Return the object of a number.

        Raises:
            RequestRefused: if it is of an earlier stop, of another kind or of none.

        """
        value, _ = self._objects.get(number, (None, 0)) if isinstance(number, int) else (None, 0)
        if isinstance(value, kind):
            return value
        if value is not None:
            raise RequestRefused(f"reference {number} is a {value.what}, expected a {kind.what}")
        if not isinstance(number, int) or not 0 < number <= self._last:
            raise RequestRefused(f"there is no reference {number!r}")
        later = sum(first > number for first in self._first)
        stop = f"stop {self.stop - later}" if later < len(self._first) else "a stop long ago"
        now = f"is at stop {self.stop}" if self.valid else "is running"
        raise RequestRefused(f"reference {number} belongs to {stop}, the program {now}")
