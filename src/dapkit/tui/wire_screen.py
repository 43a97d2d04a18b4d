"""The viewer of messages on a wire, and of one message with its conversation and its duration.

It follows the newest message until the user moves up. A thread reads the messages: one page at a time, and never ahead
of the screen.
"""

import logging
import threading
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, Input, Static

from dapkit.agent.results.diagnostics import WireRecords
from dapkit.agent.text.escaping import printable
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.sessions import Where
from dapkit.diagnostics.wire import KINDS, PairedMessage, WireFilter, WireMessages
from dapkit.diagnostics.wire_sources import SessionSource, WireReader, WireSource, servers
from dapkit.tui.copy_action import copy_text, print_text
from dapkit.tui.line_view import LineView
from dapkit.tui.messages import Failed, Finished, Note


class WireMessageScreen(Screen[None]):
    """Shows a message, and its facts."""

    DEFAULT_CSS = """
    WireMessageScreen #title { text-style: bold; padding: 0 1; background: $primary; color: $text; width: 100%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c,y", "copy", "Copy"),
        Binding("p", "print", "Print"),
        Binding("escape,q", "leave", "Back"),
    ]

    def __init__(self, message: PairedMessage) -> None:
        super().__init__()
        self._whole = message.as_whole()

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield Static(self._whole.partition("\n")[0], id="title", markup=False)
        yield LineView()
        yield Footer()

    def on_mount(self) -> None:
        """Take the keys."""
        self.query_one(LineView).focus()

    def on_resize(self) -> None:
        """Fold lines that are longer than the screen is wide."""
        view = self.query_one(LineView)
        width = max(self.size.width - 2, 1)  # the bar for scrolling is at the right
        lines = [part for line in self._whole.split("\n")[1:] for part in _folded(line.expandtabs(), width)]
        view.show([(line, Style()) for line in lines], 0)

    def action_copy(self) -> None:
        """Copy it."""
        self.notify(copy_text(self.app, self._whole, "1 message"))

    def action_print(self) -> None:
        """Print it."""
        print_text(self.app, self._whole)

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss()


def _folded(line: str, width: int) -> list[str]:
    return [line[begin : begin + width] for begin in range(0, len(line), width)] or [""]


log = logging.getLogger(__name__)

type Take = Callable[["WireFollower", WireRecords], object]
type End = Callable[["WireFollower", str], object]


class WireFollower:
    """Follows one source.

    Args:
        source: whose messages are read.
        take: called in the thread with each page; the next one is read when `taken` was called.
        ended: called in the thread at the end, with the error if there is one, else with an empty text.

    """

    def __init__(self, source: WireSource, *, take: Take, ended: End) -> None:
        self.source = source
        self._take = take
        self._ended = ended
        self._left = threading.Event()
        self._room = threading.Event()
        self._reader: WireReader | None = None

    def run(self) -> None:
        """Read until no more messages can come, or `leave` was called."""
        try:
            with WireReader(self.source) as reader:
                self._reader = reader
                for page in () if self._left.is_set() else reader.pages(follow=True):
                    self._room.clear()
                    if self._left.is_set():
                        return
                    self._take(self, page)
                    self._room.wait()
            self._ended(self, "")
        except DiagnosticsError as error:
            self._ended(self, str(error))
        except Exception as error:
            log.exception("the messages of %s cannot be followed because of an internal error", self.source.title)
            self._ended(self, f"Internal error: {type(error).__name__}: {error}")

    def taken(self) -> None:
        """Read the next page."""
        self._room.set()

    def leave(self) -> None:
        """Let the thread end now, whatever it waits for."""
        self._left.set()
        self._room.set()
        if self._reader is not None:
            self._reader.interrupt()


_WHEEL_LINES = 3
_CHOICES = [*((kind, False) for kind in KINDS), ("", True)]
"""The steps of the key for the kind: each kind, and failures."""

_STYLES = {"request": Style(color="cyan"), "response": Style(), "event": Style(color="green")}
_FAILED, _UNREADABLE = Style(color="red"), Style(color="red", bold=True)


class WirePageRead(Message):
    """More messages were read."""

    def __init__(self, follower: WireFollower, page: WireRecords) -> None:
        super().__init__()
        self.follower = follower
        self.page = page


class WireEnded(Message):
    """No more messages come; `error` says why not, unless the wire is over."""

    def __init__(self, follower: WireFollower, error: str) -> None:
        super().__init__()
        self.follower = follower
        self.error = error


class WireView(LineView):
    """The messages, a line each."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "open", "Whole")]

    class Opened(Message):
        """The message at the cursor is to be shown whole."""

    def action_open(self) -> None:
        """Show the message at the cursor whole."""
        self.post_message(self.Opened())

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Move the cursor, so that the newest message is not followed any more."""
        event.stop()
        event.prevent_default()
        self.action_move(-min(_WHEEL_LINES, max(self.cursor, 1)))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Move the cursor."""
        event.stop()
        event.prevent_default()
        self.action_move(_WHEEL_LINES)


class WireScreen(Screen[None]):
    """Shows the messages of a session, or of an MCP server, as they pass.

    Args:
        where: whose messages are shown first.

    """

    DEFAULT_CSS = """
    WireScreen #title { text-style: bold; padding: 0 1; background: $primary; color: $text; width: 100%; }
    WireScreen #status { padding: 0 1; color: $text-muted; height: auto; }
    WireScreen Input, WireScreen Input:focus { border: none; height: 1; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("k", "next_kind", "Kind"),
        Binding("f", "follow", "Follow"),
        Binding("m", "next_source", "MCP"),
        Binding("c", "copy_all", "Copy all"),
        Binding("y", "copy", "Copy"),
        Binding("p", "print", "Print"),
        Binding("r", "read_again", "Again"),
        Binding("escape", "back", "Back"),
        Binding("q", "leave", "Back", show=False),
    ]

    def __init__(self, where: Where) -> None:
        super().__init__()
        self._session = SessionSource(where)
        self._follower = self._made_follower(self._session)
        self._messages = WireMessages()
        self._shown: list[PairedMessage] = []
        self._lines: dict[int, str] = {}
        self._text, self._choice = "", 0
        self._over = False

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield Static("", id="title", markup=False)
        yield Note()
        yield WireView()
        yield Input(placeholder="text to look for; Enter keeps it, Escape forgets it")
        yield Static("", id="status", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        """Begin to read."""
        self.query_one(Input).display = False
        self.set_focus(self._view)
        self._begin(self._session)

    def on_unmount(self) -> None:
        """Let the thread end."""
        self._follower.leave()

    # Reading, in a thread

    def _made_follower(self, source: WireSource) -> WireFollower:
        return WireFollower(
            source,
            take=lambda follower, page: self.post_message(WirePageRead(follower, page)),
            ended=lambda follower, error: self.post_message(WireEnded(follower, error)),
        )

    def _begin(self, source: WireSource) -> None:
        """Show another source, or the same one anew."""
        self._follower.leave()
        self._follower = self._made_follower(source)
        self._messages, self._lines, self._shown, self._over = WireMessages(), {}, [], False
        self.query_one("#title", Static).update(printable(f"raw-sse: {source.title}"))
        self.query_one(Note).say("Reading.")
        self._show([])
        self.run_worker(self._follower.run, thread=True, exit_on_error=False)

    def on_wire_page_read(self, report: WirePageRead) -> None:
        """Add the messages."""
        report.follower.taken()
        if report.follower is not self._follower:
            return
        added = self._messages.add(report.page.records)
        self._lines |= {message.row.number: message.as_line() for message in added}
        for number in range(min(self._lines, default=0), self._messages.first):
            self._lines.pop(number, None)
        self._over = report.page.over
        self.query_one(Note).say("" if self._messages.total else "No message has passed yet.")
        self._show([message for message in self._messages if self._filter.fits(message)])

    def on_wire_ended(self, report: WireEnded) -> None:
        """Show that no more messages come, and why."""
        if report.follower is self._follower:
            self._over = True
            if report.error:
                self.query_one(Note).say(report.error, failed=True)
            self._show_status()

    # Display

    @property
    def _view(self) -> WireView:
        return self.query_one(WireView)

    @property
    def _filter(self) -> WireFilter:
        kind, failed = _CHOICES[self._choice]
        return WireFilter(self._text, kind, failed)

    @property
    def _following(self) -> bool:
        return self._view.cursor >= len(self._shown) - 1

    def _show(self, messages: list[PairedMessage]) -> None:
        """Show messages; the cursor stays at its message, or at the newest one."""
        following = self._following
        before = 0 if following else self._shown[self._view.cursor].row.number
        self._shown = messages
        numbers = [message.row.number for message in messages]
        cursor = len(messages) - 1 if following else bisect_left(numbers, before)
        self._view.show([(self._lines[message.row.number], _style(message)) for message in messages], cursor)
        self._show_status()

    def _show_status(self) -> None:
        self.query_one("#status", Static).update(printable(" | ".join(self._facts())))

    def _facts(self) -> list[str]:
        messages, wire_filter = self._messages, self._filter
        facts = [f"{messages.total:,} passed, {len(messages):,} kept, {messages.dropped:,} dropped"]
        facts.append(f"{messages.characters:,} characters")
        facts.append("over" if self._over else "following" if self._following else "not following: f follows")
        if len(self._shown) < len(messages):
            facts.append(f"{len(self._shown):,} shown")
        facts += [f"with {wire_filter.text!r}"] if wire_filter.text else []
        facts += ["failed"] if wire_filter.failed else [f"{wire_filter.kind}s"] if wire_filter.kind else []
        return facts

    # Keys

    def on_line_view_moved(self) -> None:
        """Show whether the newest message is followed."""
        self._show_status()

    def on_wire_view_opened(self) -> None:
        """Show the message at the cursor whole."""
        if self._shown:
            self.app.push_screen(WireMessageScreen(self._shown[self._view.cursor]))

    def action_follow(self) -> None:
        """Go to the newest message, and stay at the newest."""
        self._view.action_move(len(self._shown))

    def action_next_kind(self) -> None:
        """Show the next kind of messages only; after failures, all."""
        self._choice = (self._choice + 1) % len(_CHOICES)
        self._filter_again()

    def action_filter(self) -> None:
        """Ask for the text that messages must have."""
        input_field = self.query_one(Input)
        input_field.display = True
        self.set_focus(input_field)

    def on_input_changed(self, change: Input.Changed) -> None:
        """Filter while a text is typed."""
        self._text = change.value
        self._filter_again()

    def on_input_submitted(self) -> None:
        """Keep the text."""
        self.query_one(Input).display = False
        self.set_focus(self._view)

    def _filter_again(self) -> None:
        self._show([message for message in self._messages if self._filter.fits(message)])

    def action_copy_all(self) -> None:
        """Copy all messages that are shown, whole."""
        if self._shown:
            self.notify(copy_text(self.app, _whole(self._shown), _counted(self._shown)))

    def action_copy(self) -> None:
        """Copy the message at the cursor, or the range, whole."""
        messages = [self._shown[index] for index in self._view.chosen]
        if messages:
            self.notify(copy_text(self.app, _whole(messages), _counted(messages)))

    def action_print(self) -> None:
        """Print all messages that are shown, whole."""
        if self._shown:
            print_text(self.app, _whole(self._shown))

    def action_read_again(self) -> None:
        """Read anew: after an error, or when a session goes on that was over."""
        self._begin(self._follower.source)

    def action_next_source(self) -> None:
        """Show the next MCP server; after the last one, the session."""
        self.run_worker(self._find_servers, thread=True, exit_on_error=False)

    def _find_servers(self) -> None:
        try:
            self.post_message(Finished(servers()))
        except DiagnosticsError as error:
            self.post_message(Failed(str(error)))

    def on_finished(self, report: Finished[list[WireSource]]) -> None:
        """Show the next of the sources that were found."""
        sources: list[WireSource] = [self._session, *report.result]
        present = self._follower.source
        if len(sources) == 1 and present == self._session:
            self.notify("No MCP server by HTTP runs: dapkit mcp --http starts one.")
            return
        index = sources.index(present) if present in sources else -1
        self._begin(sources[(index + 1) % len(sources)])

    def on_failed(self, report: Failed) -> None:
        """Show why no server was found."""
        self.notify(printable(report.text), severity="error", markup=False)

    def action_back(self) -> None:
        """Forget the text that is typed, or the range; go back, if there is neither."""
        input_field = self.query_one(Input)
        if input_field.display:
            input_field.value = ""
            self.on_input_submitted()
        elif not self._view.end_range():
            self.dismiss()

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss()


def _style(message: PairedMessage) -> Style:
    if message.row.problem is not None:
        return _UNREADABLE
    return _FAILED if message.failed else _STYLES.get(message.row.kind, Style())


def _whole(messages: Sequence[PairedMessage]) -> str:
    return "\n\n".join(message.as_whole() for message in messages)


def _counted(messages: Sequence[PairedMessage]) -> str:
    return "1 message" if len(messages) == 1 else f"{len(messages):,} messages"
