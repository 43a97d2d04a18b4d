"""One run of a session's program: from reaching an adapter to the end of all that this started.

The run owns the client session and its children, and the tasks that read their
stops. Its listener decides the meaning of a stop, and the state that outlives the run.
"""

import logging
from collections.abc import Callable, Coroutine
from itertools import groupby
from typing import Protocol

import anyio
from anyio.abc import TaskGroup, TaskStatus

from dapkit import limits as shared_limits
from dapkit.client import AdapterDied, Breakpoints, Session, SessionEvent, Starting, Stopped, Terminal, WaitExpired
from dapkit.endpoint import Role
from dapkit.protocol import DapkitError, ExitedEvent, OutputEvent, StoppedEvent, TerminatedEvent
from dapkit.sessions import limits
from dapkit.sessions.program_end import ending_of
from dapkit.sessions.start_spec import StartSpec
from dapkit.sessions.targets import Target
from dapkit.transport import WireBuffer, WireTap, background_tasks

log = logging.getLogger(__name__)

_OF_PROGRAM_OR_DEBUGGER = frozenset({"stdout", "stderr", "console"})
"""Categories of the program's own output."""


class RunListener(Protocol):
    """The listener of a run: the session that it belongs to."""

    def event_received(self, target: Target, event: SessionEvent) -> None:
        """Record an event of a target."""
        ...

    def output_received(self, text: str, category: str) -> None:
        """Keep output."""
        ...

    def state_changed(self) -> None:
        """Let everybody who waits check the state again."""
        ...

    def run_ended(self) -> None:
        """Record that the run is over."""
        ...

    async def stop_received(self, target: Target, stopped: Stopped) -> None:
        """Read the thread of a new stop, and publish the stop or resume the program."""
        ...


class ProgramRun:
    """One run.

    Invariant: `targets` holds every session of the tree that has reported anything, the root first.

    Attributes:
        number: which run of the session it is, from 1.
        targets: the sessions of the tree by number; 0 is the program itself.
        ended: whether the program and all its children have ended, and their output has come.
        exit_code: of the program, once and if the adapter reported it; see `ending`.
        exit_signal: name of the signal that killed it.
        failure: why the run broke off, if it did.
        given_up: whether it is ended by us.
        restart_data: the data that the adapter wants to receive when the program is started again; None if there is
            none.

    """

    def __init__(
        self, number: int, start: StartSpec, listener: RunListener, *, breakpoints: Breakpoints, wire: WireBuffer
    ) -> None:
        self.number = number
        self.targets: dict[int, Target] = {}
        self.ended = False
        self.exit_code: int | None = None
        self.exit_signal: str | None = None
        self.failure: str | None = None
        self.restart_data: object = None
        self.given_up = False
        self._last_output = ""
        self._listener = listener
        self._traits = start.traits
        self._wire = wire
        self._conversations = 0
        self._closing = anyio.Event()
        self._closed = anyio.Event()
        self._tasks: TaskGroup | None = None
        self._finishing = False
        self.root = Session(
            start.route,
            adapter_id=start.adapter_id,
            breakpoints=breakpoints,
            program_input=start.input,
            listener=self,
            new_tap=self._new_tap,
        )

    async def live(self, *, task_status: TaskStatus[None]) -> None:
        """Own everything until the run is closed; it is ready once the adapter is initialized.

        Raises:
            DapkitError: the adapter could not be reached.

        """
        ready = False
        try:
            async with background_tasks() as self._tasks, self.root:
                ready = True
                task_status.started()
                await self._closing.wait()
        except DapkitError as error:
            if not ready:
                raise
            self.failure = self.failure or str(error)
        except Exception as error:
            # One session's mistake must not take the others with it.
            log.exception("the run of a session broke off")
            if not ready:
                raise
            self.failure = self.failure or f"{type(error).__name__}: {error}"
        finally:
            self._end()
            self._closed.set()

    def give_up(self) -> None:
        """Begin to end the remaining parts; requests that wait for their response get an error."""
        self.given_up = True
        self._closing.set()

    async def detach(self, *, deadline: float) -> None:
        """Detach from the program. Raises: as `client.Session.detach`; the run continues then."""
        self.given_up = True
        try:
            await self.root.detach(deadline=deadline)
        except DapkitError:
            self.given_up = False
            raise

    async def close(self) -> None:
        """End the remaining parts, and wait until that is done."""
        self.give_up()
        await self._closed.wait()

    def check(self) -> None:
        """End the run if its adapter's process has ended, but something else still holds its streams open."""
        code = self.root.adapter_exit_code
        if code is not None and not self.ended and not self._finishing:
            self._take_end_of_adapter(code, f"the debug adapter ended with exit code {code}")
            self._end()

    @property
    def started(self) -> bool:
        """Whether the program was started or attached to."""
        return not isinstance(self.root.state, Starting)

    @property
    def terminals(self) -> list[Terminal]:
        """Terminals of all targets, oldest first."""
        return [terminal for target in self.targets.values() for terminal in target.session.terminals]

    # Reports of the client sessions

    def changed(self, session: Session, event: SessionEvent | None) -> None:
        """Record a message that has changed the state of a client session."""
        if isinstance(event, OutputEvent):  # which may come in floods, and changes nothing else
            category = event.category or "console"
            if category in ("stdout", "stderr") and session is self.root and not session.initialized:
                category = "console"  # there is no program yet: Delve builds it
            self._pass_output(event.output, category)
            if category == "console" and session is self.root:
                self._read_ending(event.output)
            return
        target = self._target(session)
        if isinstance(event, TerminatedEvent) and session is self.root:
            self.restart_data = event.restart
        if isinstance(event, ExitedEvent) and session is self.root:
            self._take_exit_code(event.exit_code)
            self.start_task(self._end_of_process)
        if event is not None:
            self._listener.event_received(target, event)
        has_ended = not any(target.live for target in self.targets.values()) or self._reports_end(event)
        if not has_ended and not self._finishing and (stopped := target.notice()) is not None:
            self.start_task(self._listener.stop_received, target, stopped)
        if has_ended and not self._finishing:
            self._finishing = True
            self.start_task(self._finish)
        self._listener.state_changed()

    def _reports_end(self, event: SessionEvent | None) -> bool:
        """Whether a stop is the end of the program: no thread has stopped, and the exit line has come."""
        if not isinstance(event, StoppedEvent) or event.thread_id is not None:
            return False
        return self._traits.exit_code_at_end_of(self._last_output) is not None

    def _new_tap(self) -> WireTap:
        """Keep the messages of one more conversation; the first is with the adapter of the program itself."""
        parts = [f"run {self.number}"] if self.number > 1 else []
        parts += [f"child {self._conversations}"] if self._conversations else []
        self._conversations += 1
        return WireTap(self._wire, role=Role.CLIENT, channel=", ".join(parts))

    def _read_ending(self, output: str) -> None:
        """Take how the program ended from the console, if that is where the adapter reports it."""
        if (code := self._traits.exit_code_in(output)) is not None:
            self._take_exit_code(code)
        if (killed_by := self._traits.signal_in(output)) is not None:
            self.exit_signal = killed_by

    def _take_exit_code(self, exit_code: int) -> None:
        last_stop = self._target(self.root).last_stop
        ending = ending_of(exit_code, self._traits, stopped_by=None if last_stop is None else last_stop.signal)
        self.exit_code, self.exit_signal = ending.exit_code, ending.signal or self.exit_signal

    def wrote(self, _session: Session, _terminal: Terminal | None, text: str, category: str) -> None:
        """Keep output in a terminal, or beside the protocol, as output of the program."""
        self._pass_output(text, category)

    def _pass_output(self, text: str, category: str) -> None:
        """Pass output on; lines that the debugger wrote about itself are not for the user."""
        traits = self._traits
        has_lines = traits.debugger_lines is not None or traits.exit_line is not None
        if category not in _OF_PROGRAM_OR_DEBUGGER or not has_lines:  # most adapters, whose output may come in floods
            self._listener.output_received(text, category)
            return
        self._last_output = (self._last_output + text)[-limits.LAST_OUTPUT_CHARACTERS :]
        lines = text.splitlines(keepends=True)
        for of_debugger, group in groupby(lines, lambda line: traits.is_of_debugger(line.rstrip("\r\n"))):
            self._listener.output_received("".join(group), "telemetry" if of_debugger else category)

    def _target(self, session: Session) -> Target:
        for target in self.targets.values():
            if target.session is session:
                return target
        number = len(self.targets)
        self.targets[number] = Target(number, session, run=self.number)
        return self.targets[number]

    def start_task[*P](self, work: Callable[[*P], Coroutine[object, object, None]], *arguments: *P) -> None:
        """Start a task that ends with the run at the latest."""
        if self._tasks is not None:  # no message comes before they are there
            self._tasks.start_soon(work, *arguments)

    async def _end_of_process(self) -> None:
        """End a run whose adapter reports that the process has exited, but not that debugging is over."""
        try:
            await self.root.wait_until_ended(deadline=shared_limits.CLOSE_SECONDS)
        except WaitExpired:
            log.info("the adapter did not send `terminated` after the program had exited")
            self._end()
        except AdapterDied as error:
            log.info("the adapter ended after the program had exited: %s", error)

    async def _finish(self) -> None:
        """Collect the last messages after the end: the exit code, the last output, or why the adapter has ended."""
        try:
            await self.root.wait_until_ended(deadline=0)
        except AdapterDied as error:
            self._take_end_of_adapter(error.exit_code, str(error))
        except DapkitError as error:
            log.debug("a run ended before it began: %s", error)
        if self.failure is None and not self.given_up:
            await self._disconnect()
        for target in self.targets.values():
            log.debug("stderr of an adapter: %s", target.session.adapter_stderr)  # which reads all that came
        for terminal in self.terminals:
            try:
                await terminal.wait(deadline=shared_limits.LAST_OUTPUT_SECONDS)
            except WaitExpired as error:
                log.info("%s", error)
        if self.failure is None and self.exit_code is None:
            await self._find_exit_code()
        self._end()

    async def _find_exit_code(self) -> None:
        """Read the exit code where the adapter reports it, if it has sent no event for it yet."""
        if (code := self._traits.exit_code_at_end_of(self._last_output)) is not None:
            self._take_exit_code(code)
        elif self._traits.adapter_is_program and not self.given_up:
            code = await self.root.wait_for_adapter_exit(deadline=shared_limits.CLOSE_SECONDS)
            if code is not None:
                self._take_exit_code(code)
        else:
            try:
                await self.root.wait_for(ExitedEvent, since=0, deadline=limits.LATE_EXIT_CODE_SECONDS)
            except DapkitError as error:
                log.debug("the adapter did not report an exit code: %s", error)

    def _take_end_of_adapter(self, code: int | None, failure: str) -> None:
        """Record that the adapter's process has ended on its own: a failure, unless it is the program itself."""
        if self._traits.adapter_is_program and code is not None and self.started:
            self._take_exit_code(code)
        else:
            self.failure = failure

    async def _disconnect(self) -> None:
        """Disconnect, to receive the messages before the response: gdb may send output after `terminated`."""
        try:
            await self.root.disconnect(deadline=shared_limits.CLOSE_SECONDS)
        except DapkitError as error:
            log.debug("the adapter did not take the disconnect request: %s", error)

    def _end(self) -> None:
        self._closing.set()
        if not self.ended:
            self.ended = True
            self._listener.run_ended()
