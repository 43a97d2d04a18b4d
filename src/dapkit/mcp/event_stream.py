"""Server-sent events, cut out of the bytes of a stream: fields a line, a blank line after each event.

https://html.spec.whatwg.org/multipage/server-sent-events.html, "Interpreting an event stream"
"""

import re
from dataclasses import dataclass

from dapkit.mcp import limits

_BLANK_LINE = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_LINE_END = re.compile(r"\r\n|\n|\r")
_LONGEST_BLANK_LINE = 4


class EventTooLong(ValueError):  # noqa: N818 - it is the event that is too long
    """An event has no end within `limits.MCP_EVENT_BYTES`; where the next one begins is unknown."""


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event.

    Attributes:
        event: its type; empty for `message`, which is the usual one.
        data: its content.
        id: by which a client can continue after it.

    """

    event: str
    data: str
    id: str = ""


class ServerSentStream:
    """The events of one stream."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._searched = 0

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """Take more bytes, return the events that are complete now; comments, such as pings, are skipped.

        Raises:
            EventTooLong: nothing can be read from here on.

        """
        self._rest += data
        events = []
        begin = 0
        while (match := _BLANK_LINE.search(self._rest, max(begin, self._searched))) is not None:
            event = _event(self._rest[begin : match.start()].decode(errors="replace"))
            events += [] if event is None else [event]
            begin = self._searched = match.end()
        del self._rest[:begin]
        self._searched = max(len(self._rest) - _LONGEST_BLANK_LINE + 1, 0)
        if len(self._rest) > limits.MCP_EVENT_BYTES:
            self._rest.clear()
            raise EventTooLong(f"an event is longer than {limits.MCP_EVENT_BYTES} bytes")
        return events


def _event(block: str) -> ServerSentEvent | None:
    fields: dict[str, list[str]] = {"event": [], "data": [], "id": []}
    for line in _LINE_END.split(block.removeprefix("\ufeff")):
        name, _, value = line.partition(":")
        if name in fields:
            fields[name].append(value.removeprefix(" "))
    if not any(fields.values()):
        return None
    return ServerSentEvent("".join(fields["event"][-1:]), "\n".join(fields["data"]), "".join(fields["id"][-1:]))
