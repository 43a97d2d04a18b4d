"""How the demo looks in a terminal: everything about colours and tables, nothing about debugging."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from dapkit.protocol import StackFrame, Thread, Variable

_WINDOW = 3
"""Lines of source above and below the one that is shown."""

_WIDTH = 110

_BESIDE_VALUES = 34
"""Columns that the name and the type of a variable take."""


class View:
    """A terminal; colours go away by themselves where there is none, or where NO_COLOR is set."""

    def __init__(self, *, record: bool) -> None:
        self._console = Console(highlight=False, soft_wrap=False, record=record, force_terminal=record or None)
        if record or not self._console.is_terminal or self._console.width > _WIDTH:
            self._console.width = _WIDTH
        self._number = 0

    def title(self, name: str, text: str) -> None:
        """Open the show."""
        self._console.print(Panel(Text(text), title=f"[bold]{name}", title_align="left", border_style="cyan"))

    def step(self, title: str, detail: str) -> None:
        """Begin the next part."""
        self._number += 1
        self._console.print()
        self._console.print(Rule(f"[bold cyan]{self._number}. {title}[/] [dim]{detail}", align="left", style="cyan"))

    def source(self, frame: StackFrame) -> None:
        """Show the lines around a frame, its own one marked."""
        if frame.source is None or frame.source.path is None:
            return
        path = Path(frame.source.path)
        lines = Syntax(
            path.read_text(encoding="utf-8"),
            "python",
            theme="ansi_dark",
            line_numbers=True,
            highlight_lines={frame.line},
            line_range=(max(1, frame.line - _WINDOW), frame.line + _WINDOW),
        )
        self._console.print(Panel(lines, title=f"{path.name}:{frame.line}", title_align="left", border_style="dim"))

    def stack(self, frames: Sequence[StackFrame]) -> None:
        """List frames, the innermost first, library code dimmed."""
        table = _table("stack", "where")
        for frame in frames:
            name = frame.source.name if frame.source is not None else "?"
            table.add_row(Text(frame.name), Text(f"{name}:{frame.line}"), style=_style(frame))
        self._console.print(table)

    def variables(self, scope: str, variables: Sequence[Variable]) -> None:
        """List the variables of a scope with their types."""
        table = _table(scope.lower(), "value", "type")
        for variable in variables:
            table.add_row(Text(variable.name, "green"), self._cut(variable.value), Text(variable.type or "", "dim"))
        self._console.print(table)

    def _cut(self, text: str) -> Text:
        room = self._console.width - _BESIDE_VALUES
        return Text(text if len(text) <= room else text[: room - 3] + "...")

    def threads(self, threads: Sequence[Thread], current: int) -> None:
        """List threads, the stopped one marked."""
        marks = (f"[bold]{thread.name} *[/]" if thread.id == current else thread.name for thread in threads)
        self._console.print(f"[dim]threads:[/] {', '.join(marks)}")

    @contextmanager
    def table(self, *headings: str) -> Iterator[Callable[..., None]]:
        """Collect rows, then print them; a cell that differs from the one above it is highlighted."""
        table = _table(*headings)
        above: list[str] = [""] * len(headings)

        def add(*cells: str) -> None:
            styles = ["", *("yellow" if old != new else "dim" for old, new in zip(above[1:], cells[1:], strict=True))]
            above[:] = cells
            table.add_row(*(Text(cell, style) for cell, style in zip(cells, styles, strict=True)))

        yield add
        self._console.print(table)

    def exception(self, name: str, text: str, mode: str) -> None:
        """Show the exception that the program is stopped at."""
        self._console.print(
            Panel(Text(text), title=f"[bold red]{name}[/] [dim]({mode})", title_align="left", style="red")
        )

    def output(self, category: str, text: str) -> None:
        """Show the program's output."""
        if text:
            self._console.print(Panel(Text(text.rstrip("\n")), title=category, title_align="left", border_style="dim"))

    def remark(self, text: str) -> None:
        """Say something in passing."""
        self._console.print(Text(text, "italic"))

    def save_picture(self, path: Path) -> None:
        """Draw everything that was printed so far as an SVG file."""
        self._console.save_svg(str(path), title="make demo", clear=False)

    def end(self, exit_code: int | None, seconds: float) -> None:
        """Close the show."""
        self._console.print(f"\n[bold]exit code {exit_code}[/] [dim]after {seconds:.2f} s in all")


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for heading in headings:
        table.add_column(heading, overflow="ellipsis", no_wrap=True)
    return table


def _style(frame: StackFrame) -> str:
    return "dim" if frame.presentation_hint == "subtle" else ""
