"""State that sending and receiving share: the two ends, and the unanswered requests."""

import enum
from collections import OrderedDict

from dapkit.endpoint import limits
from dapkit.endpoint.capability_gates import NOBODY, Announced, merged
from dapkit.endpoint.conversion import Formats
from dapkit.endpoint.lifecycle import RESUMING, Lifecycle, TriggerKind
from dapkit.endpoint.outbox import Outbox
from dapkit.endpoint.violations import Violations
from dapkit.protocol import (
    Capabilities,
    Direction,
    InitializeRequestArguments,
    ProtocolObject,
    RawJson,
    Request,
)


class Role(enum.Enum):
    """Which end of the conversation we are."""

    ADAPTER = Direction.CLIENT_TO_ADAPTER
    CLIENT = Direction.ADAPTER_TO_CLIENT

    def __init__(self, serves: Direction) -> None:
        """Take the direction of the requests that this end answers."""
        self.serves = serves

    @property
    def peer(self) -> "Role":
        """The other end."""
        return Role.CLIENT if self is Role.ADAPTER else Role.ADAPTER

    def __str__(self) -> str:
        """Name this end in a sentence."""
        return self.name.lower()


class Conversation:
    """State of one conversation, as seen from one end.

    Invariant: `unanswered` holds each request that was handed over and has no response yet; `pending` holds each
    outgoing request that may still be answered, and `forgotten` the outgoing requests without a waiting caller.
    """

    def __init__(self, role: Role) -> None:
        self.role = role
        self.capabilities = Capabilities()
        self.client = NOBODY
        self.formats = Formats()
        self.lifecycle = Lifecycle()
        self.outbox = Outbox()
        self.violations = Violations()
        self.unanswered: dict[int, Request] = {}
        self.pending: dict[int, Request] = {}
        self.forgotten: OrderedDict[int, Request] = OrderedDict()
        self.disconnected = False

    def announced(self, who: Role) -> Announced:
        """Return the abilities that one of the two ends declared."""
        return self.capabilities if who is Role.ADAPTER else self.client

    def introduce(self, client: InitializeRequestArguments) -> None:
        """Store the client's arguments of initialize."""
        self.client = client
        self.formats = Formats.agreed(client)
        if self.formats.differing:
            self.outbox.convert_events(self.formats)

    def change_capabilities(self, changed: Capabilities) -> None:
        """Store the adapter's capabilities after initialize."""
        self.capabilities = merged(self.capabilities, changed)

    def expect_response(self, request: Request) -> None:
        """Note that an outgoing request is on its way."""
        self.pending[request.seq] = request
        self.lifecycle.note("request", request.command)

    def forget(self, request: Request) -> None:
        """Record that no caller waits for the response to an outgoing request any more."""
        if self.pending.pop(request.seq, None) is not None:
            self.forgotten[request.seq] = request
            while len(self.forgotten) > limits.FORGOTTEN_REQUESTS:
                self.forgotten.popitem(last=False)

    def answer_late(self, request: Request, body: RawJson | None, *, all_threads: bool) -> None:
        """Give a request its one response behind the stops that were reported before it, and have its effect then."""
        del self.unanswered[request.seq]
        self.outbox.put_behind(request, body, all_threads=all_threads)

    def answer(self, request: Request, *, success: bool, message: str | None, body: RawJson | None) -> None:
        """Give a request its one response."""
        del self.unanswered[request.seq]
        if success and request.command == "disconnect":
            self._answer_disconnect(request, body)
        else:
            self.outbox.put_response(request, success=success, message=message, body=body)

    def note_response(self, request: Request, *, success: bool, body: ProtocolObject | RawJson | None) -> None:
        """Let a response, given or received, have its effect on the session."""
        if success and isinstance(body, Capabilities) and request.command == "initialize":
            self.capabilities = body
        kind: TriggerKind = "response" if success else "failure"
        all_threads = request.command not in RESUMING or resumes_all_threads(request, body)
        self.lifecycle.note(kind, request.command, all_threads=all_threads)

    def note_event(self, event: str, body: ProtocolObject | RawJson | None) -> None:
        """Let an event that was received have its effect on the session."""
        self.lifecycle.note("event", event, all_threads=concerns_all_threads(body))

    def _answer_disconnect(self, request: Request, body: RawJson | None) -> None:
        # Pending requests end with the session, and events that wait for them need not wait any more.
        # A client that asks to disconnect twice (Helix) gets its wish both times, behind all events.
        last = [request]
        for unwanted in list(self.unanswered.values()):
            if unwanted.command == "disconnect":
                del self.unanswered[unwanted.seq]
                last.append(unwanted)
            else:
                self.answer(unwanted, success=False, message="cancelled", body=None)
        if not self.lifecycle.introduced:
            self.outbox.drop_events()
        for each in sorted(last, key=lambda each: each.seq):
            self.outbox.put_behind(each, body)
        self.disconnected = True


def resumes_all_threads(request: Request, body: object) -> bool:
    """Whether a request and its answer are about all threads."""
    return concerns_all_threads(request.arguments) and concerns_all_threads(body)


def concerns_all_threads(content: object) -> bool:
    """Whether arguments or a body are about all threads: else the others stay stopped."""
    return getattr(content, "single_thread", None) is not True and (
        getattr(content, "all_threads_continued", None) is not False
    )
