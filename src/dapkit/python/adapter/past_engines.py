"""Engines of processes that are executed again: begun, configured as the live program's is, and conversed with."""

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import msgspec

from dapkit.endpoint import Endpoint, Role
from dapkit.protocol import AttachRequestArguments, ConfigurationDoneArguments, InitializeRequestArguments
from dapkit.python.adapter.debuggee import Debuggee
from dapkit.python.adapter.history import Checkpoint, History, Kind, problem_of
from dapkit.python.adapter.past_messages import ArrivalStop
from dapkit.python.adapter.remembered import RememberedBreakpoints
from dapkit.python.adapter.resume_order import ResumeOrder
from dapkit.transport import Connection, TransportError

log = logging.getLogger(__name__)


class PastEngine:
    """The engine of a process that shows a moment of the past, as long as its block lasts.

    `written` is how many bytes the program had written by then, and `write` when the line began whose write to data it
    was to stop at, 0 for another stop.
    """

    def __init__(self, debuggee: Debuggee, breakpoints: RememberedBreakpoints, clock: int) -> None:
        self.debuggee = debuggee
        self.breakpoints = breakpoints
        self.clock = clock
        self.written = self.write = 0
        self.left = anyio.Event()


class PastEngines:
    """What all of them have in common: `options` are those of the live program's engine."""

    def __init__(self, history: History, remembered: RememberedBreakpoints) -> None:
        self.options: dict[str, object] = {}
        self._history = history
        self._remembered = remembered

    @asynccontextmanager
    async def begun(
        self, kind: Kind, checkpoint: Checkpoint, goal: int, live: Debuggee, stop: ArrivalStop | None
    ) -> AsyncIterator[PastEngine]:
        """Converse with the engine of a process of the past, configured as the live one is.

        Raises:
            RequestFailed: the process could not be begun, or did not reach its goal.

        """
        async with AsyncExitStack() as stack:
            link, order = await self._introduced(stack, kind, checkpoint, goal)
            options = self.options if stop is None else {**self.options, "pastStop": msgspec.to_builtins(stop)}
            await link.request(AttachRequestArguments(extra=options))
            debuggee = Debuggee(link, order, live.process, live.paths)
            breakpoints = self._remembered.copy(for_scan=kind == "scan")
            await breakpoints.set_again(debuggee.ask)
            past = PastEngine(debuggee, breakpoints, goal)
            await link.request(ConfigurationDoneArguments())
            yield past

    async def _introduced(
        self, stack: AsyncExitStack, kind: Kind, checkpoint: Checkpoint, goal: int
    ) -> tuple[Connection, ResumeOrder]:
        """Begin a process of the past, which is there as long as the stack; once more if one ends at its beginning."""
        for last in (False, True):
            async with AsyncExitStack() as attempt:
                process = await attempt.enter_async_context(self._history.begun(kind, checkpoint, goal))
                words = await process.line()
                if words[:1] != ["arrived"]:
                    raise problem_of(words)
                order = ResumeOrder()
                link = Connection(process.stream, Endpoint(Role.CLIENT), watch=order.observe)
                await attempt.enter_async_context(link)
                try:
                    await link.request(InitializeRequestArguments(adapter_id="dapkit"))
                except TransportError as error:
                    if last:
                        raise
                    log.warning("a process of the past has ended at its beginning: %s", error)
                    continue
                await stack.enter_async_context(attempt.pop_all())
                return link, order
        raise AssertionError("the last attempt returns or raises")
