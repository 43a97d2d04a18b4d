"""Coroutines of one object, called from outside of its event loop and waited for.

The loop runs in a thread of its own (anyio's portal); a facade has the object's
methods under the same names and with the same parameters. Nothing is implemented
twice.
"""

import functools
import math
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError, Future
from typing import Any, Concatenate

from anyio import CancelScope
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
        call = _Call(work)
        try:
            future = self._portal.start_task_soon(call.run)
            _wait_for(future)
            return future.result()
        except KeyboardInterrupt:
            self._portal.start_task_soon(call.cancel)
            raise
        except DapkitError as error:
            raise error.with_traceback(None) from error.__cause__  # the way through the loop says nothing

    def _look[R](self, look: Callable[[], R]) -> R:
        """Read something in the loop, between two messages."""
        if self._portal is None:
            return look()
        return self._portal.call(look)


class _Call[R]:
    """A coroutine in the loop that its caller may cancel before the loop has said that it runs.

    The portal returns a future only after the loop has answered. A caller that is
    interrupted before that has no future to cancel.
    """

    def __init__(self, work: Callable[[], Awaitable[R]]) -> None:
        self._work = work
        self._scope: CancelScope | None = None

    async def run(self) -> R:
        with CancelScope() as self._scope:
            return await self._work()
        raise CancelledError

    def cancel(self) -> None:
        """Cancel the coroutine; to be called in the loop, which runs its tasks in the order of their start."""
        if self._scope is not None:
            self._scope.cancel()


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
