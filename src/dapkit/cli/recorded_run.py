"""A run of a program that is recorded, on the command line: which program it is, its file, and how the command ends.

Click is not needed here: to import it takes as long as many a recorded program.
"""

import os
import re
import shutil
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from dapkit.cli import exit_codes
from dapkit.python.recording.file import SUFFIX, RecordingProblem
from dapkit.system.platform_support import needs_linux

if TYPE_CHECKING:
    from dapkit.catalog.interpreters import Interpreter
    from dapkit.python.recording.recorder import PythonCommand, RecordedRun

MOST = 4000
"""Megabytes of notes, before they are packed."""
_MEGABYTE = 1_000_000
_MOST_LINES = 10
_PYTHON = re.compile(r"python[0-9.]*")
_ELF = b"\x7fELF"


class CannotRecord(Exception):  # noqa: N818 - the sentence reads right where it is raised
    """Nothing was recorded; the text says why.

    Attributes:
        is_usage: the command line is wrong.

    """

    def __init__(self, text: str, *, is_usage: bool = False) -> None:
        super().__init__(text)
        self.is_usage = is_usage


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOptions:
    """The options of `dapkit record`, as its help has them."""

    output: Path | None = None
    keep: Literal["always", "failed", "asked"] = "always"
    with_secrets: bool = False
    with_packages: bool = False
    children: bool = False
    quiet: bool = False
    most: int = MOST

    @classmethod
    def of_words(cls, words: list[str]) -> tuple[Self, list[str]] | None:
        """Read a plain command line: the options, and the program with its arguments; None if click has to read it."""
        output, quiet = "", False
        rest = [*words]
        while rest and rest[0] in ("-q", "-o"):
            if rest.pop(0) == "-q":
                quiet = True
            elif rest:
                output = rest.pop(0)
        program = ["python", *rest] if rest[:1] == ["-m"] and len(rest) > 1 else rest
        is_plain = program and not program[0].startswith("-") and _OURS.isdisjoint(map(_option_in, program))
        return (cls(output=Path(output) if output else None, quiet=quiet), program) if is_plain else None


_OURS = frozenset(("-o", "--output", "--keep", "--with-secrets", "--with-packages", "--children", "--quiet", "--most"))
"""Options of ours, of which click says that they are at the wrong place."""


def _option_in(word: str) -> str:
    return word.partition("=")[0]


@dataclass(frozen=True, slots=True)
class RecordedCommand:
    """A program that can be recorded.

    Attributes:
        words: the command.
        python: the program of Python that it starts; None for another one.
        target: the file of the recording.

    """

    words: list[str]
    python: "PythonCommand | None"
    target: Path
    options: RecordOptions

    @classmethod
    def of(cls, options: RecordOptions, words: list[str]) -> Self:
        """Find the program of a command.

        Raises:
            CannotRecord: there is no such program, or it cannot be recorded.

        """
        if (problem := needs_linux("recording a run")) is not None:
            raise CannotRecord(problem)
        if options.children and options.keep == "asked":
            raise CannotRecord(
                "--children goes with --keep always or failed: a process asks for its own recording alone",
                is_usage=True,
            )
        program, *args = words
        command = _command(program, tuple(args), others=options.children)
        name = _name(command) if command else Path(program).stem
        target = (options.output or Path(f"{name}-{time.strftime('%Y%m%d-%H%M%S')}{SUFFIX}")).absolute()
        if not os.access(target.parent, os.W_OK):
            raise CannotRecord(f"{target} cannot be written: there is no such folder, or it is not ours", is_usage=True)
        return cls(words, command, target, options)

    def run(self) -> int:
        """Run it, say where its recording is, and return its exit code, or end like it.

        Raises:
            CannotRecord: nothing was recorded, as the interpreter records no programs.

        """
        options = self.options
        try:
            outcome = self._run()
        except RecordingProblem as error:
            if self.python is not None:
                _check_interpreter(self.python.interpreter)
            sys.stderr.write(f"dapkit record: {error}\n")
            return exit_codes.FAILED
        except OSError as error:
            raise CannotRecord(f"{error.filename or self.target}: {error.strerror or error}") from error
        if not options.quiet:
            _report(outcome)
        return _end_like(outcome.code)

    def _run(self) -> "RecordedRun":
        from dapkit.python.recording.recorder import record, record_command  # not on Windows

        options = self.options
        if self.python is None:
            secrets, packages = options.with_secrets, options.with_packages
            return record_command(self.words, self.target, follow=options.keep, secrets=secrets, packages=packages)
        return record(
            self.python,
            self.target,
            most=options.most * _MEGABYTE,
            secrets=options.with_secrets,
            packages=options.with_packages,
            follow=options.keep if options.children else "",
            can_ask=options.keep == "asked",
            is_kept=lambda code, answer: {"always": True, "asked": answer, "failed": code != 0}[options.keep],
        )


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
        raise CannotRecord(f"there is no program {program}", is_usage=True)
    is_python = script.suffix in (".py", ".pyw", ".pyz") or bare_name(shebang(script)) == "python"
    if others and not is_python:
        return None
    if on_path is not None and not is_python:
        raise CannotRecord(f"{script} is not a program of Python", is_usage=True)
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
    from dapkit.python.program_command import python_command
    from dapkit.python.recording.recorder import PythonCommand

    command = python_command(Path(interpreter), args)
    if command is None:
        raise CannotRecord("record needs a program: the interpreter alone is not a program", is_usage=True)
    kind, what = command.program
    return PythonCommand(interpreter=interpreter, options=command.options, kind=kind, what=what, args=command.args)


def _check_interpreter(path: str) -> None:
    """Raise CannotRecord if programs cannot be recorded by an interpreter."""
    from dapkit.catalog.interpreters import asked

    _usable(asked(Path(path), "as given", os.environ, Path.cwd()), path)


def _usable(interpreter: "Interpreter | None", program: str) -> str:
    """Return the path of an interpreter by which programs can be recorded."""
    if interpreter is None:
        raise CannotRecord(f"there is no Python for {program}")
    from dapkit.python.versions import OLDEST

    if interpreter.implementation != "cpython" or interpreter.version < OLDEST:
        raise CannotRecord(f"{interpreter}; expected CPython 3.12 or later")
    return str(interpreter.path)


def _name(command: "PythonCommand") -> str:
    return "code" if command.kind == "code" else Path(command.what).stem


def _report(outcome: "RecordedRun") -> None:
    if outcome.kept is None:
        return
    size = outcome.kept.stat().st_size
    amount = f"{size / _MEGABYTE:.1f} MB" if size >= _MEGABYTE else f"{size / 1000:.0f} kB"
    if outcome.why:
        sys.stderr.write(f"dapkit record: the recording ended before the program: {outcome.why}\n")
    from dapkit.python.recording.file import OF_COMMAND, describe, processes_of
    from dapkit.python.recording.process_tree import listed_processes

    opening = "" if describe(outcome.kept).kind == OF_COMMAND else f". Open it with: dapkit launch {outcome.kept}"
    sys.stderr.write(f"Recorded: {outcome.kept} ({amount}){opening}\n")
    lines = listed_processes(processes_of(outcome.kept), str(outcome.kept))
    for line in lines[:_MOST_LINES]:
        sys.stderr.write(f"{line}\n")
    if len(lines) > _MOST_LINES:
        sys.stderr.write(f"and {len(lines) - _MOST_LINES} more processes\n")


def _end_like(code: int) -> int:
    """End as the program has ended, or return its exit code."""
    if code >= 0:
        return code
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    return 128 - code  # it does not end a process
