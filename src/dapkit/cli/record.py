"""`dapkit record`: run a Python program and record its inputs, to debug that run afterwards."""

from pathlib import Path
from typing import Literal

import click

from dapkit.cli.common_options import note_our_options
from dapkit.cli.module_option import place_of_module


class _RecordCommand(click.Command):
    """A command that takes `-m MODULE` for `python -m MODULE`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words."""
        place = place_of_module(self, ctx, args)
        return super().parse_args(ctx, args if place is None else [*args[:place], "python", *args[place:]])


@click.command(
    cls=_RecordCommand,
    context_settings={"allow_interspersed_args": False},
    epilog="Example: dapkit record --keep failed python -m pytest tests",
)
@click.argument("program", metavar="PROGRAM [ARGS]...")
@click.argument("args", nargs=-1, metavar="")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="The file; PROGRAM-TIME.dapkit if missing."
)
@click.option(
    "--keep",
    type=click.Choice(["always", "failed", "asked"]),
    default="always",
    show_default=True,
    help="When to write the file: always, if the program does not end with exit code 0, or if it asks for it.",
)
@click.option(
    "--with-secrets", is_flag=True, help="Keep the values of variables of the environment that are secret, too."
)
@click.option(
    "--with-packages",
    is_flag=True,
    help="Keep the contents of installed packages and of the standard library, too, which any machine may have.",
)
@click.option(
    "--children",
    is_flag=True,
    help="Record the Python processes that PROGRAM starts, too, in the same file. PROGRAM may be any command then.",
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing of the file.")
@click.option(
    "--most",
    type=click.IntRange(min=17),
    default=4000,
    show_default=True,
    help="Megabytes of notes, before they are packed; the program runs on without when they are full.",
)
def record(
    *,
    program: str,
    args: tuple[str, ...],
    output: Path | None,
    keep: Literal["always", "failed", "asked"],
    with_secrets: bool,
    with_packages: bool,
    children: bool,
    quiet: bool,
    most: int,
) -> None:
    """Record a run of a Python program: its inputs (time, files, sockets, standard input) are kept in a file.

    PROGRAM is a file, `python` with its arguments, or a command that is a Python script; -m MODULE stands for
    `python -m MODULE`. It runs as it would by itself, and is not debugged; the exit code is its own.

    The file is opened as a program: dapkit launch FILE. It is executed again from it, forwards and backwards, as often
    as wanted, and nothing is read, written, sent or started. It has all that the program has read: only its owner may
    read it.
    """
    note_our_options(args, click.get_current_context().command, common=("-q",))
    from dapkit.cli.recorded_run import CannotRecord, RecordedCommand, RecordOptions

    options = RecordOptions(
        output=output,
        keep=keep,
        with_secrets=with_secrets,
        with_packages=with_packages,
        children=children,
        quiet=quiet,
        most=most,
    )
    try:
        code = RecordedCommand.of(options, [program, *args]).run()
    except CannotRecord as error:
        raise (click.UsageError if error.is_usage else click.ClickException)(str(error)) from None
    raise click.exceptions.Exit(code)
