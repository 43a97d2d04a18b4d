"""The result of a connector: the engine of a program, and its process."""

import math
from collections.abc import AsyncIterator
from typing import Any, Protocol

import anyio

from dapkit.adapter import RequestFailed
from dapkit.endpoint import Happening
from dapkit.protocol import Arguments, Event, EventBody, RawJson, StoppedEvent
from dapkit.python import limits
from dapkit.python.adapter.configuration.paths import PathTranslation
from dapkit.python.adapter.engine.breakpoint_store import BreakpointStore
from dapkit.python.adapter.engine.engine_log import RELEASED_EVENT
from dapkit.python.adapter.engine.marked_output import MarkedOutput
from dapkit.python.adapter.engine.resume_order import ResumeOrder
from dapkit.transport import Connection, ConversationLost

_LOOK_SECONDS = 0.01
"""How often it is looked whether a program that is about to end has ended."""

NOTHING = RawJson(b"{}")


class ProgramGone(RequestFailed):
    """The program has ended, and answers nothing any more."""


class ProgramDetached(RequestFailed):
    """The program keeps running without the debugger."""


class ProgramProcess(Protocol):
    """The process of a program."""

    @property
    def returncode(self) -> int | None:
        """Exit code, or minus the signal that killed it; None if that is not known."""

    @property
    def marked(self) -> MarkedOutput:
        """The order of its output and log messages."""

    async def wait(self) -> None:
        """Wait until it has ended and its output was reported."""

    async def report_output(self) -> None:
        """Relay its output so far."""

    def runs(self) -> bool:
        """Return whether it runs at this very moment, as far as that is known without its engine."""

    async def stopped(self) -> str:
        """Wait until a signal has stopped it, and return the signal's name."""

    async def continued(self) -> None:
        """Wait until no signal keeps it stopped."""

    def resume(self) -> bool:
        """Continue it after a signal stopped it; False if another process controls it."""

    def interrupted(self) -> None:
        """Record that it was asked to end."""

    def send_term(self) -> None:
        """Send it SIGTERM."""

    async def kill(self) -> None:
        """Kill it, and whatever it has started."""

    def release(self) -> None:
        """Let it keep running after us."""


class Debuggee:
    """The result of a connector. A program with time travel is another kind of it (`time_travel.timeline`).

    Attributes:
        link: to the engine, which has taken the options of the session.
        order: the order of the engine's messages; it observes the messages on the link.
        process: that the engine runs in.
        paths: between the client and the program.
        threads: the numbers of its threads, as far as the engine has reported them.
        stopped_by: the signal that keeps the program stopped, so that its engine answers nothing; "" for none.

    """

    def __init__(self, link: Connection, order: ResumeOrder, process: ProgramProcess, paths: PathTranslation) -> None:
        self.link = link
        self.order = order
        self.process = process
        self.paths = paths
        self.threads: set[int] = set()
        self.stopped_by = ""
        self.is_detached = False
        """Whether the program runs on without its engine: it has closed the connection, or the engine has given up."""

    @property
    def is_replay(self) -> bool:
        """Whether it is a recording that is executed again, and no program that could be asked to end."""
        return False

    def incoming(self) -> AsyncIterator[Happening]:
        """Return the engine's messages, until the link has ended."""
        return self.link.incoming()

    def observe(self, event: Event) -> bool:
        """Process an event that is meant for the debuggee itself; return whether it was one."""
        if event.event == RELEASED_EVENT:
            self.is_detached = True
        return event.event == RELEASED_EVENT

    def events_of_stop(self, stop: StoppedEvent) -> list[EventBody]:
        """Return the events for the client that report a stop, in their order."""
        return [stop]

    def end(self) -> None:
        """End all waits for stops: the program has ended, or its link."""
        self.order.end()

    async def follow_signals(self) -> AsyncIterator[str]:
        """End all waits for an engine that a signal has stopped; yield messages for the user."""
        while True:
            name = await self.process.stopped()
            with anyio.move_on_after(limits.SIGNAL_STOP_SECONDS):
                await self.process.continued()
                continue
            self.stopped_by = name
            self.link.refuse_waiting(self._objection())
            yield f"The program was stopped by {name}: nothing is answered until it is continued (SIGCONT).\n"
            await self.process.continued()
            self.stopped_by = ""
            yield "The program was continued.\n"

    def _objection(self) -> str:
        return f"the program is stopped by {self.stopped_by}, and answers once it is continued (SIGCONT)"

    async def _runs_on(self) -> bool:
        """Return whether the program runs though its engine has gone; one that ends may take a moment to."""
        with anyio.move_on_after(limits.CUT_SECONDS):
            while self.process.runs():  # noqa: ASYNC110 - there is no event
                await anyio.sleep(_LOOK_SECONDS)
            return False
        return self.process.runs()

    async def _loss(self, command: str) -> RequestFailed:
        """Return the message about a request that its engine no longer answers."""
        if await self._runs_on():
            return ProgramDetached(f"{command}: the program runs on without the debugger")
        return ProgramGone(f"{command}: the program ended before it could answer")

    async def ask(self, arguments: Arguments[Any]) -> RawJson:
        """Put a request of the client to the engine of the process that the client sees.

        Raises:
            ProgramGone: before it could answer.
            ProgramDetached: it was released before it could answer, and keeps running.
            RequestFailed: the engine refused.

        """
        return await self.ask_live(arguments)

    async def set_breakpoints(self, arguments: Arguments[Any], store: BreakpointStore) -> RawJson:
        """Put one of `BREAKPOINT_COMMANDS` to every engine of the program, and store the breakpoints of the client.

        Raises:
            RequestFailed: see `ask`.

        """
        return store.note(arguments, await self.ask_live(arguments))

    async def ask_live(self, arguments: Arguments[Any]) -> RawJson:
        """Put a request to the engine of the live program, paths changed for it, and for the client in its answer.

        Raises:
            RequestFailed: see `ask`.

        """
        command = arguments.command
        if self.stopped_by:
            raise RequestFailed(f"{command}: {self._objection()}")
        try:
            answer = self.link.request_custom(command, self.paths.arguments(arguments), deadline=math.inf)
            body = await self.order.answer(command, answer)
        except ConversationLost as error:
            raise await self._loss(command) from error
        return NOTHING if body is None else self.paths.body(command, body)
