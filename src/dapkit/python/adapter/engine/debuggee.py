"""The result of a connector: the engine of a program, and its process."""

import math
from collections.abc import AsyncIterator
from typing import Any, Protocol

import anyio

from dapkit.adapter import RequestFailed
from dapkit.protocol import Arguments, RawJson
from dapkit.python import limits
from dapkit.python.adapter.configuration.paths import PathTranslation
from dapkit.python.adapter.engine.marked_output import MarkedOutput
from dapkit.python.adapter.engine.resume_order import ResumeOrder
from dapkit.transport import Connection, ConversationLost

STANDS_EVENT = "dapkit/stands"
"""Says at which clock a program with time travel is about to stop."""

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
    """The result of a connector.

    Attributes:
        link: to the engine, which has taken the options of the session.
        order: the order of the engine's messages; it observes the messages on the link.
        process: that the engine runs in.
        paths: between the client and the program.
        stopped_by: the signal that keeps the program stopped, so that its engine answers nothing; "" for none.

    """

    def __init__(self, link: Connection, order: ResumeOrder, process: ProgramProcess, paths: PathTranslation) -> None:
        self.link = link
        self.order = order
        self.process = process
        self.paths = paths
        self.stopped_by = ""
        self.is_detached = False
        """Whether the program runs on without its engine: it has closed the connection, or the engine has given up."""

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
        """Put a request to the engine, paths changed for it, and for the client in its answer.

        Raises:
            ProgramGone: before it could answer.
            ProgramDetached: it was released before it could answer, and keeps running.
            RequestFailed: the engine refused.

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
