"""Scripted peers over a real stream, through the real `Connection`.

A script has a list of steps for each command, played one after the other. A step is an async function of the
peer and the request (`steps` has the usual ones). No steps at all is silence.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

import anyio
from anyio.abc import ByteStream, TaskGroup

from dapkit import limits
from dapkit.endpoint import CancelRequested, Endpoint, Phase, RequestFailed, RequestReceived, Role
from dapkit.protocol import (
    Arguments,
    AttachRequestArguments,
    Capabilities,
    ConfigurationDoneArguments,
    DisconnectArguments,
    EventBody,
    InitializeRequestArguments,
    LaunchRequestArguments,
    Request,
)
from dapkit.testing.patterns import event, response
from dapkit.testing.timeline import Timeline
from dapkit.transport import Connection
from dapkit.transport.tasks import background_tasks

type Step = Callable[["FakePeer", Request], Awaitable[None]]
"""Something that a fake peer does about a request."""

type Script = Mapping[str, Sequence[Step]]
"""Steps for each command."""


class FakePeer:
    """One end of a conversation that follows its script; an async context manager.

    Attributes:
        connection: the connection itself, for whatever a script cannot say.
        timeline: the messages here, in order.

    """

    def __init__(self, stream: ByteStream, role: Role, script: Script, *, serves: Collection[str] | None) -> None:
        self.timeline = Timeline()
        self._stream = _Shared(stream)
        self._script = script
        self.connection = Connection(self._stream, Endpoint(role, serves=serves), tap=self.timeline.tap(role))
        self._gates: dict[str, anyio.Event] = {}
        self._stack = AsyncExitStack()
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        """Start to listen."""
        await self._stack.enter_async_context(self.connection)
        self._tasks = await self._stack.enter_async_context(background_tasks())
        self._tasks.start_soon(self._serve)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Stop whatever the script is at, and close the stream."""
        return await self._stack.__aexit__(kind, error, trace)

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint below."""
        return self.connection.endpoint

    def release(self, gate: str) -> None:
        """Let the steps that `hold` this gate continue."""
        self.gate(gate).set()

    def gate(self, name: str) -> anyio.Event:
        """Return the gate of this name."""
        return self._gates.setdefault(name, anyio.Event())

    async def send_raw(self, data: bytes) -> None:
        """Send bytes as they are, after the queued messages that may leave."""
        await self.connection.flush()
        self.timeline.record(self.endpoint.role, data)
        await self._stream.send(data)

    async def die(self) -> None:
        """Close the stream, without a word."""
        await self._stream.aclose()

    async def _serve(self) -> None:
        async for incoming in self.connection.incoming():
            match incoming:
                case RequestReceived(request) if self._tasks is not None:
                    self._tasks.start_soon(self._play, request)
                case CancelRequested(request) if self.endpoint.is_unanswered(request):
                    self.connection.fail(request, RequestFailed("cancelled"))
                case _:  # events are on the timeline
                    pass

    async def _play(self, request: Request) -> None:
        for step in self._script.get(request.command, ()):
            await step(self, request)


class FakeAdapter(FakePeer):
    """An adapter that answers by script.

    Args:
        stream: bytes to and from the client.
        script: steps for each command (`dapkit.testing.HANDSHAKES` has whole ones).
            A command that it does not name is refused; one with no steps is never answered.

    Example:
        >>> from dapkit.protocol import Thread, ThreadsArguments, ThreadsBody
        >>> from dapkit.testing import HANDSHAKES, FakeAdapter, FakeClient, reply
        >>> from dapkit.transport import memory_pair
        >>> script = HANDSHAKES["lldb-dap"] | {"threads": [reply(ThreadsBody(threads=[Thread(id=1, name="main")]))]}
        >>> async def main() -> list[Thread]:
        ...     ours, theirs = memory_pair()
        ...     async with FakeAdapter(theirs, script), FakeClient(ours) as client:
        ...         await client.start()
        ...         return (await client.request(ThreadsArguments())).threads
        >>> anyio.run(main)
        [Thread(id=1, name='main')]

    """

    def __init__(self, stream: ByteStream, script: Script) -> None:
        super().__init__(stream, Role.ADAPTER, script, serves=script)

    def send_event(self, body: EventBody) -> None:
        """Tell the client something, whatever the script is at."""
        self.connection.send_event(body)


class FakeClient(FakePeer):
    """A client that a test drives by hand.

    Args:
        stream: bytes to and from the adapter.
        script: steps for each reverse request; others are refused.

    """

    def __init__(self, stream: ByteStream, script: Script | None = None) -> None:
        super().__init__(stream, Role.CLIENT, script or {}, serves=script or ())

    async def request[B](self, arguments: Arguments[B], *, deadline: float = limits.REQUEST_SECONDS) -> B:
        """Ask the adapter (see `Connection.request`)."""
        return await self.connection.request(arguments, deadline=deadline)

    async def start(
        self,
        arguments: LaunchRequestArguments | AttachRequestArguments | None = None,
        client: InitializeRequestArguments | None = None,
        *configuration: Arguments[object],
    ) -> Capabilities:
        """Play the handshake in any order that the adapter likes, up to the launch or attach response.

        Args:
            arguments: how to start the program.
            client: how to introduce ourselves.
            configuration: requests to make after the `initialized` event, such as `SetBreakpointsArguments`.

        """
        capabilities = await self.request(client or InitializeRequestArguments(adapter_id="fake"))
        started = anyio.Event()

        async def start() -> None:
            await self.request(arguments or LaunchRequestArguments())
            started.set()

        async with background_tasks() as tasks:
            tasks.start_soon(start)
            await self.timeline.wait_for(response("initialize") & event("initialized"))
            for request in configuration:
                await self.request(request)
            if self.endpoint.capabilities.supports_configuration_done_request:
                await self.request(ConfigurationDoneArguments())
            await started.wait()
        return capabilities

    async def disconnect(self) -> None:
        """End the session, if it has not ended yet."""
        if self.endpoint.phase is not Phase.OVER:
            await self.request(DisconnectArguments())


class _Shared(ByteStream):
    """A stream that two may send on: the connection, and a script with its faults."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._sending = anyio.Lock()

    async def send(self, item: bytes) -> None:
        async with self._sending:
            await self._stream.send(item)

    async def receive(self, max_bytes: int = limits.READ_CHUNK_BYTES) -> bytes:
        return await self._stream.receive(max_bytes)

    async def send_eof(self) -> None:
        await self._stream.send_eof()

    async def aclose(self) -> None:
        await self._stream.aclose()
