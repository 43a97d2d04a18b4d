"""The token exchange before the first message of a TCP connection.

    client   {"seq":1,"type":"request","command":"dapkit/authenticate","arguments":{"token":"..."}}
    server   {"seq":1,"type":"response","request_seq":1,"success":true,"command":"dapkit/authenticate"}

The client sends nothing more before the answer; then the session begins, its
messages numbered anew. A client that does not open with a right token is answered, if
what came is a request at all, and closed. Refusals hold nothing of what the stranger
sent, since it might be the token.
"""

from typing import cast

import anyio
from anyio.abc import ByteStream

from dapkit import limits
from dapkit.protocol import (
    ErrorBody,
    FrameDecoder,
    FramingError,
    Message,
    ProtocolError,
    ProtocolObject,
    RawJson,
    Request,
    Response,
    decode,
    decode_as,
    encode,
    encode_frame,
    encode_value,
)
from dapkit.transport.errors import NotAdmitted

AUTHENTICATE = "dapkit/authenticate"
"""Command of the request that carries the token."""


class _Credentials(ProtocolObject, frozen=True, kw_only=True):
    token: str


async def admit(stream: ByteStream, token: str) -> ByteStream:
    """Let a client in that shows the token, as the server; return the stream to go on with.

    Raises:
        NotAdmitted: it did not, or not within `limits.TOKEN_SECONDS`.

    """
    with anyio.move_on_after(limits.TOKEN_SECONDS):
        payload, rest = await _first_message(stream)
        request = _request(payload)
        objection = _objection(request, token)
        await stream.send(_answer(request, objection))
        if objection is not None:
            raise NotAdmitted(objection)
        return _Resumed(stream, rest) if rest else stream
    raise NotAdmitted(f"no token came within {limits.TOKEN_SECONDS:g} s")


async def introduce(stream: ByteStream, token: str) -> ByteStream:
    """Show the token to a server, as the client; return the stream to go on with.

    Raises:
        NotAdmitted: the server did not accept it, or did not answer within `limits.TOKEN_SECONDS`.

    """
    credentials = RawJson(encode_value(_Credentials(token=token)))
    with anyio.move_on_after(limits.TOKEN_SECONDS):
        await stream.send(encode_frame(encode(Request(1, AUTHENTICATE, credentials))))
        payload, rest = await _first_message(stream)
        _check_welcome(payload)
        return _Resumed(stream, rest) if rest else stream
    raise NotAdmitted(f"the server did not answer to the token within {limits.TOKEN_SECONDS:g} s")


async def _first_message(stream: ByteStream) -> tuple[bytes, bytes]:
    """Payload of the first frame, and what came behind it."""
    frames = FrameDecoder(limits.TOKEN_MESSAGE_BYTES)
    while True:
        try:
            data = await stream.receive()
        except anyio.EndOfStream:
            raise NotAdmitted("the connection was closed before a token was accepted") from None
        except anyio.BrokenResourceError:
            raise NotAdmitted("the connection broke before a token was accepted") from None
        for end in range(1, len(data) + 1):  # byte by byte: nothing behind the frame may be swallowed
            try:
                payloads = frames.feed(data[end - 1 : end])
            except FramingError as error:
                raise NotAdmitted(
                    f"byte {error.offset} is not that of a DAP message: expected {error.expected}"
                ) from None
            if payloads:
                return payloads[0], data[end:]


def _request(payload: bytes) -> Request:
    try:
        message = decode(payload)
    except ProtocolError:
        message = None
    if not isinstance(message, Request):
        raise NotAdmitted(f"the first message is not a request: expected {AUTHENTICATE}")
    return message


def _objection(request: Request, token: str) -> str | None:
    """Why this request does not let its sender in, or None if it does."""
    if request.command != AUTHENTICATE:
        return f"the first request has to be {AUTHENTICATE}, with the token of this server"
    try:
        shown = decode_as(_Credentials, cast("RawJson | None", request.arguments), "$.arguments").token  # as decoded
    except ProtocolError:
        return f"{AUTHENTICATE} came without a token"
    import hmac

    if not hmac.compare_digest(shown.encode(errors="surrogatepass"), token.encode()):
        return "the token is not that of this server"
    return None


def _answer(request: Request, objection: str | None) -> bytes:
    body = None if objection is None else ErrorBody(error=Message(id=1, format=objection))
    response = Response(1, request.seq, objection is None, request.command, objection, body)
    return encode_frame(encode(response))


def _check_welcome(payload: bytes) -> None:
    try:
        message = decode(payload)
    except ProtocolError:
        message = None
    if not isinstance(message, Response) or message.command != AUTHENTICATE:
        raise NotAdmitted("the server does not answer to a token: it seems to expect none")
    if not message.success:
        raise NotAdmitted(f"the server refused the token: {message.message}")


class _Resumed(ByteStream):
    """A stream of which some bytes were read already."""

    def __init__(self, stream: ByteStream, rest: bytes) -> None:
        self._stream = stream
        self._rest = rest

    async def receive(self, max_bytes: int = limits.READ_CHUNK_BYTES) -> bytes:
        if not self._rest:
            return await self._stream.receive(max_bytes)
        data, self._rest = self._rest[:max_bytes], self._rest[max_bytes:]
        return data

    async def send(self, item: bytes) -> None:
        await self._stream.send(item)

    async def send_eof(self) -> None:
        await self._stream.send_eof()

    async def aclose(self) -> None:
        await self._stream.aclose()
