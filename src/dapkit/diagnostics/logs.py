"""The log of the hub: today's, and older days on demand.

One reading takes in at most `limits.LOG_LINES` lines and `limits.LOG_BYTES` bytes, of all days together, and begins at
the end: `LogReader` gives the newest lines, and then older ones. Unreadable files are named in the result.
"""

import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from dapkit import limits as shared_limits
from dapkit.diagnostics import limits
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.log_files import Tail, days_in, log_folder, path_of, tail_of
from dapkit.diagnostics.log_lines import (
    EVERYTHING,
    Level,
    LogFilter,
    LogLine,
    as_records,
    lines_of,
    numbered,
    shown,
    without_secrets,
)
from dapkit.diagnostics.sessions import Where
from dapkit.redaction.redaction import Redaction
from dapkit.settings import Settings

LIMIT = f"the last {shared_limits.LOG_LINES} lines, and {limits.LOG_BYTES // shared_limits.MEGABYTE} MiB"
"""The scope of one reading."""


@dataclass(frozen=True, slots=True)
class LogLines:
    """Lines of the log, in the order in which they were written.

    Attributes:
        day: that was asked for; empty for all of them.
        days: that have a log, the newest first.
        problems: files that could not be read, each with the reason.
        passed_over: lines that were read, and are not wanted.
        limited: whether the log has older lines than one reading takes in.

    """

    lines: Sequence[LogLine]
    day: str
    days: Sequence[str]
    problems: Sequence[str] = ()
    passed_over: int = 0
    limited: bool = False

    def as_json(self) -> dict[str, object]:
        """Return it as JSON has it: a record with its traceback is one object."""
        return {
            "day": self.day,
            "days": list(self.days),
            "records": as_records(self.lines),
            "problems": list(self.problems),
            "passedOver": self.passed_over,
            "limited": self.limited,
        }

    def as_text(self) -> str:
        """Return the lines, or a sentence if there are no lines."""
        return "\n".join(map(shown, self.lines)) if self.lines else self._nothing()

    def as_numbered_text(self) -> str:
        """Return the numbered lines, or a sentence if there are no lines."""
        return "\n".join(numbered(self.lines)) if self.lines else self._nothing()

    def _nothing(self) -> str:
        if self.passed_over:
            return f"None of the lines that were read is wanted; there are {self.passed_over}."
        others = [day for day in self.days if day != self.day]
        older = f" There are logs of {', '.join(others)}." if others else ""
        on_the_day = f" on {self.day}" if self.day else ""
        return f"The hub has logged nothing{on_the_day}.{older}"


class LogReader:
    """Reads the log backwards: lines of one day, then of those before it.

    Invariant: at most `limits.LOG_LINES` lines and `limits.LOG_BYTES` bytes were read, and the lines that are still to
    be returned contain no secrets.

    Args:
        day: the newest that is read, such as 2026-11-24; None for today.
        redaction: takes secrets out; None leaves them.

    Attributes:
        day: the one that is being read.
        days: that have a log, the newest first.
        problems: files that could not be read, each with the reason.
        limited: whether the log has older lines than one reading takes in.

    Raises:
        DiagnosticsError: the folder of the log cannot be used.

    """

    def __init__(self, day: str | None = None, *, redaction: Redaction | None) -> None:
        self._folder = log_folder()
        self._redaction = redaction
        self.day = today() if day is None else checked_day(day)
        self.days: Sequence[str] = days_in(self._folder)
        self.problems: list[str] = []
        self.limited = False
        self._older = [other for other in self.days if other < self.day]
        self._waiting: list[LogLine] = []
        self._as_in_file: list[LogLine] = []
        self._lines_left = shared_limits.LOG_LINES
        self._bytes_left = limits.LOG_BYTES
        if self.day in self.days:
            self._take(self.day)

    @property
    def exhausted(self) -> bool:
        """Whether there is nothing older that can be read."""
        return not (self._waiting or self._as_in_file) and (self.limited or not self._older)

    def of_day(self, count: int, log_filter: LogFilter = EVERYTHING) -> list[LogLine]:
        """Return the next older lines of the day that is being read.

        Args:
            count: how many wanted lines to look for.
            log_filter: which lines these are; those that are passed over are returned, too.

        """
        lines: list[LogLine] = []
        while count and self._next_is_ready():
            lines.append(self._waiting.pop())
            count -= log_filter.passes(lines[-1])
        return lines[::-1]

    def older(self, count: int, log_filter: LogFilter = EVERYTHING) -> list[LogLine]:
        """Return the next older lines; when a day has no further lines, the lines of the day before it.

        Args:
            count: how many wanted lines to look for; fewer are returned where a day begins.
            log_filter: as for `of_day`.

        """
        lines = self.of_day(count, log_filter)
        while not any(map(log_filter.passes, lines)) and self._next_day():
            lines = self.of_day(count, log_filter) + lines
        return lines

    def _next_day(self) -> bool:
        if self.limited or not self._older:
            return False
        self._take(self._older.pop(0))
        return True

    def _take(self, day: str) -> None:
        """Read the end of a day."""
        if not (self._lines_left and self._bytes_left):
            self.limited = True
            return
        self.day = day
        tail = self._tail(day)
        if tail is None:
            return
        self._lines_left -= len(tail.lines)
        self._bytes_left -= tail.size
        self.limited = not tail.whole
        self._as_in_file = list(lines_of(day, tail.first, tail.lines))

    def _next_is_ready(self) -> bool:
        """Take secrets out of the next lines: some whole records of them, since that takes long for all."""
        if not self._waiting:
            lines = self._as_in_file
            start = max(len(lines) - shared_limits.LOG_WINDOW_LINES, 0)
            while start and lines[start].record == lines[start - 1].record:
                start -= 1
            some, self._as_in_file = lines[start:], lines[:start]
            self._waiting = some if self._redaction is None else list(without_secrets(some, self._redaction))
        return bool(self._waiting)

    def _tail(self, day: str) -> Tail | None:
        path = path_of(self._folder, day)
        try:
            return tail_of(path, self._lines_left, self._bytes_left)
        except OSError as error:
            self.problems.append(f"{path}: {error.strerror}")
            return None


def logs(
    where: Where,
    *,
    day: str | None = None,
    pids: Collection[int] = (),
    level: Level | None = None,
    lines: int = shared_limits.LOG_WINDOW_LINES,
    numbers: tuple[int, int] | None = None,
) -> LogLines:
    """Return the last lines of a day.

    Args:
        where: any project; its setting `redact.enabled` says whether secrets are left out.
        day: such as 2026-11-24; None for today.
        pids: processes whose lines are wanted; none for all.
        level: the least that is wanted; None for all.
        lines: how many.
        numbers: of the first and the last line that are wanted, instead of the last ones of the day.

    Raises:
        DiagnosticsError: the folder of the log cannot be used, the day is not a date, or the lines are older than the
            log that is read.

    """
    log_filter = LogFilter(frozenset(pids), level)
    reader = reader_of(where, day)
    log_lines = reader.of_day(shared_limits.LOG_LINES if numbers else lines, log_filter)
    count = len(log_lines)
    if numbers is not None:
        first, last = numbers
        if reader.limited and log_lines and first < log_lines[0].number:
            raise DiagnosticsError(
                "not_possible",
                f"Line {first} of {reader.day} is not read: line {log_lines[0].number} is the first of {LIMIT}.",
                f"All of it is in {path_of(log_folder(), reader.day)}",
            )
        log_lines = [line for line in log_lines if first <= line.number <= last]
    passed = [line for line in log_lines if log_filter.passes(line)]
    return LogLines(passed, reader.day, reader.days, reader.problems, count - len(passed), limited=reader.limited)


def last_lines(count: int) -> LogLines:
    """Return the last lines of the log, of as many days as that takes, without secrets whatever the settings say.

    Raises:
        DiagnosticsError: the folder of the log cannot be used.

    """
    reader = LogReader(redaction=Redaction([os.environ]))
    lines = reader.of_day(count)
    while len(lines) < count and (older := reader.older(count - len(lines))):
        lines = older + lines
    return LogLines(lines, "", reader.days, reader.problems, limited=reader.limited)


def reader_of(where: Where, day: str | None = None) -> LogReader:
    """Begin to read the log, with the settings of a project. Raises: as `logs`."""
    return LogReader(day, redaction=redaction_of(where))


def redaction_of(where: Where) -> Redaction | None:
    """Return the function that removes secrets; None if the settings of a project keep them."""
    return Redaction([os.environ]) if Settings.load(Path(where.project)).redact_enabled else None


def logged_days() -> list[str]:
    """Return the days that have a log, the newest first. Raises: DiagnosticsError, if the folder cannot be used."""
    return days_in(log_folder())


def today() -> str:
    """Return the day by the clock of the user, as the hub names its files."""
    return date.today().isoformat()  # noqa: DTZ011 - the day of the user


def checked_day(text: str) -> str:
    """Return a day as files are named by it. Raises: DiagnosticsError, if it is not a date."""
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return date.fromisoformat(text).isoformat()
    except ValueError:
        pass
    raise DiagnosticsError("invalid_arguments", f"expected a day such as {today()}, found {text!r}")
