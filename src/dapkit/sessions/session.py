"""A debug session that outlives its callers, and its life: started, restarted, released and ended.

A session holds its parts, each with one subject:

    state the tree of targets, the present stop, how the session ended
    execution       the programs resumed, paused and waited for
    requests        requests to the adapters
    breakpoints the breakpoints of the programs
    output the output of the programs and the adapters
    event_state other reports of the adapters by events
    wire            the last messages of the conversations with the adapters

Every change of its life (start, restart, end) is a method of the session itself.
"""

import logging
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from dapkit import limits as shared_limits
from dapkit.catalog import Traits
from dapkit.client import OutputText, StartRefused, TextLog
from dapkit.client.routes import Listening
from dapkit.protocol import Breakpoint, DapkitError, TerminateArguments
from dapkit.sessions import limits
from dapkit.sessions.breakpoints.collection import KeptBreakpoints
from dapkit.sessions.errors import CannotRestart, NoInput, PostMortem, SessionOver, StartExpired, StartFailed
from dapkit.sessions.event_state import EventState
from dapkit.sessions.execution import Execution
from dapkit.sessions.monitor import SessionMonitor
from dapkit.sessions.references import ReferenceTable
from dapkit.sessions.requests import SessionRequests
from dapkit.sessions.run import ProgramRun
from dapkit.sessions.start_spec import StartSpec
from dapkit.sessions.state import DebugSessionState
from dapkit.settings import Settings
from dapkit.transport import DeadlineExceeded, WireBuffer

log = logging.getLogger(__name__)

END_OF_INPUT = "\x04"


class DebugSession:
    """One session; made by `SessionRegistry.open`.

    Attributes:
        name: names the session within its project.
        project: the folder that the session belongs to.
        start: the arguments with which the present run was started.
        settings: as they held when the session was opened.
        created: when the session was opened, in seconds since the epoch.
        last_used: when a caller last used it, in the same.

    The parts that are public are listed above, in the module's docstring.
    """

    def __init__(self, name: str, project: Path, start: StartSpec, *, tasks: TaskGroup, settings: Settings) -> None:
        self.name = name
        self.project = project
        self.start = start
        self.settings = settings
        self.created = self.last_used = time.time()
        self.state = state = DebugSessionState(name)
        self.output = TextLog(settings.output_bytes)
        self.event_state = EventState()
        self.wire = WireBuffer()
        self.breakpoints = breakpoints = KeptBreakpoints(
            lambda: [target.session for target in state.targets.values()],
            start.traits,
            foreign=self.event_state.foreign_breakpoints.keys(),
            panic_function=start.panic_function,
        )
        references = ReferenceTable(lambda: state.targets)
        self.execution = Execution(state, breakpoints, settings, post_mortem=start.post_mortem)
        self.requests = SessionRequests(state, settings=settings, references=references, breakpoints=breakpoints)
        self._monitor = SessionMonitor(
            state,
            traits=start.traits,
            settings=settings,
            output=self.output,
            breakpoints=breakpoints,
            events=self.event_state,
            references=references,
            folders=(start.cwd, project),
            post_mortem=start.post_mortem,
        )
        self._tasks = tasks
        self._runs = 0
        self._users = 0
        self._changing = anyio.Lock()

    # Identity

    @property
    def adapter(self) -> str:
        """Name of the adapter."""
        return self.start.adapter

    @property
    def traits(self) -> Traits:
        """The peculiarities of the adapter's responses."""
        return self.start.traits

    @property
    def cwd(self) -> Path:
        """Folder of the program."""
        return self.start.cwd

    @property
    def program(self) -> str | None:
        """The debugged program, for people."""
        return self.start.program

    @property
    def attached(self) -> bool:
        """Whether the program was running before, and is to keep running afterwards."""
        return self.start.request == "attach" and not self.start.post_mortem

    @property
    def foreign_breakpoints(self) -> Sequence[Breakpoint]:
        """Breakpoints that an adapter has set by itself, such as by a command of gdb."""
        ours = {
            each.answer.id
            for target in self.state.targets.values()
            for each in target.session.breakpoints
            if each.answer is not None
        } | {each.console_id for each in self.breakpoints}
        reported = self.event_state.foreign_breakpoints
        return [breakpoint_ for number, breakpoint_ in reported.items() if number not in ours]

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep the session from counting as idle while something is done with it."""
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1
            self.last_used = time.time()

    @property
    def idle_seconds(self) -> float:
        """How long no caller has used it."""
        return 0.0 if self._users else time.time() - self.last_used

    # Its life

    async def begin(self, *, deadline: float | None = None) -> None:
        """Start the program, with all breakpoints set; `SessionRegistry.open` does this once.

        Raises:
            StartFailed: it could not be started; nothing is left of it.
            DapkitError: the adapter could not be reached, or has died.

        """
        async with self._starting():
            for spec in self.start.breakpoints:
                await self.breakpoints.set(spec)
            exceptions = self.start.exceptions
            if exceptions is None:
                exceptions = self.start.traits.default_filters
            await self.breakpoints.break_on_exceptions(exceptions, by_user=self.start.exceptions is not None)
            await self._launch(deadline)

    async def read_stop_again(self) -> None:
        """Bring the present stop up to date, whose thread a request has moved."""
        await self._monitor.read_stop_again(self.state.target)

    async def restart(self, changes: Mapping[str, object] | None = None, *, deadline: float | None = None) -> None:
        """End the program and start it again, with other values for some keys of its configuration.

        Breakpoints stay, and follow the lines of files that were edited meanwhile.

        Raises:
            CannotRestart: it was attached to.
            StartFailed: it could not be started again; the session is over.

        """
        if self.start.post_mortem:
            raise PostMortem
        if self.attached:
            raise CannotRestart(self.name)
        async with self._starting():
            await self._end(force=False)
            self.start = replace(self.start, configuration={**self.start.configuration, **(changes or {})})
            await self._launch(deadline)

    async def terminate(self, *, force: bool = False) -> None:
        """End the program, or release it if it was attached to; unless forced, it is asked first.

        A start that is under way is given up.
        """
        if self.state.starting and self.state.run is not None:
            self.state.run.give_up()
        async with self._changing:
            if not self.state.over:
                self.state.end_because("the program was released" if self.attached else "it was terminated")
            await self._end(force=force)

    async def detach(self) -> None:
        """Let the program keep running without a debugger.

        Raises:
            CapabilityMissing: it was launched, and the adapter cannot detach from it; the session continues.
            SessionOver: the program has ended.

        """
        async with self._changing:
            run = self.state.run
            if self.start.post_mortem:
                raise PostMortem
            if run is None or run.ended:
                raise SessionOver(self.name, self.state.ending)
            await run.detach(deadline=self.settings.request_timeout_seconds)
            self.state.end_because("the program was released")
            await run.close()

    async def abandon(self, why: str) -> None:
        """End the session for a reason of the hub's own, such as that it was idle."""
        async with self._changing:
            if not self.state.over:
                self.state.end_because(why)
            await self._end(force=False)

    def check(self) -> None:
        """Notice an adapter whose process has ended though its streams are still open."""
        if self.state.run is not None:
            self.state.run.check()

    # Input

    async def write_input(self, text: str, *, end: bool = False) -> None:
        """Type into the program's terminal; `end` is the end of input, as Ctrl-D on an empty line is.

        Raises:
            NoInput: the program has no terminal.

        """
        run = self.state.run
        terminal = None if run is None or run.ended else next(reversed(run.terminals), None)
        if terminal is None:
            raise NoInput
        await terminal.send_input(f"{text}{END_OF_INPUT}" if end else text)

    async def wait_for_output(
        self, expected: str, *categories: str, since: int = 0, deadline: float | None = None
    ) -> OutputText:
        """Wait until the program wrote some output, such as a prompt, or ended; return the output.

        At the deadline it returns too: whether the text has come is left to the caller to check.
        """

        def written() -> OutputText:
            return self.output.read(*categories, since=since)

        with anyio.move_on_after(self.settings.request_timeout_seconds if deadline is None else deadline):
            await self.state.updates.until(lambda: expected in written().text or self.state.over)
        return written()

    # Details

    @asynccontextmanager
    async def _starting(self) -> AsyncIterator[None]:
        """Count as alive until the block has started the program, or failed to."""
        async with self._changing:
            self.state.begin_start()
            try:
                yield
            finally:
                self.state.end_start()

    async def _launch(self, deadline: float | None) -> None:
        """Start a new run of the program."""
        self._runs += 1
        self.event_state.forget()
        output_before = self.output.end
        configuration = dict(self.start.configuration)
        before = self.state.run
        if before is not None and before.restart_data is not None:
            configuration["__restart"] = before.restart_data
        run = ProgramRun(
            self._runs,
            self._with_patience(self.start),
            self._monitor,
            breakpoints=self.breakpoints.for_new_run(),
            wire=self.wire,
        )
        self.state.begin_run(run)
        try:
            await self._reach(run)
            await self.breakpoints.begin(run.root)
            await run.root.start(
                self.start.request,
                configuration,
                deadline=self.settings.request_timeout_seconds if deadline is None else deadline,
            )
        except BaseException as error:
            given_up = run.given_up
            self.state.end_because("it could not be started")
            with anyio.CancelScope(shield=True):
                await run.close()
            if given_up and isinstance(error, DapkitError):
                raise StartFailed("The start was given up: the session was terminated meanwhile.", "") from error
            if isinstance(error, StartRefused):
                why = "\n".join(f"DAP {failure}" for failure in error.failures)
                raise StartFailed(why, self._adapter_output(output_before)) from error
            if isinstance(error, DeadlineExceeded):
                raise StartExpired(error.command, error.seconds, self._adapter_output(output_before)) from error
            raise

    async def _reach(self, run: ProgramRun) -> None:
        patience = self.settings.adapter_ready_seconds
        with anyio.move_on_after(patience):
            await self._tasks.start(run.live)
            return
        stderr = run.root.adapter_stderr
        raise StartFailed(f"The debug adapter {self.adapter} was not ready within {patience:g} s.", stderr)

    def _with_patience(self, start: StartSpec) -> StartSpec:
        """Give an adapter that listens the time that `_reach` gives it."""
        if isinstance(start.route, Listening):
            return replace(start, route=replace(start.route, patience=self.settings.adapter_ready_seconds))
        return start

    async def _end(self, *, force: bool) -> None:
        run = self.state.run
        if run is None or run.ended:
            return
        if (
            not self.attached
            and not self.start.post_mortem
            and not force
            and run.root.capabilities.supports_terminate_request
        ):
            try:
                await run.root.request(TerminateArguments(), deadline=shared_limits.CLOSE_SECONDS)
                with anyio.move_on_after(shared_limits.CLOSE_SECONDS):
                    await self.state.updates.until(lambda: run.ended)
            except DapkitError as error:
                log.info("%s did not end when it was asked to: %s", self.name, error)
        await run.close()

    def _adapter_output(self, since: int) -> str:
        """Return the end of the adapter's output, such as the errors of a build."""
        text = self.output.read("console", "stderr", "important", since=since).text
        return text[-limits.START_OUTPUT_CHARACTERS :]
