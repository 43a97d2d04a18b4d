"""The pump between a client and an adapter: messages of one reach the other after the user's function has seen them.

Nothing is expected of either end: no order, no capabilities, no known commands.
Data that is not a message is relayed unchanged and not shown to the function; after bytes that make no frame, the rest
of that direction is relayed unread.

`seq` counts the messages of one end, and responses and `cancel` name requests by it (specification, "Base Protocol").
While no message has been dropped or inserted, numbers and messages pass unchanged; after that each end gets the proxy's
numbers, and fields that name a request are translated back.
"""

import inspect
import logging
from collections.abc import Sequence
from typing import Literal

import anyio
from anyio.abc import ByteStream

from dapkit import limits
from dapkit.endpoint import Role
from dapkit.protocol import (
    AnyMessage,
    FrameDecoder,
    FramingError,
    ProtocolError,
    RawJson,
    Request,
    Response,
    changed,
    decode,
    decode_as,
    encode,
    encode_frame,
    encode_value,
)
from dapkit.proxy.edits import Edit, Replacement, edited, members, unchanged
from dapkit.transport import Recorder, background_tasks


class Numbers:
    """Both directions of one conversation.

    Invariant: `_shift[end]` is how many more messages have gone to `end` than its peer has sent, and
    `_asked[end]` has the number at its sender of each request that `end` knows by another number, and
    `_own[end]` the numbers of requests to `end` that its peer does not know of.
    """

    def __init__(self) -> None:
        self._shift = dict.fromkeys(Role, 0)
        self._asked: dict[Role, dict[int, int]] = {role: {} for role in Role}
        self._own: dict[Role, set[int]] = {role: set() for role in Role}
        self._last = dict.fromkeys(Role, 0)

    def passing(self, message: AnyMessage, replacement: Replacement, *, sender: Role) -> list[tuple[AnyMessage, Role]]:
        """Give numbers to the messages that replace a message, and return the end to which each is sent.

        A message that kept its `seq` continues the message from which it was made; all others are new to both ends.
        """
        messages = [] if replacement is None else replacement if isinstance(replacement, Sequence) else [replacement]
        same = next((other for other in messages if type(other) is type(message) and other.seq == message.seq), None)
        if same is not None and self._is_answer_to_us(message, sender):
            messages = [other for other in messages if other is not same]
            same = None
        self._last[sender.peer] = message.seq
        if same is None:
            self._leave_out(message, sender.peer)
        passing = []
        for passed in messages:
            to = sender if isinstance(message, Request) and isinstance(passed, Response) else sender.peer
            passing.append((self._pass_on(passed, to) if passed is same else self._put_in(passed, to), to))
        return passing

    def _is_answer_to_us(self, message: AnyMessage, sender: Role) -> bool:
        return isinstance(message, Response) and message.request_seq in self._own[sender]

    def _leave_out(self, message: AnyMessage, to: Role) -> None:
        self._shift[to] -= 1
        if isinstance(message, Response):
            self._own[to.peer].discard(message.request_seq)

    def _pass_on(self, message: AnyMessage, to: Role) -> AnyMessage:
        return self._renumbered(message, message.seq + self._shift[to], to)

    def _put_in(self, message: AnyMessage, to: Role) -> AnyMessage:
        self._shift[to] += 1
        seq = self._last[to] + self._shift[to]
        if isinstance(message, Request):
            self._own[to].add(seq)
        return changed(message, seq=seq)

    def _renumbered(self, message: AnyMessage, seq: int, to: Role) -> AnyMessage:
        match message:
            case Request():
                if seq != message.seq:
                    self._asked[to][seq] = message.seq
                if message.command == "cancel":
                    message = self._cancel(message, to)
            case Response(request_seq=asked) if asked in self._asked[to.peer]:
                message = changed(message, request_seq=self._asked[to.peer].pop(asked))
            case _:
                pass
        return message if seq == message.seq else changed(message, seq=seq)

    def _cancel(self, message: Request, to: Role) -> Request:
        try:
            request_id = members(message).get("requestId")
        except ProtocolError:  # its receiver must report its fault
            return message
        original = next(
            (number for number, sent_number in self._asked[to].items() if sent_number == request_id), request_id
        )
        return message if original == request_id else edited(message, requestId=original)


def renumbered_payload(payload: bytes, message: AnyMessage) -> bytes:
    """Put the numbers of a message into the payload that it was read from; all else in it stays as it came."""
    fields = decode_as(dict[str, RawJson], payload)
    fields["seq"] = RawJson(b"%d" % message.seq)
    if isinstance(message, Response):
        fields["request_seq"] = RawJson(b"%d" % message.request_seq)
    return encode_value(fields)


log = logging.getLogger(__name__)

_GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)

_DIRECTION: dict[Role, Literal["sent", "received"]] = {Role.CLIENT: "sent", Role.ADAPTER: "received"}
"""As the client sees it: the proxy records in its place."""


async def pass_messages(
    client: ByteStream, adapter: ByteStream, *, edit: Edit = unchanged, recorder: Recorder | None = None
) -> None:
    r"""Pass messages on between two streams, until one end has gone and the other had time to answer.

    The streams are not closed. An adapter whose client has gone gets `limits.CLOSING_SECONDS` to say its last words.

    Args:
        client: bytes from and to the client, such as `dapkit.transport.stdio()`.
        adapter: bytes from and to the adapter.
        edit: gets each message, and returns the messages to send in its place.
        recorder: writes the messages of both ends, and the proxy's replacements; its role is `Role.CLIENT`.

    Raises:
        Exception: `edit` raised it.

    Example:
        >>> from dapkit.transport import memory_pair
        >>> async def main() -> bytes:
        ...     (editor, client), (adapter, debugger) = memory_pair(), memory_pair()
        ...     async with background_tasks() as tasks:
        ...         tasks.start_soon(pass_messages, client, adapter)
        ...         await editor.send(encode_frame(b'{"seq":1,"type":"request","command":"threads"}'))
        ...         return await debugger.receive()
        >>> anyio.run(main).partition(b"\r\n\r\n")[2]
        b'{"seq":1,"type":"request","command":"threads"}'

    """
    await _Passage(client, adapter, edit, recorder).run()


class _Passage:
    def __init__(self, client: ByteStream, adapter: ByteStream, edit: Edit, recorder: Recorder | None) -> None:
        self._streams = {Role.CLIENT: client, Role.ADAPTER: adapter}
        self._sending = {role: anyio.Lock() for role in Role}
        self._edit = edit
        self._recorder = recorder
        self._numbers = Numbers()
        self._over = anyio.Event()

    async def run(self) -> None:
        async with background_tasks() as tasks:
            tasks.start_soon(self._forward, Role.CLIENT)
            tasks.start_soon(self._forward, Role.ADAPTER)
            await self._over.wait()

    async def _forward(self, sender: Role) -> None:
        try:
            await self._forward_all(sender)
        except _GONE:  # the receiver has gone: the other task relays its last messages
            log.debug("the end that the %s talks to has gone", sender)
            if sender is Role.ADAPTER:
                await self._drop_rest_of(sender)
        if sender is Role.CLIENT:
            with anyio.move_on_after(limits.CLOSING_SECONDS):
                await self._end_input_of(Role.ADAPTER)
                await self._over.wait()
        self._over.set()

    async def _forward_all(self, sender: Role) -> None:
        frames = FrameDecoder()
        while (data := await self._received(sender)) is not None:
            try:
                payloads, rest = frames.feed(data), b""
            except FramingError as error:
                log.warning("messages of the %s are relayed unread from here: %s", sender, error)
                payloads, rest = error.payloads, error.rest
            for payload in payloads:
                await self._pass(payload, sender)
            if rest:
                await self._send(rest, to=sender.peer)
                break
        while (data := await self._received(sender)) is not None:
            await self._send(data, to=sender.peer)

    async def _drop_rest_of(self, sender: Role) -> None:
        """Read on, or an adapter that waits until its words are read would not read the last of its client."""
        while await self._received(sender) is not None:
            pass

    async def _received(self, sender: Role) -> bytes | None:
        try:
            data = await self._streams[sender].receive(limits.READ_CHUNK_BYTES)
        except _GONE:
            return None
        if self._recorder is not None:
            self._recorder(_DIRECTION[sender], data)
        return data

    async def _pass(self, payload: bytes, sender: Role) -> None:
        try:
            message = decode(payload)
        except ProtocolError:
            await self._send(encode_frame(payload), to=sender.peer)
            return
        replacement = self._edit(message, sender)
        if inspect.isawaitable(replacement):
            replacement = await replacement
        passing = self._numbers.passing(message, replacement, sender=sender)
        if replacement is not message and self._recorder is not None and not passing:
            self._recorder.replaced(message.seq, None, to=sender.peer)
        for passing_message, to in passing:
            if replacement is message:
                same = payload if passing_message is message else renumbered_payload(payload, passing_message)
            else:
                same = encode(passing_message)
                if self._recorder is not None:
                    self._recorder.replaced(message.seq, same, to=to)
            await self._send(encode_frame(same), to=to)

    async def _send(self, data: bytes, *, to: Role) -> None:
        async with self._sending[to]:
            await self._streams[to].send(data)

    async def _end_input_of(self, end: Role) -> None:
        try:
            async with self._sending[end]:
                await self._streams[end].send_eof()
        except _GONE:
            log.debug("the %s had gone before", end)
