"""Time travel: which moment of the program the client is shown, and how it gets to another.

    live --stepBack, reverseContinue--> past --the same, or forwards--> past --its history ends--> live

The live program stands still meanwhile. A moment of the past is shown by a process that was executed again up to it,
with an engine of its own; it is replaced by another for each step back. Forwards it goes by itself.
"""

import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec

from dapkit import limits
from dapkit.adapter import RequestFailed
from dapkit.endpoint import EventReceived
from dapkit.protocol import (
    Arguments,
    GotoArguments,
    OutputEvent,
    RawJson,
    StepBackArguments,
    StoppedEvent,
    decode_as,
)
from dapkit.protocol.time_travel import HistoryStop, TimelineBody, TravelToArguments, WhyArguments, WhyBody
from dapkit.python.adapter.arguments import TimeTravelSettings
from dapkit.python.adapter.debuggee import STANDS_EVENT, Debuggee
from dapkit.python.adapter.history import UNEXPECTED, Checkpoint, History, in_time, problem_of
from dapkit.python.adapter.instruction_steps import address_of, go_forwards, steps_before
from dapkit.python.adapter.looking_back import depth_of, last_write, near, watched
from dapkit.python.adapter.past_engines import PastEngine, PastEngines
from dapkit.python.adapter.past_messages import (
    HISTORY_ENDS_EVENT,
    SCANNED_EVENT,
    ArrivalStop,
    HistoryEnded,
    RecordingEnded,
    Scanned,
    Stands,
)
from dapkit.python.adapter.remembered import SETTING, RememberedBreakpoints
from dapkit.python.adapter.replay import Replay
from dapkit.python.adapter.resume_order import ResumeOrder
from dapkit.transport import TransportError

WRITING = frozenset({"setVariable", "setExpression", "writeMemory", "goto", "terminateThreads"})
"""What would change the past."""

_READ_ONLY = (
    "{}: readOnlyPast: this is a moment of the past, which cannot be changed; continue to the live program first"
)

END_OF_HISTORY = "End of recorded history"
_END = ArrivalStop("pause", {"description": END_OF_HISTORY})

_BEYOND = 'Time travel: the history ends where the program began a second thread ("threads": "end").\n'

_RECORDED = "{}: readOnlyPast: a recording is executed again, which cannot be changed"

MOVING = frozenset({"continue", "next", "stepIn", "stepOut"})
"""What lets a process of the past go on."""

type Report = Callable[[Any, ResumeOrder], Awaitable[None]]
"""Reports an event to the client, in the order of what was answered."""


class TimeTravel:
    """The moments of one program.

    Attributes:
        history: of the program.
        clock: of the live program when it last stopped.
        live_stop: the event of that stop.
        replay: the recording that is executed again, if it is one.
        has_ended: whether all of that was executed: there is nothing but the past then.

    Invariant: while `past` is set, the live program stands still.

    """

    def __init__(
        self,
        history: History,
        settings: TimeTravelSettings,
        remembered: RememberedBreakpoints,
        *,
        report: Report,
        start_soon: Callable[..., object],
    ) -> None:
        """Take what the client has set, and how the session reports and begins tasks."""
        self.history = history
        self._settings = settings
        self.clock = 0
        self._copies = self._written = 0
        self._time = 0.0
        self._is_over = False  # the live program is beyond its history
        self._is_remarked = False
        self._stops: deque[HistoryStop] = deque(maxlen=limits.TIMELINE_STOPS)
        self.live_stop: StoppedEvent | None = None
        self.past: PastEngine | None = None
        self.replay: Replay | None = None
        self.has_ended = False
        self._engines = PastEngines(history, remembered)
        self._remembered = remembered
        self._report = report
        self._start_soon = start_soon

    @property
    def now(self) -> int:
        """The clock of the moment that the client is shown."""
        return self.clock if self.past is None else self.past.clock

    def options_of_live(self, options: dict[str, object]) -> dict[str, object]:
        """Return what the engine of the live program has to know besides; those of the past get the others."""
        self._engines.options = {**options, "endsWithLink": True}
        travel: dict[str, object] = {
            "socket": str(self.history.path),
            "token": self.history.token,
            "interval": round(self._settings.interval * 1_000_000_000),
            "endsWithThreads": self._settings.threads == "end",
        }
        if self.replay is not None:
            travel["recording"] = self.replay.options()
        return {"travel": travel}

    def note_clock(self, body: RawJson) -> None:
        """Take note of the clock of the live program, which is about to stop."""
        stands = decode_as(Stands, body)
        self._take_note(stands)

    def _take_note(self, stands: Stands) -> None:
        self.clock, self._copies, self._written = stands.clock, stands.copies, stands.written
        self._time = stands.time / 1_000_000 or time.time()
        self._is_over = stands.is_over

    def note_stop(self, stop: StoppedEvent) -> None:
        """Take note of a stop of the live program, whose clock is known."""
        self.live_stop = stop
        moment = HistoryStop(
            clock=self.clock, time=self._time, output=self._written, reason=stop.reason, thread_id=stop.thread_id
        )
        self._stops.append(moment)

    async def remark(self, order: ResumeOrder) -> None:
        """Remark, once, that the program has left its history behind."""
        if self._is_over and not self._is_remarked:
            self._is_remarked = True
            await self._report(OutputEvent(output=_BEYOND, category="important"), order)

    async def show_end(self, body: RawJson, live: Debuggee) -> None:
        """Show the last moment of a recording, which was executed again to its end.

        Raises:
            RequestFailed: there is none, or no way there.

        """
        ended = decode_as(RecordingEnded, body)
        self._take_note(ended)
        self.has_ended = True
        self.live_stop = StoppedEvent(reason=_END.reason, description=END_OF_HISTORY)
        if not ended.how.startswith("end"):
            problem = str(problem_of(ended.how.split(" ")))
            await self._report(OutputEvent(output=f"{problem}\n", category="important"), live.order)
        elif self.replay is not None:
            await self._report(OutputEvent(output=f"{self.replay.end()}\n", category="console"), live.order)
        await self.history.have(self._copies)
        await self._show(self.clock, live, _END)

    # Requests

    async def ask(self, arguments: Arguments[Any], live: Debuggee) -> RawJson:
        """Put a request to the process that the client is shown, and what is to be set to the live one.

        Raises:
            RequestFailed: it was refused.

        """
        past = self.past
        if past is None:
            if self.replay is not None and arguments.command in WRITING:
                raise RequestFailed(_RECORDED.format(arguments.command))
            if arguments.command in MOVING:
                self.live_stop = None
            body = await live.ask(arguments)
            return self._remembered.note(arguments, body) if arguments.command in SETTING else body
        if arguments.command in WRITING:
            raise RequestFailed(_READ_ONLY.format(arguments.command))
        if arguments.command in MOVING:
            past.write = 0
        if arguments.command not in SETTING:
            return await past.debuggee.ask(arguments)
        body = await live.ask(arguments)
        answer = self._remembered.note(arguments, body)
        past.breakpoints = self._remembered.copy()
        await past.breakpoints.set_again(past.debuggee.ask)
        return answer

    async def step_back(self, args: StepBackArguments, live: Debuggee) -> None:
        """Go to where the shown frame began its line before this one, or its caller the line with the call.

        By instruction, go to the one that was executed before, in whichever function.

        Raises:
            RequestFailed: there is no way there.

        """
        await self._need_stop()
        if self._is_beyond:
            await self._show(self.clock, live, _END)
            return
        if args.granularity == "instruction" and await self._instruction_back(args.thread_id, live):
            return
        goal, limit = self.now, 0
        while (checkpoint := self.history.before(goal - 1)) is not None:
            async with self.history.begun("steps", checkpoint, goal, limit) as process:
                words = await process.line()
            if words[0] != "steps":
                raise problem_of(words)
            clock, limit = int(words[1]), int(words[2])
            if clock:
                await self._show(clock, live, ArrivalStop("step"))
                return
            goal = checkpoint.clock
        await self._show_beginning(live)

    async def step_back_into(self, live: Debuggee) -> None:
        """Go to the line that was begun before this one, in whichever function.

        Raises:
            RequestFailed: there is no way there.

        """
        await self._need_stop()
        before = self.now - (not self._is_beyond)
        if before < self.history.beginning:
            await self._show_beginning(live)
        else:
            await self._show(before, live, ArrivalStop("step"))

    async def _instruction_back(self, thread: int, live: Debuggee) -> bool:
        """Go to the instruction before; return false if there is none since the line before."""
        shown = live if self.past is None else self.past.debuggee
        now, address = self.now, await address_of(shown.link, thread)
        for begin in (now, now - 1):
            checkpoint = self.history.before(begin)
            if checkpoint is None:
                break
            async with self._engines.begun("replay", checkpoint, begin, live, ArrivalStop("step")) as past:
                with in_time():
                    steps = await steps_before(past.debuggee.link, now, address)
            if steps is not None:
                await self._show(begin, live, ArrivalStop("step"), steps=steps)
                return True
        return False

    async def reverse_continue(self, live: Debuggee) -> None:
        """Go to the last stop before this moment that breakpoints and exception filters would have made.

        Raises:
            RequestFailed: there is no way there.

        """
        await self._need_stop()
        begin, end = self.now, self.now + self._is_beyond
        while begin > self.history.beginning and (checkpoint := self._scan_from(begin - 1)) is not None:
            scanned = await self._scanned(checkpoint, end, live)
            until = end if self.past is None else min(end, self.past.write or end)
            written = await last_write(self.history, self._remembered.on_places, checkpoint, until)
            if written >= (scanned.last.clock if scanned.last is not None else 1):
                await self._show(written, live, None)
                self._note_write(written)
                return
            if (hit := scanned.last) is not None:
                await self._show(hit.clock, live, ArrivalStop(hit.reason, hit.details) if hit.at_line else None)
                return
            begin = checkpoint.clock
            end = begin + 1  # what stops at the very line of the checkpoint, is seen only from the one before
        await self._show_beginning(live)

    def _note_write(self, written: int) -> None:
        if self.past is not None:
            self.past.write = written

    def _scan_from(self, clock: int) -> Checkpoint | None:
        """Return from where to look for stops: hits are counted from the beginning."""
        return self.history.before(self.history.beginning if self._remembered.counts_hits else clock)

    async def _scanned(self, checkpoint: Checkpoint, end: int, live: Debuggee) -> Scanned:
        found: Scanned | None = None
        with in_time():
            async with self._engines.begun("scan", checkpoint, end, live, None) as past:
                async for happening in past.debuggee.link.incoming():
                    match happening:
                        case EventReceived(event) if event.event == SCANNED_EVENT and isinstance(event.body, RawJson):
                            found = decode_as(Scanned, event.body)
                            break
        if found is None:
            raise RequestFailed(UNEXPECTED)
        if found.how.startswith("diverged"):
            raise problem_of(found.how.split(" "))
        return found

    async def travel_to(self, args: TravelToArguments, live: Debuggee) -> None:
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
        origin = self.history.before(self.history.beginning if args.from_beginning else args.clock)
        await self._show(args.clock, live, ArrivalStop("goto"), origin)

    async def why(self, args: WhyArguments, live: Debuggee) -> WhyBody:
        """Find the line that has made a value what it is at this moment.

        Raises:
            RequestFailed: no such frame, not an expression, one that never had a value, or no way back.

        """
        await self._need_stop()
        shown = live if self.past is None else self.past.debuggee
        asked = {"expression": args.expression, "frameId": args.frame_id}
        place = await shown.link.request_custom("dapkit/placeOfExpression", asked)
        goal = self.now
        while (checkpoint := await near(self.history, goal)) is not None:
            async with self.history.begun("watch", checkpoint, goal) as process:
                found = await watched(process, {"expression": args.expression, "place": place})
            if (change := found.change) is not None:
                path = change.path and (shown.paths.of_client(change.path) or change.path)
                return msgspec.structs.replace(change, path=path)
            if found.absent and checkpoint.clock == self.history.beginning:
                raise RequestFailed(f"{args.expression}: it has no value here, and had none before")
            goal = checkpoint.clock
        return WhyBody()

    async def restart_frame(self, frame_id: int, live: Debuggee) -> None:
        """Go to where a frame of this moment began its first line.

        Raises:
            RequestFailed: there is no such frame, or no way there.

        """
        await self._need_stop()
        depth = await depth_of(live if self.past is None else self.past.debuggee, frame_id)
        goal = self.now
        while (checkpoint := self.history.before(goal - 1)) is not None:
            async with self.history.begun("frame", checkpoint, goal, depth) as process:
                words = await process.line()
            if words[0] != "steps":
                raise problem_of(words)
            if clock := int(words[1]):
                await self._show(clock, live, ArrivalStop("restart"))
                return
            goal = checkpoint.clock
        await self._show_beginning(live)

    async def goto(self, args: GotoArguments, live: Debuggee) -> RawJson | None:
        """Go to where the line of a target has begun last; if it has not, have the live program go on there.

        Raises:
            RequestFailed: there is no such target, or no way there.

        """
        await self._need_stop()
        shown = live if self.past is None else self.past.debuggee
        asked = {"targetId": args.target_id, "threadId": args.thread_id}
        place = await shown.link.request_custom("dapkit/placeOfTarget", asked)
        goal = self.now
        while (checkpoint := await near(self.history, goal)) is not None:
            async with self.history.begun("watch", checkpoint, goal) as process:
                found = await watched(process, {"line": place})
            if found.change is not None and found.change.clock is not None:
                await self._show(found.change.clock, live, ArrivalStop("goto"))
                return None
            if found.absent:
                break
            goal = checkpoint.clock
        return await self.ask(args, live)

    def timeline(self) -> TimelineBody:
        """Describe the recorded history."""
        return TimelineBody(
            beginning=self.history.beginning,
            now=self.now,
            output=self._written if self.past is None else self.past.written,
            live=self.clock,
            checkpoints=[known.moment for known in self.history.checkpoints if known.moment is not None],
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

    async def _show_beginning(self, live: Debuggee) -> None:
        await self._show(
            self.history.beginning, live, ArrivalStop("entry", {"description": "Start of recorded history"})
        )

    async def _show(
        self, clock: int, live: Debuggee, stop: ArrivalStop | None, origin: Checkpoint | None = None, steps: int = 0
    ) -> None:
        """Show a moment of the past in place of the present one, or of another; and so many instructions later."""
        checkpoint = origin or self.history.before(clock)
        if checkpoint is None:
            raise RequestFailed("noHistory: nothing of the program's past was kept")
        settled = anyio.Event()
        problems: list[RequestFailed] = []

        async def live_in_past() -> None:
            try:
                async with self._engines.begun("replay", checkpoint, clock, live, stop) as past:
                    with in_time():
                        await go_forwards(past.debuggee, steps)
                    self.leave()
                    self.past = past
                    settled.set()
                    await self._pass_events_on(past)
            except (RequestFailed, TransportError) as error:
                problems.append(error if isinstance(error, RequestFailed) else RequestFailed(str(error)))
            finally:
                settled.set()

        self._start_soon(live_in_past)
        await settled.wait()
        for problem in problems:
            raise problem

    async def _show_end_again(self, live: Debuggee) -> None:
        try:
            await self._show(self.clock, live, _END)
        except RequestFailed as error:
            await self._report(OutputEvent(output=f"{error}\n", category="important"), live.order)

    def leave(self) -> None:
        """Let the process go that the client was shown."""
        past, self.past = self.past, None
        if past is not None:
            past.left.set()

    async def _pass_events_on(self, past: PastEngine) -> None:
        ended = False
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_cancel_after, past.left, tasks.cancel_scope)
            async for happening in past.debuggee.link.incoming():
                match happening:
                    case EventReceived(event) if event.event == STANDS_EVENT and isinstance(event.body, RawJson):
                        stands = decode_as(Stands, event.body)
                        past.clock, past.written = stands.clock, stands.written
                    case EventReceived(event) if event.event == HISTORY_ENDS_EVENT and isinstance(event.body, RawJson):
                        ended = True
                        await self._history_ends(past, decode_as(HistoryEnded, event.body).how)
                    case EventReceived(event) if isinstance(event.body, StoppedEvent):
                        await self._report(past.breakpoints.of_client(event.body), past.debuggee.order)
                        past.debuggee.order.pass_on()
                    case EventReceived(event) if isinstance(event.body, OutputEvent):
                        await self._report(past.debuggee.paths.event(event.body), past.debuggee.order)
            if not ended and self.past is past:
                await self._history_ends(past, "lost")
            tasks.cancel_scope.cancel()

    async def _history_ends(self, past: PastEngine, how: str) -> None:
        """Be in the present again, where the live program stands."""
        if self.past is not past:
            return
        self.leave()
        if not how.startswith("end"):
            text = str(problem_of(how.split(" ")))
            await self._report(OutputEvent(output=f"{text}\n", category="important"), past.debuggee.order)
        assert self.live_stop is not None, "the live program stands"  # noqa: S101 - says so to mypy
        if self.has_ended:
            self._start_soon(self._show_end_again, past.debuggee)
            return
        await self._report(self.live_stop, past.debuggee.order)


async def _cancel_after(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()
