"""How help looks: short, and never wider than the terminal, however narrow that is.

In a narrow terminal the meaning of a word is shown below it and not beside it, since a column of a dozen characters is
hard to read.
"""

import re
from collections.abc import Iterable
from shutil import get_terminal_size

import click

from dapkit.cli.common_options import COMMON_OPTIONS

MOST_BYTES = 1200
"""Of the help of a command, in a terminal of 80 columns: its purpose, its usual options, and an example."""

_USUAL = {
    "evaluate": ("expressions", "frame", "thread", "width", "context"),
    "launch": ("breakpoints", "exceptions", "expressions", "module", "test", "stop_on_entry", "time_travel"),
    "attach": ("pid", "host", "port", "adapter", "program"),
    "run": ("breakpoints", "expressions", "stops", "exceptions", "output_lines", "python"),
    "probe": ("condition", "hits", "every", "tag", "module", "test", "timeout"),
    "trace": ("condition", "nth", "depth", "steps", "test", "module", "timeout"),
    "autopsy": ("pid", "core", "time_travel", "test", "module", "exceptions", "timeout"),
    "job break": ("breakpoints", "members", "wait_for", "expressions", "timeout"),
    "record": ("output", "keep", "children", "quiet"),
}
"""The options that the short help of a command has, beside the first paragraph; of others, all but the common ones."""

_NARROW = 60
_LEAST = 20


class HelpFormatter(click.HelpFormatter):
    """Formats help for the width of the terminal."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        columns = get_terminal_size().columns if width is None else width
        super().__init__(indent_increment, max(min(columns, max_width or columns), _LEAST), max_width)

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write how a command is written."""
        if self.width >= _NARROW:
            super().write_usage(prog, args, prefix)
        else:
            self.write(f"{click.wrap_text(f'{prefix or "Usage: "}{prog} {args}', self.width, '', '  ')}\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write words and their meanings."""
        if self.width >= _NARROW:
            super().write_dl(rows, col_max, col_spacing)
            return
        here = " " * self.current_indent
        for word, meaning in rows:
            self.write(f"{click.wrap_text(word, self.width, here, f'{here}  ')}\n")
            self.write(f"{click.wrap_text(meaning, self.width, f'{here}    ', f'{here}    ')}\n")


class _ShortFormatter(HelpFormatter):
    """Writes one or two names of an option, and little space between them and the meaning."""

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 20, col_spacing: int = 2) -> None:
        """Write words and their meanings."""
        super().write_dl([(_shortened(word), meaning) for word, meaning in rows], col_max, col_spacing)


def _shortened(word: str) -> str:
    word = re.sub(r"^(-\w, --[\w-]+)(, --[\w-]+)+", r"\1", word)
    return re.sub(r"^(--[\w-]+) / --no-[\w-]+$", r"\1", word)


class HelpContext(click.Context):
    """A context whose help is formatted so, and short."""

    formatter_class = HelpFormatter

    def get_help(self) -> str:
        """Return the help within `MOST_BYTES`, without the options that are seldom needed if it would be longer."""
        whole = self.command.get_help(self)
        if len(whole.encode()) <= MOST_BYTES or isinstance(self.command, click.Group):
            return whole
        name = self.command.name or ""
        options = [each for each in self.command.params if isinstance(each, click.Option)]
        usual = [each for each in options if each.name in _USUAL[name]] if name in _USUAL else options
        visible = [each for each in usual if each not in COMMON_OPTIONS]
        for option in options:
            option.hidden = option not in visible
        text = self.command.help
        if name in _USUAL:
            self.command.help = (text or "").partition("\n\n")[0]
        formatter = _ShortFormatter(max_width=self.max_content_width)
        self.command.format_help(self, formatter)
        self.command.help = text
        for option in options:
            option.hidden = False
        return f"{formatter.getvalue().rstrip()}\n\n  All options: dapkit help {name}"


def with_our_help(command: click.Command) -> click.Command:
    """Format the help of a command, and of its subcommands, so."""
    command.context_class = HelpContext
    if isinstance(command, click.Group):
        for each in command.commands.values():
            with_our_help(each)
    return command
