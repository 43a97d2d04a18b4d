"""`dapkit record`: run a Python program and record its inputs, to debug that run afterwards."""

import os
import re
import shutil
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from dapkit.cli import exit_codes
from dapkit.cli.common_options import note_our_options
from dapkit.cli.module_option import place_of_module
from dapkit.system.platform_support import needs_linux

if TYPE_CHECKING:
    from dapkit.catalog.interpreters import Interpreter
    from dapkit.python.recording.recorder import PythonCommand, RecordedRun

_MEGABYTE = 1_000_000
_MOST_LINES = 10
_PYTHON = re.compile(r"python[0-9.]*")
_ELF = b"\x7fELF"


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
    keep: str,
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
    if (problem := needs_linux("recording a run")) is not None:
        raise click.ClickException(problem)
    note_our_options(args, click.get_current_context().command, common=("-q",))
    from dapkit.python.recording.file import SUFFIX, RecordingProblem
    from dapkit.python.recording.recorder import record as run
    from dapkit.python.recording.recorder import record_command

    if children and keep == "asked":
        raise click.UsageError(
            "--children goes with --keep always or failed: a process asks for its own recording alone"
        )
    command = _command(program, args, others=children)
    target = (
        output or Path(f"{_name(command) if command else Path(program).stem}-{time.strftime('%Y%m%d-%H%M%S')}{SUFFIX}")
    ).absolute()
    if not os.access(target.parent, os.W_OK):
        raise click.UsageError(f"{target} cannot be written: there is no such folder, or it is not ours")
    try:
        outcome = (
            record_command([program, *args], target, follow=keep)
            if command is None
            else run(
                command,
                target,
                most=most * _MEGABYTE,
                secrets=with_secrets,
                packages=with_packages,
                follow=keep if children else "",
                can_ask=keep == "asked",
                is_kept=lambda code, answer: keep == "always" or (answer if keep == "asked" else code != 0),
            )
        )
    except RecordingProblem as error:
        if command is not None:
            _check_interpreter(command.interpreter)
        click.echo(f"dapkit record: {error}", err=True)
        raise click.exceptions.Exit(exit_codes.FAILED) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename or target}: {error.strerror or error}") from error
    if not quiet:
        _report(outcome)
    _end_like(outcome.code)


def _command(program: str, args: tuple[str, ...], *, others: bool) -> "PythonCommand | None":
    """Read which program of Python is meant, by which interpreter; None, if `others` may be, for another command."""
    interpreter = _interpreter_itself(program)
    if interpreter:
        return _python_command(interpreter, args)
    from dapkit.catalog.executables import search
    from dapkit.catalog.interpreters import asked, python_for
    from dapkit.catalog.programs import bare_name, shebang
    from dapkit.python.recording.recorder import PythonCommand

    path = Path(program)
    on_path = None if os.sep in program or path.is_file() else search(program, (), os.environ)
    if bare_name(program) == "python" and (on_path is not None or os.sep in program):
        asked_path = path if on_path is None else on_path.path
        return _python_command(_usable(asked(asked_path, "as given", os.environ, Path.cwd()), program), args)
    script = path if on_path is None else on_path.path
    if not script.exists():
        raise click.UsageError(f"there is no program {program}")
    is_python = script.suffix in (".py", ".pyw", ".pyz") or bare_name(shebang(script)) == "python"
    if others and not is_python:
        return None
    if on_path is not None and not is_python:
        raise click.UsageError(f"{script} is not a program of Python")
    interpreter = _usable(python_for(script, Path.cwd(), os.environ), program)
    return PythonCommand(interpreter=interpreter, kind="program", what=str(script), args=args)


def _interpreter_itself(program: str) -> str:
    """Return the path of an interpreter that was named, if it is an executable; empty for a script, as of pyenv.

    Its version is not asked for, which would take as long as many a program, unless its name says that it is too old;
    another one records nothing.
    """
    from dapkit.python.versions import OLDEST

    path = shutil.which(program) if _PYTHON.fullmatch(Path(program).name) else None
    if path is None:
        return ""
    numbers = tuple(int(number) for number in re.findall(r"\d+", Path(path).resolve().name))
    if len(numbers) > 1 and numbers < OLDEST:
        return ""
    try:
        with Path(path).open("rb") as file:
            is_executable = file.read(len(_ELF)) == _ELF
    except OSError:  # it may be executed, and not read
        return ""
    return str(Path(path).absolute()) if is_executable else ""


def _python_command(interpreter: str, args: tuple[str, ...]) -> "PythonCommand":
    from dapkit.agent.program_command import python_command
    from dapkit.python.recording.recorder import PythonCommand

    command = python_command(Path(interpreter), args)
    if command is None:
        raise click.UsageError("record needs a program: the interpreter alone is not a program")
    kind, what = next(
        (kind, what)
        for kind, what in (("program", command.script), ("module", command.module), ("code", command.code))
        if what is not None
    )
    return PythonCommand(
        interpreter=interpreter,
        options=command.options,
        kind=kind,  # type: ignore[arg-type]  # it is one of them
        what=what,
        args=command.args,
    )


def _check_interpreter(path: str) -> None:
    """Raise ClickException if programs cannot be recorded by an interpreter."""
    from dapkit.catalog.interpreters import asked

    _usable(asked(Path(path), "as given", os.environ, Path.cwd()), path)


def _usable(interpreter: "Interpreter | None", program: str) -> str:
    """Return the path of an interpreter by which programs can be recorded."""
    if interpreter is None:
        raise click.ClickException(f"there is no Python for {program}")
    from dapkit.python.versions import OLDEST

    if interpreter.implementation != "cpython" or interpreter.version < OLDEST:
        raise click.ClickException(f"{interpreter}; expected CPython 3.12 or later")
    return str(interpreter.path)


def _name(command: "PythonCommand") -> str:
    return "code" if command.kind == "code" else Path(command.what).stem


def _report(outcome: "RecordedRun") -> None:
    if outcome.kept is None:
        return
    size = outcome.kept.stat().st_size
    amount = f"{size / _MEGABYTE:.1f} MB" if size >= _MEGABYTE else f"{size / 1000:.0f} kB"
    if outcome.why:
        click.echo(f"dapkit record: the recording ended before the program: {outcome.why}", err=True)
    from dapkit.python.recording.file import OF_COMMAND, describe, processes_of
    from dapkit.python.recording.process_tree import listed_processes

    opening = "" if describe(outcome.kept).kind == OF_COMMAND else f". Open it with: dapkit launch {outcome.kept}"
    click.echo(f"Recorded: {outcome.kept} ({amount}){opening}", err=True)
    lines = listed_processes(processes_of(outcome.kept), str(outcome.kept))
    for line in lines[:_MOST_LINES]:
        click.echo(line, err=True)
    if len(lines) > _MOST_LINES:
        click.echo(f"and {len(lines) - _MOST_LINES} more processes", err=True)


def _end_like(code: int) -> NoReturn:
    """End as the program has ended."""
    if code >= 0:
        raise click.exceptions.Exit(code)
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    raise click.exceptions.Exit(128 - code)  # it does not end a process
