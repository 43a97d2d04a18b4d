"""From a request to its handler: reading the arguments, calling the coroutine, checking its result.

Launch and attach take longer than their handlers: their response is sent after the response to `configurationDone` (DAP
overview, "Launch sequencing"). The events that such a request waits for are kept here.
"""

from collections.abc import Callable
from typing import ClassVar, Literal, Protocol, cast

import anyio

from dapkit.adapter.capabilities import OWN_COMMANDS, check_promised
from dapkit.adapter.definition import Definition
from dapkit.adapter.errors import bad_arguments
from dapkit.endpoint import RequestFailed
from dapkit.protocol import (
    COMMANDS,
    Capabilities,
    CapabilitiesEvent,
    EventBody,
    InitializedEvent,
    InitializeRequestArguments,
    InvalidValue,
    ProtocolObject,
    RawJson,
    Request,
    RestartArguments,
    TerminatedEvent,
    decode_as,
    encode_value,
)

type ResponseBody = ProtocolObject | RawJson | None
"""The result of a handler."""


class Served(Protocol):
    """An adapter, as its session sees it, beside the handlers that its definition names."""

    initialized_after: ClassVar[Literal["launch", "initialize"]]
    holds_launch: bool

    def capabilities_for(self, client: InitializeRequestArguments) -> Capabilities:
        """Return the promised capabilities."""
        ...

    async def closing(self) -> None:
        """Release the resources of the session."""


class Handlers:
    """The handlers of one adapter, and how far its configuration has come.

    Args:
        adapter: whose handlers they are.
        definition: of its class.
        send_event: reports an event to the client without waiting.

    Invariant: `_initialized` and `_configured` belong to the launch or attach that has not failed.

    """

    def __init__(self, adapter: Served, definition: Definition, send_event: Callable[[EventBody], bool]) -> None:
        self._adapter = adapter
        self._definition = definition
        self._send_event = send_event
        self._start: str | None = None
        self._initialized = False
        self._configured = anyio.Event()
        self._is_configuring = False
        self._ended_early = False

    def is_serial(self, command: str) -> bool:
        """Whether requests with this command are handled one after the other."""
        handler = self._definition.handlers.get(command)
        return handler is not None and handler.is_serial

    def note_event(self, body: EventBody) -> None:
        """Record an event that is sent to the client.

        Raises:
            DefinitionError: a promised capability has no handler.

        """
        if isinstance(body, CapabilitiesEvent):
            self.check_promised(body.capabilities)
        self._initialized |= isinstance(body, InitializedEvent)
        if isinstance(body, TerminatedEvent) and not self._configured.is_set():
            # No configurationDone is legal any more, and launch or attach must not wait for it. The program may end
            # before the one that has begun it is answered.
            self._ended_early = not self._is_configuring
            self._configured.set()

    def note_response(self, command: str) -> None:
        """Record that a request was answered with success; send the event that follows, if one does."""
        match command:
            case "initialize" if self._adapter.initialized_after == "initialize":
                self._send_event(InitializedEvent())
            case "configurationDone":
                self._configured.set()

    async def handle(self, request: Request) -> ResponseBody:
        """Call the handler of a request."""
        match request.command:
            case "initialize":
                return self._promised(cast("InitializeRequestArguments", request.arguments))  # read as such before
            case "launch" | "attach":
                return await self._handle_start(request)
            case "configurationDone":
                self._is_configuring = True
                try:
                    return await self._call(request, self._arguments(request))
                except BaseException:
                    self._is_configuring = False  # a program that ends now has not begun
                    raise
            case "restart":
                return await self._call(request, self._restart_arguments(request))
            case _:
                return await self._call(request, self._arguments(request))

    def check_promised(self, promised: Capabilities) -> None:
        """Check the capabilities that the client is to be promised (see `capabilities.check_promised`)."""
        check_promised({*self._definition.handlers, *OWN_COMMANDS}, promised, type(self._adapter).__qualname__)

    def _promised(self, client: InitializeRequestArguments) -> Capabilities:
        promised = self._adapter.capabilities_for(client)
        if promised is not self._definition.capabilities:
            self.check_promised(promised)
        return promised

    async def _call(self, request: Request, arguments: object) -> ResponseBody:
        handler = self._definition.handlers[request.command]
        # Looked up on the class: an attribute of the instance may have taken the name.
        method = getattr(type(self._adapter), handler.method)
        takes_arguments = handler.arguments is not None
        body: object = await (method(self._adapter, arguments) if takes_arguments else method(self._adapter))
        return _custom_body(body) if handler.is_custom else cast("ResponseBody", body)  # its type is checked later

    async def _handle_start(self, request: Request) -> ResponseBody:
        """Call the handler of launch or attach, and wait for the configuration."""
        self._start = request.command
        try:
            await self._call(request, _read_as(self._definition.starts[request.command], request))
            if not self._initialized:
                self._send_event(InitializedEvent())
            if self._adapter.holds_launch:
                await self._wait_until_configured(request)
        except BaseException:
            # Another launch or attach may follow, with a configuration of its own.
            self._initialized, self._configured, self._is_configuring = False, anyio.Event(), False
            raise
        return None

    async def _wait_until_configured(self, request: Request) -> None:
        await self._configured.wait()
        if self._ended_early:
            raise RequestFailed(f"{request.command}: the program ended before it was configured")

    def _arguments(self, request: Request) -> object:
        handler = self._definition.handlers[request.command]
        if handler.is_custom and handler.arguments is not None:
            return _read_as(handler.arguments, request)
        return request.arguments

    def _restart_arguments(self, request: Request) -> object:
        match request.arguments:
            case RestartArguments(arguments=dict() as configuration):
                kind = self._definition.starts[self._start or "launch"]
                return _read(request.command, kind, RawJson(encode_value(configuration)), "$.arguments.arguments")
            case _:
                return None


def check_body(command: str, body: ResponseBody) -> None:
    """Check that the result of a handler has the response type of its request.

    Raises:
        TypeError: it did not.

    """
    spec = COMMANDS.get(command)
    if spec is not None and not isinstance(body, (spec.body or type(None), RawJson)):
        expected = "None" if spec.body is None else spec.body.__name__
        raise TypeError(f"the handler returned {type(body).__name__}, expected {expected}")


def _custom_body(body: object) -> ResponseBody:
    """Take the result of a custom handler as the body of its response.

    Raises:
        TypeError: it has no form in JSON.

    """
    return body if body is None or isinstance(body, RawJson | ProtocolObject) else RawJson(encode_value(body))


def _read_as(kind: type | None, request: Request) -> object:
    return _read(request.command, kind, RawJson(encode_value(request.arguments)), "$.arguments")


def _read(command: str, kind: type | None, raw: RawJson, at: str) -> object:
    if kind is None:
        return None
    try:
        return decode_as(kind, raw, at)
    except InvalidValue as error:
        raise bad_arguments(command, error) from None
