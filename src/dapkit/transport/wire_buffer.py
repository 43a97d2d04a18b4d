"""The last messages that passed on a wire, kept in memory within bounds.

A user looks at the messages when an adapter, or dapkit itself, does something strange: the messages of the protocol in
a session, or the events that a server sends. Of each message its beginning is kept, with a marker where it was cut; of
all together the latest. Each is counted before anything is dropped.
"""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dapkit import limits as shared_limits
from dapkit.endpoint import Role
from dapkit.protocol import Event, FrameDecoder, FramingError, ProtocolError, Request, Response, decode
from dapkit.transport import limits
from dapkit.transport.state_change import StateChange


class FrameSplitter:
    """The frames of one sender.

    Attributes:
        sender: which end it is.

    """

    def __init__(self, sender: Role) -> None:
        self.sender = sender
        self._frames = FrameDecoder()
        self._broken = False

    def messages(self, data: bytes) -> list[tuple[bytes, str | None]]:
        """Return the messages that these bytes complete.

        Each is the payload of a frame, and None. Bytes that make no frame are an empty payload, and a fault; no later
        bytes are understood any more.
        """
        if self._broken:
            return []
        try:
            return [(payload, None) for payload in self._frames.feed(data)]
        except FramingError as error:
            self._broken = True
            return [*((payload, None) for payload in error.payloads), (b"", str(error))]


MARKER = "\n: dapkit-truncated, {} of {} characters"
"""The end of a text that was cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireHead:
    """The envelope of a message."""

    kind: Literal["request", "response", "event", ""] = ""
    """Empty for other messages."""
    name: str = ""
    """The command, or the event."""
    seq: int | None = None
    """Number of a request among the messages of its sender."""
    request_seq: int | None = None
    """In a response, the `seq` of the request that it answers."""
    success: bool | None = None
    """In a response, whether the request was carried out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireRecord:
    """One message."""

    number: int
    """From 1; every message is counted, those that were dropped too."""
    time: float
    """When it passed, in seconds since the epoch."""
    channel: str
    """Which conversation it belongs to, such as `child 1`; empty for the first."""
    sender: str
    """Which end has sent it."""
    head: WireHead
    """Its envelope."""
    text: str
    """The message, or its beginning and a marker."""
    length: int
    """Characters of the whole message."""
    problem: str | None = None
    """Why it is not understood, if it is not."""

    @property
    def text_and_marker(self) -> tuple[str, str]:
        """The kept part of the message, and the marker; that is empty if all of it is kept."""
        if self.length <= limits.WIRE_RECORD_CHARACTERS:
            return self.text, ""
        end = self.text.rindex("\n")
        return self.text[:end], self.text[end:]


class WireBuffer:
    """The latest records.

    Invariant: at most `limits.WIRE_RECORDS` are kept, with `limits.WIRE_CHARACTERS` characters in all, and each has at
    most `limits.WIRE_RECORD_CHARACTERS`.

    Attributes:
        total: how many messages have passed.
        updates: notified after each record.

    """

    def __init__(self) -> None:
        self.total = 0
        self.updates = StateChange()
        self._records: deque[WireRecord] = deque()
        self._characters = 0

    def __len__(self) -> int:
        """Return how many records are kept."""
        return len(self._records)

    @property
    def characters(self) -> int:
        """How many characters the records have that are kept."""
        return self._characters

    def add(self, text: str, *, sender: str, head: WireHead, channel: str = "", problem: str | None = None) -> None:
        """Keep a message, and drop the oldest ones for which there is no room any more."""
        self.total += 1
        kept_text = _cut(text, limits.WIRE_RECORD_CHARACTERS)
        self._records.append(
            WireRecord(
                number=self.total,
                time=time.time(),
                channel=channel,
                sender=sender,
                head=head,
                text=kept_text,
                length=len(text),
                problem=problem,
            )
        )
        self._characters += len(kept_text)
        while len(self._records) > shared_limits.WIRE_RECORDS or self._characters > shared_limits.WIRE_CHARACTERS:
            self._characters -= len(self._records.popleft().text)
        self.updates.notify()

    def after(self, number: int) -> Sequence[WireRecord]:
        """Return the records after the one of this number; all that are kept after 0."""
        new = min(self.total - number, len(self._records))
        return list(self._records)[-new:] if new > 0 else []


class WireTap:
    """Keeps the messages of one conversation; the tap of its `Connection`.

    Args:
        buffer: where they are kept.
        role: which end the connection is.
        channel: the name of the conversation.

    """

    def __init__(self, buffer: WireBuffer, *, role: Role, channel: str = "") -> None:
        self._buffer = buffer
        self._channel = channel
        self._lanes = {"sent": FrameSplitter(role), "received": FrameSplitter(role.peer)}

    def __call__(self, direction: Literal["sent", "received"], data: bytes) -> None:
        """Keep the messages that these bytes complete."""
        lane = self._lanes[direction]
        for payload, problem in lane.messages(data):
            head, why = (WireHead(), problem) if problem is not None else _head(payload)
            text = payload.decode(errors="backslashreplace")
            self._buffer.add(text, sender=str(lane.sender), head=head, channel=self._channel, problem=why)


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    room = most - len(MARKER.format(len(text), len(text)))
    return text[:room] + MARKER.format(room, len(text))


def _head(payload: bytes) -> tuple[WireHead, str | None]:
    try:
        message = decode(payload)
    except ProtocolError as error:
        return WireHead(), str(error)
    match message:
        case Request():
            return WireHead(kind="request", name=message.command, seq=message.seq), None
        case Response():
            head = WireHead(
                kind="response", name=message.command, request_seq=message.request_seq, success=message.success
            )
            return head, None
        case Event():
            return WireHead(kind="event", name=message.event), None
