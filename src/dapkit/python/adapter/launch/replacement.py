"""The replacement of a program by another, and breakpoints that the client sets meanwhile.

Requests that set breakpoints are answered by a program. One that comes while the program is replaced, or that the old
program was about to answer when it was ended, waits for the new one: it has it before it begins.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from dapkit.adapter import RequestFailed
from dapkit.protocol import Arguments, RawJson


class _Waiting:
    """A request that waits, and its outcome once it is `settled`."""

    def __init__(self, arguments: Arguments[Any]) -> None:
        self.arguments = arguments
        self.settled = anyio.Event()
        self.outcome: RawJson | RequestFailed | None = None

    def settle(self, outcome: RawJson | RequestFailed) -> None:
        self.outcome = outcome
        self.settled.set()


class Replacement:
    """The requests that wait for the new program, in their order."""

    def __init__(self) -> None:
        self._waiting: deque[_Waiting] = deque()

    async def ask(self, arguments: Arguments[Any]) -> RawJson:
        """Wait for the new program, and return its answer.

        Raises:
            RequestFailed: it refused, or there is no program.

        """
        waiting = _Waiting(arguments)
        self._waiting.append(waiting)
        try:
            await waiting.settled.wait()
        finally:
            if waiting.outcome is None:
                self._waiting.remove(waiting)
        if isinstance(waiting.outcome, RequestFailed):
            raise waiting.outcome
        assert waiting.outcome is not None, "a settled request has an outcome"  # noqa: S101 - says so to mypy
        return waiting.outcome

    async def serve(self, ask: Callable[[Arguments[Any]], Awaitable[RawJson]]) -> None:
        """Put everything that waits to the new program."""
        while self._waiting:
            waiting = self._waiting[0]
            try:
                outcome: RawJson | RequestFailed = await ask(waiting.arguments)
            except RequestFailed as error:
                outcome = error
            if waiting in self._waiting:  # the client may have cancelled it
                self._waiting.remove(waiting)
                waiting.settle(outcome)

    def give_up(self) -> None:
        """Refuse everything that waits: there is no new program."""
        while self._waiting:
            waiting = self._waiting.popleft()
            waiting.settle(RequestFailed(f"{waiting.arguments.command}: the program could not be started again"))
