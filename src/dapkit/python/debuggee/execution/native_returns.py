"""Threads that are to stop as soon as they come back from native code, while the others run at full speed.

Such a thread is waited for in the code that it will come back to, and nowhere else. Calls of native code are noticed
meanwhile if they run code for the first time since.
"""

from types import CodeType, FrameType

from ..interpreter.thread_checks import under_lock
from .monitor import HOLD, Monitor


class NativeReturns:
    """The threads that are waited for, by identity, and the code that is watched for each."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor
        self._codes: dict[int, list[CodeType]] = {}

    def __contains__(self, ident: int) -> bool:
        return ident in self._codes

    @under_lock
    def expect(self, ident: int, newest: FrameType | None) -> None:
        """Wait for a thread whose newest frame in Python is this one."""
        codes: dict[int, CodeType] = {}
        frame = newest
        while frame is not None:
            codes[id(frame.f_code)] = frame.f_code
            frame = frame.f_back
        self._codes[ident] = list(codes.values())
        for code in codes.values():
            self._monitor.want(code, f"return {ident}", HOLD, afresh=True)
        self._monitor.discover("return")

    @under_lock
    def end(self, ident: int) -> None:
        """Wait no more for a thread: it has come, or may continue."""
        for code in self._codes.pop(ident, ()):
            self._monitor.want(code, f"return {ident}", 0)
        if not self._codes:
            self._monitor.also("return", 0)

    @under_lock
    def clear(self) -> None:
        """Wait for none."""
        for ident in list(self._codes):
            self.end(ident)
