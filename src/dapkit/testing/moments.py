"""One message of a timeline, and how it is printed."""

from dataclasses import dataclass
from functools import cached_property

from dapkit import limits
from dapkit.endpoint import Role
from dapkit.protocol import AnyMessage, Event, ProtocolError, RawJson, Request, Response, decode, decode_as


@dataclass(frozen=True)
class Moment:
    """One message, or invalid bytes, at its place in a timeline.

    Attributes:
        index: its place, from 0.
        speaker: who said it.
        payload: its JSON, or the bytes that cannot be read.

    """

    index: int
    speaker: Role
    payload: bytes

    @cached_property
    def message(self) -> AnyMessage | None:
        """The envelope, its content as `RawJson`; None if it cannot be read."""
        try:
            return decode(self.payload)
        except ProtocolError:  # a fault that a test has put there; `payload` shows it
            return None

    @cached_property
    def content(self) -> RawJson | None:
        """Arguments or body."""
        match self.message:
            case Request(arguments=content) | Response(body=content) | Event(body=content):
                return content if isinstance(content, RawJson) else None
            case None:
                return None

    @cached_property
    def fields(self) -> dict[str, object]:
        """Members of arguments or body, under their names on the wire; empty if they are not an object."""
        value = decode_as(object, self.content) if self.content is not None else None
        return value if isinstance(value, dict) else {}

    @property
    def request_seq(self) -> int | None:
        """Number of the request that this answers."""
        return self.message.request_seq if isinstance(self.message, Response) else None

    def __str__(self) -> str:
        """One line of a printed timeline."""
        match self.message:
            case Request(seq, command):
                what = f"{seq} request {command}"
            case Response(seq, request_seq, True, command):
                what = f"{seq} response {command} to {request_seq}"
            case Response(seq, request_seq, _, command, message):
                what = f"{seq} failure {command} to {request_seq}: {message}"
            case Event(seq, event):
                what = f"{seq} event {event}"
            case None:
                what = f"bytes that are not a message: {self.payload[: limits.MOMENT_CHARACTERS]!r}"
        content = b"" if self.content is None else bytes(self.content)
        text = content.decode(errors="replace")
        if len(text) > limits.MOMENT_CHARACTERS:
            text = text[: limits.MOMENT_CHARACTERS] + "..."
        return f"#{self.index:<3} {self.speaker!s:<7} {what} {text}".rstrip()
