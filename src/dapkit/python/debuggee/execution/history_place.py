"""Where a process is in the history of a program with time travel: it is the live program, or shows its past."""

from collections.abc import Callable

from ..connection.framing import Json
from .parked_thread import ParkedThread


class HistoryPlace:
    """The handling of stops by a program's history.

    Attributes:
        stands: returns the fields that are reported with each stop: the `clock` at least.
        clock: returns the time.
        object_at: returns the object at an address, if there is one with the class at another address.
        is_copy: returns whether this is a copy of the debugged process, which no client would continue.
        scanner: notes the stops of the program, in a process that only looks for them.
        arrival: the clock of the moment of the past that this process began to be shown at.

    """

    def __init__(
        self,
        stands: Callable[[], Json],
        clock: Callable[[], int],
        object_at: Callable[[int, int], object],
        is_copy: Callable[[], object] = bool,
    ) -> None:
        self.stands = stands
        self.clock = clock
        self.object_at = object_at
        self.is_copy = is_copy
        self.scanner: Callable[[ParkedThread, str, Json], None] | None = None
        self.arrival: int | None = None

    def passes(self, parked: ParkedThread, reason: str, details: Json) -> bool:
        """Return whether the program continues in spite of it."""
        if self.scanner is not None:
            self.scanner(parked, reason, details)
            return True
        return bool(self.is_copy()) or self._has_arrived(parked)

    def _has_arrived(self, parked: ParkedThread) -> bool:
        """Return whether the client has been shown this very line as the moment of the past that it asked for."""
        return parked.at_line and self.arrival is not None and self.clock() == self.arrival
