"""The role of a process in the history of a program with time travel: it is the live program, or shows its past."""

from collections.abc import Callable

from ..connection.framing import Json
from ..evaluation.jobs import Around, as_it_is
from .parked_thread import ParkedThread

type Wrapper = Callable[[Callable[..., object]], Callable[..., object]]
"""Makes a function whose system calls are not taken for the program's."""


class HistoryRole:
    """The handling of stops, jobs and callbacks by a program's history.

    Attributes:
        stands: returns the fields that are reported with each stop: the `clock` at least.
        clock: returns the time.
        object_at: returns the object at an address, if there is one with the class at another address.
        callback_wrapper: wraps callbacks of sys.monitoring.
        fork_wrapper: wraps the fork hooks of a live program, so that a replay process skips them.
        forks_again: whether this process executes a recording: a fork makes no other process, but this one can
            continue as the child that was recorded, and the engine stays.
        job_wrapper: does the work of requests in stopped threads.

    """

    def __init__(
        self,
        stands: Callable[[], Json],
        clock: Callable[[], int],
        object_at: Callable[[int, int], object],
        *,
        callback_wrapper: Wrapper,
        fork_wrapper: Wrapper | None = None,
        forks_again: bool = False,
        job_wrapper: Around = as_it_is,
        is_copy: Callable[[], object] = bool,
        scanner: Callable[[ParkedThread, str, Json], None] | None = None,
        arrival: int | None = None,
    ) -> None:
        """Take the functions of the history, and the reasons for a stop to be passed.

        `is_copy` returns whether this is a copy of the debugged process, which no client would continue. `scanner`
        notes the stops of the program, in a process that only looks for them. `arrival` is the clock of the moment that
        this process began to be shown at.
        """
        self.stands = stands
        self.clock = clock
        self.object_at = object_at
        self.callback_wrapper = callback_wrapper
        self.fork_wrapper = fork_wrapper
        self.forks_again = forks_again
        self.job_wrapper = job_wrapper
        self._is_copy = is_copy
        self._scanner = scanner
        self._arrival = arrival

    def passes(self, parked: ParkedThread, reason: str, details: Json) -> bool:
        """Return whether the program continues in spite of it."""
        if self._scanner is not None:
            self._scanner(parked, reason, details)
            return True
        return bool(self._is_copy()) or self._has_arrived(parked)

    def _has_arrived(self, parked: ParkedThread) -> bool:
        """Return whether the client has been shown this very line as the moment of the past that it asked for."""
        return parked.at_line and self._arrival is not None and self.clock() == self._arrival
