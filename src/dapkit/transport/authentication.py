"""How the two ends of a TCP connection prove to each other that they know a token, before the first message.

    client   {"seq":1,"type":"request","command":"dapkit/authenticate","arguments":{"nonce":"..."}}
    server   {"seq":1,"type":"response","request_seq":1,"success":true,"command":"dapkit/authenticate",
              "body":{"nonce":"...","proof":"..."}}
    client   {"seq":2,"type":"request","command":"dapkit/authenticate","arguments":{"proof":"..."}}
    server   {"seq":2,"type":"response","request_seq":2,"success":true,"command":"dapkit/authenticate"}

The token itself is never sent. A nonce is 32 random bytes as 64 hexadecimal digits; a proof is, as such digits, the
HMAC-SHA256 with the token as its key over `dapkit ROLE PORT CLIENT-NONCE SERVER-NONCE`, where the role is `server` or
`client`, whichever proves. The proof contains the port of the server, so that a process at another port cannot relay
the questions. The engine has the same exchange (`connection.tokens`).

The client sends nothing more before the last answer; then the session begins, its messages numbered anew, and sealed so
that a process in between, which has relayed the proofs, can add nothing (`sealing`). A client that
does not open like this is answered, if its message is a request at all, and closed. Refusals contain nothing of the
stranger's data.
"""

import os
from typing import cast

import anyio
from anyio.abc import ByteStream

from dapkit import limits
from dapkit.protocol import (
    ErrorBody,
    FrameDecoder,
    FramingError,
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
    error_message,
)
from dapkit.transport.errors import NotAdmitted
from dapkit.transport.sealing import Seal, SealedStream

AUTHENTICATE = "dapkit/authenticate"
"""Command of the requests."""

_NONCE_DIGITS = 64

_BROKEN = "the connection broke before a token was proved"


class _Challenge(ProtocolObject, frozen=True, kw_only=True):
    nonce: str


class _Reply(ProtocolObject, frozen=True, kw_only=True):
    nonce: str
    proof: str


class _Proof(ProtocolObject, frozen=True, kw_only=True):
    proof: str


async def admit(stream: ByteStream, token: str, *, port: int, seals: bool = True) -> ByteStream:
    """Let a client in that proves to know the token, as the server; return the stream to continue with.

    All later bytes are sealed (`sealing`), unless the stream is protected already.

    Raises:
        NotAdmitted: it did not, or not within `limits.TOKEN_SECONDS`.

    """
    with anyio.move_on_after(limits.TOKEN_SECONDS):
        messages = _FirstMessages(stream)
        question = _request(await messages.next())
        theirs = _arguments(question, _Challenge)
        if question.command != AUTHENTICATE or theirs is None or not _is_nonce(theirs.nonce):
            raise await _refused(messages, question, _UNPROVED)
        ours = _new_nonce()
        proof = proof_of("server", token, port, theirs.nonce, ours)
        await messages.send(_answer(question, RawJson(encode_value(_Reply(nonce=ours, proof=proof)))))
        answer = _request(await messages.next())
        arguments = _arguments(answer, _Proof)
        expected = proof_of("client", token, port, theirs.nonce, ours)
        if answer.command != AUTHENTICATE or arguments is None or not _same(arguments.proof, expected):
            raise await _refused(messages, answer, "the token is not this server's")
        await messages.send(_answer(answer))
        client_key, server_key = _record_keys(token, port, theirs.nonce, ours)
        return messages.rest(Seal(sending=server_key, receiving=client_key) if seals else None)
    raise NotAdmitted(f"no proof of the token came within {limits.TOKEN_SECONDS:g} s")


_UNPROVED = (
    f"the first request has to be {AUTHENTICATE}, by which a client proves that it knows the token of this port: "
    "give it as `connect.tokenFile` of an attach configuration, or by `Session.connect(host, port, token=...)`; "
    "the server has named the file that holds it"
)


async def introduce(stream: ByteStream, token: str, *, port: int, seals: bool = True) -> ByteStream:
    """Let a server prove that it knows the token, then prove it as the client; return the stream to continue with.

    All later bytes are sealed (`sealing`), unless the stream is protected already.

    Raises:
        NotAdmitted: it does not know it, did not accept ours, or did not answer within `limits.TOKEN_SECONDS`.

    """
    ours = _new_nonce()
    with anyio.move_on_after(limits.TOKEN_SECONDS):
        messages = _FirstMessages(stream)
        await messages.send(Request(1, AUTHENTICATE, RawJson(encode_value(_Challenge(nonce=ours)))))
        reply = _body(_welcome(await messages.next()))
        if (
            reply is None
            or not _is_nonce(reply.nonce)
            or not _same(reply.proof, proof_of("server", token, port, ours, reply.nonce))
        ):
            raise NotAdmitted(
                "the server did not prove that it knows the token: another program may have taken its port, "
                "or the port is forwarded from one of another number; nothing was sent to it"
            )
        proof = proof_of("client", token, port, ours, reply.nonce)
        await messages.send(Request(2, AUTHENTICATE, RawJson(encode_value(_Proof(proof=proof)))))
        _welcome(await messages.next())
        client_key, server_key = _record_keys(token, port, ours, reply.nonce)
        return messages.rest(Seal(sending=client_key, receiving=server_key) if seals else None)
    raise NotAdmitted(f"the server did not answer to the token within {limits.TOKEN_SECONDS:g} s")


def proof_of(role: str, token: str, port: int, client_nonce: str, server_nonce: str) -> str:
    """Return the proof for these nonces, which only a holder of the token can make."""
    import hmac

    statement = f"dapkit {role} {port} {client_nonce} {server_nonce}"
    return hmac.digest(token.encode(), statement.encode(errors="surrogatepass"), "sha256").hex()


def _record_keys(token: str, port: int, client_nonce: str, server_nonce: str) -> tuple[bytes, bytes]:
    """Return the keys of the records that the client sends, and of those that the server sends."""
    roles = ("client records", "server records")
    client, server = (bytes.fromhex(proof_of(role, token, port, client_nonce, server_nonce)) for role in roles)
    return client, server


def _new_nonce() -> str:
    return os.urandom(_NONCE_DIGITS // 2).hex()


def _is_nonce(text: str) -> bool:
    return len(text) == _NONCE_DIGITS and set(text) <= set("0123456789abcdef")


def _same(proof: str, expected: str) -> bool:
    import hmac

    return hmac.compare_digest(proof.encode(errors="surrogatepass"), expected.encode())


class _FirstMessages:
    """The first messages of a stream, both ways, and the data after them."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._frames = FrameDecoder(limits.TOKEN_MESSAGE_BYTES)
        self._data = b""

    async def next(self) -> bytes:
        """Take the payload of the next message.

        Raises:
            NotAdmitted: the stream ended, or its data is not a message.

        """
        while True:
            while self._data:  # byte by byte: nothing behind the frame may be swallowed
                byte, self._data = self._data[:1], self._data[1:]
                try:
                    payloads = self._frames.feed(byte)
                except FramingError as error:
                    raise NotAdmitted(
                        f"byte {error.offset} does not belong to a DAP message: expected {error.expected}"
                    ) from None
                if payloads:
                    return payloads[0]
            try:
                self._data = await self._stream.receive()
            except anyio.EndOfStream:
                raise NotAdmitted("the connection was closed before a token was proved") from None
            except anyio.BrokenResourceError:
                raise NotAdmitted(_BROKEN) from None

    async def send(self, message: Request | Response) -> None:
        """Send a message.

        Raises:
            NotAdmitted: no reader is left.

        """
        try:
            await self._stream.send(encode_frame(encode(message)))
        except anyio.BrokenResourceError:
            raise NotAdmitted(_BROKEN) from None

    def rest(self, seal: Seal | None) -> ByteStream:
        """Return the stream from behind the messages that were taken."""
        if seal is not None:
            return SealedStream(self._stream, seal, self._data)
        return _Resumed(self._stream, self._data) if self._data else self._stream


def _request(payload: bytes) -> Request:
    try:
        message = decode(payload)
    except ProtocolError:
        message = None
    if not isinstance(message, Request):
        raise NotAdmitted(f"a message is not a request: expected {AUTHENTICATE}")
    return message


def _arguments[Given: (_Challenge, _Proof)](request: Request, kind: type[Given]) -> Given | None:
    try:
        return decode_as(kind, cast("RawJson | None", request.arguments), "$.arguments")  # as decoded
    except ProtocolError:
        return None


async def _refused(messages: _FirstMessages, request: Request, objection: str) -> NotAdmitted:
    """Return why a client is not let in; return the error for ourselves."""
    body = ErrorBody(error=error_message(objection))
    await messages.send(Response(request.seq, request.seq, False, request.command, objection, body))  # noqa: FBT003 - a field
    return NotAdmitted(objection)


def _answer(request: Request, body: RawJson | None = None) -> Response:
    return Response(request.seq, request.seq, success=True, command=request.command, body=body)


def _welcome(payload: bytes) -> Response:
    try:
        message = decode(payload)
    except ProtocolError:
        message = None
    if not isinstance(message, Response) or message.command != AUTHENTICATE:
        raise NotAdmitted("the server does not answer to a token: it seems to expect none")
    if not message.success:
        raise NotAdmitted(f"the server refused: {message.message}")
    return message


def _body(response: Response) -> _Reply | None:
    try:
        return decode_as(_Reply, cast("RawJson | None", response.body), "$.body")  # as decoded
    except ProtocolError:
        return None


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
