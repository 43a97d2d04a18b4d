"""Results of `Endpoint.receive`: frozen values, compared by value.

A request is handed over once and must be answered once, by
`Endpoint.respond` or `Endpoint.fail`; the endpoint itself has already answered
those that are malformed, out of order or not served.
"""

from dataclasses import dataclass

from dapkit.protocol import Event, ProtocolError, Request, Response


@dataclass(frozen=True, slots=True)
class RequestReceived:
    """The peer asks; its arguments are typed, or `RawJson` for a custom command."""

    request: Request
    """The request; its arguments are read."""


@dataclass(frozen=True, slots=True)
class ResponseReceived:
    """The peer answered `request`.

    The body of a success is typed, or `RawJson` if the request was; the body of
    a failure is an `ErrorBody`, or None if there was none that can be read.
    """

    request: Request
    """The outgoing request."""

    response: Response
    """The peer's response."""


@dataclass(frozen=True, slots=True)
class ResponseUnusable:
    """The peer answered `request`, but the response cannot be understood."""

    request: Request
    """The outgoing request."""

    problem: ProtocolError
    """The fault of the response."""


@dataclass(frozen=True, slots=True)
class LateResponse:
    """An answer to a request that was given up on."""

    response: Response
    """A response for which no caller waits any more."""


@dataclass(frozen=True, slots=True)
class EventReceived:
    """The peer tells; the body is typed, or `RawJson` for a custom event and where no reading makes sense of it."""

    event: Event
    """The event; its body is read."""


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """The client no longer wants the result of `request`, which still must be answered.

    It may come twice, and be handled when the answer has been given (see `Endpoint.unanswered`).
    """

    request: Request
    """The request that is to be given up."""


@dataclass(frozen=True, slots=True)
class ProgressCancelRequested:
    """The client asks to end the work behind a progress; its `progressEnd` is still due."""

    progress_id: str
    """Which progress."""


@dataclass(frozen=True, slots=True)
class ConversationEnded:
    """Nothing more comes from the peer."""

    problem: str | None
    """The fault in the peer's last bytes; None after an orderly end of input."""


type Happening = (
    RequestReceived
    | ResponseReceived
    | ResponseUnusable
    | LateResponse
    | EventReceived
    | CancelRequested
    | ProgressCancelRequested
    | ConversationEnded
)
"""Anything that `Endpoint.receive` returns."""
