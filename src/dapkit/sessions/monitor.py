"""What the programs of a session do, as its callers see it: the tree, its stops, its output.

A stop becomes public in two steps. The adapter tells it; then it is looked at, and
judged by the breakpoints that are ours to judge. Until that is done the session
still counts as running, so that nobody acts on a stop that is none, or on one whose
place is not known yet.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dapkit import limits
from dapkit.client import SessionEvent, Stopped, TextLog
from dapkit.protocol import (
    Breakpoint,
    ContinueArguments,
    DapkitError,
    EvaluateArguments,
    InvalidatedEvent,
    StoppedEvent,
)
from dapkit.sessions.breakpoints.hits import Verdict, hit_by, judge_stop
from dapkit.sessions.breakpoints.setting import SessionBreakpoints
from dapkit.sessions.errors import SessionOver
from dapkit.sessions.event_state import EventState
from dapkit.sessions.references import ReferenceTable
from dapkit.sessions.run import ProgramRun
from dapkit.sessions.stopped_thread import Sight, look
from dapkit.sessions.stops import Status, Stop
from dapkit.sessions.targets import Target
from dapkit.settings import Settings
from dapkit.transport import Pulse

log = logging.getLogger(__name__)


class Following:
    """The part of a session that follows its programs.

    Invariant: `stops` counts the stops that were published; the latest that still
    stands is `stop`. There are targets from when an adapter is reached.

    Attributes:
        name: names the session within its project.
        output: what the programs and the adapter wrote, by category.
        breakpoints: what is to stop the programs.
        news: what the adapters of the present run told beside that.
        references: the numbers of frames and values that were given out.

    """

    def __init__(self, name: str, settings: Settings) -> None:
        self.name = name
        self.output = TextLog(settings.output_bytes)
        self.breakpoints = SessionBreakpoints(lambda: tuple(self.targets.values()))
        self.event_state = EventState()
        self.stops = 0
        self.settings = settings
        self._targets: dict[int, Target] = {}
        self.references = ReferenceTable(self._targets)
        self._run: ProgramRun | None = None
        self._launching = True
        self._ending = ""
        self._pulse = Pulse()
        self._pausing = False
        self._stepping = False
        self._looking_again: set[int] = set()

    # What is known

    @property
    def targets(self) -> Mapping[int, Target]:
        """The sessions of the tree by number; 0 is the program itself."""
        return self._targets

    @property
    def over(self) -> bool:
        """Whether there is nothing to debug any more; while the program is started there will be."""
        return not self._launching and (self._run is None or self._run.ended)

    @property
    def status(self) -> Status:
        """What the session is doing, in one word."""
        run = self._run
        if self.over:
            return "terminated"
        if run is None or run.ended or not run.started:
            configuring = run is not None and run.root.initialized and not run.root.configured
            return "configuring" if configuring else "launching"
        return "running" if self.stop is None else "stopped"

    @property
    def stop(self) -> Stop | None:
        """Where the program stands: the latest stop in the tree that still holds."""
        standing = [target.stop for target in self._targets.values() if target.stop is not None]
        return max(standing, key=lambda stop: stop.number, default=None)

    @property
    def target(self) -> Target:
        """The session of the tree that requests go to if nothing else is said.

        The one that stopped last and still stands; else the last that stood, if it lives; else the
        program itself, or the newest child of one that only starts children.

        Raises:
            SessionOver: the program has ended.

        """
        if self.over or not self._targets:
            raise SessionOver(self.name, self.ending)
        if (stop := self.stop) is not None:
            return self._targets[stop.target]
        live = [target for target in self._targets.values() if target.live]
        stood = [target for target in live if target.last_stop is not None]
        if stood:
            return max(stood, key=lambda target: target.last_stop.number if target.last_stop is not None else 0)
        root = self._targets[0]
        return root if root.shows_program or not live else live[-1]

    @property
    def exit_code(self) -> int | None:
        """Exit code of the program, once and if the adapter told it."""
        return None if self._run is None else self._run.exit_code

    @property
    def process_id(self) -> int | None:
        """Process of the program, if the adapter told it; of one that only starts children, that of the first child."""
        told = [target.session.debugged_process for target in self._targets.values()]
        return next((one.system_process_id for one in told if one is not None and one.system_process_id), None)

    @property
    def foreign_breakpoints(self) -> Sequence[Breakpoint]:
        """Breakpoints that an adapter has set by itself, such as by a command of gdb."""
        ours = {
            known.answer.id
            for target in self._targets.values()
            for known in target.session.breakpoints
            if known.answer is not None
        }
        return [one for number, one in self.event_state.foreign_breakpoints.items() if number not in ours]

    @property
    def failure(self) -> str | None:
        """Why the present run broke off, if it did."""
        return None if self._run is None else self._run.failure

    @property
    def ending(self) -> str:
        """How the session came to its end, for people; empty while it lives."""
        if not self.over:
            return ""
        if self._ending or self.failure:
            return self._ending or self.failure or ""
        code = "" if self.exit_code is None else f" with exit code {self.exit_code}"
        return f"the program ended{code}"

    # What the run tells

    def heard(self, target: Target, event: SessionEvent) -> None:
        """Take note of an event of a target."""
        self.event_state.heard(event)
        if isinstance(event, StoppedEvent):
            self._add_beside(target, event)
        if isinstance(event, InvalidatedEvent) and {*(event.areas or ["all"])} & {"all", "stacks", "threads"}:
            stop, run = target.stop, self._run
            if stop is not None and run is not None and target.number not in self._looking_again:
                run.look_after(self._look_again, target, stop)

    def _add_beside(self, target: Target, event: StoppedEvent) -> None:
        """Say with the stop that stands that another thread has come to one of its own."""
        state, stop = target.session.state, target.stop
        if stop is not None and isinstance(state, Stopped) and event.thread_id in target.session.stops_beside:
            target.publish(state, replace(stop, remarks=(*stop.remarks, _beside(event))))

    def printed(self, text: str, category: str) -> None:
        """Keep output."""
        self.output.append(text, category)
        self.beat()

    def beat(self) -> None:
        """Let everybody who waits look again."""
        self._pulse.beat()

    def finished(self) -> None:
        """Take note that the run is over."""
        self.breakpoints.finish()
        self.beat()

    async def stopped(self, target: Target, stopped: Stopped) -> None:
        """Look at a new stop of a target, and publish it or let the program go on."""
        try:
            sight = await look(target.session, stopped, deadline=limits.STOP_CAPTURE_SECONDS)
            verdict = await self._judge(target, stopped, sight)
            if not verdict.stop and not self._pausing:
                if not self._stepping:
                    await self._go_on(target, sight)
                    return
                verdict = replace(
                    verdict, remarks=(*verdict.remarks, "a step ended at a breakpoint that does not stop")
                )
            await self.breakpoints.take_back_temporary()
        except DapkitError as error:
            if not target.stands_at(stopped):
                log.info("a stop was over before it was looked at: %s", error)
                return
            sight, verdict = Sight(stopped.event.thread_id), Verdict(remarks=(str(error),))
        if target.stands_at(stopped):
            self._publish(target, stopped, sight, verdict)

    async def _look_again(self, target: Target, stop: Stop) -> None:
        """Bring a stop up to date whose place is said to be another now; it keeps its number."""
        stopped = target.session.state
        if not isinstance(stopped, Stopped):
            return
        self._looking_again.add(target.number)  # an adapter that says so whenever it is asked must not keep us at it
        try:
            sight = await look(target.session, stopped, deadline=limits.STOP_CAPTURE_SECONDS)
        finally:
            self._looking_again.discard(target.number)
        if target.stop is stop:
            target.publish(stopped, self._placed(stop, target, sight))
            self.beat()

    def _placed(self, stop: Stop, target: Target, sight: Sight) -> Stop:
        """Put into a stop what could be seen of it."""
        frame = sight.frame
        if frame is None:
            return replace(stop, thread_id=sight.thread_id, thread_name=sight.thread_name)
        source = frame.source
        return replace(
            stop,
            thread_id=sight.thread_id,
            thread_name=sight.thread_name,
            frame_id=self.references.give("frame", target, frame.id, lifetime=target.lifetime, stop=stop.number),
            frame_name=frame.name,
            path=None if source is None else source.path or source.name,
            line=frame.line,
            column=frame.column,
            instruction_pointer=frame.instruction_pointer_reference,
        )

    async def _judge(self, target: Target, stopped: Stopped, sight: Sight) -> Verdict:
        frame = sight.frame

        async def evaluate(expression: str) -> str:
            frame_id = None if frame is None else frame.id
            asked = EvaluateArguments(expression=expression, frame_id=frame_id, context="watch")
            return (await target.session.request(asked, deadline=self.settings.request_timeout_seconds)).result

        verdict = await judge_stop(hit_by(self.breakpoints.entries, target.session, stopped, frame), evaluate)
        for line in verdict.logs:
            self.printed(f"{line}\n", "console")
        return verdict

    async def _go_on(self, target: Target, sight: Sight) -> None:
        await target.session.request(
            ContinueArguments(thread_id=sight.thread_id or 0), deadline=self.settings.request_timeout_seconds
        )

    def _publish(self, target: Target, stopped: Stopped, sight: Sight, verdict: Verdict) -> None:
        self.stops += 1
        event = stopped.event
        stop = Stop(
            number=self.stops,
            reason="pause" if self._pausing and _is_pause(stopped) else event.reason,
            target=target.number,
            description=event.description,
            text=event.text,
            hit_breakpoints=verdict.hit,
            all_threads_stopped=bool(event.all_threads_stopped),
            remarks=(*verdict.remarks, *map(_beside, target.session.stops_beside.values())),
        )
        target.publish(stopped, self._placed(stop, target, sight))
        self._pausing = False
        self.beat()

    # For the other parts

    def live_targets(self) -> Sequence[Target]:
        """List the sessions of the tree that have not ended."""
        return [target for target in self._targets.values() if target.live]


def _beside(event: StoppedEvent) -> str:
    return f"thread {event.thread_id} has stopped by itself, too ({event.reason}); it comes next when this one goes on"


def _is_pause(stopped: Stopped) -> bool:
    """Whether a stop is what a pause looks like: lldb-dap 22 calls it an exception, SIGSTOP."""
    told = f"{stopped.event.description or ''} {stopped.event.text or ''}"
    return stopped.reason == "pause" or any(signal in told for signal in ("SIGSTOP", "SIGINT"))
