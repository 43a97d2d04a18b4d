"""The program's own code in a thread that is not stopped, under a deadline that the link's thread keeps."""

from collections.abc import Callable
from time import monotonic

from ..connection.link import Link
from ..interpreter import limits
from ..interpreter.thread_checks import in_link_thread, off_link_thread
from .guard import EvaluationGuard


class _SupervisedGuard(EvaluationGuard):
    """A guard that the link's thread looks at from the first call of the program's own code on."""

    def __init__(self, link: Link, seconds: float) -> None:
        super().__init__(seconds)
        self._link = link
        self._is_looked_at = False
        self._is_over = False

    def call[**P, T](self, seconds: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if not self._is_looked_at:
            self._is_looked_at = True
            self._link.soon(self._look)
        return super().call(seconds, function, *args, **kwargs)

    def end(self) -> None:
        self._is_over = True
        super().end()

    @in_link_thread
    def _look(self) -> None:
        if not self._is_over:
            self.look(monotonic())
            self._link.after(limits.TICK_SECONDS, self._look)


@off_link_thread
def supervised[T](link: Link, seconds: float, work: Callable[[EvaluationGuard], T]) -> T:
    """Do work in the calling thread, with a guard for the program's own code in it."""
    guard = _SupervisedGuard(link, seconds)
    guard.begin()
    try:
        return work(guard)
    finally:
        guard.end()
