"""Time travel: which moment of the program the client is shown, and how it gets to another.

    live --stepBack, reverseContinue--> past --the same, or forwards--> past --its history ends--> live

The live program is stopped meanwhile. A moment of the past is shown by a process that was executed again up to it,
with an engine of its own; it is replaced by another for each step back. Forwards it goes by itself.
"""

import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anyio
import msgspec

from dapkit.adapter import RequestFailed
from dapkit.endpoint import EventReceived, Happening
from dapkit.protocol import (
    Arguments,
    EvaluateArguments,
    Event,
    EventBody,
    GotoArguments,
    OutputEvent,
    RawJson,
    RestartFrameArguments,
    StepBackArguments,
    StoppedEvent,
    ThreadEvent,
    decode_as,
)
from dapkit.protocol.time_travel import (
    HistoryStop,
    TimelineBody,
    TimelineEvent,
    TravelToArguments,
    WhyArguments,
    WhyBody,
)
from dapkit.python import limits
from dapkit.python.adapter.configuration.arguments import TimeTravelSettings
from dapkit.python.adapter.engine.breakpoint_store import BreakpointStore
from dapkit.python.adapter.engine.debuggee import NOTHING, Debuggee
from dapkit.python.adapter.engine.resume_order import ResumeOrder
from dapkit.python.adapter.launch.launched_program import LaunchedProgram
from dapkit.python.adapter.time_travel.branches import MUTATING_COMMANDS, branch, may_change, remark, writes
from dapkit.python.adapter.time_travel.change_search import ChangeSearch
from dapkit.python.adapter.time_travel.checkpoints import Checkpoint, History, in_time, problem_of
from dapkit.python.adapter.time_travel.history_queries import (
    first_line,
    identity_of,
    last_time,
    last_write,
    line_before,
)
from dapkit.python.adapter.time_travel.instruction_steps import address_of, go_forwards
from dapkit.python.adapter.time_travel.origin_chain import OriginChain
from dapkit.python.adapter.time_travel.recorded_program import Replay
from dapkit.python.adapter.time_travel.replay_engines import PastEnded, PastEngine, PastEngines
from dapkit.python.adapter.time_travel.replay_messages import (
    BRANCHED_EVENT,
    HISTORY_ENDS_EVENT,
    RECORDING_ENDS_EVENT,
    STANDS_EVENT,
    ArrivalStop,
    HistoryEnded,
    RecordingEnded,
    StopPosition,
    history_ended,
)
from dapkit.transport import TransportError

_READ_ONLY = (
    "{}: readOnlyPast: this is a moment of the past, which cannot be changed; continue to the live program first"
)

END_OF_HISTORY = "End of recorded history"
_END = ArrivalStop("pause", {"description": END_OF_HISTORY})
DIVERGED = "Diverged: the recording cannot be executed further"
_CHANGE = ArrivalStop("pause", {"description": "Changed by the client"})

_MAIN = 1
"""The number of the main thread."""

_LOST = "lost"
"""How history ends if the process that showed it has ended by itself."""

_RECORDED = "{}: readOnlyPast: a recording is executed again, which cannot be changed"

_OF_ANY_MOMENT = frozenset({"threads", "modules", "loadedSources", "pause"})
"""Requests that name nothing of the process that shows a moment, so that the next one can answer them."""

RESUMING_COMMANDS = frozenset({"continue", "next", "stepIn", "stepOut"})
"""The command that continues a replay process."""

type Report = Callable[[Any, ResumeOrder], Awaitable[None]]
"""Reports an event to the client, in the order of the responses."""


@dataclass(frozen=True)
class Past:
    """The past of a program, before there is a link to its engine; `replay` is the recording, if it is one."""

    history: History
    settings: TimeTravelSettings
    replay: Replay | None

    def options(self) -> dict[str, object]:
        """Return the further options of the live program's engine."""
        travel: dict[str, object] = {
            "socket": str(self.history.path),
            "token": self.history.token,
            "interval": round(self.settings.interval * 1_000_000_000),
            "endsWithThreads": self.settings.threads == "end",
            "mayBranch": self.settings.past_writes == "branch",
        }
        if self.replay is not None:
            travel["recording"] = self.replay.options()
        return {"travel": travel}


class TimeTravel(Debuggee):
    """A program that can be shown at any moment of its past.

    As a debuggee it is the live program. After a branch, its link and its order belong to the process that took its
    place.

    Attributes:
        history: of the program.
        clock: of the live program when it last stopped.
        live_stop: the event of that stop.
        replay: the recording that is executed again, if it is one.
        has_ended: whether all of that was executed: there is nothing but the past then.

    Invariant: while `past` is set, the live program is stopped.

    """

    process: LaunchedProgram

    def __init__(
        self,
        live: Debuggee,
        program: LaunchedProgram,
        past: Past,
        *,
        options: dict[str, object],
        remembered: BreakpointStore,
        report: Report,
        start_soon: Callable[..., object],
    ) -> None:
        """Take the debuggee and the process of the live program, and its past.

        `options` are the options of the engine without its past, for replay processes; `remembered` are the client's
        breakpoints; `report` and `start_soon` are the session's functions for events and tasks.
        """
        super().__init__(live.link, live.order, program, live.paths)
        self.history = past.history
        self.replay = past.replay
        self._settings = past.settings
        self.clock = 0
        self._copies = self._written = 0
        self._time = 0.0
        self._is_over = False  # the live program is beyond its history
        self._ended_by = ""
        self._is_remarked = False
        self._stops: deque[HistoryStop] = deque(maxlen=limits.TIMELINE_STOPS)
        self.live_stop: StoppedEvent | None = None
        self._end = _END
        self.past: PastEngine | None = None
        self.has_ended = False
        past_options = {**options, "endsWithLink": True, "stopOnEntry": False}  # a replay is past its entry
        self._engines = PastEngines(past.history, remembered, past_options, program, live.paths)
        self._remembered = remembered
        self._report = report
        self._start_soon = start_soon
        self._branching = anyio.Lock()
        self._successors: deque[PastEngine] = deque()  # processes that took the live one's place, not yet listened to

    @property
    def is_replay(self) -> bool:
        """Whether it is a recording that is executed again."""
        return self.replay is not None

    @property
    def now(self) -> int:
        """The clock of the moment that the client is shown."""
        return self.clock if self.past is None else self.past.clock

    @property
    def _shown(self) -> Debuggee:
        """The debuggee of the process that the client sees."""
        return self if self.past is None else self.past.debuggee

    # Messages of the live program

    async def incoming(self) -> AsyncIterator[Happening]:
        """Yield the messages of the live program's engine, and of each process that takes its place."""
        async for happening in self.link.incoming():
            yield happening
        async with self._branching:  # the link ends before its successor is known
            pass
        while self._successors:
            successor = self._successors.popleft()
            await successor.passed_on.wait()
            try:
                async for happening in successor.debuggee.link.incoming():
                    yield happening
            finally:
                successor.left.set()
            async with self._branching:
                pass

    def observe(self, event: Event) -> bool:
        """Process an event about the history; return whether it was for the debuggee itself."""
        if not isinstance(event.body, RawJson):
            return super().observe(event)
        if event.event == STANDS_EVENT:
            self._take_note(decode_as(StopPosition, event.body))
            return True
        if event.event == RECORDING_ENDS_EVENT:
            self._start_soon(self._show_end, decode_as(RecordingEnded, event.body))
            return True
        return super().observe(event)

    def _take_note(self, stands: StopPosition) -> None:
        self.clock, self._copies, self._written = stands.clock, stands.copies, stands.written
        self._time = stands.time / 1_000_000 or time.time()
        self._is_over, self._ended_by = stands.is_over, stands.ended_by

    def events_of_stop(self, stop: StoppedEvent) -> list[EventBody]:
        """Record a stop of the live program, whose clock is known, and add the remarks on its history."""
        self.live_stop = stop
        self._stops.append(
            HistoryStop(
                clock=self.clock, time=self._time, output=self._written, reason=stop.reason, thread_id=stop.thread_id
            )
        )
        remarks: list[EventBody] = []
        if self._is_over and not self._is_remarked:
            self._is_remarked = True
            remarks.append(OutputEvent(output=history_ended(self._ended_by), category="important"))
        return [*remarks, stop, TimelineEvent(live=self.clock)]

    def end(self) -> None:
        """End all waits, and the process of the past that the client is shown."""
        super().end()
        self.leave()

    async def _show_end(self, ended: RecordingEnded) -> None:
        """Show the last moment of a recording, which was executed again to its end, or end if there is no moment."""
        await self.process.report_output()
        self._take_note(ended)
        self.has_ended = True
        if not ended.how.startswith("end"):
            self._end = ArrivalStop("pause", {"description": DIVERGED})
            await self._report_problem(problem_of(ended.how.split(" ")))
        elif self.replay is not None:
            await self._report(OutputEvent(output=f"{self.replay.end()}\n", category="console"), self.order)
        self.live_stop = StoppedEvent(reason=self._end.reason, description=self._end.details["description"])
        try:
            await self.history.have(self._copies)
            await self._show(self.clock, self._end)
        except RequestFailed as error:
            await self._report_problem(error)
            await self.process.kill()

    async def _report_problem(self, problem: RequestFailed) -> None:
        await self._report(OutputEvent(output=f"{problem}\n", category="important"), self._shown.order)

    # Requests

    async def ask(self, arguments: Arguments[Any]) -> RawJson:
        """Put a request to the process that the client sees; some lead to another moment.

        Raises:
            RequestFailed: it was refused.

        """
        match arguments:
            case GotoArguments():
                return await self._goto(arguments)
            case RestartFrameArguments(frame_id=frame_id):
                await self._restart_frame(frame_id)
                return NOTHING
            case _:
                return await self._ask_shown(arguments)

    async def _ask_shown(self, arguments: Arguments[Any]) -> RawJson:
        if (past := self.past) is not None and self._may_branch and writes(arguments):
            await self._branch(past)
            past = self.past
        if past is None:
            if self.replay is not None and arguments.command in MUTATING_COMMANDS:
                raise RequestFailed(_RECORDED.format(arguments.command))
            if arguments.command in RESUMING_COMMANDS:
                self.live_stop = None
            if may_change(arguments):
                self.history.note_change(self.clock)
            return await self.ask_live(arguments)
        return await self._ask_past(past, arguments)

    async def _ask_past(self, past: PastEngine, arguments: Arguments[Any]) -> RawJson:
        command = arguments.command
        if command in MUTATING_COMMANDS:
            raise RequestFailed(_READ_ONLY.format(command))
        if command in RESUMING_COMMANDS:
            past.write = 0
        try:
            return await past.debuggee.ask(arguments)
        except PastEnded:
            with anyio.move_on_after(limits.ENDING_SECONDS):
                await past.passed_on.wait()
            if past is not self.past and command in _OF_ANY_MOMENT:
                return await self._ask_shown(arguments)
            if past is self.past or past.is_lost:
                raise
            raise RequestFailed(f"{command}: the client was shown another moment before the answer") from None

    async def set_breakpoints(self, arguments: Arguments[Any], store: BreakpointStore) -> RawJson:
        """Set breakpoints in the live program, and in the process of the past that the client is shown.

        Raises:
            RequestFailed: they were refused.

        """
        answer = await super().set_breakpoints(arguments, store)
        if (past := self.past) is not None:
            past.breakpoints = store.copy()
            await past.breakpoints.set_again(past.debuggee.ask)
        return answer

    @property
    def _may_branch(self) -> bool:
        return self._settings.past_writes == "branch" and self.replay is None

    async def _branch(self, past: PastEngine) -> None:
        """Let the shown process take the place of the live program."""
        async with self._branching:
            if self.past is not past:
                return
            branched = await branch(past.debuggee, self, self.process, self.history, past.clock)
            self._successors.append(past)
            self.past = None
            self.clock, self._written, self._copies, self._is_over = past.clock, past.written, branched.copies, False
            self.live_stop = past.stop
            self.history.note_change(past.clock)
            self._stops = deque((stop for stop in self._stops if stop.clock <= past.clock), self._stops.maxlen)
            self._remembered.take_over(past.breakpoints)
            self.order.end()
            self.link, self.order = past.debuggee.link, past.debuggee.order
            self.stopped_by, self.is_detached = "", False
            for number in sorted(self.threads - {_MAIN}):
                await self._report(ThreadEvent(reason="exited", thread_id=number), self.order)
            self.threads &= {_MAIN}
            await self._report(OutputEvent(output=remark(branched), category="important"), self.order)
            await self._report(TimelineEvent(live=past.clock), self.order)

    async def step_back(self, args: StepBackArguments) -> None:
        """Go to where the shown frame began its line before this one, or its caller the line with the call.

        By instruction, go to the one that was executed before, in whichever function.

        Raises:
            RequestFailed: there is no way there.

        """
        await self._need_stop()
        if self._is_beyond:
            await self._show(self.clock, self._end)
            return
        if args.granularity == "instruction":
            address = await address_of(self._shown.link, args.thread_id)
            if (place := await self._engines.instruction_before(self.now, address)) is not None:
                await self._show(place.clock, ArrivalStop("step"), steps=place.steps)
                return
        if clock := await line_before(self.history, self.now):
            await self._show(clock, ArrivalStop("step"))
        else:
            await self._show_beginning()

    async def step_back_into(self) -> None:
        """Go to the line that was begun before this one, in whichever function.

        Raises:
            RequestFailed: there is no way there.

        """
        await self._need_stop()
        before = self.now - (not self._is_beyond)
        if before < self.history.beginning:
            await self._show_beginning()
        else:
            await self._show(before, ArrivalStop("step"))

    async def reverse_continue(self) -> None:
        """Go to the last stop before this moment that breakpoints and exception filters would have made.

        Raises:
            RequestFailed: there is no way there.

        """
        await self._need_stop()
        begin, end = self.now, self.now + self._is_beyond
        while begin > self.history.beginning and (checkpoint := self._scan_from(begin - 1)) is not None:
            scanned = await self._engines.scanned(checkpoint, end)
            until = end if self.past is None else min(end, self.past.write or end)
            until -= self.history.has_change(until - 1)
            write_clock = await last_write(self.history, self._remembered.on_places, checkpoint, until)
            if write_clock >= (scanned.last.clock if scanned.last is not None else 1):
                await self._show(write_clock, None)
                self._note_write(write_clock)
                return
            if (hit := scanned.last) is not None:
                await self._show(hit.clock, ArrivalStop(hit.reason, hit.details) if hit.at_line else None)
                return
            begin = checkpoint.clock
            end = begin + 1  # a stop at the very line of the checkpoint is seen only from the checkpoint before
        await self._show_beginning()

    def _note_write(self, write_clock: int) -> None:
        if self.past is not None:
            self.past.write = write_clock

    def _scan_from(self, clock: int) -> Checkpoint | None:
        """Return from where to look for stops: hits are counted from the beginning, or the client's last change."""
        return self.history.first_for(clock) if self._remembered.counts_hits else self.history.before(clock)

    async def travel_to(self, args: TravelToArguments) -> None:
        """Go to any moment of the recorded history.

        Raises:
            RequestFailed: there is no such moment, or no way there.

        """
        await self._need_stop()
        if not self.history.beginning <= args.clock <= self.clock:
            raise RequestFailed(
                f"dapkit/travelTo: clock {args.clock} is not in the recorded history, "
                f"which is from {self.history.beginning} to {self.clock}"
            )
        origin = self.history.first_for(args.clock) if args.from_beginning else self.history.before(args.clock)
        await self._show(args.clock, ArrivalStop("goto"), origin)

    async def search(self, args: WhyArguments) -> ChangeSearch | OriginChain:
        """Prepare the search for the line that last changed a value before this moment.

        Raises:
            RequestFailed: no such frame, or not an expression.

        """
        await self._need_stop()
        request = {"expression": args.expression, "frameId": args.frame_id}
        place = await self._shown.link.request_custom("dapkit/placeOfExpression", request)
        if self.history.before(self.now - 1) is None:  # at the beginning, where nothing has changed before
            await self._need_value(args)
        search = ChangeSearch(self.history, self.now, args.expression, place)
        return OriginChain(self.history, self._engines, search) if args.follow else search

    async def why(self, search: ChangeSearch | OriginChain) -> WhyBody:
        """Find that line.

        Raises:
            RequestFailed: the value never existed, or there is no way back.

        """
        paths = self._shown.paths
        change = await search.run()
        path = change.path and (paths.of_client(change.path) or change.path)
        chain = tuple(
            msgspec.structs.replace(step, path=paths.of_client(step.path) or step.path) for step in change.chain
        )
        return msgspec.structs.replace(change, path=path, chain=chain)

    async def _need_value(self, args: WhyArguments) -> None:
        """Check that an expression has a value in the shown process. Raises: RequestFailed."""
        look = EvaluateArguments(expression=args.expression, frame_id=args.frame_id, context="watch")
        try:
            await self._shown.ask(look)
        except RequestFailed as error:
            raise RequestFailed(f"{args.expression}: it has no value here, and had none before") from error

    async def _restart_frame(self, frame_id: int) -> None:
        """Go to where a frame of this moment began its first line.

        Raises:
            RequestFailed: there is no such frame, or no way there.

        """
        await self._need_stop()
        frame = await identity_of(self._shown, frame_id)
        if clock := await first_line(self.history, self.now, frame):
            await self._show(clock, ArrivalStop("restart"))
        else:
            await self._show_beginning()

    async def _goto(self, args: GotoArguments) -> RawJson:
        """Go to where the line of a target has begun last; if it has not, have the live program continue there.

        Raises:
            RequestFailed: there is no such target, or no way there.

        """
        await self._need_stop()
        debuggee = self._shown
        request = {"targetId": args.target_id, "threadId": args.thread_id}
        place = await debuggee.link.request_custom("dapkit/placeOfTarget", request)
        clock = await last_time(self.history, self.now, place)
        if clock is None:
            return await self._ask_shown(args)
        await self._show(clock, ArrivalStop("goto"))
        return NOTHING

    def timeline(self) -> TimelineBody:
        """Describe the recorded history."""
        return TimelineBody(
            beginning=self.history.beginning,
            now=self.now,
            output=self._written if self.past is None else self.past.written,
            live=self.clock,
            checkpoints=[each.moment for each in self.history.checkpoints if each.moment is not None],
            stops=list(self._stops),
        )

    @property
    def _is_beyond(self) -> bool:
        """Whether the client is shown the live program, and that is beyond its history."""
        return self.past is None and self._is_over

    async def _need_stop(self) -> None:
        if self.live_stop is None:
            raise RequestFailed("the program runs; pause it before going back in time")
        await self.history.have(self._copies)

    # Moments

    async def _show_beginning(self) -> None:
        await self._show(self.history.beginning, ArrivalStop("entry", {"description": "Start of recorded history"}))

    async def _show(
        self, clock: int, stop: ArrivalStop | None, origin: Checkpoint | None = None, steps: int = 0
    ) -> None:
        """Show a moment of the past in place of the present one, or of another; and so many instructions later."""
        checkpoint = origin or self.history.before(clock)
        if checkpoint is None:
            raise RequestFailed("noHistory: nothing of the program's past was kept")
        settled = anyio.Event()
        problems: list[RequestFailed] = []

        async def live_in_past() -> None:
            try:
                async with self._engines.begun("replay", checkpoint, clock, stop) as past:
                    with in_time():
                        await go_forwards(past.debuggee, steps)
                    self.leave()
                    self.past = past
                    settled.set()
                    try:
                        await self._pass_events_on(past)
                    finally:
                        past.passed_on.set()
            except (RequestFailed, TransportError) as error:
                problems.append(error if isinstance(error, RequestFailed) else RequestFailed(str(error)))
            finally:
                settled.set()

        self._start_soon(live_in_past)
        await settled.wait()
        for problem in problems:
            raise problem

    async def _show_stop(self, clock: int, stop: ArrivalStop) -> None:
        try:
            await self._show(clock, stop)
        except RequestFailed as error:
            await self._report_problem(error)

    def leave(self) -> None:
        """Let the process go that the client was shown."""
        past, self.past = self.past, None
        if past is not None:
            past.left.set()

    async def _pass_events_on(self, past: PastEngine) -> None:
        ended = branched = False
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_cancel_after, past.left, tasks.cancel_scope)
            async for happening in past.debuggee.link.incoming():
                match happening:
                    case EventReceived(event) if event.event == STANDS_EVENT and isinstance(event.body, RawJson):
                        stands = decode_as(StopPosition, event.body)
                        past.clock, past.written = stands.clock, stands.written
                    case EventReceived(event) if event.event == HISTORY_ENDS_EVENT and isinstance(event.body, RawJson):
                        ended = True
                        await self._history_ends(past, decode_as(HistoryEnded, event.body).how)
                    case EventReceived(event) if event.event == BRANCHED_EVENT:
                        branched = True
                        break
                    case EventReceived(event) if isinstance(event.body, StoppedEvent):
                        past.note(event.body)
                        await self._report(past.breakpoints.of_client(event.body), past.debuggee.order)
                        past.debuggee.order.pass_on()
                    case EventReceived(event) if isinstance(event.body, OutputEvent):
                        await self._report(past.debuggee.paths.event(event.body), past.debuggee.order)
            if not (ended or branched) and self.past is past:
                await self._history_ends(past, _LOST)
            tasks.cancel_scope.cancel()
        if branched:
            past.passed_on.set()
            await past.left.wait()

    async def _history_ends(self, past: PastEngine, how: str) -> None:
        """Be in the present again, where the live program is stopped."""
        past.is_lost = how == _LOST
        problem = await past.process.loss() if past.is_lost else problem_of(how.split(" "))
        if self.past is not past:
            return
        self.leave()
        if not how.startswith("end"):
            await self._report(OutputEvent(output=f"{problem}\n", category="important"), past.debuggee.order)
        assert self.live_stop is not None, "the live program stands"  # noqa: S101 - says so to mypy
        if 0 < (change := self.history.change_after(past.clock)) < self.clock:
            self._start_soon(self._show_stop, change, _CHANGE)
            return
        if self.has_ended:
            self._start_soon(self._show_stop, self.clock, self._end)
            return
        await self._report(self.live_stop, past.debuggee.order)


async def _cancel_after(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()
