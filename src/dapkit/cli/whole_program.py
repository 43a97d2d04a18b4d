"""Commands about a whole program, which stands after `--` with its arguments: `dapkit probe app.py:12 n -- app.py`."""

import os

import click

from dapkit import limits
from dapkit.cli.action_call import ActionAnswer, ask
from dapkit.cli.common_options import CommonOptions
from dapkit.cli.module_option import module_apart
from dapkit.cli.own_input import input_to_pass_on
from dapkit.hub.folder import project_of


class CommandWithProgram(click.Command):
    """A command whose words after the first `--`, or after `-m MODULE`, are a program and its arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words after it as the options that they stand for."""
        args = module_apart(self, ctx, args)
        at = args.index("--") if "--" in args else len(args)
        before, program = args[:at], args[at + 1 :]
        has_program = any(word.startswith(("--module", "--test", "--program")) for word in before)
        options = [f"--program={word}" for word in program[: 0 if has_program else 1]]
        options += [f"--args={word}" for word in program[len(options) :]]
        return super().parse_args(ctx, [*before, *options])

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write how the command is written."""
        pieces = [*self.collect_usage_pieces(ctx), "[-- PROGRAM [ARGS]...]"]
        formatter.write_usage(ctx.command_path, " ".join(pieces))


def ask_about_program(name: str, arguments: dict[str, object], around: CommonOptions) -> ActionAnswer:
    """Carry out an action about a program that it starts, or else about the program of the session."""
    has_program = bool(arguments.keys() & {"program", "module", "test"})
    timeout = arguments.setdefault("timeout", usual_seconds())
    return ask(
        name,
        arguments,
        session=f"{name}-{os.getpid()}" if has_program and around.session is None else around.session,
        project=around.project,
        read_only=around.read_only,
        patience=float(str(timeout)) + limits.HUB_CALL_SECONDS,
        stdin=input_to_pass_on() if has_program else None,
    )


def usual_seconds() -> float:
    """Return the time for a whole program, if none is given."""
    from pathlib import Path

    from dapkit.settings import Settings

    return Settings.load(Path(project_of(os.getcwd()))).request_timeout_seconds
