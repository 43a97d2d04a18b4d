"""Coroutines of one object, called from outside of its event loop and waited for.

The loop runs in a thread of its own (anyio's portal); a facade has the object's
methods under the same names and with the same parameters. Nothing is implemented
twice.
"""

import functools
import math
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, Concatenate

from anyio.from_thread import BlockingPortal

from dapkit.protocol import DapkitError
from dapkit.system.signals import UNINTERRUPTED_SECONDS


class Facade[T]:
    """The blocking form of an object that lives in the loop of a portal."""

    def __init__(self, inner: T, *, portal: BlockingPortal | None = None) -> None:
        self._inner = inner
        self._portal = portal

    def _wait[R](self, work: Callable[[], Awaitable[R]]) -> R:
        """Run a coroutine function in the loop and wait for its result.

        A caller that interrupts the wait (Ctrl-C) cancels it there.
        """
        if self._portal is None:
            raise RuntimeError("not open: use it in a `with` block")
        future = self._portal.start_task_soon(work)
        try:
            _wait_for(future)
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise
        except DapkitError as error:
            raise error.with_traceback(None) from error.__cause__  # the way through the loop says nothing

    def _look[R](self, look: Callable[[], R]) -> R:
        """Read something in the loop, between two messages."""
        if self._portal is None:
            return look()
        return self._portal.call(look)


def _wait_for(future: Future[Any]) -> None:
    """Wait until a future is done, or the main thread is interrupted."""
    if math.isfinite(UNINTERRUPTED_SECONDS):
        end = threading.Event()
        future.add_done_callback(lambda _: end.set())
        while not end.wait(UNINTERRUPTED_SECONDS):
            pass


def blocking[S, **P, R](
    method: Callable[Concatenate[S, P], Awaitable[R]],
) -> Callable[Concatenate[Facade[Any], P], R]:
    """Make the method of a facade from a coroutine method of the object inside."""

    @functools.wraps(method)
    def wait(self: Facade[Any], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._wait(functools.partial(method, self._inner, *args, **kwargs))

    return wait
