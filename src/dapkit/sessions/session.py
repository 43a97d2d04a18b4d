"""A debug session that outlives its callers: started, restarted, let go and ended.

The parts do the rest: `following` knows what the programs do, `resuming` runs them,
`asking` asks about them. Every change of life (start, restart, end) goes through here.
"""

import logging
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from dapkit import limits
from dapkit.catalog import Traits
from dapkit.client import StartRefused, Text
from dapkit.client.routes import Listening
from dapkit.protocol import DapkitError, TerminateArguments
from dapkit.sessions.errors import CannotRestart, NoInput, SessionOver, StartExpired, StartFailed
from dapkit.sessions.requests import Asking
from dapkit.sessions.run import ProgramRun
from dapkit.sessions.start_spec import StartSpec
from dapkit.sessions.stops import Outcome
from dapkit.settings import Settings
from dapkit.transport import DeadlineExceeded

log = logging.getLogger(__name__)

_SAID_CHARACTERS = 4000
"""Of what an adapter said before a start failed, so much of its end is told with the error."""

END_OF_INPUT = "\x04"


class DebugSession(Asking):
    """One session; made by `Sessions.open`.

    Attributes:
        project: the folder that the session belongs to.
        start: what the present run was started with.
        created: when the session was opened, in seconds since the epoch.
        last_used: when somebody last did something with it, in the same.

    """

    def __init__(self, name: str, project: Path, start: StartSpec, *, tasks: TaskGroup, settings: Settings) -> None:
        super().__init__(name, settings)
        self.project = project
        self.start = start
        self.created = self.last_used = time.time()
        self._tasks = tasks
        self._runs = 0
        self._users = 0
        self._changing = anyio.Lock()

    # What it is

    @property
    def adapter(self) -> str:
        """Name of the adapter."""
        return self.start.adapter

    @property
    def traits(self) -> Traits:
        """What is peculiar about the adapter's answers."""
        return self.start.traits

    @property
    def cwd(self) -> Path:
        """Folder of the program."""
        return self.start.cwd

    @property
    def program(self) -> str | None:
        """What is debugged, for people."""
        return self.start.program

    @property
    def attached(self) -> bool:
        """Whether the program was running before, and is to run on afterwards."""
        return self.start.request == "attach"

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
        """How long nobody has done anything with it."""
        return 0.0 if self._users else time.time() - self.last_used

    # Its life

    async def begin(self, *, deadline: float | None = None) -> None:
        """Start the program, with all breakpoints set; `Sessions.open` does this once.

        Raises:
            StartFailed: it could not be started; nothing is left of it.
            DapkitError: the adapter could not be reached, or has died.

        """
        async with self._starting():
            for wish in self.start.breakpoints:
                await self.breakpoints.set(wish)
            await self.breakpoints.break_on_exceptions(self.start.exceptions)
            await self._launch(deadline)

    async def restart(self, changes: Mapping[str, object] | None = None, *, deadline: float | None = None) -> None:
        """End the program and start it again, with other values for some keys of its configuration.

        Breakpoints stay, and follow the lines of files that were edited meanwhile.

        Raises:
            CannotRestart: it was attached to.
            StartFailed: it could not be started again; the session is over.

        """
        if self.attached:
            raise CannotRestart(self.name)
        async with self._starting():
            await self._end(force=False)
            self.start = replace(self.start, configuration={**self.start.configuration, **(changes or {})})
            await self._launch(deadline)

    async def terminate(self, *, force: bool = False) -> None:
        """End the program, or release it if it was attached to; it is asked first unless that is to be skipped.

        A start that is under way is given up.
        """
        if self._launching and self._run is not None:
            self._run.give_up()
        async with self._changing:
            if not self.over:
                self._ending = "the program was released" if self.attached else "it was terminated"
            await self._end(force=force)

    async def detach(self) -> None:
        """Let the program run on without a debugger.

        Raises:
            CapabilityMissing: it was launched, and the adapter cannot let it go; the session goes on.
            SessionOver: there is nothing to let go.

        """
        async with self._changing:
            run = self._run
            if run is None or run.ended:
                raise SessionOver(self.name, self.ending)
            await run.detach(deadline=self.settings.request_timeout_seconds)
            self._ending = "the program was released"
            await run.close()

    async def abandon(self, why: str) -> None:
        """End the session for a reason of the hub's own, such as that it was idle."""
        async with self._changing:
            if not self.over:
                self._ending = why
            await self._end(force=False)

    def check(self) -> None:
        """Notice an adapter that is gone though its streams look alive."""
        if self._run is not None:
            self._run.check()

    async def wait_for_start(self, seconds: float) -> Outcome:
        """Give a program that was just started some time to come to its first stop, or to its end."""
        return await self.wait(deadline=seconds)

    # Input

    async def write_input(self, text: str, *, end: bool = False) -> None:
        """Type into the program's terminal; `end` is the end of input, as Ctrl-D on an empty line is.

        Raises:
            NoInput: the program has no terminal.

        """
        run = self._run
        terminal = None if run is None or run.ended else next(reversed(run.terminals), None)
        if terminal is None:
            raise NoInput
        await terminal.send_input(f"{text}{END_OF_INPUT}" if end else text)

    async def wait_for_output(
        self, expected: str, *categories: str, since: int = 0, deadline: float | None = None
    ) -> Text:
        """Wait until the program wrote something, such as a prompt, or ended; return what it wrote.

        At the deadline too: whether the text is in it is for the caller to see.
        """
        with anyio.move_on_after(self.settings.request_timeout_seconds if deadline is None else deadline):
            await self._pulse.until(lambda: expected in self.output.read(*categories, since=since).text or self.over)
        return self.output.read(*categories, since=since)

    # Details

    @asynccontextmanager
    async def _starting(self) -> AsyncIterator[None]:
        """Count as alive until the block has started the program, or failed to."""
        async with self._changing:
            self._launching = True
            try:
                yield
            finally:
                self._launching = False
                self.beat()

    async def _launch(self, deadline: float | None) -> None:
        self._ending = ""
        self._runs += 1
        self._targets.clear()
        self.event_state.forget()
        said = self.output.end
        configuration = dict(self.start.configuration)
        if self._run is not None and self._run.restart_data is not None:
            configuration["__restart"] = self._run.restart_data
        run = self._run = ProgramRun(self._runs, self._patiently(self.start), self, self._targets)
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
            self._ending = "it could not be started"
            with anyio.CancelScope(shield=True):
                await run.close()
            if given_up and isinstance(error, DapkitError):
                raise StartFailed("The start was given up: the session was terminated meanwhile.", "") from error
            if isinstance(error, StartRefused):
                why = "\n".join(f"DAP {failure}" for failure in error.failures)
                raise StartFailed(why, self._said(said)) from error
            if isinstance(error, DeadlineExceeded):
                raise StartExpired(error.command, error.seconds, self._said(said)) from error
            raise

    async def _reach(self, run: ProgramRun) -> None:
        patience = self.settings.adapter_ready_seconds
        with anyio.move_on_after(patience):
            await self._tasks.start(run.live)
            return
        said = run.root.adapter_stderr
        raise StartFailed(f"The debug adapter {self.adapter} was not ready within {patience:g} s.", said)

    def _patiently(self, start: StartSpec) -> StartSpec:
        """Give an adapter that listens the time that `_reach` gives it."""
        if isinstance(start.route, Listening):
            return replace(start, route=replace(start.route, patience=self.settings.adapter_ready_seconds))
        return start

    async def _end(self, *, force: bool) -> None:
        run = self._run
        if run is None or run.ended:
            return
        if not self.attached and not force and run.root.capabilities.supports_terminate_request:
            try:
                await run.root.request(TerminateArguments(), deadline=limits.CLOSE_SECONDS)
                with anyio.move_on_after(limits.CLOSE_SECONDS):
                    await self._pulse.until(lambda: run.ended)
            except DapkitError as error:
                log.info("%s did not end when it was asked to: %s", self.name, error)
        await run.close()

    def _said(self, since: int) -> str:
        """Return what the adapter had to say, such as the errors of a build."""
        return self.output.read("console", "stderr", "important", since=since).text[-_SAID_CHARACTERS:]
