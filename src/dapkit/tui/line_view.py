"""Lines to look at, of which a range can be chosen: a line is drawn only while it is on the screen."""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

type Line = tuple[str, Style]
"""A line, fit for a terminal, and how it looks."""

_CURSOR, _CHOSEN = Style(reverse=True), Style(bgcolor="blue", color="white")


class LineView(ScrollView, can_focus=True):
    """Shows lines, and a cursor that is at one of them.

    Invariant: if there are lines, the cursor and the other end of the range are at one.
    """

    DEFAULT_CSS = """
    LineView { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", show=False),
        Binding("down", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "move(-1000000)", "First", show=False),
        Binding("end", "move(1000000)", "Last", show=False),
        Binding("v,space", "begin_range", "Range"),
    ]

    class TopReached(Message):
        """The user wants to go up from the first line."""

    class Moved(Message):
        """The cursor, or the range, is another one."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: Sequence[Line] = ()
        self.cursor = 0
        self._anchor: int | None = None

    @property
    def chosen(self) -> range:
        """The lines of the range; the one at the cursor, if none was begun."""
        if not self._lines:
            return range(0)
        other = self.cursor if self._anchor is None else self._anchor
        return range(min(other, self.cursor), max(other, self.cursor) + 1)

    def show(self, lines: Sequence[Line], cursor: int) -> None:
        """Show lines, with the cursor at one of them; a range that was begun is forgotten."""
        self._lines = lines
        self._anchor = None
        self.virtual_size = Size(max((len(text) for text, _ in lines), default=0), len(lines))
        self._go_to(cursor)

    def end_range(self) -> bool:
        """Forget the range; False if none was begun."""
        is_selecting = self._anchor is not None
        self._anchor = None
        self._moved()
        return is_selecting

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        if by == -1 and self.cursor == 0:
            self.post_message(self.TopReached())
        else:
            self._go_to(self.cursor + by)

    def action_page(self, direction: int) -> None:
        """Move the cursor by one screen."""
        if direction < 0 and self.cursor == 0:
            self.post_message(self.TopReached())
        else:
            self._go_to(self.cursor + direction * max(self.size.height - 1, 1))

    def action_begin_range(self) -> None:
        """Begin a range at the cursor; end it, if one was begun."""
        if not self.end_range() and self._lines:
            self._anchor = self.cursor
            self._moved()

    def _go_to(self, cursor: int) -> None:
        self.cursor = min(max(cursor, 0), max(len(self._lines) - 1, 0))
        self.scroll_to_region(Region(int(self.scroll_x), self.cursor, 1, 1), animate=False, force=True)
        self._moved()

    def _moved(self) -> None:
        self.refresh()
        self.post_message(self.Moved())

    def render_line(self, y: int) -> Strip:
        """Draw a line of the screen."""
        first_column, top = self.scroll_offset
        number = top + y
        width = self.size.width
        if number >= len(self._lines):
            return Strip.blank(width)
        text, style = self._lines[number]
        if self._anchor is not None and number in self.chosen:
            style += _CHOSEN
        if number == self.cursor:
            style += _CURSOR
        drawn = Strip([Segment(text, style)])
        return drawn.crop(first_column, first_column + width).extend_cell_length(width, style)
