"""The class that authors of debug adapters derive from.

    class Calculator(Adapter[CalculatorLaunch, NoAttach]):
        async def launch(self, args: CalculatorLaunch) -> None: ...
        async def threads(self) -> ThreadsBody: ...

Defining a handler is all it takes to support a request: capabilities follow.
`definition` reads the declarations of the class, and `session` runs a session; this module is the side of both
that a handler sees.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from typing import Any, ClassVar, Literal, Never

import anyio
import msgspec
from anyio.abc import ByteStream

from dapkit import limits
from dapkit.adapter.definition import Definition, read_definition
from dapkit.adapter.errors import DefinitionError, NotServed, NotSupported
from dapkit.adapter.events import Events, ReverseRequests
from dapkit.adapter.handlers import ResponseBody
from dapkit.adapter.progress import Progress
from dapkit.adapter.requests import Requests
from dapkit.adapter.session import AdapterSession, Proceed
from dapkit.endpoint import Overtakes
from dapkit.protocol import (
    Arguments,
    Capabilities,
    DisconnectArguments,
    EventBody,
    InitializeRequestArguments,
    OutputEvent,
    Request,
)
from dapkit.transport import Tap

NoLaunch = Never
"""Stands for the launch arguments of an adapter that only attaches."""

NoAttach = Never
"""Stands for the attach arguments of an adapter that only launches."""

type Middleware = Callable[["Adapter[Any, Any]", Request, Proceed], Awaitable[ResponseBody]]
"""Something to be done around every request: it calls `proceed`, once or not at all, and returns the body."""


class Adapter[Launch: msgspec.Struct, Attach: msgspec.Struct](Requests[Launch, Attach], Events, ReverseRequests):
    """One debug session, seen from the adapter.

    `Launch` and `Attach` are the types that the arguments of `launch` and `attach`
    are read into: best subclasses of `LaunchRequestArguments` and
    `AttachRequestArguments`, which keep unknown keys in `extra`; `NoLaunch` or
    `NoAttach` where the request is not supported.

    Handlers are coroutines with the names of the requests, each runs in a task and
    a cancel scope of its own. They return the body of the response, or raise
    `RequestFailed`. An object serves one session.

    A class that is only a part of an adapter, to be put together with others, is
    created with `partial=True`; the whole is checked when it is created.
    """

    announces: ClassVar[Capabilities] = Capabilities()
    """Capabilities that do not follow from the handlers."""

    serial: ClassVar[Collection[str] | bool] = False
    """True, or the names of handlers: those run one after the other, in the order of the requests. `launch`, `attach`
    and `disconnect` are never among them.
    """

    forwards: ClassVar[Collection[str]] = ()
    """Commands that `forward` answers, all in the same way; one that has a handler of its own goes there. They count as
    handled, also for capabilities.
    """

    middleware: ClassVar[Sequence[Middleware]] = ()
    """Layers around every request, the outermost first."""

    initialized_after: ClassVar[Literal["launch", "initialize"]] = "launch"
    """When the client is asked to configure breakpoints, unless the adapter says so itself by `await
    self.initialized()`: after the handler of launch or attach, so that breakpoints meet a known program, or straight
    after `initialize`.
    """

    holds_launch: bool = True
    """Whether the response to launch or attach waits for `configurationDone`."""

    _definition: ClassVar[Definition | None] = None
    _served_session: AdapterSession | None = None

    def __init_subclass__(cls, *, partial: bool = False, **options: object) -> None:
        """Read and check the class.

        Raises:
            DefinitionError: it cannot be right.

        """
        super().__init_subclass__(**options)
        cls._definition = None
        if not partial:
            cls._definition = read_definition(
                cls, base=Adapter, announces=cls.announces, serial=cls.serial, forwards=cls.forwards
            )

    @classmethod
    def definition(cls) -> Definition:
        """Return the declarations of the class.

        Raises:
            DefinitionError: it is only a part of an adapter.

        """
        if cls._definition is None:
            raise DefinitionError(f"{cls.__qualname__} is a part of an adapter and cannot be served by itself")
        return cls._definition

    def capabilities_for(self, client: InitializeRequestArguments) -> Capabilities:  # noqa: ARG002 - for those who override it
        """Return the capabilities that the answer to `initialize` reports: by default, all that follow from the class.

        Override it for capabilities that depend on the client. It may add the fields that `announces` may contain, and
        it may withdraw any capability.

        Example:
            def capabilities_for(self, client):
                styled = client.supports_ansi_styling is True
                return changed(super().capabilities_for(client), supports_ansi_styling=styled)

        """
        return self.definition().capabilities

    # The session

    @property
    def client(self) -> InitializeRequestArguments:
        """The client's arguments to `initialize`."""
        return self._session.endpoint.client

    def start_soon[*Given](
        self, function: Callable[[*Given], Awaitable[object]], *arguments: *Given
    ) -> anyio.CancelScope:
        """Run a coroutine in the background, until it returns or the session ends.

        If it raises, the error is logged and told to the client, and the session ends.

        Returns:
            The scope that it runs in: `cancel()` ends it.

        """
        return self._session.start_soon(function, *arguments)

    def progress(
        self,
        title: str,
        *,
        message: str | None = None,
        percentage: float | None = None,
        cancellable: bool | None = None,
    ) -> Progress:
        """Show the progress of an operation around which the result is used as a context.

        Within a handler it is the progress of that request.

        Example:
            async with self.progress("Loading", cancellable=True) as progress:
                for done, symbol in enumerate(symbols):
                    await progress.update(symbol.name, percentage=100 * done / len(symbols))
            if progress.cancelled: ...

        """
        return self._session.progress(title, message=message, percentage=percentage, cancellable=cancellable)

    async def closing(self) -> None:
        """Release the resources of the session; called once, however the session ends.

        Events still reach the client, unless it has gone. Background tasks run until this returns.
        """

    # Requests that every adapter answers

    async def configuration_done(self) -> None:
        """Begin to run; breakpoints are set. The default leaves that to `launch` and `attach`."""

    async def disconnect(self, args: DisconnectArguments) -> None:
        """End or release the program. The default leaves that to `closing`, which comes next."""

    async def forward(self, arguments: Arguments[Any]) -> ResponseBody:
        """Answer a request whose command is in `forwards`, by its body or by `RawJson` as it came from elsewhere."""
        raise NotSupported(arguments.command)

    # Telling and asking the client

    async def send_event(self, body: EventBody, *, overtakes: Overtakes = lambda _: False) -> bool:
        """Tell the client; output waits while too much of it is queued.

        A stop that is reported while a request is handled which may have led to it leaves after the response to that.
        An adapter that relays another adapter knows better: it names, in `overtakes`, the requests which the stop
        precedes.

        Returns:
            Whether it was sent: not to a client that did not announce that it understands it.

        Raises:
            OutOfOrder: the session is over.
            InvalidValue: a field is outside the range of the protocol.

        """
        if isinstance(body, OutputEvent):
            return await self._session.send_output(body)
        return self._session.send_event(body, overtakes=overtakes)

    async def send_custom_event(self, event: str, body: object = None) -> None:
        """Send the client an event of the author's own; clients ignore events that they do not know."""
        self._session.connection.send_custom_event(event, body)

    async def ask_client[B](self, arguments: Arguments[B], *, deadline: float = limits.REQUEST_SECONDS) -> B:
        """Ask the client and wait for its answer, at most until the deadline (in seconds).

        Raises:
            CapabilityMissing: the client did not announce that it can do this.
            RequestFailed: it tried and could not.
            DeadlineExceeded: it did not answer in time.

        """
        return await self._session.connection.request(arguments, deadline=deadline)

    # Serving

    async def serve_stream(
        self,
        stream: ByteStream,
        *,
        tap: Tap | None = None,
        over: anyio.Event | None = None,
    ) -> None:
        """Serve one client over a stream until the session ends; close the stream.

        Args:
            stream: bytes from and to the client.
            tap: gets all bytes, for recording.
            over: is set when the client has its last message; handlers that do not let themselves be cancelled may keep
                this coroutine from returning.

        Raises:
            Exception: a background task raised it, and it ended the session.

        """
        definition = self.definition()
        if self._served_session is not None:
            raise NotServed(f"this {type(self).__qualname__} has served a session already: make another for each")
        layers = [partial(layer, self) for layer in self.middleware]
        self._served_session = AdapterSession(self, definition, layers, stream, tap)
        await self._served_session.run(over or anyio.Event())

    @property
    def _session(self) -> AdapterSession:
        if self._served_session is None:
            raise NotServed(f"{type(self).__qualname__} has no client yet: it is not being served")
        return self._served_session
