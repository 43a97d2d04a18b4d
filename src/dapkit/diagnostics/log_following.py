"""A log that is followed: the last lines of today, and the hub's later lines, also across the end of a day."""

import os
import threading
from collections.abc import Callable, Collection, Sequence

from dapkit import limits as shared_limits
from dapkit.diagnostics import limits
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.log_files import days_in, log_folder, opened, path_of
from dapkit.diagnostics.log_lines import Level, LogFilter, LogLine, lines_of, without_secrets
from dapkit.diagnostics.logs import reader_of, redaction_of
from dapkit.diagnostics.sessions import Where
from dapkit.redaction.redaction import Redaction
from dapkit.system.files import read_at

type OnLines = Callable[[Sequence[LogLine]], None]


def follow(
    where: Where,
    on_lines: OnLines,
    *,
    stop: threading.Event,
    pids: Collection[int] = (),
    level: Level | None = None,
    lines: int = shared_limits.LOG_WINDOW_LINES,
) -> None:
    """Give the last lines of today, and each that is written from now on, until it is ended.

    Args:
        where: any project; its setting `redact.enabled` says whether secrets are left out.
        on_lines: called with lines, at least one at a time.
        stop: ends it.
        pids: processes whose lines are wanted; none for all.
        level: the least that is wanted; None for all.
        lines: how many to begin with.

    Raises:
        DiagnosticsError: the log cannot be read.

    """
    log_filter = LogFilter(frozenset(pids), level)
    reader = reader_of(where)
    first_lines = reader.of_day(max(lines, 1), log_filter)
    follower = LogFollower(reader.day, first_lines[-1] if first_lines else None, redaction=redaction_of(where))
    begin = [line for line in first_lines if log_filter.passes(line)][:lines]
    if begin:
        on_lines(begin)
    while not stop.is_set():
        added = follower.poll()
        if passed := [line for line in added if log_filter.passes(line)]:
            on_lines(passed)
        if not added:
            stop.wait(limits.LOG_FOLLOW_SECONDS)


class LogFollower:
    """Reads lines that are added to the log.

    Args:
        day: the one to begin with.
        last: its last line that is known; None if none is.
        redaction: takes secrets out; None leaves them.

    Raises:
        DiagnosticsError: the folder of the log cannot be used.

    """

    def __init__(self, day: str, last: LogLine | None, *, redaction: Redaction | None) -> None:
        self._folder = log_folder()
        self._redaction = redaction
        self._day = day
        self._last = last
        self._place: int | None = None if last is not None else 0

    def poll(self) -> list[LogLine]:
        """Return the lines that were added, at most a mebibyte of them.

        Raises:
            DiagnosticsError: the log cannot be read.

        """
        new_lines = self._added()
        if not new_lines and (newer := [day for day in days_in(self._folder) if day > self._day]):
            self._day, self._place, self._last = newer[-1], 0, None
            new_lines = self._added()
        return new_lines

    def _added(self) -> list[LogLine]:
        path = path_of(self._folder, self._day)
        try:
            handle = opened(path)
        except FileNotFoundError:  # the hub has written nothing on that day yet
            return []
        except OSError as error:
            raise DiagnosticsError("no_folder", f"{path} cannot be read: {error.strerror}") from error
        try:
            return self._lines_in(handle)
        finally:
            os.close(handle)

    def _lines_in(self, handle: int) -> list[LogLine]:
        if self._place is None:
            self._place = _after(handle, 0 if self._last is None else self._last.number)
        if os.fstat(handle).st_size < self._place:  # it has been emptied
            self._place, self._last = 0, None
        data = read_at(handle, shared_limits.MEGABYTE, self._place)
        end = data.rfind(b"\n") + 1
        if not end and len(data) == shared_limits.MEGABYTE:  # a line that is longer
            end = len(data)
        if not end:
            return []
        self._place += end
        first, record = (1, None) if self._last is None else (self._last.number + 1, self._last.record)
        lines = list(lines_of(self._day, first, data[:end].removesuffix(b"\n").split(b"\n"), record))
        self._last = lines[-1]
        return lines if self._redaction is None else list(without_secrets(lines, self._redaction))


def _after(handle: int, lines: int) -> int:
    """Return the place after so many lines, or the end of the file."""
    place = 0
    while lines and (piece := read_at(handle, shared_limits.MEGABYTE, place)):
        there = piece.count(b"\n")
        if there < lines:
            lines -= there
            place += len(piece)
            continue
        end = -1
        for _ in range(lines):
            end = piece.index(b"\n", end + 1)
        return place + end + 1
    return place
