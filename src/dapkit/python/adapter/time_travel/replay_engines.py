"""Engines of processes that are executed again: begun, configured as the live program's is, and conversed with."""

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import msgspec

from dapkit.adapter import RequestFailed
from dapkit.endpoint import Endpoint, EventReceived, Role
from dapkit.protocol import (
    AttachRequestArguments,
    ConfigurationDoneArguments,
    InitializeRequestArguments,
    RawJson,
    StoppedEvent,
    decode_as,
)
from dapkit.python.adapter.configuration.paths import PathTranslation
from dapkit.python.adapter.engine.breakpoint_store import BreakpointStore
from dapkit.python.adapter.engine.debuggee import Debuggee, ProgramProcess
from dapkit.python.adapter.engine.resume_order import ResumeOrder
from dapkit.python.adapter.time_travel.checkpoints import (
    Checkpoint,
    History,
    PastProcess,
    ReplayKind,
    in_time,
    problem_of,
)
from dapkit.python.adapter.time_travel.instruction_steps import InstructionPlace, steps_before
from dapkit.python.adapter.time_travel.replay_messages import SCANNED_EVENT, ArrivalStop, Scanned
from dapkit.transport import Connection, ConversationLost, TransportError

log = logging.getLogger(__name__)


class PastEnded(RequestFailed):
    """A replay process has ended before it could answer."""


class _PastDebuggee(Debuggee):
    """The debuggee of a replay process's engine: all but the process belongs to the live program."""

    def __init__(
        self,
        link: Connection,
        order: ResumeOrder,
        program: ProgramProcess,
        paths: PathTranslation,
        replay: PastProcess,
    ) -> None:
        super().__init__(link, order, program, paths)
        self._replay = replay

    async def _loss(self, command: str) -> RequestFailed:
        return PastEnded(f"{command}: {await self._replay.loss()}")


class PastEngine:
    """The engine of a process that shows a moment of the past, as long as its block lasts.

    `written` is how many bytes the program had written by then, `stop` how that was reported, and `write` when the line
    began whose write to data it was to stop at, 0 for another stop. `passed_on` is set once all was passed on
    that it has said as a process of the past, `left` when it is no longer needed. `is_lost` says that it has ended by
    itself, for another reason than the end of the history.
    """

    def __init__(self, debuggee: Debuggee, process: PastProcess, breakpoints: BreakpointStore, clock: int) -> None:
        self.debuggee = debuggee
        self.process = process
        self.breakpoints = breakpoints
        self.clock = clock
        self.written = self.write = 0
        self.stop: StoppedEvent | None = None
        self.passed_on = anyio.Event()
        self.left = anyio.Event()
        self.is_lost = False

    def note(self, stop: StoppedEvent) -> None:
        """Record how a moment was reported to the client."""
        self.stop = self.breakpoints.of_client(stop)


class PastEngines:
    """Begins them, all with the same options, for one program."""

    def __init__(
        self,
        history: History,
        remembered: BreakpointStore,
        options: dict[str, object],
        program: ProgramProcess,
        paths: PathTranslation,
    ) -> None:
        self._history = history
        self._remembered = remembered
        self._options = options
        self._program = program
        self._paths = paths

    @asynccontextmanager
    async def begun(
        self, kind: ReplayKind, checkpoint: Checkpoint, goal: int, stop: ArrivalStop | None
    ) -> AsyncIterator[PastEngine]:
        """Converse with the engine of a replay process, configured as the live one is.

        Raises:
            RequestFailed: the process could not be begun, or did not reach its goal.

        """
        async with AsyncExitStack() as stack:
            link, order, process = await self._introduced(stack, kind, checkpoint, goal)
            options = {**self._options, "pastEnd": self._history.change_after(goal)}
            if stop is not None:
                options["pastStop"] = msgspec.to_builtins(stop)
            debuggee = _PastDebuggee(link, order, self._program, self._paths, process)
            breakpoints = self._remembered.copy(for_scan=kind == "scan")
            past = PastEngine(debuggee, process, breakpoints, goal)
            try:
                await link.request(AttachRequestArguments(extra=options))
                await breakpoints.set_again(debuggee.ask)
                await link.request(ConfigurationDoneArguments())
            except ConversationLost as error:
                raise await process.loss() from error
            yield past

    async def scanned(self, checkpoint: Checkpoint, end: int) -> Scanned:
        """Return the stops of the program between a checkpoint and a clock.

        Raises:
            RequestFailed: the process did not come so far.

        """
        scan: Scanned | None = None
        with in_time():
            async with self.begun("scan", checkpoint, end, None) as past:
                async for happening in past.debuggee.link.incoming():
                    match happening:
                        case EventReceived(event) if event.event == SCANNED_EVENT and isinstance(event.body, RawJson):
                            scan = decode_as(Scanned, event.body)
                            break
                if scan is None:
                    raise await past.process.loss()
        if self._history.has_change(end - 1):  # this process has not seen it: its last line is another
            return scan if scan.last is None or scan.last.at_line or scan.last.clock < end - 1 else Scanned()
        if scan.how.startswith("diverged"):
            raise problem_of(scan.how.split(" "))
        return scan

    async def instruction_before(self, clock: int, address: str) -> InstructionPlace | None:
        """Return where the instruction before a given address, at a clock, was executed.

        None if there was none before it.

        Raises:
            RequestFailed: there is no way there.

        """
        for begin in (clock, clock - 1):
            checkpoint = self._history.before(begin)
            if checkpoint is None:
                break
            async with self.begun("replay", checkpoint, begin, ArrivalStop("step")) as past:
                with in_time():
                    steps = await steps_before(past.debuggee.link, clock, address)
            if steps is not None:
                return InstructionPlace(begin, steps)
        return None

    async def _introduced(
        self, stack: AsyncExitStack, kind: ReplayKind, checkpoint: Checkpoint, goal: int
    ) -> tuple[Connection, ResumeOrder, PastProcess]:
        """Begin a replay process, which is there as long as the stack; once more if one ends at its beginning."""
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
                        raise await process.loss() from error
                    log.warning("a process of the past has ended at its beginning: %s", error)
                    continue
                await stack.enter_async_context(attempt.pop_all())
                return link, order, process
        raise AssertionError("the last attempt returns or raises")
