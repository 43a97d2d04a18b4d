"""Numbers for frames and values that never mean anything else later.

Adapters use their numbers again after each stop, so that an old one would get the
answer of something else. Here each number is given out once in the life of a
session, and belongs to one lifetime (DAP overview, "Lifetime of Objects
References"); after it, the number is refused with the stop that it came from.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from dapkit.sessions import limits
from dapkit.sessions.errors import StaleReference, UnknownReference
from dapkit.sessions.targets import Lifetime, Target

type ReferenceKind = Literal["frame", "variables reference", "location"]


@dataclass(frozen=True, slots=True)
class Reference:
    """The object of a number.

    Attributes:
        target: number of the session of the tree that the adapter's number belongs to.
        lifetime: in which it was given out; it is void in any other.
        stop: the number of that stop; None if the program ran.
        native: the adapter's own number.

    """

    kind: ReferenceKind
    target: int
    lifetime: Lifetime
    stop: int | None
    native: int


class ReferenceTable:
    """All references of one session.

    Invariant: the same object of the same lifetime has one number, and no number stands for two things.
    """

    def __init__(self, targets: Callable[[], Mapping[int, Target]], *, most: int = limits.REFERENCES_KEPT) -> None:
        self._targets = targets
        self._kept = most
        self._last = 0
        self._by_number: dict[int, Reference] = {}
        self._numbers: dict[Reference, int] = {}

    def give(self, kind: ReferenceKind, target: Target, native: int, *, lifetime: Lifetime, stop: int | None) -> int:
        """Give a number to an object that the adapter has named in a lifetime."""
        reference = Reference(kind, target.number, lifetime, stop, native)
        present_number = self._numbers.get(reference)
        if present_number is not None:
            return present_number
        self._last += 1
        self._by_number[self._last] = reference
        self._numbers[reference] = self._last
        if len(self._by_number) > self._kept:
            oldest = next(iter(self._by_number))
            del self._numbers[self._by_number.pop(oldest)]
        return self._last

    def find(self, kind: ReferenceKind, number: int) -> Reference:
        """Look a number up.

        Raises:
            UnknownReference: it was not given out for this kind.
            StaleReference: its lifetime has ended.

        """
        reference = self._by_number.get(number)
        if reference is None or reference.kind != kind:
            raise UnknownReference(number, kind)
        target = self._targets().get(reference.target)
        if target is None or target.lifetime != reference.lifetime:
            now = None if target is None else target.stop
            raise StaleReference(number, stop=reference.stop, now=None if now is None else now.number)
        return reference
