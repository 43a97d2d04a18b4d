"""Two endpoints joined in memory: a whole conversation without I/O, tasks or waiting.

For tests of the rules of the conversation. Effects that exist only over a stream (deadlines, death, slow readers) are
tested with `FakeClient` and `FakeAdapter`.
"""

from collections.abc import Collection
from typing import Any, Self

from dapkit.endpoint import CancelRequested, Endpoint, EventReceived, Happening, RequestReceived, ResponseReceived, Role
from dapkit.protocol import (
    Arguments,
    Capabilities,
    ConfigurationDoneArguments,
    Event,
    EventBody,
    InitializedEvent,
    InitializeRequestArguments,
    LaunchRequestArguments,
    Message,
    ProtocolObject,
    RawJson,
    Request,
    Response,
)
from dapkit.testing.timeline import Timeline

USUAL = Capabilities(supports_configuration_done_request=True, supports_cancel_request=True)
"""The capabilities of the adapter of a pair, unless a test gives others."""

ANYBODY = InitializeRequestArguments(adapter_id="fake")
"""A client that asks for nothing special."""


class End:
    """One end of a pair: its endpoint, its received messages, and its automatic responses.

    Attributes:
        endpoint: the endpoint itself.
        answers: bodies with which requests are answered as they come; others wait for `respond` or `fail`.
        happenings: everything that was received, in order.

    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.answers: dict[str, ProtocolObject | RawJson | None] = {}
        self.happenings: list[Happening] = []
        self.arriving = bytearray()

    # Saying

    def send(self, arguments: Arguments[Any]) -> Request:
        """Ask the other end."""
        return self.endpoint.request(arguments)

    def cancel(self, request: Request) -> Request | None:
        """Tell the adapter that a result is not wanted."""
        return self.endpoint.cancel(request)

    def respond(self, request: Request, body: ProtocolObject | RawJson | None = None) -> None:
        """Answer a request with success; it may be given as the other end sent it."""
        self.endpoint.respond(self._received(request), body)

    def fail(self, request: Request, message: str, error: Message | None = None) -> None:
        """Answer a request with an error; it may be given as the other end sent it."""
        self.endpoint.fail(self._received(request), message, error)

    def tell(self, body: EventBody) -> bool:
        """Send an event."""
        return self.endpoint.send_event(body)

    # Hearing

    def hear(self, data: bytes) -> list[Happening]:
        """Take bytes, from whichever side they come; answer requests in `answers`, and cancelled ones."""
        happenings = self.endpoint.receive(data)
        self.happenings += happenings
        for happening in happenings:
            match happening:
                case RequestReceived(request) if request.command in self.answers:
                    self.endpoint.respond(request, self.answers[request.command])
                case CancelRequested(request) if self.endpoint.is_unanswered(request):
                    self.endpoint.fail(request, "cancelled")
        return happenings

    def responses_to(self, request: Request) -> list[Response]:
        """Return the responses to a request of dapkit, with `seq` and `request_seq` taken off (0)."""
        return [
            Response(0, 0, message.success, message.command, message.message, message.body)
            for message in self._all_responses()
            if message.request_seq == request.seq
        ]

    def events(self) -> list[Event]:
        """Return the events that were received."""
        return [happening.event for happening in self.happenings if isinstance(happening, EventReceived)]

    def requests(self) -> list[Request]:
        """Return the requests that were handed over."""
        return [happening.request for happening in self.happenings if isinstance(happening, RequestReceived)]

    def _all_responses(self) -> list[Response]:
        return [happening.response for happening in self.happenings if isinstance(happening, ResponseReceived)]

    def _received(self, request: Request) -> Request:
        for received in self.endpoint.unanswered:
            if received.seq == request.seq:
                return received
        return request


class Pair:
    """A client and an adapter, and the wire between them.

    The adapter answers initialize, launch, attach, configurationDone and disconnect by itself; all other requests wait
    for the test. A cancelled request is answered so.

    Args:
        capabilities: the adapter's capabilities.
        client: how the client introduces itself in `start`.
        serves: commands that the adapter answers, None for all.

    Example:
        >>> from dapkit.protocol import Capabilities, VariablesArguments
        >>> pair = Pair.running()
        >>> slow = pair.client.send(VariablesArguments(variables_reference=7))
        >>> _ = pair.client.cancel(slow)
        >>> pair.run_until_idle()
        >>> pair.client.responses_to(slow) == [Response.cancelled("variables")]
        True

    """

    def __init__(
        self,
        capabilities: Capabilities = USUAL,
        client: InitializeRequestArguments = ANYBODY,
        *,
        serves: Collection[str] | None = None,
    ) -> None:
        self.client = End(Endpoint(Role.CLIENT))
        self.adapter = End(Endpoint(Role.ADAPTER, serves=serves))
        self.adapter.answers = {"initialize": capabilities} | dict.fromkeys(
            ("launch", "attach", "configurationDone", "disconnect")
        )
        self.timeline = Timeline()
        self._introduction = client

    @classmethod
    def running(cls, capabilities: Capabilities = USUAL, client: InitializeRequestArguments = ANYBODY) -> Self:
        """Make a pair whose program runs."""
        pair = cls(capabilities, client)
        pair.start()
        return pair

    def start(self) -> None:
        """Play the handshake, up to the response to configurationDone."""
        self.client.send(self._introduction)
        self.run_until_idle()
        self.adapter.tell(InitializedEvent())
        self.client.send(LaunchRequestArguments())
        self.run_until_idle()
        if self.client.endpoint.capabilities.supports_configuration_done_request:
            self.client.send(ConfigurationDoneArguments())
        self.run_until_idle()

    def run_until_idle(self) -> None:
        """Carry everything to where it goes, until neither end has anything to say."""
        while self.carry(self.client) or self.carry(self.adapter):
            pass

    def carry(self, to: End, count: int | None = None) -> int:
        """Carry bytes to one end, at most `count` of them; return how many."""
        sender = self.adapter if to is self.client else self.client
        while data := sender.endpoint.bytes_to_send():
            self.timeline.record(sender.endpoint.role, data)
            to.arriving += data
        data = bytes(to.arriving[:count])
        del to.arriving[:count]
        if data:
            to.hear(data)
        return len(data)
