"""Letting the program go, stopping it, and waiting for what comes of it.

Who lets the program go and who waits for it need not be the same caller. The
request to go is one caller's at a time; the wait is everybody's: whoever asks a
running program to go on waits for the same stop, and gets the same answer.
"""

import logging

import anyio

from dapkit import limits
from dapkit.client import Location, Session, Stopped
from dapkit.endpoint import RequestFailed
from dapkit.protocol import (
    Arguments,
    ContinueArguments,
    DapkitError,
    GotoArguments,
    GotoTargetsArguments,
    NextArguments,
    PauseArguments,
    ReverseContinueArguments,
    Source,
    StepBackArguments,
    StepInArguments,
    StepOutArguments,
    SteppingGranularity,
)
from dapkit.sessions.errors import NotStopped, SessionError
from dapkit.sessions.monitor import Following
from dapkit.sessions.stops import How, Outcome
from dapkit.sessions.targets import Target
from dapkit.settings import Settings
from dapkit.transport import ConversationLost, DeadlineExceeded

log = logging.getLogger(__name__)


class Resuming(Following):
    """The part of a session that runs its programs."""

    def __init__(self, name: str, settings: Settings) -> None:
        super().__init__(name, settings)
        self._going = anyio.Lock()

    async def resume(
        self,
        how: How = "continue",
        *,
        thread: int | None = None,
        granularity: SteppingGranularity | None = None,
        step_in_target: int | None = None,
        target: int | None = None,
        deadline: float | None = None,
    ) -> Outcome:
        """Let the program go, and wait until it stops or ends, at most until the deadline; it runs on then.

        A program that runs already is only waited for. A cancelled wait leaves it running.

        Raises:
            RequestFailed: the adapter refused.
            CapabilityMissing: the adapter cannot do this.

        """
        ends = self._ends(deadline)
        async with self._going:
            before = self.stops
            chosen = self._chosen(thread, target)
            if chosen is not None and chosen.stop is not None:
                named = chosen.stop.thread_id or 0 if thread is None else thread
                arguments = _request(how, named, granularity, step_in_target, alone=_goes_alone(chosen.session))
                await self._let_go(chosen, arguments, stepping=how not in ("continue", "reverse_continue"), ends=ends)
        return await self._outcome(before, chosen, ends)

    async def run_to(self, place: Location, *, thread: int | None = None, deadline: float | None = None) -> Outcome:
        """Let the program go until it comes by a place, or stops for another reason before.

        Raises:
            NotStopped: it runs.
            Misplaced: there is no such place.

        """
        if self.stop is None and not self.over:
            raise NotStopped("Running to a line")
        await self.breakpoints.set_temporary(place)
        return await self.resume(thread=thread, deadline=deadline)

    async def goto(
        self, source: Source, line: int, *, thread: int | None = None, deadline: float | None = None
    ) -> Outcome:
        """Move the point of execution to a line without running what lies between.

        Raises:
            NotStopped: the program runs.
            RequestFailed: the adapter refused.
            CapabilityMissing: the adapter cannot do this.

        """
        ends = self._ends(deadline)
        async with self._going:
            before = self.stops
            chosen = self._chosen(thread, None)
            if chosen is None or chosen.stop is None:
                raise NotStopped("goto")
            named = chosen.stop.thread_id or 0 if thread is None else thread
            asked = GotoTargetsArguments(source=source, line=line)
            places = (await chosen.session.request(asked, deadline=self._left(ends))).targets
            if not places:
                raise SessionError(f"Line {line} of {source.path or source.name} is no place to go to from here.")
            await self._let_go(chosen, GotoArguments(thread_id=named, target_id=places[0].id), stepping=True, ends=ends)
        return await self._outcome(before, chosen, ends)

    async def pause(self, *, thread: int | None = None, deadline: float | None = None) -> Outcome:
        """Stop the program where it is, and wait for that; one that stands already is left alone.

        Raises:
            RequestFailed: the adapter refused.

        """
        ends = self._ends(deadline)
        chosen = self._chosen(thread, None)
        if chosen is None or self.stop is not None:
            return await self._outcome(self.stops, chosen, ends)
        before = self.stops
        self._pausing = True
        try:
            asked = PauseArguments(thread_id=await self._some_thread(chosen) if thread is None else thread)
            await self._ask_to_pause(chosen.session, asked, ends)
        except RequestFailed:
            if not isinstance(chosen.session.state, Stopped):  # it was faster, and is being looked at
                self._pausing = False
                raise
        except (DeadlineExceeded, ConversationLost) as error:
            log.info("a pause was not answered: %s", error)
        return await self._outcome(before, chosen, ends)

    async def wait(self, *, deadline: float | None = None) -> Outcome:
        """Wait until the program stands still or has ended, at most until the deadline."""
        with anyio.move_on_after(self.settings.request_timeout_seconds if deadline is None else deadline):
            await self._pulse.until(lambda: self.stop is not None or self.over)
        return self._present(timed_out=self.stop is None and not self.over)

    # Details

    async def _ask_to_pause(self, session: Session, asked: PauseArguments, ends: float) -> None:
        """Ask until it is accepted: lldb-dap refuses until it has noticed that a program runs that it let go."""
        patience = min(ends, anyio.current_time() + limits.PAUSE_AGAIN_SECONDS)
        while True:
            try:
                await session.request(asked, deadline=self._left(ends))
            except RequestFailed:
                if isinstance(session.state, Stopped) or anyio.current_time() > patience:
                    raise
            else:
                return
            await anyio.sleep(limits.PAUSE_TICK_SECONDS)
            if isinstance(session.state, Stopped):  # by something else meanwhile
                return

    async def _let_go(self, chosen: Target, arguments: Arguments[object], *, stepping: bool, ends: float) -> None:
        self._stepping = stepping
        try:
            await chosen.session.request(arguments, deadline=self._left(ends))
        except DeadlineExceeded:
            log.info("%s was not answered in time: what the program does shows in its events", arguments.command)
        except RequestFailed as refusal:
            # It may refuse because the program has ended, which it tells only afterwards.
            with anyio.move_on_after(limits.START_ERROR_SECONDS):
                await self._pulse.until(lambda: not chosen.live)
            if chosen.live:
                raise
            log.info("%s was refused since the program had ended: %s", arguments.command, refusal)
        except ConversationLost as lost:
            log.info("the adapter went instead of answering %s, which is an outcome, too: %s", arguments.command, lost)

    async def _outcome(self, before: int, chosen: Target | None, ends: float) -> Outcome:
        """Wait for a stop after so many, or the end, and say what it was."""

        def settled() -> bool:
            if self.stops > before or self.over:
                return True
            return (chosen is None or not chosen.live or chosen.stop is not None) and self.stop is not None

        with anyio.move_on_at(ends):
            await self._pulse.until(settled)
        return self._present(timed_out=not settled())

    def _present(self, *, timed_out: bool) -> Outcome:
        if self.over:
            return Outcome("terminated", exit_code=self.exit_code, failure=self.failure)
        if (stop := self.stop) is not None:
            return Outcome("stopped", stop=stop)
        return Outcome("running", timed_out=timed_out)

    def _chosen(self, thread: int | None, target: int | None) -> Target | None:
        """Find the target that a thread or a number speaks of; None if there is none now."""
        if self.over or not self.targets:
            return None
        if target is not None:
            if target not in self.targets:
                raise SessionError(f"The session has no target {target}; it has: {', '.join(map(str, self.targets))}.")
            return self.targets[target]
        return self.target if thread is None else self.target_of_thread(thread)

    def target_of_thread(self, thread: int) -> Target:
        """Find the target that has a thread of this id: the foreground before others."""
        foreground = self.target
        others = [one for one in self.live_targets() if one is not foreground]
        return next((one for one in (foreground, *others) if thread in one.session.known_threads), foreground)

    async def _some_thread(self, chosen: Target) -> int:
        """Find a thread to name in a request that needs one; adapters that cannot list them now take any."""
        if not chosen.session.known_threads:
            try:
                await chosen.session.threads(deadline=self.settings.request_timeout_seconds)
            except DapkitError:
                return 1 if chosen.last_stop is None else chosen.last_stop.thread_id or 1
        return next(iter(chosen.session.known_threads), 1)

    def _ends(self, deadline: float | None) -> float:
        return anyio.current_time() + (self.settings.request_timeout_seconds if deadline is None else deadline)

    def _left(self, ends: float) -> float:
        return max(0.0, ends - anyio.current_time())


def _goes_alone(session: Session) -> bool | None:
    """Whether only the one thread is to go: others stand by themselves, whose stops would be lost with them."""
    able = session.capabilities.supports_single_thread_execution_requests
    return True if able and session.stops_beside else None


def _request(
    how: How,
    thread: int,
    granularity: SteppingGranularity | None,
    step_in_target: int | None,
    *,
    alone: bool | None,
) -> Arguments[object]:
    match how:
        case "continue":
            return ContinueArguments(thread_id=thread, single_thread=alone)
        case "next":
            return NextArguments(thread_id=thread, single_thread=alone, granularity=granularity)
        case "step_in":
            return StepInArguments(
                thread_id=thread, single_thread=alone, granularity=granularity, target_id=step_in_target
            )
        case "step_out":
            return StepOutArguments(thread_id=thread, single_thread=alone, granularity=granularity)
        case "step_back":
            return StepBackArguments(thread_id=thread, single_thread=alone, granularity=granularity)
        case "reverse_continue":
            return ReverseContinueArguments(thread_id=thread, single_thread=alone)
