"""Interpretation of the peer's messages, including malformed ones.

Every request of the peer is either handed over or answered with an error;
every answer finds its question. A fault is recorded as a violation and tolerated. The conversation ends only if going
on would leave one end waiting forever: frames that cannot be told apart, and, for an adapter, messages that cannot be
answered. A client continues: it has deadlines, and one broken message is not a reason to lose a session.
"""

from collections.abc import Collection, Mapping
from typing import Final, cast

from dapkit.endpoint import capability_gates
from dapkit.endpoint.content import read_arguments, understood
from dapkit.endpoint.conversation import Conversation, Role
from dapkit.endpoint.happenings import (
    CancelRequested,
    ConversationEnded,
    EventReceived,
    Happening,
    LateResponse,
    ProgressCancelRequested,
    RequestReceived,
    ResponseReceived,
    ResponseUnusable,
)
from dapkit.endpoint.lifecycle import RESUMING, Phase
from dapkit.endpoint.violations import described
from dapkit.protocol import (
    COMMANDS,
    EVENTS,
    AnyMessage,
    Arguments,
    CancelArguments,
    CapabilitiesEvent,
    ErrorBody,
    Event,
    FrameDecoder,
    FramingError,
    InitializeRequestArguments,
    InvalidValue,
    ProtocolError,
    ProtocolObject,
    RawJson,
    Request,
    Response,
    StoppedEvent,
    decode,
    decode_as,
    decode_leniently,
    encode_value,
    error_message,
)

ALL_THREADS: Final = -1
"""The thread of a request that means all of them, because the client has named none."""

INSTEAD_OF_NOTHING: Final[Mapping[str, Mapping[str, object]]] = {
    "runInTerminal": {"cwd": ""},  # lldb-dap 22 leaves it out unless the launch configuration has one
    "continue": {"threadId": ALL_THREADS},  # simple clients know of no threads
    "pause": {"threadId": ALL_THREADS},
}
"""Required members that some peers leave out, by command, and the value to assume."""


class Receiver:
    """The half of an endpoint that receives.

    Invariant: once `ended` is set, nothing that the peer says matters.
    """

    def __init__(self, conversation: Conversation, serves: Collection[str] | None, message_bytes: int) -> None:
        self.ended: ConversationEnded | None = None
        self._conversation = conversation
        self._serves = serves
        self._frames = FrameDecoder(message_bytes)
        self._next_seq: int | None = 1
        self._all_stopped = False

    def receive(self, data: bytes) -> list[Happening]:
        """Take bytes from the peer, split anyhow."""
        happenings: list[Happening] = []
        fault: FramingError | None = None
        try:
            payloads = self._frames.feed(data) if self.ended is None else []
        except FramingError as error:
            payloads, fault = error.payloads, error
        for payload in payloads:
            happenings += self._receive_message(payload)
            if self.ended is not None:
                return happenings
        if fault is not None:
            happenings.append(self._end(str(fault)))
        return happenings

    def receive_eof(self) -> list[Happening]:
        """Record that the peer's bytes have ended."""
        if self.ended is not None:
            return []
        return [self._end(None if self._frames.at_boundary else "the stream ended in the middle of a message")]

    def _receive_message(self, payload: bytes) -> list[Happening]:
        try:
            message = decode(payload)
        except ProtocolError as error:
            return self._receive_broken(payload, error)
        self._check_seq(message)
        match message:
            case Request():
                return self._receive_request(message)
            case Response():
                return self._receive_response(message)
            case Event():
                return self._receive_event(message)

    # Requests

    def _receive_request(self, request: Request) -> list[Happening]:
        if (objection := self._objection(request)) is not None:
            return self._refuse(request, objection)
        if self._serves is not None and request.command not in self._serves and request.command != "cancel":
            return self._refuse(request, f"unsupported request: {request.command}", breach=False)
        conversation = self._conversation
        missing = capability_gates.missing_for_command(request.command, conversation.announced(conversation.role))
        if missing is not None:
            return self._refuse(request, f"unsupported request: {request.command} ({missing} was not announced)")
        spec = COMMANDS.get(request.command)
        if spec is not None:
            raw = cast("RawJson | None", request.arguments)  # nothing else comes out of decode
            for name, value in INSTEAD_OF_NOTHING.get(request.command, {}).items():
                raw = self._with(request, raw, name, value)
            try:
                arguments = read_arguments(spec, raw, conversation.formats)
            except ProtocolError as error:
                return self._refuse(request, f"{request.command}: {error}", path=_fault(error)[1])
            if raw is None and not spec.arguments_optional:  # but nothing in them is needed
                conversation.violations.add(request, "required field is missing", "$.arguments")
            request = Request(request.seq, request.command, arguments)
        conversation.unanswered[request.seq] = request
        conversation.lifecycle.note("request", request.command)
        match request.arguments:
            case CancelArguments() as unwanted if conversation.role is Role.ADAPTER:
                return self._receive_cancel(request, unwanted)
            case InitializeRequestArguments() as client:
                conversation.introduce(client)
        return [RequestReceived(request)]

    def _with(self, request: Request, raw: RawJson | None, name: str, value: object) -> RawJson | None:
        """Arguments with a member in any case, if they are an object."""
        members = _members(bytes(raw or b"{}"))
        if members is None or members.get(name) is not None:
            return raw
        self._conversation.violations.add(request, "required field is missing", f"$.arguments.{name}")
        return RawJson(encode_value({**members, name: value}))

    def _objection(self, request: Request) -> str | None:
        conversation = self._conversation
        spec = COMMANDS.get(request.command)
        if request.seq in conversation.unanswered:
            return f"seq {request.seq} belongs to a request that is not answered yet"
        if spec is not None and spec.direction is not conversation.role.serves:
            echoes = request.command == "initialize" and conversation.role is Role.CLIENT
            hint = ": a peer that sends it back echoes all that it gets; it cannot be a debug adapter" if echoes else ""
            return f"{request.command} is not a request to the {conversation.role}{hint}"
        if conversation.role is Role.ADAPTER and conversation.lifecycle.phase is Phase.OVER:
            return None  # it may have been on its way when the end was reported
        return conversation.lifecycle.objection(request.command)

    def _receive_cancel(self, request: Request, unwanted: CancelArguments) -> list[Happening]:
        conversation = self._conversation
        conversation.answer(request, success=True, message=None, body=None)
        happenings: list[Happening] = []
        if unwanted.request_id is not None and unwanted.request_id in conversation.unanswered:
            happenings.append(CancelRequested(conversation.unanswered[unwanted.request_id]))
        if unwanted.progress_id is not None:
            happenings.append(ProgressCancelRequested(unwanted.progress_id))
        return happenings

    def _refuse(self, request: Request, text: str, *, breach: bool = True, path: str = "$") -> list[Happening]:
        if breach:
            self._conversation.violations.add(request, text, path)
        body = RawJson(encode_value(ErrorBody(error=error_message(text))))
        self._conversation.outbox.put_response(request, success=False, message=text, body=body)
        return []

    # Responses

    def _receive_response(self, response: Response) -> list[Happening]:
        conversation = self._conversation
        request = conversation.pending.pop(response.request_seq, None)
        late = request is None
        if request is None:
            request = conversation.forgotten.pop(response.request_seq, None)
        if request is None:
            problem = f"no request with seq {response.request_seq} waits for a response"
            conversation.violations.add(response, problem, "$.request_seq")
            return []
        if response.command != request.command:
            problem = f"expected command {request.command}, got {response.command}"
            conversation.violations.add(response, problem, "$.command")
        try:
            body = self._response_body(request, response)
            conversation.note_response(request, success=response.success, body=understood(request.command, body))
        except ProtocolError as error:
            conversation.violations.add(response, *_fault(error))
            conversation.note_response(request, success=response.success, body=None)
            return [] if late else [ResponseUnusable(request, error)]
        response = Response(
            response.seq, response.request_seq, response.success, response.command, response.message, body
        )
        return [LateResponse(response) if late else ResponseReceived(request, response)]

    def _response_body(self, request: Request, response: Response) -> ProtocolObject | RawJson | None:
        raw = cast("RawJson | None", response.body)  # nothing else comes out of decode
        if not response.success:
            return self._error_body(response, raw)
        spec = COMMANDS.get(request.command)
        if spec is None or spec.body is None:
            return raw
        formats = self._conversation.formats
        if isinstance(request.arguments, Arguments):
            return formats.inward(self._lenient(spec.body, raw, response))
        if raw is None or not formats.concern(spec.body):
            return raw
        return RawJson(encode_value(formats.inward(self._lenient(spec.body, raw, response))))

    def _error_body(self, response: Response, raw: RawJson | None) -> ErrorBody | None:
        """Read the details of a failure; `message` says enough where they cannot be read."""
        if raw is None:
            return None
        try:
            return self._lenient(ErrorBody, raw, response)
        except ProtocolError as error:
            self._conversation.violations.add(response, *_fault(error))
            return None

    # Events

    def _receive_event(self, event: Event) -> list[Happening]:
        conversation = self._conversation
        if conversation.role is Role.ADAPTER:
            conversation.violations.add(event, "events are for the client, the adapter has no use for them")
            return []
        kind = EVENTS.get(event.event)
        if kind is not None:
            raw = cast("RawJson | None", event.body)  # nothing else comes out of decode
            try:
                event = Event(event.seq, event.event, conversation.formats.inward(self._lenient(kind, raw, event)))
            except ProtocolError as error:
                conversation.violations.add(event, *_fault(error))
        self._lint_event(event)
        match event.body:
            case CapabilitiesEvent(capabilities=changed):
                conversation.change_capabilities(changed)
            case StoppedEvent(all_threads_stopped=stopped):
                self._all_stopped = stopped is True
        conversation.note_event(event.event, event.body)
        return [EventReceived(event)]

    def _lint_event(self, event: Event) -> None:
        conversation = self._conversation
        add = conversation.violations.add
        lifecycle = conversation.lifecycle
        if not lifecycle.introduced:
            add(event, "came before the response to initialize")
        elif event.event == "initialized" and not lifecycle.initialized_is_due:
            add(event, "came a second time")
        elif event.event in ("terminated", "stopped", "continued") and lifecycle.phase is Phase.OVER:
            add(event, "came after the session had ended")
        if (flag := capability_gates.missing_for_event(event.event, conversation.client)) is not None:
            add(event, f"sent although the client did not announce {flag}")
        if event.event == "stopped" and self._all_stopped:
            # Where other threads were running, one of them may have stopped by itself.
            for request in conversation.pending.values():
                if request.command in RESUMING:
                    add(event, f"came before the response to {described(request)}")

    # Fault

    def _receive_broken(self, payload: bytes, error: ProtocolError) -> list[Happening]:
        """Handle a message with a faulty envelope, using the readable parts of it."""
        conversation = self._conversation
        match _members(payload):
            case {"type": "response", "request_seq": int(seq)} if request := conversation.pending.pop(seq, None):
                conversation.violations.add(f"response to {request.command}", *_fault(error))
                conversation.lifecycle.note("failure", request.command)
                return [ResponseUnusable(request, error)]
            case {"type": "response" | "event" as kind}:
                conversation.violations.add(f"{kind}", *_fault(error))
            case {"seq": int(seq), "command": str(command)}:
                return self._refuse(Request(seq, command), str(error), path=_fault(error)[1])
            case {"seq": int(seq), "type": "request"}:
                return self._refuse(Request(seq, ""), str(error), path=_fault(error)[1])
            case _ if conversation.role is Role.ADAPTER:
                return [self._end(str(error))]
            case _:
                conversation.violations.add("message", *_fault(error))
        return []

    def _check_seq(self, message: AnyMessage) -> None:
        """Note the first number out of step; a peer that numbers otherwise does so in every message."""
        if self._next_seq is None:
            return
        if message.seq == self._next_seq:
            self._next_seq += 1
        else:
            self._conversation.violations.add(message, f"expected seq {self._next_seq}, got {message.seq}", "$.seq")
            self._next_seq = None

    def _lenient[T: ProtocolObject](self, kind: type[T], raw: RawJson | None, message: AnyMessage) -> T:
        value, problems = decode_leniently(kind, raw, "$.body")
        for problem in problems:
            self._conversation.violations.add(message, problem.problem, problem.path)
        return value

    def _end(self, problem: str | None) -> ConversationEnded:
        if problem is not None:
            self._conversation.violations.add("stream", problem)
        self.ended = ConversationEnded(problem)
        return self.ended


def _fault(error: ProtocolError) -> tuple[str, str]:
    """Problem and place of an error, for the report."""
    return (error.problem, error.path) if isinstance(error, InvalidValue) else (str(error), "$")


def _members(payload: bytes) -> dict[str, object] | None:
    """Read the outline of an object that may be broken; None if it has no readable outline."""
    try:
        return decode_as(dict[str, object], payload)
    except ProtocolError:  # it is being reported: this is how it looks from here
        return None
