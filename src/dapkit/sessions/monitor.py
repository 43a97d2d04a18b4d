"""Processing of a session's adapter reports: events, output, stops.

A stop becomes public in two steps. The adapter reports it; then its thread is
read, and the breakpoints that dapkit judges itself are judged. Until that is
done the session still counts as running, so that no caller acts on a stop that the
program does not stay in, or on one whose place is not known yet.

Some adapters cannot report the thread of a stop, or not yet: delve's thread of a stop on entry has
no stack, and lldb-dap 22 may leave the thread out for a moment. Such a stop is published
without its place, so whatever cannot be read stays unknown.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import anyio.to_thread

from dapkit import limits as shared_limits
from dapkit.catalog import Traits
from dapkit.client import Session, SessionEvent, Stopped, TextLog
from dapkit.protocol import (
    ContinueArguments,
    DapkitError,
    EvaluateArguments,
    InvalidatedEvent,
    StackFrame,
    StoppedEvent,
)
from dapkit.sessions import limits
from dapkit.sessions.breakpoints.collection import KeptBreakpoints
from dapkit.sessions.breakpoints.hits import Verdict, hit_by, judge_stop
from dapkit.sessions.breakpoints.kept import KeptBreakpoint
from dapkit.sessions.breakpoints.watched_values import read_again
from dapkit.sessions.event_state import EventState
from dapkit.sessions.own_code import AT_A_PLACE, own_frames
from dapkit.sessions.program_end import name_of_signal
from dapkit.sessions.references import ReferenceTable
from dapkit.sessions.requests import renumbered
from dapkit.sessions.state import DebugSessionState
from dapkit.sessions.stops import Stop
from dapkit.sessions.targets import Target
from dapkit.settings import Settings


@dataclass(frozen=True, slots=True)
class StoppedThread:
    """The values that could be read; None for each that could not.

    Attributes:
        frames: the top of the stack, at most as many as were asked for.
        total_frames: the depth of the whole stack, if the adapter reported it or it was all read.
        own: places of the frames that are the user's own code, if these were looked for.

    """

    thread_id: int | None = None
    thread_name: str | None = None
    frames: tuple[StackFrame, ...] | None = None
    total_frames: int | None = None
    own: tuple[int, ...] = ()

    @property
    def top(self) -> StackFrame | None:
        """The frame in which the thread stands."""
        return self.frames[0] if self.frames else None


async def read_stopped_thread(
    session: Session, stopped: Stopped, *, folders: Sequence[Path] | None, deadline: float
) -> StoppedThread:
    """Read the thread of a stop, for at most that long.

    This is the one `stackTrace` request of a stop: it asks for as many frames as a report shows, or as many as
    it may take to find the user's own code, whose folders are given then.
    """
    levels = shared_limits.STOP_FRAMES if folders is None else shared_limits.OWN_FRAMES
    thread = StoppedThread(stopped.event.thread_id)
    with anyio.move_on_after(deadline):
        try:
            thread = await _identify(session, thread)
            if thread.thread_id is not None:
                stack = await session.stack_trace(thread.thread_id, start_frame=0, levels=levels, deadline=deadline)
                frames = tuple(stack.stack_frames[:levels])  # an adapter may not know `levels`
                thread = replace(thread, frames=frames, total_frames=stack.total_frames)
                if folders is not None:
                    own = await anyio.to_thread.run_sync(own_frames, frames, folders)
                    thread = replace(thread, own=tuple(own))
        except DapkitError as error:
            log.info("the thread of a stop could not be read: %s", error)
    return thread


async def _identify(session: Session, thread: StoppedThread) -> StoppedThread:
    """Find the thread's id and name, with a `threads` request if they are not known."""
    if thread.thread_id is None or _name(session, thread.thread_id) is None:
        threads = (await session.threads()).threads
        if thread.thread_id is None and threads:
            return StoppedThread(threads[0].id, threads[0].name)
    return replace(thread, thread_name=None if thread.thread_id is None else _name(session, thread.thread_id))


def _name(session: Session, thread_id: int) -> str | None:
    thread = session.known_threads.get(thread_id)
    return None if thread is None else thread.name


log = logging.getLogger(__name__)


class SessionMonitor:
    """Listens to the runs of a session (see `run.RunListener`), and publishes their stops.

    Args:
        state: kept up to date with the reports.
        traits: the peculiarities of the adapter's responses.
        output: keeps the output of the programs and the adapters.
        breakpoints: asked whether the program stays at a stop.
        events: keeps the reports beside stops and output.
        references: numbers the frames of stops.
        folders: the folders of the user's own code, beside other places.
        post_mortem: whether it is a core file, whose stop is at no place that was asked for, whatever its reason.

    """

    def __init__(
        self,
        state: DebugSessionState,
        *,
        traits: Traits,
        settings: Settings,
        output: TextLog,
        breakpoints: KeptBreakpoints,
        events: EventState,
        references: ReferenceTable,
        folders: Sequence[Path],
        post_mortem: bool,
    ) -> None:
        self._state = state
        self._post_mortem = post_mortem
        self._traits = traits
        self._settings = settings
        self._output = output
        self._breakpoints = breakpoints
        self._events = events
        self._references = references
        self._folders = folders
        self._read_again: set[int] = set()

    # Reports of the run

    def event_received(self, target: Target, event: SessionEvent) -> None:
        """Record an event of a target."""
        self._events.add(event)
        if isinstance(event, StoppedEvent):
            self._add_beside(target, event)
        if isinstance(event, InvalidatedEvent) and {*(event.areas or ["all"])} & {"all", "stacks", "threads"}:
            stop, run = target.stop, self._state.run
            if stop is not None and run is not None and target.number not in self._read_again:
                run.start_task(self._update, target, stop)

    def output_received(self, text: str, category: str) -> None:
        """Keep output."""
        self._output.append(text, category)
        self.state_changed()

    def state_changed(self) -> None:
        """Let everybody who waits check the state again."""
        self._state.updates.notify()

    def run_ended(self) -> None:
        """Record that the run is over."""
        self._breakpoints.finish()
        self.state_changed()

    async def stop_received(self, target: Target, stopped: Stopped) -> None:
        """Read the thread of a new stop, and publish the stop or resume the program."""
        try:
            thread = await self._read_thread(target, stopped)
            verdict = await self._judge(target, stopped, thread)
            if verdict.is_panic:
                thread = await self._read_thread(target, stopped, at_a_place=False)
            signal = await self._signal_of(target, stopped, thread)
            if not verdict.stop and not self._state.pause_requested:
                if not self._state.stepping:
                    await self._resume(target, thread)
                    return
                remark = "a step ended at a breakpoint that does not stop"
                verdict = replace(verdict, remarks=(*verdict.remarks, remark))
            await self._breakpoints.take_back_temporary()
        except DapkitError as error:
            if not target.stands_at(stopped):
                log.info("a stop was over before its thread was read: %s", error)
                return
            thread, verdict, signal = StoppedThread(stopped.event.thread_id), Verdict(remarks=(str(error),)), None
        if target.stands_at(stopped):
            self._publish(target, stopped, thread, verdict, signal)

    # Details

    def _add_beside(self, target: Target, event: StoppedEvent) -> None:
        """Add to the present stop that another thread has come to one of its own."""
        state, stop = target.session.state, target.stop
        if stop is not None and isinstance(state, Stopped) and event.thread_id in target.session.stops_beside:
            target.publish(state, replace(stop, remarks=(*stop.remarks, _beside(event))))

    async def _read_thread(self, target: Target, stopped: Stopped, *, at_a_place: bool = True) -> StoppedThread:
        at_a_place = at_a_place and not self._post_mortem and _reason(target, stopped) in AT_A_PLACE
        folders = None if at_a_place else self._folders
        return await read_stopped_thread(target.session, stopped, folders=folders, deadline=limits.STOP_CAPTURE_SECONDS)

    async def _judge(self, target: Target, stopped: Stopped, thread: StoppedThread) -> Verdict:
        async def evaluate(expression: str) -> str:
            return await self._evaluate(expression, target, thread)

        panics = self._breakpoints.panics
        hit = hit_by(self._breakpoints.with_panics, target.session, stopped, thread.top)
        verdict = await judge_stop(hit, evaluate)
        if changes := [change for each in hit if (change := await self._change_of(each, target, thread))]:
            verdict = replace(verdict, changes=tuple(changes))
        if panics is not None and panics in hit:
            requested = tuple(number for number in verdict.hit if number != panics.number)
            verdict = replace(verdict, hit=requested, is_panic=not requested)
        for line in verdict.logs:
            self.output_received(f"{line}\n", "console")
        return verdict

    async def _change_of(self, breakpoint_: KeptBreakpoint, target: Target, thread: StoppedThread) -> str | None:
        """Report the change of the value that a breakpoint watches, if it watches one."""
        before = breakpoint_.watched
        if before is None:
            return None

        async def evaluate(expression: str, frame: int | None) -> str:
            request = EvaluateArguments(expression=expression, frame_id=frame, context="watch")
            return (await target.session.request(request, deadline=limits.STOP_CAPTURE_SECONDS)).result

        frames = [frame.id for frame in thread.frames or ()]
        breakpoint_.watched = await read_again(before, frames, evaluate)
        return before.became(breakpoint_.watched)

    async def _signal_of(self, target: Target, stopped: Stopped, thread: StoppedThread) -> str | None:
        """Find the name of the signal at which the program stopped, if it did."""
        description = stopped.event.description or ""
        if stopped.reason != "signal" or not self._traits.signal_expression:
            return self._traits.signal_described(description)
        try:
            return name_of_signal(int(await self._evaluate(self._traits.signal_expression, target, thread)))
        except (DapkitError, ValueError) as error:
            log.info("the signal of a stop could not be read: %s", error)
            return None

    async def _evaluate(self, expression: str, target: Target, thread: StoppedThread) -> str:
        frame_id = None if thread.top is None else thread.top.id
        request = EvaluateArguments(expression=expression, frame_id=frame_id, context="watch")
        return (await target.session.request(request, deadline=self._settings.request_timeout_seconds)).result

    async def _resume(self, target: Target, thread: StoppedThread) -> None:
        request = ContinueArguments(thread_id=thread.thread_id or 0)
        await target.session.request(request, deadline=self._settings.request_timeout_seconds)

    def _publish(
        self, target: Target, stopped: Stopped, thread: StoppedThread, verdict: Verdict, signal: str | None
    ) -> None:
        event = stopped.event
        is_entry = self._is_entry(stopped, thread)
        if is_entry and signal in self._traits.pause_signals:  # by which LLDB holds it there
            signal = None
        is_entry = is_entry and signal is None
        paused = self._state.pause_requested and self._is_pause(stopped, signal)
        if is_entry:
            reason = "entry"
        elif paused:
            reason = "pause"
        else:
            reason = "exception" if verdict.is_panic else _reason(target, stopped, signal)
        stop = Stop(
            number=self._state.count_stop(),
            reason=reason,
            target=target.number,
            description="panic" if verdict.is_panic else event.description or (f"signal {signal}" if signal else None),
            signal=None if paused else signal,
            at_panic_function=verdict.is_panic,
            text="; ".join(verdict.changes) or (None if event.text == event.description else event.text),
            hit_breakpoints=verdict.hit,
            all_threads_stopped=bool(event.all_threads_stopped),
            remarks=(*verdict.remarks, *map(_beside, target.session.stops_beside.values())),
        )
        target.publish(stopped, self._located(stop, target, thread))
        self._state.stop_published()

    def _is_entry(self, stopped: Stopped, thread: StoppedThread) -> bool:
        """Whether a stop is the one at the entry.

        LLDB before 18 reports an exception there without a description, for the signal by which it holds the program.
        """
        if stopped.reason == "entry":
            return True
        is_first = self._state.stops == 0 and not self._state.pause_requested
        at_start = thread.top is not None and thread.top.name == "_start"
        return is_first and at_start and stopped.reason == "exception" and bool(self._traits.pause_signals)

    def _is_pause(self, stopped: Stopped, signal: str | None) -> bool:
        """Whether a stop is the one that the adapter reports after a pause."""
        description = f"{stopped.event.description or ''} {stopped.event.text or ''} {signal or ''}"
        return stopped.reason == "pause" or self._traits.names_pause_signal(description)

    async def read_stop_again(self, target: Target) -> None:
        """Bring the stop of a target up to date, if it stands at one."""
        if target.stop is not None:
            await self._update(target, target.stop)

    async def _update(self, target: Target, stop: Stop) -> None:
        """Bring a stop up to date whose place the adapter has declared invalid; it keeps its number."""
        stopped = target.session.state
        if not isinstance(stopped, Stopped):
            return
        self._read_again.add(target.number)  # an adapter may send `invalidated` whenever it is asked for the stack
        try:
            thread = await self._read_thread(target, stopped)
        finally:
            self._read_again.discard(target.number)
        if target.stop is stop:
            target.publish(stopped, self._located(stop, target, thread))
            self.state_changed()

    def _located(self, stop: Stop, target: Target, thread: StoppedThread) -> Stop:
        """Add the facts about its thread to a stop."""
        frames = thread.frames and tuple(
            renumbered(
                frame,
                lambda kind, native: self._references.give(
                    kind, target, native, lifetime=target.lifetime, stop=stop.number
                ),
            )
            for frame in thread.frames
        )
        stop = replace(
            stop,
            thread_id=thread.thread_id,
            thread_name=thread.thread_name,
            frames=frames,
            total_frames=thread.total_frames,
        )
        if not frames:
            return stop
        number = thread.own[0] if thread.own else 0
        top = frames[number]
        return replace(
            stop,
            frame=number,
            outermost=thread.own[-1] if thread.own else None,
            frame_id=top.id,
            frame_name=top.name,
            path=None if top.source is None else top.source.path or top.source.name,
            line=top.line,
            column=top.column,
            instruction_pointer=top.instruction_pointer_reference,
        )


def _reason(target: Target, stopped: Stopped, signal: str | None = None) -> str:
    """Return the reason of a stop; gdb counts the catchpoints of exceptions as breakpoints.

    LLDB reports an entry where it finds a program that stands at a signal already, such as a core file.
    """
    if signal and stopped.reason == "entry":
        return "exception"
    hit = stopped.event.hit_breakpoint_ids
    return "exception" if hit and target.session.exception_breakpoint_ids.issuperset(hit) else stopped.reason


def _beside(event: StoppedEvent) -> str:
    return f"thread {event.thread_id} has stopped by itself, too ({event.reason}); it comes next when this one goes on"
