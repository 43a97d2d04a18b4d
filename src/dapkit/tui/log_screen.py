"""The viewer of the hub's log: the newest lines at the bottom, and older ones on demand."""

import logging
from collections.abc import Callable
from typing import ClassVar

from rich.style import Style
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer, Static

from dapkit import limits
from dapkit.agent.text.escaping import printable
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.log_lines import LEVELS, LogFilter, LogLine, shown, with_message_first
from dapkit.diagnostics.logs import LIMIT, LogReader, reader_of
from dapkit.diagnostics.sessions import Where
from dapkit.tui.copy_action import copy_text, print_text
from dapkit.tui.line_view import LineView
from dapkit.tui.messages import Failed, Finished, Note

log = logging.getLogger(__name__)

type _Loaded = tuple[LogReader, list[LogLine]]

_STYLES = {"WARNING": Style(color="yellow"), "ERROR": Style(color="red"), "CRITICAL": Style(color="red", bold=True)}


class LogScreen(Screen[None]):
    """Shows the log.

    Args:
        where: whose settings say whether secrets are left out.

    """

    DEFAULT_CSS = """
    LogScreen #title { text-style: bold; padding: 0 1; background: $primary; color: $text; width: 100%; }
    LogScreen #status { padding: 0 1; color: $text-muted; height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "older", "Older"),
        Binding("f", "next_pid", "Process"),
        Binding("l", "next_level", "Level"),
        Binding("c", "copy", "Copy"),
        Binding("p", "print", "Print"),
        Binding("r", "read_again", "Read again"),
        Binding("escape", "back", "Back"),
        Binding("q", "leave", "Back", show=False),
    ]

    def __init__(self, where: Where) -> None:
        super().__init__()
        self._where = where
        self._reader: LogReader | None = None
        self._read: list[LogLine] = []
        self._filter = LogFilter()
        self._working = False

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield Static("logs", id="title", markup=False)
        yield Note()
        yield LineView()
        yield Static("", id="status", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        """Read the newest lines."""
        self.query_one(LineView).focus()
        self.action_read_again()

    # Reading, in a thread

    def _begin(self, read_lines: Callable[[], _Loaded]) -> None:
        if not self._working:
            self._working = True
            self.run_worker(lambda: self._work(read_lines), thread=True, exit_on_error=False)

    def _work(self, read_lines: Callable[[], _Loaded]) -> None:
        try:
            self.post_message(Finished(read_lines()))
        except DiagnosticsError as error:
            self.post_message(Failed(str(error)))
        except Exception as error:
            log.exception("the log cannot be read because of an internal error")
            self.post_message(Failed(f"Internal error: {type(error).__name__}: {error}"))

    def _newest(self) -> _Loaded:
        reader = reader_of(self._where)
        return reader, reader.of_day(limits.LOG_WINDOW_LINES, self._filter)

    def on_finished(self, report: Finished[_Loaded]) -> None:
        """Show the lines."""
        self._working = False
        reader, log_lines = report.result
        older = reader is self._reader
        self._reader = reader
        self._read = log_lines + self._read if older else log_lines
        lines = self._wanted()
        added = sum(map(self._filter.passes, log_lines))
        self._show(lines, added - 1 if older else len(lines) - 1)

    def on_failed(self, report: Failed) -> None:
        """Show why it cannot be read."""
        self._working = False
        self.query_one(Note).say(report.text, failed=True)

    # Display

    def _wanted(self) -> list[LogLine]:
        return [line for line in self._read if self._filter.passes(line)]

    def _show(self, lines: list[LogLine], cursor: int) -> None:
        texts = zip(with_message_first(lines), map(_style, lines), strict=True)
        self.query_one(LineView).show(list(texts), cursor)
        self.query_one(Note).say("" if lines else self._nothing())

    def on_line_view_moved(self) -> None:
        """Show where we are."""
        self.query_one("#status", Static).update(printable(" | ".join(self._facts(self._wanted()))))

    def _nothing(self) -> str:
        if self._reader is None:
            return ""
        if self._read:
            return "No line that was read passes the filters."
        more = "" if self._reader.exhausted else " o loads older days."
        return f"The hub has logged nothing on {self._reader.day}.{more}"

    def _facts(self, lines: list[LogLine]) -> list[str]:
        days = sorted({line.day for line in lines})
        of_days = f" of {days[0]}" if len(days) == 1 else f" of {days[0]} to {days[-1]}" if days else ""
        facts = [f"{_counted(lines)}{of_days}"]
        if len(lines) < len(self._read):
            facts[0] += f", {len(self._read)} read"
        count = len(self.query_one(LineView).chosen)
        if count > 1:
            facts.append(f"{count} chosen")
        facts.append(f"process {' '.join(map(str, self._filter.pids)) or 'any'}")
        facts.append(f"level {self._filter.level or 'any'}")
        if self._reader is not None:
            facts += [f"not read: {problem}" for problem in self._reader.problems]
            if self._reader.exhausted:
                facts.append(f"not more: {LIMIT} are read" if self._reader.limited else "there is nothing older")
        return facts

    # Keys

    def on_line_view_top_reached(self) -> None:
        """Load older lines."""
        self.action_older()

    def action_older(self) -> None:
        """Load older lines, of the day before where there are no more."""
        reader = self._reader
        if reader is None or self._working:
            return
        if reader.exhausted:
            self.notify(f"Only {LIMIT} are read." if reader.limited else "There is nothing older.")
            return
        self._begin(lambda: (reader, reader.older(limits.LOG_WINDOW_LINES, self._filter)))

    def action_read_again(self) -> None:
        """Read the newest lines once more."""
        self._begin(self._newest)

    def action_next_pid(self) -> None:
        """Show the lines of the next process only; after the last one, the lines of all."""
        pids = sorted({line.record.pid for line in self._read if line.record is not None})
        present = next(iter(self._filter.pids), 0)
        following = next((pid for pid in pids if pid > present), None)
        self._change(LogFilter(frozenset() if following is None else frozenset({following}), self._filter.level))

    def action_next_level(self) -> None:
        """Show the lines of the next level and above only; after the highest one, all."""
        choices = (None, *LEVELS[1:])
        following = choices[(choices.index(self._filter.level) + 1) % len(choices)]
        self._change(LogFilter(self._filter.pids, following))

    def _change(self, log_filter: LogFilter) -> None:
        """Take a filter; the cursor stays where it is, or as near as can be."""
        before = self._chosen()
        self._filter = log_filter
        lines = self._wanted()
        there = [index for index, line in enumerate(lines) if before and _place(line) <= _place(before[-1])]
        self._show(lines, there[-1] if there else len(lines) - 1)

    def _chosen(self) -> list[LogLine]:
        lines = self._wanted()
        return [lines[index] for index in self.query_one(LineView).chosen]

    def action_copy(self) -> None:
        """Copy the range, or the line at the cursor."""
        lines = self._chosen()
        if lines:
            self.notify(copy_text(self.app, _text(lines), _counted(lines)))

    def action_print(self) -> None:
        """Print the range, or the line at the cursor."""
        if lines := self._chosen():
            print_text(self.app, _text(lines))

    def action_back(self) -> None:
        """Forget the range; go back, if none was begun."""
        if not self.query_one(LineView).end_range():
            self.dismiss()

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss()


def _counted(lines: list[LogLine]) -> str:
    return "1 line" if len(lines) == 1 else f"{len(lines)} lines"


def _text(lines: list[LogLine]) -> str:
    return "\n".join(map(shown, lines))


def _place(line: LogLine) -> tuple[str, int]:
    return line.day, line.number


def _style(line: LogLine) -> Style:
    return Style() if line.record is None else _STYLES.get(line.record.level, Style())
