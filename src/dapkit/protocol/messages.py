"""The three envelopes of the protocol: request, response, event.

An envelope that was read carries its arguments or body as `RawJson`; one that
is to be written may carry them typed. Ranges and order of `seq` are the
endpoint's business.
"""

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from dapkit.protocol.base import Arguments, EventBody, ProtocolObject, RawJson
from dapkit.protocol.generated import Message

if TYPE_CHECKING:
    type AnyArguments = Arguments[Any] | RawJson | None
    type AnyBody = ProtocolObject | RawJson | None
    type AnyEventBody = EventBody | RawJson | None
else:
    # msgspec must not decode these fields before the command or event is known.
    AnyArguments = AnyBody = AnyEventBody = RawJson

type MessageType = Literal["request", "response", "event"]
"""The field that tells the envelopes apart on the wire."""

type AnyMessage = Request | Response | Event
"""Any message."""


class Request(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="request"):
    """One side asks the other to do something. DAP, "Base Protocol: Request"."""

    seq: int
    """Sequence number of the message for its sender: 1 for the first, then increasing by one. `cancel` refers to it."""

    command: str
    """The command, such as `evaluate`."""

    arguments: AnyArguments = None
    """The arguments of the command. Absent: none."""


class Response(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="response"):
    """The answer to a request. DAP, "Base Protocol: Response"."""

    seq: int
    """Sequence number of the message for its sender: 1 for the first, then increasing by one."""

    request_seq: int
    """The `seq` of the request that this answers."""

    success: bool
    """Whether the request was carried out."""

    command: str
    """The command of the request that this answers."""

    message: str | None = None
    """The error in short, for programs to read, if `success` is false: `cancelled`, `notStopped` (the request may be
    sent again while the program is stopped), or a text of the adapter's.
    """

    body: AnyBody = None
    """The result; if `success` is false, an `ErrorBody`. Absent: nothing."""

    @classmethod
    def cancelled(cls, command: str, *, seq: int = 0, request_seq: int = 0) -> "Response":
        """Make the answer to a request that was cancelled."""
        return cls(seq, request_seq, success=False, command=command, message="cancelled")


class Event(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="event"):
    """One side tells the other that something happened. DAP, "Base Protocol: Event"."""

    seq: int
    """Sequence number of the message for its sender: 1 for the first, then increasing by one."""

    event: str
    """The kind of event, such as `stopped`."""

    body: AnyEventBody = None
    """More about it. Absent: nothing."""


class ErrorBody(ProtocolObject, frozen=True, kw_only=True):
    """The body of a failed response. DAP, "Base Protocol: ErrorResponse"."""

    error: Message | None = None
    """The error in words for the user."""
