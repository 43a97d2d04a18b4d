"""The conversation itself: one class for adapters, clients and proxies.

Bytes go in, happenings come out; messages go in, bytes come out; no I/O. The
endpoint numbers, pairs, checks and orders messages. Its own decisions:

* a request that is malformed, out of order, not served or not announced is
  answered with an error and never handed over;
* every request handed over gets exactly one response;
* events wait for the response of the request that caused them;
* a peer's breach is noted in `violations` and forgiven (`receiver`).

Everything that takes time (deadlines, tasks, streams) is `dapkit.transport.Connection`'s.
"""

from collections.abc import Callable, Collection
from typing import Any

from dapkit import limits
from dapkit.endpoint import capability_gates
from dapkit.endpoint.content import understood, written, written_arguments, written_body, written_event
from dapkit.endpoint.conversation import Conversation, Role, concerns_all_threads, resumes_all_threads
from dapkit.endpoint.errors import AlreadyAnswered, CapabilityMissing, LocalProtocolError, OutOfOrder
from dapkit.endpoint.happenings import ConversationEnded, Happening
from dapkit.endpoint.lifecycle import RESUMING, STOPPING, Phase
from dapkit.endpoint.receiver import Receiver
from dapkit.endpoint.violations import Violations
from dapkit.protocol import (
    COMMANDS,
    Arguments,
    CancelArguments,
    Capabilities,
    CapabilitiesEvent,
    ErrorBody,
    EventBody,
    InitializeRequestArguments,
    Message,
    OutputEvent,
    ProtocolObject,
    RawJson,
    Request,
    decode_as,
    encode_value,
    error_message,
)

_ONCE_OVER = ("terminated", "stopped", "continued")


type Overtakes = Callable[[Request], bool]
"""Whether a stop comes before the response to a request that is unanswered."""


class Endpoint:
    """One end of a DAP conversation, without I/O.

    Args:
        role: which end we are.
        serves: commands that this end answers; others are refused with an error. None: all.
        message_bytes: largest message body accepted from the peer.

    Example:
        >>> from dapkit.protocol import Capabilities, InitializeRequestArguments
        >>> client, adapter = Endpoint(Role.CLIENT), Endpoint(Role.ADAPTER)
        >>> _ = client.request(InitializeRequestArguments(adapter_id="mock"))
        >>> [asked] = adapter.receive(client.bytes_to_send())
        >>> adapter.respond(asked.request, Capabilities(supports_step_back=True))
        >>> _ = client.receive(adapter.bytes_to_send())
        >>> client.capabilities.supports_step_back
        True

    """

    def __init__(
        self,
        role: Role,
        *,
        serves: Collection[str] | None = None,
        message_bytes: int = limits.MESSAGE_BYTES,
    ) -> None:
        self._conversation = Conversation(role)
        self._receiver = Receiver(self._conversation, serves, message_bytes)
        self._over = False

    @property
    def role(self) -> Role:
        """Which end we are."""
        return self._conversation.role

    @property
    def phase(self) -> Phase:
        """Where the session stands."""
        return self._conversation.lifecycle.phase

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of the adapter."""
        return self._conversation.capabilities

    @property
    def client(self) -> InitializeRequestArguments:
        """The client's arguments of initialize."""
        return self._conversation.client

    @property
    def violations(self) -> Violations:
        """The peer's violations of the protocol so far."""
        return self._conversation.violations

    @property
    def unanswered(self) -> tuple[Request, ...]:
        """Requests of the peer that still wait for our response, oldest first."""
        return tuple(self._conversation.unanswered.values())

    @property
    def owes_responses(self) -> bool:
        """Whether any request of the peer still waits for our response."""
        return bool(self._conversation.unanswered)

    def is_unanswered(self, request: Request) -> bool:
        """Whether this very request of the peer still waits for our response."""
        return self._conversation.unanswered.get(request.seq) is request

    @property
    def output_backlog(self) -> int:
        """Characters of output that wait to leave; its sender should wait while they are many."""
        return self._conversation.outbox.output_backlog

    @property
    def ended(self) -> ConversationEnded | None:
        """How the peer's side ended, if it has."""
        return self._receiver.ended

    # Asking

    def request[B](self, arguments: Arguments[B]) -> Request:
        """Ask the peer; the response comes as a happening that names this request.

        Raises:
            OutOfOrder: not in this phase.
            CapabilityMissing: the peer did not announce that it answers this.
            InvalidValue: an argument violates the specification.

        """
        self._check_request(arguments.command)
        raw = written_arguments(arguments, self._conversation.formats)
        return self._send(arguments.command, raw, arguments)

    def request_custom(self, command: str, arguments: object = None) -> Request:
        """Send a request with a custom command of the adapter, or relay a request.

        The arguments go out as they are, and the body comes back as `RawJson`.

        Raises: OutOfOrder, CapabilityMissing: as `request`.
        """
        self._check_request(command)
        raw = None if arguments is None else RawJson(encode_value(arguments))
        return self._send(command, raw, raw)

    def cancel(self, request: Request) -> Request | None:
        """Tell the adapter that a result is not wanted, if it supports that; its response stays due."""
        conversation = self._conversation
        can_ask = self.role is Role.CLIENT and conversation.capabilities.supports_cancel_request
        if not can_ask or request.seq not in conversation.pending:
            return None
        return self.request(CancelArguments(request_id=request.seq))

    def forget(self, request: Request) -> None:
        """Give up on an outgoing request; an answer that comes all the same is a `LateResponse`."""
        self._conversation.forget(request)

    def _check_request(self, command: str) -> None:
        conversation = self._conversation
        role = conversation.role
        spec = COMMANDS.get(command)
        if spec is not None and spec.direction is role.serves:
            raise LocalProtocolError(f"{command} is a request that the {role} answers, not asks")
        if (objection := conversation.lifecycle.objection(command)) is not None:
            raise OutOfOrder(objection)
        if (missing := capability_gates.missing_for_command(command, conversation.announced(role.peer))) is not None:
            raise CapabilityMissing(command, missing, str(role.peer))

    def _send(self, command: str, raw: RawJson | None, arguments: Arguments[Any] | RawJson | None) -> Request:
        if command == "initialize":
            self._conversation.introduce(decode_as(InitializeRequestArguments, raw, "$.arguments"))
        request = Request(self._conversation.outbox.put_request(command, raw), command, arguments)
        self._conversation.expect_response(request)
        return request

    # Answering

    def respond(self, request: Request, body: ProtocolObject | RawJson | None = None) -> None:
        """Answer a request with success.

        The response to `disconnect` leaves last; requests that are unanswered then are answered with `cancelled`, and
        later responses to them are dropped.

        Raises:
            AlreadyAnswered: it had its response.
            InvalidValue: the body violates the specification; the request stays unanswered.

        """
        if self._waits(request):
            conversation = self._conversation
            understood_body = understood(request.command, body)
            raw = written_body(request.command, body, conversation.formats)
            if request.command in RESUMING and conversation.outbox.stops_before(request):
                # Else the client would get the stop after the response that says that the program continues.
                conversation.answer_late(request, raw, all_threads=resumes_all_threads(request, understood_body))
                return
            conversation.answer(request, success=True, message=None, body=raw)
            conversation.note_response(request, success=True, body=understood_body)

    def fail(self, request: Request, message: str, error: Message | None = None) -> None:
        """Answer a request with an error.

        `message` is short and for machines (`cancelled`, `notStopped`) or the whole
        text; `error` is the structured text for people. A cancelled request needs none.

        Raises:
            AlreadyAnswered: it had its response.

        """
        if self._waits(request):
            if error is None and message != "cancelled":
                error = error_message(message)
            raw = None if error is None else written(ErrorBody(error=error), "$.body")
            self._conversation.answer(request, success=False, message=message, body=raw)
            self._conversation.note_response(request, success=False, body=None)

    def _waits(self, request: Request) -> bool:
        if self.is_unanswered(request):
            return True
        if self._conversation.disconnected:
            return False
        raise AlreadyAnswered(
            f"{request.command} (seq {request.seq}) waits for no response: it had one, or was never asked"
        )

    # Sending events

    def send_event(self, body: EventBody, *, overtakes: Overtakes = lambda _: False) -> bool:
        """Tell the peer; it leaves after the responses that it must not overtake.

        A stop leaves after the responses to all requests that may have led to it and are unanswered now, but
        for those that it `overtakes`.

        Returns:
            False if nothing was sent: the client did not announce that it understands
            this event, or has disconnected.

        Raises:
            OutOfOrder: the session is over.
            InvalidValue: a field violates the specification.

        """
        conversation, event = self._conversation, body.event
        if conversation.disconnected or capability_gates.missing_for_event(event, conversation.client):
            return False
        if self._over and event in _ONCE_OVER:
            raise OutOfOrder(f"event {event} came after the session had ended")
        content = written_event(body, conversation.formats)
        output = 0
        match body:
            case OutputEvent(output=text, category=category) if body == OutputEvent(output=text, category=category):
                conversation.outbox.put_output(text, category)
                return True
            case OutputEvent(output=text):
                output = len(text)
            case CapabilitiesEvent(capabilities=changed):
                conversation.change_capabilities(changed)
        # Until the client has sent initialize, its formats of positions and paths are unknown.
        early = self.phase is Phase.FRESH
        after = [
            request.seq
            for request in conversation.unanswered.values()
            if event == "stopped" and request.command in STOPPING and not overtakes(request)
        ]
        conversation.outbox.put_event(
            event, body if early else content, all_threads=concerns_all_threads(body), output=output, after=after
        )
        self._over = self._over or event == "terminated"
        return True

    def send_custom_event(self, event: str, body: object = None) -> bool:
        """Tell the peer something of our own; peers ignore events that they do not know."""
        if not self._conversation.disconnected:
            self._conversation.outbox.put_event(event, None if body is None else RawJson(encode_value(body)))
        return not self._conversation.disconnected

    def has_bytes_to_send(self) -> bool:
        """Whether `bytes_to_send` would give anything now."""
        return self._conversation.outbox.has_bytes(self._conversation.lifecycle)

    def bytes_to_send(self, limit: int = limits.WRITE_CHUNK_BYTES) -> bytes:
        """Frames to write now: at least one if there is any, then up to `limit` bytes."""
        return self._conversation.outbox.take(limit, self._conversation.lifecycle)

    # Receiver

    def receive(self, data: bytes) -> list[Happening]:
        """Take bytes from the peer, split anyhow; after the conversation ended they are ignored."""
        return self._receiver.receive(data)

    def receive_eof(self) -> list[Happening]:
        """Record that the peer's bytes have ended."""
        return self._receiver.receive_eof()
