"""One message, whole: its JSON over several lines, its conversation, and its duration."""

from typing import ClassVar

from rich.style import Style
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer, Static

from dapkit.diagnostics.wire import PairedMessage
from dapkit.tui.copy_action import copy_text, print_text
from dapkit.tui.line_view import LineView


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
