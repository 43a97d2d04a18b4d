"""The listener of stops: a protocol for the type checker alone, since making the class takes 0.25 ms."""

from typing import Protocol

from ..values.references import Numbered


class StopListener(Protocol):
    """Takes reports of threads that stop and continue, under the lock."""

    def thread_stops(self) -> None:
        """Take note, in the thread itself and without the lock, that it is about to stop the program."""

    def thread_stopped(self, ident: int) -> None:
        """Record that a stop begins, because of this thread."""

    def thread_parked(self) -> None:
        """Record that a thread is stopped that was arrested."""

    def threads_resumed(self) -> None:
        """Record that some thread, or all, may continue."""

    def references_released(self, objects: list[Numbered]) -> None:
        """Take note, in the thread itself and without the lock, that it leaves and drops these objects."""
