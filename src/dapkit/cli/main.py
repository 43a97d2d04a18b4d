"""The command itself: which commands there are, each made only when it is asked for."""

import sys
from collections.abc import Iterable
from shutil import get_terminal_size
from typing import Final, NoReturn

import click

from dapkit import __version__
from dapkit.agent.table import ACTIONS
from dapkit.cli import exit_codes

# How help looks: never wider than the terminal, however narrow that is.
#
# In a narrow terminal the meaning of a word is shown below it and not beside it, since a column of a dozen characters
# is hard to read.

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


_OTHERS: Final[dict[str, tuple[str, str]]] = {
    "run": ("run", "Debug a program from start to end in one call, and show its state at breakpoints."),
    "stacks": ("stacks", "Show the stacks of all threads and tasks of a Python process, even if it is stuck."),
    "record": ("record", "Record a run of a Python program, to debug it afterwards."),
    "adapters": ("catalog", "List the debug adapters, or explain which one a program gets."),
    "doctor": ("catalog", "Start every installed adapter, and report which work and what to install."),
    "config": ("config", "Show all settings, their values and where these are from."),
    "hub": ("hub", "Show or end the hub, which keeps the sessions."),
    "mcp": ("mcp", "Serve the debug tool to an agent over MCP."),
    "proxy": ("proxy", "Record the messages between an editor and an adapter."),
    "completion": ("completion", "Print the script that completes commands in a shell."),
}
"""Commands that are not actions: their modules and their help."""

_DIAGNOSTICS: Final[dict[str, tuple[str, str]]] = {
    "diagnose": ("diagnostics.diagnose", "Show a menu of all that follows here."),
    "logs": ("diagnostics.logs", "Show the log of the hub, today's or an older one."),
    "wire": ("diagnostics.wire", "Show the messages of the session, or of the MCP server, as they pass."),
    "performance": ("diagnostics.performance", "Profile the processor until a key is pressed, then the work of 30 s."),
    "work": ("diagnostics.work", "Profile the work of 30 s, and show it as a flame graph."),
    "memory": ("diagnostics.memory", "Show what holds a Python program's memory, and its growth."),
    "dump": ("diagnostics.dump", "Write a report of the session, to look into a fault."),
    "system": ("diagnostics.system", "Show this machine, the versions of all that takes part, and the environment."),
    "open-artifacts": ("diagnostics.open_artifacts", "Open the folder with the files about the session."),
    "transcript": ("diagnostics.transcript", "Write the session as Markdown and as a page, to read and to show."),
    "clear-cache": ("diagnostics.clear_cache", "Remove files about sessions that are older than 30 days."),
}
"""The entries of the menu of diagnostics, as commands."""

_TOPICS: Final = {
    "launch": "Start",
    "breakpoints": "Breakpoints",
    "execution": "Run",
    "history": "Time travel",
    "inspection": "Inspect",
    "watchpoints": "Data and instruction breakpoints",
    "memory": "Memory",
    "sources": "Modules and sources",
    "sessions": "Sessions",
}


WORDS_OF_OTHERS: Final = {
    "b": "set-breakpoint",
    "break": "set-breakpoint",
    "tbreak": "run-to",
    "until": "run-to",
    "watch": "set-data-breakpoint",
    "delete": "remove-breakpoint",
    "clear": "remove-breakpoint",
    "c": "continue",
    "cont": "continue",
    "n": "step-over",
    "next": "step-over",
    "s": "step-in",
    "step": "step-in",
    "finish": "step-out",
    "return": "step-out",
    "rn": "step-back",
    "reverse-next": "step-back",
    "rc": "reverse-continue",
    "bt": "stack-trace",
    "backtrace": "stack-trace",
    "where": "stack-trace",
    "w": "stack-trace",
    "up": "stack-trace",
    "down": "stack-trace",
    "frame": "stack-trace",
    "p": "evaluate",
    "pp": "evaluate",
    "print": "evaluate",
    "call": "evaluate",
    "display": "evaluate",
    "info": "variables",
    "locals": "variables",
    "args": "variables",
    "set": "set-variable",
    "l": "source",
    "list": "source",
    "x": "read-memory",
    "jump": "goto",
    "q": "terminate",
    "quit": "terminate",
    "kill": "terminate",
    "r": "launch",
    "start": "launch",
    "raw-sse": "wire",
}
"""Words of pdb and gdb, and a name of the menu of diagnostics, with the command that does the same."""


class Commands(click.Group):
    """All commands, by topic; only the one that is asked for is made."""

    context_class = HelpContext

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click has it
        """Return all names."""
        return [*_OTHERS, *_DIAGNOSTICS, *(name.replace("_", "-") for name in ACTIONS)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as click has it
        """Make a command; the names of actions may be written with underscores too."""
        name = cmd_name.replace("-", "_")
        if name in ACTIONS:
            from dapkit.cli import actions

            return with_our_help(actions.command(name))
        others = _OTHERS | _DIAGNOSTICS
        if cmd_name not in others:
            return None
        from importlib import import_module

        command: click.Command = getattr(import_module(f"dapkit.cli.{others[cmd_name][0]}"), cmd_name.replace("-", "_"))
        return with_our_help(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; the nearest name is proposed for one that there is not."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            word = args[0].replace("_", "-")
            near = (
                [WORDS_OF_OTHERS[word]]
                if word in WORDS_OF_OTHERS
                else get_close_matches(word, self.list_commands(ctx), n=1)
            )
            if near:
                raise click.UsageError(f"{error.message} Did you mean {near[0]}?", ctx) from error
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as click has it
        """List the commands by topic."""
        with formatter.section("General"):
            formatter.write_dl([(name, text) for name, (_, text) in _OTHERS.items()])
        if _DIAGNOSTICS:
            with formatter.section("Diagnostics"):
                formatter.write_dl([(name, text) for name, (_, text) in _DIAGNOSTICS.items()])
        for topic, title in _TOPICS.items():
            rows = [(name.replace("_", "-"), row["summary"]) for name, row in ACTIONS.items() if row["topic"] == topic]
            with formatter.section(title):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as click has it
        """List the exit codes."""
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in exit_codes.MEANINGS])


_HELP: Final = """Debug programs in any language from the shell.

\b
A whole session in one call:
  dapkit run -b app.py:4 -e x app.py
A session that stays:
  dapkit launch -b app.py:4 app.py
  dapkit evaluate 'len(items)'
  dapkit step-over
  dapkit terminate

Sessions outlive the commands. Each project has sessions of its own.
"""


@click.command(
    cls=Commands,
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.version_option(__version__, prog_name="dapkit")
def dapkit() -> None:
    """Do nothing beyond the options: a command follows."""


def main() -> NoReturn:
    """Run the command of this process's arguments, and end with its exit code."""
    try:
        code = dapkit.main(standalone_mode=False, prog_name="dapkit")
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        code = exit_codes.INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, which ends us quietly
        sys.stderr.close()
        code = exit_codes.DONE
    sys.exit(code)
