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
    # What msgspec is to read into these fields: nothing, before the command or event is known.
    AnyArguments = AnyBody = AnyEventBody = RawJson

type MessageType = Literal["request", "response", "event"]
type AnyMessage = Request | Response | Event


class Request(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="request"):
    """One side asks the other to do something."""

    seq: int
    command: str
    arguments: AnyArguments = None


class Response(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="response"):
    """The answer to a request. `message` is the short error if `success` is false."""

    seq: int
    request_seq: int
    success: bool
    command: str
    message: str | None = None
    body: AnyBody = None

    @classmethod
    def cancelled(cls, command: str, *, seq: int = 0, request_seq: int = 0) -> "Response":
        """Make the answer to a request that was cancelled."""
        return cls(seq, request_seq, success=False, command=command, message="cancelled")


class Event(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="event"):
    """One side tells the other that something happened."""

    seq: int
    event: str
    body: AnyEventBody = None


class ErrorBody(ProtocolObject, frozen=True, kw_only=True):
    """The body of a failed response."""

    error: Message | None = None
