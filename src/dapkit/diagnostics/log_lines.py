"""Lines of the hub's log: which record each belongs to, and which of them are wanted.

`dapkit.hub.daily_log` writes them. A line that belongs to no record, as where a file was damaged, is kept
as it is.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, Literal, get_args

from dapkit.agent.text.escaping import one_line
from dapkit.diagnostics import limits
from dapkit.hub.daily_log import INDENTATION
from dapkit.redaction.redaction import CUT, Redaction, TextKind

type Level = Literal["debug", "info", "warning", "error", "critical"]

LEVELS: Final[tuple[Level, ...]] = get_args(Level.__value__)
"""From the least on."""

_HEAD = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) (?P<pid>\d{1,10}) (?P<level>[A-Z]{1,20}) (?P<logger>[\w.\-]+): "
)
_RANK = {name.upper(): rank for rank, name in enumerate(LEVELS)}


@dataclass(frozen=True, slots=True)
class LogRecord:
    """The beginning of a record of the log.

    Attributes:
        day: of its file, such as 2026-11-24.
        number: of its first line in the file of the day, from 1 on.
        pid: the hub's process that has written it.

    """

    day: str
    number: int
    time: str
    pid: int
    level: str
    logger: str


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of the log.

    Attributes:
        number: in the file of the day, from 1 on.
        record: that it belongs to; None if that is unknown.
        message: its text, without the beginning of the record or the indentation.

    """

    day: str
    number: int
    record: LogRecord | None
    message: str

    @property
    def text(self) -> str:
        """The whole line, as it is in the file."""
        if self.record is None:
            return self.message
        if self.number != self.record.number:
            return f"{INDENTATION}{self.message}"
        head = self.record
        return f"{head.time} {head.pid} {head.level} {head.logger}: {self.message}"


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which lines are wanted.

    Attributes:
        pids: only lines of these processes; all lines if there are none.
        level: only lines of at least this level; None for all lines.

    """

    pids: frozenset[int] = frozenset()
    level: Level | None = None

    def passes(self, line: LogLine) -> bool:
        """Whether a line is wanted: all lines of a record are, or none."""
        if not self.pids and self.level is None:
            return True
        if line.record is None or (self.pids and line.record.pid not in self.pids):
            return False
        return self.level is None or _RANK.get(line.record.level, 0) >= LEVELS.index(self.level)


EVERYTHING: Final = LogFilter()


def lines_of(day: str, first: int, content: Iterable[bytes], record: LogRecord | None = None) -> Iterator[LogLine]:
    """Read lines of a file.

    Args:
        day: of the file.
        first: number of the first of these lines.
        content: the lines, without their ends.
        record: that was being read before.

    """
    for number, line in enumerate(content, first):
        text = _decoded(line)
        if match := _HEAD.match(text):
            record = LogRecord(day, number, match["time"], int(match["pid"]), match["level"], match["logger"])
            yield LogLine(day, number, record, text[match.end() :])
        elif record is not None and text.startswith(INDENTATION):
            yield LogLine(day, number, record, text.removeprefix(INDENTATION))
        else:
            record = None
            yield LogLine(day, number, None, text)


def without_secrets(lines: Iterable[LogLine], redaction: Redaction) -> Iterator[LogLine]:
    """Take secrets out of lines, record by record: one that has several lines becomes a line."""
    for _, group in groupby(lines, key=_record_of):
        alike = list(group)
        whole = "\n".join(line.message for line in alike)
        messages = redaction.text(whole, TextKind.OUTPUT).split("\n")
        yield from (replace(line, message=message) for line, message in zip(alike, messages, strict=False))


def as_records(lines: Iterable[LogLine]) -> list[dict[str, object]]:
    """Return lines as JSON: one object for each record, with the text of its lines that are present."""
    records: list[dict[str, object]] = []
    for _, group in groupby(lines, key=_record_of):
        alike = list(group)
        first, record = alike[0], alike[0].record
        records.append(
            {
                "day": first.day,
                "number": first.number,
                "lines": len(alike),
                "time": record and record.time,
                "pid": record and record.pid,
                "level": record and record.level.lower(),
                "logger": record and record.logger,
                "text": "\n".join(line.message for line in alike),
            }
        )
    return records


def numbered(lines: Sequence[LogLine]) -> Iterator[str]:
    """Yield lines with their numbers, fit for a terminal."""
    width = len(str(max((line.number for line in lines), default=0)))
    return (f"{line.number:{width}}  {shown(line)}" for line in lines)


def with_message_first(lines: Sequence[LogLine]) -> Iterator[str]:
    """Yield lines with their numbers, for a narrow screen: the message after its time, its origin behind it."""
    width = len(str(max((line.number for line in lines), default=0)))
    for line in lines:
        head = line.record
        if head is None or line.number != head.number:
            yield f"{line.number:{width}}  {shown(line)}"
        else:
            text = one_line(line.message.expandtabs())
            day, _, time = head.time.partition(" ")
            yield f"{line.number:{width}}  {time[:8]} {text}   ({head.level} {head.logger}, process {head.pid}, {day})"


def shown(line: LogLine) -> str:
    """Return a line, fit for a terminal."""
    return one_line(line.text.expandtabs())


def _decoded(line: bytes) -> str:
    """Return a line as a text; of a long one the beginning."""
    text = line[: 4 * limits.LOG_LINE_CHARACTERS].decode(errors="replace")
    if len(text) <= limits.LOG_LINE_CHARACTERS and len(line) <= 4 * limits.LOG_LINE_CHARACTERS:
        return text
    return f"{text[: limits.LOG_LINE_CHARACTERS]}{CUT}"


def _record_of(line: LogLine) -> tuple[str, int, bool]:
    """Return a key that is equal for lines of one record, and for adjacent lines outside any record."""
    if line.record is None:
        return line.day, 0, False
    return line.day, line.record.number, True
