"""The usual steps of a script: a fake peer's right or wrong reaction to a request."""

from collections.abc import Callable
from typing import Any

from dapkit.endpoint import RequestFailed
from dapkit.protocol import Arguments, Event, EventBody, ProtocolObject, RawJson, Request, encode, encode_frame
from dapkit.testing.peers import FakePeer, Step

type ReplyBody = ProtocolObject | RawJson | None
"""The response to a request."""


def reply(body: ReplyBody | Callable[[Request], ReplyBody] = None) -> Step:
    """Answer with success; the body may be made from the request."""

    async def step(peer: FakePeer, request: Request) -> None:
        peer.connection.respond(request, body(request) if callable(body) else body)

    return step


def refuse(text: str, *, message: str | None = None) -> Step:
    """Answer with an error."""

    async def step(peer: FakePeer, request: Request) -> None:
        peer.connection.fail(request, RequestFailed(text, message=message))

    return step


def tell(*bodies: EventBody) -> Step:
    """Send events, and continue when they have left (or must wait for a response)."""

    async def step(peer: FakePeer, _: Request) -> None:
        for body in bodies:
            peer.connection.send_event(body)
        await peer.connection.flush()

    return step


def tell_custom(event: str, body: object = None) -> Step:
    """Send an event that the specification does not have."""

    async def step(peer: FakePeer, _: Request) -> None:
        peer.connection.send_custom_event(event, body)

    return step


def ask(arguments: Arguments[Any]) -> Step:
    """Ask the other end, and wait for its answer."""

    async def step(peer: FakePeer, _: Request) -> None:
        await peer.connection.request(arguments)

    return step


def hold(gate: str) -> Step:
    """Wait until the test calls `peer.release(gate)`."""

    async def step(peer: FakePeer, _: Request) -> None:
        await peer.gate(gate).wait()

    return step


def release(gate: str) -> Step:
    """Let the steps that `hold` this gate continue."""

    async def step(peer: FakePeer, _: Request) -> None:
        peer.release(gate)

    return step


def blurt(*bodies: EventBody) -> Step:
    """Send events at once, past every rule of order; their `seq` is 0."""
    return raw(b"".join(encode_frame(encode(Event(0, body.event, body))) for body in bodies))


def raw(data: bytes | Callable[[Request], bytes]) -> Step:
    """Send bytes as they are: a fault of any kind, or an answer that may be made from the request."""

    async def step(peer: FakePeer, request: Request) -> None:
        await peer.send_raw(data(request) if callable(data) else data)

    return step


def die() -> Step:
    """Close the stream, without a word."""

    async def step(peer: FakePeer, _: Request) -> None:
        await peer.die()

    return step
