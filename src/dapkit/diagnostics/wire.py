"""The messages of a wire for people: requests paired with their responses, filtered, as lines or whole."""

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from dapkit import limits as shared_limits
from dapkit.agent.results.diagnostics import WireRow
from dapkit.agent.text.escaping import one_line, printable
from dapkit.diagnostics import limits
from dapkit.diagnostics.wire_sources import WireReader, WireSource
from dapkit.protocol import to_json_value

type WireKind = Literal["request", "response", "event", ""]
KINDS: Sequence[WireKind] = ("", "request", "response", "event")
"""Kinds that can be asked for; empty for all."""

_TO_THE_RIGHT = "client"
"""Whose messages are shown as going to the right."""

_ENVELOPE = frozenset(
    ["seq", "type", "command", "event", "request_seq", "success", "jsonrpc", "id", "method"]  # of DAP, and of JSON-RPC
)
"""The own words of a line about a message."""

type _Asked = tuple[str, bool, int | None]
"""Conversation, whether the client has asked, and the number of a request."""


@dataclass(eq=False, slots=True)
class PairedMessage:
    """A message, and the conversation and session to which it belongs.

    Attributes:
        other: of a request its response, of a response its request, as far as it is kept.
        milliseconds: between the two.

    """

    row: WireRow
    other: "PairedMessage | None" = field(default=None, repr=False)
    milliseconds: float | None = None

    @property
    def failed(self) -> bool:
        """Whether it is a response that reports a failure, the request of one, or no message at all."""
        rows = [self.row] if self.other is None else [self.row, self.other.row]
        return self.row.problem is not None or any(row.success is False for row in rows)

    @property
    def pretty(self) -> str:
        """The message as JSON over several lines; unchanged, if it was cut or is not JSON."""
        try:
            message = json.loads(self.row.text)
        except (ValueError, RecursionError):
            return printable(self.row.text)
        return printable(json.dumps(message, indent=2, ensure_ascii=False))

    def as_json(self) -> dict[str, object]:
        """Return all that is known of it; the content as JSON where it is whole."""
        row = {name: value for name, value in _fields(self.row).items() if name != "text"}
        try:
            content = {"message": json.loads(self.row.text)}
        except (ValueError, RecursionError):
            content = {"text": self.row.text}
        pair: dict[str, object] = {"milliseconds": self.milliseconds} if self.milliseconds is not None else {}
        if self.other is not None:
            pair["response" if self.row.kind == "request" else "request"] = self.other.row.number
        return row | pair | content

    def as_line(self, characters: int = limits.WIRE_LINE_CHARACTERS) -> str:
        """Return one line: time, number, direction, kind, duration, length, and the beginning of the content."""
        content = self._content()
        beginning = content if len(content) <= characters else f"{content[:characters]}..."
        return f"{self._begin()} {self._what()} ({self.row.length:,}) {one_line(beginning)}".rstrip()

    def as_whole(self) -> str:
        """Return it over several lines, with its conversation."""
        row = self.row
        return "\n".join([f"{self._begin()} {self._what()} ({row.length:,} characters)", *self._pair(), self.pretty])

    def _content(self) -> str:
        """Return the message's content besides its kind; all of a message that was cut or is not JSON."""
        try:
            message = json.loads(self.row.text)
        except (ValueError, RecursionError):
            return self.row.text
        if not isinstance(message, dict):
            return self.row.text
        content = {key: value for key, value in message.items() if key not in _ENVELOPE}
        body = next(iter(content.values())) if len(content) == 1 else content
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")) if body else ""

    def _begin(self) -> str:
        row = self.row
        when = datetime.fromtimestamp(row.time, UTC).astimezone()
        arrow = "->" if row.sender == _TO_THE_RIGHT else "<-"
        channel = f" [{one_line(row.channel)}]" if row.channel else ""
        return f"{when:%H:%M:%S}.{when.microsecond // 1000:03d} {row.number:5d} {arrow}{channel}"

    def _what(self) -> str:
        row = self.row
        number = row.request_seq if row.kind == "response" else row.seq
        parts = [row.kind or "unreadable", one_line(row.name), "" if number is None else f"#{number}"]
        if row.kind == "response" and self.milliseconds is not None:
            parts.append(f"{self.milliseconds:.1f} ms")
        if row.success is False:
            parts.append("FAILED")
        if row.problem is not None:
            parts.append(f"({one_line(row.problem)})")
        return " ".join(filter(None, parts))

    def _pair(self) -> Iterator[str]:
        if self.other is not None:
            is_request = self.row.kind == "request"
            other = self.other.row
            outcome = ", which failed," if is_request and other.success is False else ""
            kind = "Response" if is_request else "Request"
            yield f"{kind}: number {other.number}{outcome} {'after' if is_request else 'before'} {self._time()}"
        elif self.row.kind == "request" and self.row.seq is not None:
            yield "Response: none so far"

    def _time(self) -> str:
        return "an unknown time" if self.milliseconds is None else f"{self.milliseconds:.1f} ms"


def _fields(row: WireRow) -> Mapping[str, object]:
    fields: Any = to_json_value(row)
    message: dict[str, object] = fields
    return message


@dataclass(frozen=True, slots=True)
class WireFilter:
    """Which messages are shown.

    Attributes:
        text: must be in the message or in its line, in any case of letters.
        kind: must be its kind; empty for all.
        failed: show only responses that report a failure, and their requests.

    """

    text: str = ""
    kind: WireKind = ""
    failed: bool = False

    def fits(self, message: PairedMessage) -> bool:
        """Whether a message is shown."""
        row = message.row
        if (self.kind and row.kind != self.kind) or (self.failed and not message.failed):
            return False
        text = self.text.casefold()
        return not text or any(
            text in place.casefold() for place in (row.name, row.kind, row.sender, row.channel, row.text)
        )


class WireMessages:
    """The latest messages, paired as they come.

    Invariant: at most `limits.WIRE_RECORDS`, with at most `limits.WIRE_CHARACTERS` characters in all.

    Attributes:
        total: how many have passed.
        characters: of those that are kept.

    """

    def __init__(self) -> None:
        self.total = 0
        self.characters = 0
        self._kept: deque[PairedMessage] = deque()
        self._open: dict[_Asked, PairedMessage] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[PairedMessage]:
        return iter(self._kept)

    @property
    def dropped(self) -> int:
        """How many have passed and are not kept."""
        return self.total - len(self._kept)

    @property
    def first(self) -> int:
        """Number of the oldest one that is kept; of the next one if none is."""
        return self._kept[0].row.number if self._kept else self.total + 1

    def add(self, rows: Iterable[WireRow]) -> list[PairedMessage]:
        """Take more, and return them paired with those before."""
        added = [self._paired(PairedMessage(row)) for row in rows]
        self._kept += added
        self.characters += sum(len(message.row.text) for message in added)
        if added:
            self.total = added[-1].row.number
        while len(self._kept) > shared_limits.WIRE_RECORDS or self.characters > shared_limits.WIRE_CHARACTERS:
            self._drop()
        return added

    def summary(self) -> str:
        """Return how many have passed, and how many of them are kept."""
        if not self.total:
            return "No message has passed."
        summary = f"{self.total:,} messages passed, {len(self):,} kept with {self.characters:,} characters"
        return f"{summary}; {self.dropped:,} of {self.total:,} dropped." if self.dropped else f"{summary}."

    def _paired(self, message: PairedMessage) -> PairedMessage:
        row = message.row
        if row.kind == "request" and row.seq is not None:
            self._open[row.channel, row.sender == _TO_THE_RIGHT, row.seq] = message
        elif row.kind == "response":
            key = (row.channel, row.sender != _TO_THE_RIGHT, row.request_seq)
            if (request := self._open.pop(key, None)) is not None:
                request.other, message.other = message, request
                request.milliseconds = message.milliseconds = (row.time - request.row.time) * 1000
        return message

    def _drop(self) -> None:
        old = self._kept.popleft()
        row = old.row
        self.characters -= len(row.text)
        key = (row.channel, row.sender == _TO_THE_RIGHT, row.seq)
        if row.kind == "request" and self._open.get(key) is old:
            del self._open[key]
        if old.other is not None:
            old.other.other = None


@dataclass(frozen=True, slots=True)
class Wire:
    """The messages of a session or server, as they were at one moment.

    Attributes:
        title: whose they are.
        messages: those that fit the filter.
        total: how many have passed.
        kept: how many of these are kept.
        characters: of those that are kept.

    """

    title: str
    messages: Sequence[PairedMessage]
    total: int
    kept: int
    characters: int
    summary: str

    def as_json(self) -> Mapping[str, object]:
        """Return the messages, and how many there were."""
        return {
            "of": self.title,
            "total": self.total,
            "kept": self.kept,
            "dropped": self.total - self.kept,
            "characters": self.characters,
            "messages": [message.as_json() for message in self.messages],
        }

    def as_text(self, *, whole: bool = False) -> str:
        """Return a line for each message, or each whole, and a summary."""
        lines = [f"{message.as_whole()}\n" if whole else message.as_line() for message in self.messages]
        return "\n".join([*lines, self.summary])


def wire(source: WireSource, wire_filter: WireFilter | None = None) -> Wire:
    """Return the messages that are kept, as far as they fit a filter. Raises: DiagnosticsError."""
    messages = WireMessages()
    title = source.title
    with WireReader(source) as reader:
        for page in reader.pages():
            messages.add(page.records)
            title = page.session
    fitting = [message for message in messages if wire_filter is None or wire_filter.fits(message)]
    return Wire(title, fitting, messages.total, len(messages), messages.characters, messages.summary())


def follow(reader: WireReader, wire_filter: WireFilter) -> Iterator[Sequence[PairedMessage]]:
    """Yield the messages that are kept, and those that come, as far as they fit; now and then none. It ends with them.

    Of a request that is yielded before its response came, it is not known whether it fails.

    Raises:
        DiagnosticsError: they cannot be read any more.

    """
    messages = WireMessages()
    for page in reader.pages(follow=True):
        yield [message for message in messages.add(page.records) if wire_filter.fits(message)]
