"""Numbers that stand for frames and values of one stop.

DAP overview, "Lifetime of Object References": they are good until the program goes on.
A number of an earlier stop is never reused, so that a late request gets an error that says what happened.
"""

import itertools
from typing import TYPE_CHECKING

from ..errors import RequestRefused

if TYPE_CHECKING:
    from typing import Protocol  # a class of it takes a quarter of a millisecond to make

    class Numbered(Protocol):
        """What a client can have a number for; `what` says what it is, in errors."""

        what: str


class ObjectReferences:
    """Objects by number.

    Invariant: `_first` holds the first number of each stop, in order; `_objects` those of the
    present stop only.
    """

    def __init__(self) -> None:
        self.stop = 0
        self._number = itertools.count(1).__next__  # several threads may ask at once
        self._last = 0
        self._first: list[int] = [1]
        self._objects: dict[int, tuple[Numbered, int]] = {}  # and the thread that each belongs to
        self.valid = False

    def begin(self, only: int = 0) -> int:
        """Start a new stop, of all threads or of one by its identity, and return its number."""
        self.stop += 1
        self._first.append(self._last + 1)
        self._forget(only)
        self.valid = True
        return self.stop

    def end(self, only: int = 0) -> None:
        """Forget all, or what belongs to one thread: it goes on, and must not be kept from freeing its objects."""
        self._forget(only)
        self.valid = bool(self._objects) and bool(only)

    def _forget(self, only: int) -> None:
        self._objects = {
            number: (value, owner) for number, (value, owner) in list(self._objects.items()) if only not in (0, owner)
        }

    def add(self, value: "Numbered", owner: int) -> int:
        """Give a number to an object of the present stop of a thread, by its identity."""
        number = self._last = self._number()
        self._objects[number] = (value, owner)
        return number

    def passing(self) -> int:
        """Give a number to something that cannot be asked for: a frame of a running thread."""
        self._last = self._number()
        return self._last

    def get[T: Numbered](self, number: object, kind: type[T]) -> T:
        """Return the object of a number.

        Raises:
            RequestRefused: if it is of an earlier stop, of another kind or of none.

        """
        found, _ = self._objects.get(number, (None, 0)) if isinstance(number, int) else (None, 0)
        if isinstance(found, kind):
            return found
        if found is not None:
            raise RequestRefused(f"reference {number} is a {found.what}, expected a {kind.what}")
        if not isinstance(number, int) or not 0 < number <= self._last:
            raise RequestRefused(f"there is no reference {number!r}")
        stop = sum(first <= number for first in self._first) - 1
        now = f"is at stop {self.stop}" if self.valid else "is running"
        raise RequestRefused(f"reference {number} belongs to stop {stop}, the program {now}")
