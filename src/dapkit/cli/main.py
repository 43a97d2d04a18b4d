"""The command itself: which commands there are, each made only when it is asked for."""

import sys
from typing import Final, NoReturn

import click

from dapkit import __version__
from dapkit.agent.command_words import ALIASES, OF_JOB, OPTION_OF_RUN
from dapkit.agent.table import ACTIONS
from dapkit.cli import command_list, exit_codes
from dapkit.cli.command_list import DIAGNOSTICS, OTHERS, WORDS_OF_OTHERS
from dapkit.cli.help_form import HelpContext, with_our_help


class Commands(click.Group):
    """All commands, by topic; only the one that is asked for is made."""

    context_class = HelpContext

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click has it
        """Return all names."""
        return command_list.names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as click has it
        """Make a command; the names of actions may be written with underscores too."""
        cmd_name = ALIASES.get(cmd_name, cmd_name)
        name = cmd_name.replace("-", "_")
        if name in ACTIONS and name not in (*OTHERS, *OF_JOB, OPTION_OF_RUN):
            from dapkit.cli import actions

            return with_our_help(actions.command(name))
        others = OTHERS | DIAGNOSTICS
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
            name, command, rest = super().resolve_command(ctx, args)
            return name if command is None else command.name, command, rest  # a word of another debugger is an alias
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
        """List the usual commands."""
        with formatter.section("Commands"):
            formatter.write_dl(_USUAL)
        with formatter.section("More"):
            formatter.write_dl(_MORE)


_HELP: Final = """Debug programs in any language.

\b
One call, with values at each stop:
  dapkit run -b 'app.py:4 if n > 9' \\
    -e n -e 'len(x)' --stops 3 app.py
A process that hangs:
  dapkit stacks PID
A session that stays between commands:
  dapkit launch -b app.py:4 app.py
  dapkit evaluate 'len(items)'
  dapkit step-over
  dapkit terminate
"""

_USUAL: Final = [
    ("start", "run, launch, attach, core, restart, record"),
    ("look", "stack-trace, variables, evaluate, threads, output, source"),
    ("go on", "continue, step-over, step-in, step-out, run-to, pause, wait"),
    ("stop", "set-breakpoint, set-exception-breakpoints, set-data-breakpoint, breakpoints"),
    ("go back", "why, step-back, reverse-continue, travel-to"),
    ("set up", "adapters, doctor, config, mcp, skill, completion, diagnose"),
]
_MORE: Final = [
    ("dapkit COMMAND --help", "its usual options, and an example"),
    ("dapkit help", "all commands by topic; exit codes; all options of a command"),
]


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
