"""How a session's programs are run: resumed, paused, and waited for.

The caller that resumes a program and the callers that wait for it may differ. One
caller at a time sends the request that resumes it; any number of them wait. A call
to resume a program that runs already waits for the same stop, and gets the same
answer.
"""

import contextlib
import logging

import anyio

from dapkit import limits as shared_limits
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
from dapkit.protocol.time_travel import StepBackIntoArguments, TravelToArguments
from dapkit.sessions import limits
from dapkit.sessions.breakpoints.collection import KeptBreakpoints
from dapkit.sessions.errors import NotStopped, PostMortem, SessionError
from dapkit.sessions.state import DebugSessionState
from dapkit.sessions.stops import How, Outcome
from dapkit.sessions.targets import Target
from dapkit.settings import Settings
from dapkit.transport import ConversationLost, DeadlineExceeded

log = logging.getLogger(__name__)


class Execution:
    """Runs the programs of a session."""

    def __init__(
        self, state: DebugSessionState, breakpoints: KeptBreakpoints, settings: Settings, *, post_mortem: bool = False
    ) -> None:
        self._post_mortem = post_mortem
        self._state = state
        self._breakpoints = breakpoints
        self._settings = settings
        self._resuming = anyio.Lock()

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
        """Resume the program, and wait until it stops or ends, at most until the deadline; it keeps running then.

        A program that runs already is only waited for. A cancelled wait leaves it running.

        Raises:
            RequestFailed: the adapter refused.
            CapabilityMissing: the adapter cannot do this.

        """
        ends = self._ends(deadline)
        async with self._resuming:
            before = self._state.stops
            chosen_target = self._chosen(thread, target)
            await self._begin(chosen_target, how, thread, granularity, step_in_target, ends=ends)
        return await self._outcome(before, chosen_target, ends)

    async def let_run(self, *, deadline: float | None = None) -> None:
        """Resume the program without waiting for its next stop. Raises: as `resume`."""
        async with self._resuming:
            await self._begin(self._chosen(None, None), "continue", ends=self._ends(deadline))

    async def _begin(
        self,
        chosen_target: Target | None,
        how: How,
        thread: int | None = None,
        granularity: SteppingGranularity | None = None,
        step_in_target: int | None = None,
        *,
        ends: float,
    ) -> None:
        """Resume a program that is stopped; one that runs already is left alone."""
        if chosen_target is None or chosen_target.stop is None:
            return
        thread_id = chosen_target.stop.thread_id or 0 if thread is None else thread
        alone = _resumes_alone(chosen_target.session)
        arguments = _request(how, thread_id, granularity, step_in_target, alone=alone)
        await self._send(chosen_target, arguments, stepping=how not in ("continue", "reverse_continue"), ends=ends)

    async def run_to(self, place: Location, *, thread: int | None = None, deadline: float | None = None) -> Outcome:
        """Resume the program until it reaches a place, or stops for another reason before.

        Raises:
            NotStopped: it runs.
            Misplaced: there is no such place.

        """
        if self._post_mortem:
            raise PostMortem
        if self._state.stop is None and not self._state.over:
            raise NotStopped("Running to a line")
        await self._breakpoints.set_temporary(place)
        return await self.resume(thread=thread, deadline=deadline)

    async def goto(
        self, source: Source, line: int, *, thread: int | None = None, deadline: float | None = None
    ) -> Outcome:
        """Move the point of execution to a line without running the lines in between.

        Raises:
            NotStopped: the program runs.
            RequestFailed: the adapter refused.
            CapabilityMissing: the adapter cannot do this.

        """
        ends = self._ends(deadline)
        async with self._resuming:
            before = self._state.stops
            chosen_target = self._chosen(thread, None)
            if chosen_target is None or chosen_target.stop is None:
                raise NotStopped("goto")
            thread_id = chosen_target.stop.thread_id or 0 if thread is None else thread
            request = GotoTargetsArguments(source=source, line=line)
            places = (await chosen_target.session.request(request, deadline=self._left(ends))).targets
            if not places:
                raise SessionError(f"Line {line} of {source.path or source.name} is not a place to go to from here.")
            await self._send(
                chosen_target, GotoArguments(thread_id=thread_id, target_id=places[0].id), stepping=True, ends=ends
            )
        return await self._outcome(before, chosen_target, ends)

    async def travel(
        self, where: TravelToArguments | StepBackIntoArguments, *, deadline: float | None = None
    ) -> Outcome:
        """Show the program as it was at another moment of its recorded history.

        Raises:
            NotStopped: the program runs.
            RequestFailed: the adapter refused.

        """
        ends = self._ends(deadline)
        async with self._resuming:
            before = self._state.stops
            chosen_target = self._chosen(None, None)
            if chosen_target is None or chosen_target.stop is None:
                raise NotStopped("Going to another moment")
            await self._send(chosen_target, where, stepping=True, ends=ends)

        def arrived() -> bool:
            return self._state.stops > before or self._state.over

        with anyio.move_on_at(ends):
            await self._state.updates.until(arrived)
        return self._present(timed_out=not arrived())

    async def pause(self, *, thread: int | None = None, deadline: float | None = None) -> Outcome:
        """Stop the program where it is, and wait for that; one that is stopped already is left alone.

        Raises:
            RequestFailed: the adapter refused.

        """
        ends = self._ends(deadline)
        chosen_target = self._chosen(thread, None)
        if chosen_target is None or self._state.stop is not None:
            return await self._outcome(self._state.stops, chosen_target, ends)
        before = self._state.stops
        self._state.request_pause()
        try:
            request = PauseArguments(thread_id=await self._some_thread(chosen_target) if thread is None else thread)
            await self._ask_to_pause(chosen_target.session, request, ends)
            await self._until_paused(chosen_target, request, ends)
        except RequestFailed:
            if not isinstance(chosen_target.session.state, Stopped):  # a stop came first, and is being read
                self._state.withdraw_pause()
                raise
        except (DeadlineExceeded, ConversationLost) as error:
            log.info("a pause was not answered: %s", error)
        return await self._outcome(before, chosen_target, ends)

    async def wait(self, *, deadline: float | None = None) -> Outcome:
        """Wait until the program is stopped or has ended, at most until the deadline."""
        with anyio.move_on_after(self._settings.request_timeout_seconds if deadline is None else deadline):
            await self._state.updates.until(lambda: self._state.stop is not None or self._state.over)
        return self._present(timed_out=self._state.stop is None and not self._state.over)

    # Details

    async def _ask_to_pause(self, session: Session, request: PauseArguments, ends: float) -> None:
        """Ask until it is accepted: lldb-dap refuses until it has noticed that the program it resumed runs."""
        patience = min(ends, anyio.current_time() + limits.PAUSE_AGAIN_SECONDS)
        while True:
            try:
                await session.request(request, deadline=self._left(ends))
            except RequestFailed:
                if isinstance(session.state, Stopped) or anyio.current_time() > patience:
                    raise
            else:
                return
            await anyio.sleep(limits.PAUSE_TICK_SECONDS)
            if isinstance(session.state, Stopped):  # for another reason meanwhile
                return

    async def _until_paused(self, chosen_target: Target, request: PauseArguments, ends: float) -> None:
        """Wait for the stop, and ask once more where none comes."""
        while self._left(ends) > limits.PAUSE_LOST_SECONDS:
            with anyio.move_on_after(limits.PAUSE_LOST_SECONDS):
                await self._state.updates.until(lambda: self._state.stop is not None or not chosen_target.live)
                return
            log.info("a pause has stopped nothing within %g s: once more", limits.PAUSE_LOST_SECONDS)
            with contextlib.suppress(RequestFailed):  # the first was taken
                await chosen_target.session.request(request, deadline=self._left(ends))

    async def _send(self, chosen_target: Target, arguments: Arguments[object], *, stepping: bool, ends: float) -> None:
        self._state.note_resumption(stepping=stepping)
        try:
            await chosen_target.session.request(arguments, deadline=self._left(ends))
        except DeadlineExceeded:
            log.info("%s was not answered in time: its events show the state of the program", arguments.command)
        except RequestFailed as refusal:
            # It may refuse because the program has ended, which it reports only afterwards.
            with anyio.move_on_after(shared_limits.START_ERROR_SECONDS):
                await self._state.updates.until(lambda: not chosen_target.live)
            if chosen_target.live:
                raise
            log.info("%s was refused since the program had ended: %s", arguments.command, refusal)
        except ConversationLost as lost:
            log.info("the adapter ended instead of answering %s: %s", arguments.command, lost)

    async def _outcome(self, before: int, chosen_target: Target | None, ends: float) -> Outcome:
        """Wait for a stop beyond the first `before`, or for the end, and return which it was."""

        def settled() -> bool:
            if self._state.stops > before or self._state.over:
                return True
            return (
                chosen_target is None or not chosen_target.live or chosen_target.stop is not None
            ) and self._state.stop is not None

        with anyio.move_on_at(ends):
            await self._state.updates.until(settled)
        return self._present(timed_out=not settled())

    def _present(self, *, timed_out: bool) -> Outcome:
        if self._state.over:
            return Outcome("terminated", exit_code=self._state.exit_code, failure=self._state.failure)
        if (stop := self._state.stop) is not None:
            return Outcome("stopped", stop=stop)
        return Outcome("running", timed_out=timed_out)

    def _chosen(self, thread: int | None, target: int | None) -> Target | None:
        """Find the target of a thread or a number; None if it does not exist now. Raises: PostMortem."""
        if self._post_mortem:
            raise PostMortem
        if self._state.over or not self._state.targets:
            return None
        if target is not None:
            return self._state.numbered_target(target)
        return self._state.target if thread is None else self._state.target_of_thread(thread)

    async def _some_thread(self, chosen_target: Target) -> int:
        """Find a thread to name in a request that needs one; adapters that cannot list them now take any."""
        if not chosen_target.session.known_threads:
            try:
                await chosen_target.session.threads(deadline=self._settings.request_timeout_seconds)
            except DapkitError:
                return 1 if chosen_target.last_stop is None else chosen_target.last_stop.thread_id or 1
        return next(iter(chosen_target.session.known_threads), 1)

    def _ends(self, deadline: float | None) -> float:
        return anyio.current_time() + (self._settings.request_timeout_seconds if deadline is None else deadline)

    def _left(self, ends: float) -> float:
        return max(0.0, ends - anyio.current_time())


def _resumes_alone(session: Session) -> bool | None:
    """Whether to resume one thread only: others have stops of their own, which resuming all threads would lose."""
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
