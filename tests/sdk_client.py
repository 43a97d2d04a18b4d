"""A client for tests of adapters: it asks, and keeps the events until somebody waits for them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

import anyio
from anyio.abc import ByteStream

from dapkit.adapter import Adapter
from dapkit.endpoint import Endpoint, EventReceived, RequestReceived, Role
from dapkit.protocol import (
    Arguments,
    Capabilities,
    ConfigurationDoneArguments,
    EventBody,
    InitializedEvent,
    InitializeRequestArguments,
    LaunchRequestArguments,
    RawJson,
    Request,
)
from dapkit.transport import Connection, background_tasks, memory_pair

ABLE = InitializeRequestArguments(
    adapter_id="test",
    supports_variable_type=True,
    supports_memory_references=True,
    supports_progress_reporting=True,
    supports_run_in_terminal_request=True,
    supports_start_debugging_request=True,
    supports_memory_event=True,
    supports_invalidated_event=True,
)
"""A client that understands everything."""


class Client:
    """The client's end of a session.

    Attributes:
        events: what was told and not waited for yet, in order.
        asked: requests of the adapter, in order.

    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.events: list[EventBody | RawJson | None] = []
        self.asked: list[Request] = []
        self._changed = anyio.Event()

    async def request[B](self, arguments: Arguments[B]) -> B:
        return await self.connection.request(arguments, deadline=30)

    async def initialize(self, introduction: InitializeRequestArguments = ABLE) -> Capabilities:
        return await self.request(introduction)

    async def start(
        self,
        launch: Arguments[Any] | None = None,
        *configuration: Arguments[Any],
        introduction: InitializeRequestArguments = ABLE,
    ) -> Self:
        """Go through the whole handshake, with what is to be configured in between."""
        await self.initialize(introduction)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.request, launch or LaunchRequestArguments())
            await self.event(InitializedEvent)
            for arguments in configuration:
                await self.request(arguments)
            await self.request(ConfigurationDoneArguments())
        return self

    async def event[E: EventBody](self, kind: type[E]) -> E:
        """Wait for the next event of a kind; it is taken out of `events`."""
        with anyio.fail_after(30):
            while True:
                for event in self.events:
                    if isinstance(event, kind):
                        self.events.remove(event)
                        return event
                await self._change()

    async def next_asked(self) -> Request:
        """Wait until the adapter has asked something."""
        with anyio.fail_after(30):
            while not self.asked:
                await self._change()
        return self.asked.pop(0)

    async def listen(self) -> None:
        async for happening in self.connection.incoming():
            match happening:
                case EventReceived(event):
                    self.events.append(event.body)
                case RequestReceived(request):
                    self.asked.append(request)
                case _:
                    pass
            self._changed.set()

    async def _change(self) -> None:
        self._changed = anyio.Event()
        await self._changed.wait()


@asynccontextmanager
async def talking(stream: ByteStream) -> AsyncIterator[Client]:
    """Be the client on a stream."""
    async with Connection(stream, Endpoint(Role.CLIENT)) as connection, background_tasks() as tasks:
        client = Client(connection)
        tasks.start_soon(client.listen)
        yield client


@asynccontextmanager
async def client_of(adapter: Adapter[Any, Any]) -> AsyncIterator[Client]:
    """Serve an adapter in memory and be its client."""
    theirs, ours = memory_pair()
    async with background_tasks() as tasks:
        tasks.start_soon(adapter.serve_stream, theirs)
        async with talking(ours) as client:
            yield client
