"""Errors of dapkit, and of the protocol layer; a text as the structured error of a response, and back.

    DapkitError
    └── ProtocolError           the peer's data cannot be used
        ├── FramingError        the byte stream is out of step: fatal for the connection
        ├── MalformedMessage    a payload is not a DAP message, though its frame is sound
        └── InvalidValue        a field of a message is wrong, though its kind is known

Each text gives the value found, the value expected, and the place.

`Message.format` has holes in braces, which `Message.variables` fill. A text of ours is meant as it stands, so one with
braces goes into a hole as a whole; one without them is its own format, also for clients that fill in nothing.
"""

import re
from typing import Final

from dapkit.protocol.generated import Message


class DapkitError(Exception):
    """Base of every error that dapkit raises on purpose."""


class ProtocolError(DapkitError):
    """Something that a peer sent, and that the protocol does not allow."""


class FramingError(ProtocolError):
    """The stream is not a sequence of frames; nothing after this point can be read.

    `offset` counts bytes from the start of the stream. `payloads` holds the
    frames that were complete before the fault, in the data of the same feed;
    `rest` the bytes after them, from the start of the frame that is at fault.
    """

    def __init__(self, *, found: str, expected: str, offset: int, payloads: list[bytes] | None = None) -> None:
        super().__init__(f"found {found} at byte {offset} of the stream, expected {expected}; close the connection")
        self.found = found
        self.expected = expected
        self.offset = offset
        self.payloads = payloads or []
        self.rest = b""


class MalformedMessage(ProtocolError):  # noqa: N818 - named after its object, not as an error
    """A payload that cannot be told to be a request, a response or an event."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


class InvalidValue(ProtocolError):  # noqa: N818 - the same
    """A value that the schema does not allow.

    `path` is the place in the message by wire names, such as
    `$.arguments.breakpoints[2].line`; `problem` is the rest of the text.
    """

    def __init__(self, problem: str, *, path: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


_HOLE: Final = re.compile(r"\{([^{}]+)\}")


def error_message(text: str, *, show_user: bool | None = None) -> Message:
    """Make the structured error that says a text, whatever braces are in it.

    Args:
        text: the failure, for people.
        show_user: whether the client is to show it by itself, as a notification; None leaves that to the client.

    """
    if "{" not in text:
        return Message(id=1, format=text, show_user=show_user)
    return Message(id=1, format="{text}", variables={"text": text}, show_user=show_user)


def error_text(error: Message) -> str:
    """Return the text that a structured error says, its holes filled where there is something to fill them with."""
    variables = error.variables or {}
    return _HOLE.sub(lambda hole: variables.get(hole[1], hole[0]), error.format)
