"""How help looks: never wider than the terminal, however narrow that is.

In a narrow terminal the meaning of a word is shown below it and not beside it, since a column of a dozen characters is
hard to read.
"""

from collections.abc import Iterable
from shutil import get_terminal_size

import click

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


class HelpContext(click.Context):
    """A context whose help is formatted so."""

    formatter_class = HelpFormatter


def with_our_help(command: click.Command) -> click.Command:
    """Format the help of a command, and of its subcommands, so."""
    command.context_class = HelpContext
    if isinstance(command, click.Group):
        for each in command.commands.values():
            with_our_help(each)
    return command
