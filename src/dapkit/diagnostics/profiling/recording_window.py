"""The duration of a recording, and its progress reports."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from dapkit.diagnostics import limits
from dapkit.diagnostics.sessions import OnProgress


@dataclass(frozen=True, slots=True)
class Window:
    """The time that is recorded.

    Attributes:
        seconds: at most.
        what: the kind of recording, for people.
        on_progress: called with how far it is.
        stop: ends it early.
        open_ended: whether it is expected to be ended early, so that no share of it is shown.

    """

    seconds: float
    what: str
    on_progress: OnProgress | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    open_ended: bool = False

    def report(self, text: str) -> None:
        """Report a step other than the recording."""
        if self.on_progress is not None:
            self.on_progress(f"{self.what}: {text}", None)

    def pass_by(self, goes_on: Callable[[], bool] = lambda: True) -> tuple[float, bool]:
        """Wait until the time is over; return the seconds that have passed, and whether nothing ended it early.

        Args:
            goes_on: whether there is something to wait for; looked at every now and then.

        """
        start = time.monotonic()
        reported = 0
        while True:
            passed = time.monotonic() - start
            if passed >= self.seconds:
                return passed, True
            if self.stop.is_set() or not goes_on():
                return passed, self.open_ended and self.stop.is_set()
            if int(passed) > reported and self.on_progress is not None:
                reported = int(passed)
                self._report_time(passed)
            self.stop.wait(min(limits.PROFILE_LOOK_SECONDS, self.seconds - passed))

    def _report_time(self, passed: float) -> None:
        if self.on_progress is None:
            return
        if self.open_ended:
            self.on_progress(f"{self.what}: {passed:.0f} s", None)
        else:
            self.on_progress(f"{self.what}: {passed:.0f} of {self.seconds:.0f} s", 100 * passed / self.seconds)
