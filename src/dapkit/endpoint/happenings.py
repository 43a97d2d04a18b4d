"""What `Endpoint.receive` reports: frozen values, compared by value.

A request is handed over once and has to be answered once, by
`Endpoint.respond` or `Endpoint.fail`; the endpoint itself has already answered
those that are malformed, out of order or not served.
"""

from dataclasses import dataclass

from dapkit.protocol import Event, ProtocolError, Request, Response


@dataclass(frozen=True, slots=True)
class RequestReceived:
    """The peer asks; its arguments are typed, or `RawJson` for a custom command."""

    request: Request


@dataclass(frozen=True, slots=True)
class ResponseReceived:
    """The peer answered `request`.

    The body of a success is typed, or `RawJson` if the request was; the body of
    a failure is an `ErrorBody`, or None if there was none that can be read.
    """

    request: Request
    response: Response


@dataclass(frozen=True, slots=True)
class ResponseUnusable:
    """The peer answered `request`, but no reading makes sense of what it said."""

    request: Request
    problem: ProtocolError


@dataclass(frozen=True, slots=True)
class LateResponse:
    """An answer to a request that was given up on."""

    response: Response


@dataclass(frozen=True, slots=True)
class EventReceived:
    """The peer tells; the body is typed, or `RawJson` for a custom event and where no reading makes sense of it."""

    event: Event


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """The client no longer wants the result of `request`, which still has to be answered.

    It may come twice, and be handled when the answer has been given (see `Endpoint.unanswered`).
    """

    request: Request


@dataclass(frozen=True, slots=True)
class ProgressCancelRequested:
    """The client asks to end the work behind a progress; its `progressEnd` is still due."""

    progress_id: str


@dataclass(frozen=True, slots=True)
class ConversationEnded:
    """Nothing more comes from the peer.

    `problem` says what was wrong with its last bytes; None after an orderly end of input.
    """

    problem: str | None


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
