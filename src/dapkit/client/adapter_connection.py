"""The conversation with an adapter: requests, and the state of its process.

Every request of a session leaves through `AdapterConnection.request_checked`, so that the state
of the program takes account of it first, and that an adapter that is gone is
reported as such.
"""

import codecs
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Literal

import anyio

from dapkit import limits
from dapkit.client.errors import AdapterDied, ProgramEnded
from dapkit.client.field_capabilities import check_fields
from dapkit.client.received_state import ReceivedState
from dapkit.client.routes import Reached
from dapkit.client.state import CustomRequest, Ended
from dapkit.endpoint import Endpoint, LocalProtocolError, RequestFailed, Role, Violation
from dapkit.protocol import Arguments, Capabilities, DapkitError, InvalidValue, decode_as
from dapkit.transport import ChildProcess, Connection, ConversationLost, Recorder, Tap


class AdapterConnection:
    """The adapter of a session, from the first byte to the last.

    Attributes:
        disconnecting: whether a `disconnect` request was sent.

    """

    def __init__(self, state: ReceivedState, *, serves: Sequence[str]) -> None:
        self.disconnecting = False
        self._state = state
        self._endpoint = Endpoint(Role.CLIENT, serves=serves)
        self._process: ChildProcess | None = None
        self._connection: Connection | None = None

    @asynccontextmanager
    async def open(
        self, reached: Reached, *, transcript: Path | None, tap: Tap | None, printed: Callable[[str], None]
    ) -> AsyncIterator[Connection]:
        """Converse over a stream until the context is left; `printed` gets the output of an adapter on a socket."""
        self._process = reached.process
        if reached.process is not None and not reached.process.on_stdio:
            decoder = codecs.getincrementaldecoder("utf-8")("replace")
            reached.process.tell(lambda data: printed(decoder.decode(data)))
        with ExitStack() as stack:
            taps = [] if tap is None else [tap]
            if transcript is not None:
                taps.append(stack.enter_context(Recorder(transcript, role=Role.CLIENT)))
            connection = Connection(reached.stream, self._endpoint, tap=_joined(taps), watch=self._state.watch)
            async with connection as self._connection:
                yield self._connection

    # Requests

    async def request_checked[B](self, arguments: Arguments[B], *, deadline: float = limits.REQUEST_SECONDS) -> B:
        """Send a request whose fields the adapter understands, and note its effect. Raises: as `Session.request`."""
        check_fields(arguments, self.capabilities)
        self._note(arguments)
        try:
            return await self._alive.request(arguments, deadline=deadline)
        except (LocalProtocolError, InvalidValue):
            self._state.program.note_refusal(arguments)
            raise
        except ConversationLost as lost:
            raise await self._death(lost) from None  # its text has the reason

    async def ask_custom(
        self, command: str, arguments: object = None, *, deadline: float = limits.REQUEST_SECONDS
    ) -> object:
        """Ask with a command of the adapter's own; arguments and body are plain JSON. Raises: as `request`."""
        request = CustomRequest.read(command, arguments)
        self._note(request)
        try:
            raw = await self._alive.request_custom(command, arguments, deadline=deadline)
        except (LocalProtocolError, InvalidValue, RequestFailed):
            self._state.program.note_refusal(request)
            raise
        except ConversationLost as lost:
            raise await self._death(lost) from lost
        return None if raw is None else decode_as(object, raw)

    def _note(self, request: Arguments[object] | CustomRequest) -> None:
        self._state.program.note_request(request, position=self._state.events.position)
        self.disconnecting = self.disconnecting or request.command == "disconnect"

    @property
    def _alive(self) -> Connection:
        if self._connection is None:
            raise ConversationLost("the session is not open: use it in `async with`")
        return self._connection

    async def _death(self, loss: ConversationLost) -> AdapterDied:
        """Error that says how the adapter ended, which may take a moment."""
        process = self._process
        if process is None:
            return AdapterDied(str(loss))
        with anyio.move_on_after(limits.CLOSE_SECONDS):
            await process.wait()
        return AdapterDied(str(loss), exit_code=process.returncode, stderr=process.stderr_tail())

    async def error_after(self, ended: Ended) -> DapkitError:
        """Error for a wait that cannot succeed any more: the program ended, or the adapter is gone."""
        if ended.adapter_lost:
            problem = None if self._endpoint.ended is None else self._endpoint.ended.problem
            why = problem or "it closed the connection before the program had ended"
            return await self._death(ConversationLost(why))
        return ProgramEnded(ended.exit_code)

    # State

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities that the adapter announced, by its `initialize` response and `capabilities` events."""
        return self._endpoint.capabilities

    @property
    def ended(self) -> bool:
        """Whether the conversation is over."""
        return self._endpoint.ended is not None

    @property
    def violations(self) -> Sequence[Violation]:
        """Violations of the protocol by the adapter that were tolerated."""
        return tuple(self._endpoint.violations.kept)

    @property
    def pid(self) -> int | None:
        """Its process; None if dapkit did not start it."""
        return None if self._process is None else self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Exit code of its process, or minus the signal that killed it; None while it runs, or if it is not ours."""
        return None if self._process is None else self._process.returncode

    async def wait_for_exit(self, deadline: float) -> int | None:
        """Wait until its process has ended, and return the `exit_code`; None if it still runs, or is not ours."""
        if self._process is not None:
            with anyio.move_on_after(deadline):
                await self._process.wait()
        return self.exit_code

    @property
    def stderr(self) -> str:
        """The end of its stderr."""
        return "" if self._process is None else self._process.stderr_tail()


def _joined(taps: Sequence[Tap]) -> Tap | None:
    """Make one tap of several."""
    if len(taps) <= 1:
        return taps[0] if taps else None

    def tap(direction: Literal["sent", "received"], data: bytes) -> None:
        for each in taps:
            each(direction, data)

    return tap
