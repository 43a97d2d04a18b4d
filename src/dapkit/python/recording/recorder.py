"""Recording of a program: it runs as it would by itself, and its inputs are kept in a file.

The program has our standard streams, folder, group and terminal. It ends with dapkit; signals that end dapkit are
passed on to it, and the terminal's signals it gets itself.
"""

import marshal
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dapkit import __version__
from dapkit.python.debuggee_files import ENTRY, TIME_TRAVEL
from dapkit.python.recording import file
from dapkit.python.recording.build_ids import identity_of
from dapkit.python.recording.comparison import zone_of_machine
from dapkit.python.recording.ended_processes import Fork, ended_forks, ended_processes, name_of_fork
from dapkit.python.recording.library_files import are_of_libraries, modules_read
from dapkit.python.recording.process_tree import followed, has_failed
from dapkit.python.recording.started_process import PARENT, SEED
from dapkit.redaction.secret_names import SHAPES, Secrecy, secrecy_of
from dapkit.system.scratch_folder import scratch_folder

FOLDER = "DAPKIT_RECORDING"
ASKED = "failed"
_PROCESSES = "processes"
_SECRET_BYTES = 6
"""A shorter value is not looked for in the notes."""
_SOURCE_SUFFIXES = (".py", ".pyw")
_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_OF_TERMINAL = (signal.SIGINT, signal.SIGQUIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonCommand:
    """A program of Python.

    Attributes:
        interpreter: its path; with `options` of its own.
        what: a file, the name of a module, or a text, as `kind` says.
        args: of the program.

    """

    interpreter: str
    options: tuple[str, ...] = ()
    kind: Literal["program", "module", "code"]
    what: str
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """How a recorded program ended.

    Attributes:
        code: its exit code, or minus the signal that ended it.
        kept: the recording, if it was to be kept.
        why: the recording ended before the program, for this reason; or it does not exist for this reason.

    """

    code: int
    kept: Path | None = None
    why: str = ""


def record(
    command: PythonCommand,
    target: Path,
    *,
    most: int = file.MOST_NOTES_BYTES,
    secrets: bool = False,
    packages: bool = False,
    follow: str = "",
    can_ask: bool = False,
    is_kept: Callable[[int, bool], bool] = lambda _code, _asked: True,
) -> RecordedRun:
    """Run a program, and write its recording to `target` if `is_kept` says so of its exit code.

    With `follow`, the Python processes that it starts are recorded in the same file: `always`, or those that have
    `failed`, for which the file is written in any case.

    With `can_ask`, the program can ask for it: by a file `failed` in the folder that DAPKIT_RECORDING names.
    Whether it did is the second that `is_kept` is given.

    With `secrets`, the secret variables of its environment are in it, too; with `packages`, the contents of files of
    the interpreter and of installed packages.

    Raises:
        RecordingProblem: nothing was recorded.
        OSError: it cannot be started, or the recording cannot be written.

    """
    environment = {**os.environ}
    hides_seed = not environment.get(SEED)
    if hides_seed:
        environment[SEED] = str(random.SystemRandom().randrange(1, 1 << 32))
    with scratch_folder("dapkit-record-") as folder:
        if can_ask:
            environment[FOLDER] = str(folder)
        started_in = followed(environment, follow, folder / _PROCESSES, target.name, most) if follow else environment
        options = {"most": most, "hides_seed": hides_seed, "forks": bool(follow), "is_child": False}
        (folder / "given").write_bytes(marshal.dumps(options))
        began = time.time_ns() // 1000
        words = [command.interpreter, *command.options, str(ENTRY), "--record", str(folder)]
        words += [f"--{command.kind}", command.what, "--", *command.args]
        with _started(words, started_in) as program:
            code = program.wait()
        facts = _Facts(command, started_in, began, hides_seed, target.name, os.environ.get(PARENT, ""))
        packer = _Packer(facts, folder, secrets=secrets, packages=packages)
        forks = (
            [fork for fork in ended_forks(folder) if follow != ASKED or has_failed(fork.exit_code)] if follow else []
        )
        processes = packer.pack_forks(forks, folder)
        if follow:
            processes += _packed_processes(folder, folder, follow, secrets=secrets, packages=packages)
        if not is_kept(code, (folder / ASKED).exists()) and not processes:
            return RecordedRun(code=code)
        return packer.pack(target, folder, code, processes=processes)


def _packed_processes(folder: Path, program: Path | None, follow: str, *, secrets: bool, packages: bool) -> list[Path]:
    """Pack the processes that the program has started, and return their recordings."""
    packed: list[Path] = []
    for process in ended_processes(folder / _PROCESSES, program):
        facts = process.facts
        command = PythonCommand(
            interpreter=facts["executable"],
            options=tuple(facts["options"]),
            kind=facts["kind"],
            what=facts["what"],
            args=tuple(facts["args"]),
        )
        name = process.folder.name
        packer = _Packer(
            _Facts(command, facts["environment"], facts["began"], facts["hidesSeed"], name, facts["parent"]),
            process.folder,
            secrets=secrets,
            packages=packages,
        )
        ended = ended_forks(process.folder)
        forks = packer.pack_forks([fork for fork in ended if follow != ASKED or has_failed(fork.exit_code)], folder)
        if follow != ASKED or has_failed(process.exit_code):
            target = folder / f"{name}{file.SUFFIX}"
            packer.pack(target, process.folder, process.exit_code)
            packed.append(target)
        packed += forks
    return packed


@dataclass(frozen=True, slots=True)
class _Facts:
    """The facts of a process that are the same for its forks.

    Attributes:
        command: that was executed.
        environment: of it.
        began: when, in microseconds since 1970.
        hides_seed: whether PYTHONHASHSEED was chosen by the recorder.
        name: of the recording.
        parent: the name of the recording whose program has started it.

    """

    command: PythonCommand
    environment: Mapping[str, str]
    began: int
    hides_seed: bool
    name: str
    parent: str


class _Packer:
    """Packs the notes of a program, and of its children that were made by `fork`."""

    def __init__(self, facts: _Facts, folder: Path, *, secrets: bool, packages: bool) -> None:
        """Take the facts, the folder of the notes, and the options of `record`."""
        self._facts = facts
        self._folder = folder
        self._packages = packages
        self._secrets = {} if secrets else _secrets_in(facts.environment)

    def pack_forks(self, forks: list[Fork], folder: Path) -> list[Path]:
        """Write the recordings of children into a folder, and return them.

        It must be done before the program's own is packed, which changes its notes.

        Raises:
            OSError: they cannot be written.

        """
        for fork in forks:
            fork.complete()
        packed: list[Path] = []
        for fork in forks:
            of_parent, _, _ = fork.number.rpartition(".")
            target = folder / name_of_fork(self._facts.name, fork.number)
            self.pack(target, fork.folder, fork.exit_code, parent=name_of_fork(self._facts.name, of_parent))
            packed.append(target)
        return packed

    def pack(
        self, target: Path, folder: Path, code: int, *, parent: str | None = None, processes: Iterable[Path] = ()
    ) -> RecordedRun:
        """Write the recording whose notes are in a folder, with the recordings of other processes.

        Args:
            target: the file.
            folder: of the notes.
            code: the exit code.
            parent: of a fork, the name of its parent's recording.
            processes: their recordings.

        Raises:
            RecordingProblem: nothing was recorded.
            OSError: it cannot be written.

        """
        facts = self._facts
        command, start = facts.command, _start(self._folder)
        program = str(Path(start["cwd"], command.what)) if command.kind == "program" else ""
        modules = _modules(folder) or _modules(self._folder)  # a child that was killed has not listed its own
        if not modules:
            beside = str(Path(program).parent) if program else start["cwd"]
            modules = modules_read(folder, [beside, *start["path"]])
        files = {path for path in modules if path != str(TIME_TRAVEL)}  # that one is ours, and not the program's
        library_files = are_of_libraries([*files, *filter(None, modules.values())], start["library"])
        secrets = [value.encode() for values in self._secrets.values() for value in values]
        values = [value for value in secrets if len(value) >= _SECRET_BYTES]
        sources = _own_sources(files.difference(library_files), program, values)
        notes = file.Notes(folder, values, [] if self._packages else library_files)
        files = {path for path in files if modules[path] not in notes.libraries}  # their bytecode is compared
        if program:
            files.add(program)
        description = file.Description(
            format=file.FORMAT,
            dapkit=__version__,
            extension=identity_of(str(TIME_TRAVEL)),
            began=facts.began,
            ended=time.time_ns() // 1000,
            exit_code=code,
            why=notes.why,
            executable=command.interpreter,
            options=command.options,
            version=start["version"],
            interpreter={
                path: identity_of(path) for path in (os.path.realpath(command.interpreter), *start["interpreter"])
            },
            kind=command.kind,
            what=command.what,
            args=command.args,
            cwd=start["cwd"],
            environment={
                name: _without(value, self._secrets.get(name, ())) for name, value in facts.environment.items()
            },
            redacted=tuple(sorted(self._secrets)),
            hides_seed=facts.hides_seed,
            streams=start["streams"],
            signals=start["signals"],
            zone=zone_of_machine(),
            files={path: identity for path in sorted(files) if (identity := identity_of(path))},
            sources=tuple(sources),
            libraries=notes.libraries,
            repeats=notes.repeats,
            forked=parent is not None,
            name=facts.name if parent is None else target.name,
            parent=facts.parent if parent is None else parent,
        )
        file.write(target, description, notes, sources=sources.values(), processes=processes)
        return RecordedRun(code=code, kept=target, why=notes.why)


def record_command(
    words: list[str], target: Path, *, follow: str, secrets: bool = False, packages: bool = False
) -> RecordedRun:
    """Run a command that is not of Python, and record the Python processes that it starts, as in `record`.

    Raises:
        RecordingProblem: it has started no process of Python.
        OSError: it cannot be started, or the recording cannot be written.

    """
    with scratch_folder("dapkit-record-") as folder:
        environment = followed(os.environ, follow, folder / _PROCESSES, target.name, file.MOST_NOTES_BYTES)
        began = time.time_ns() // 1000
        with _started(words, environment) as program:
            code = program.wait()
        processes = _packed_processes(folder, None, follow, secrets=secrets, packages=packages)
        if not processes and follow == ASKED:
            return RecordedRun(code=code)
        if not processes:
            raise file.RecordingProblem("nothing was recorded: no Python process was started, or each is running yet")
        description = file.Description(
            format=file.FORMAT,
            dapkit=__version__,
            began=began,
            ended=time.time_ns() // 1000,
            exit_code=code,
            why="",
            executable="",
            options=(),
            version="",
            interpreter={},
            kind=file.OF_COMMAND,
            what=words[0],
            args=tuple(words[1:]),
            cwd=str(Path.cwd()),
            environment={},
            redacted=(),
            hides_seed=False,
            streams={},
            zone="",
            files={},
            name=target.name,
            parent=os.environ.get(PARENT, ""),
        )
        file.write(target, description, None, processes=processes)
        return RecordedRun(code=code, kept=target)


def _start(folder: Path) -> dict[str, Any]:
    """Return the facts that the program's debugger has noted of its start.

    Raises:
        RecordingProblem: the program ended before.

    """
    try:
        return dict(marshal.loads((folder / "begin").read_bytes()))  # noqa: S302 - written by the program's debugger
    except FileNotFoundError:
        raise file.RecordingProblem(file.NOTHING) from None


def _modules(folder: Path) -> dict[str, str]:
    """Return the files of the modules that the program had imported, each with the file of its bytecode."""
    try:
        files, bytecode = marshal.loads((folder / "files").read_bytes())  # noqa: S302 - by the program's debugger
    except FileNotFoundError:  # it was killed
        return {}
    return {path: cached for path, cached in zip(files, bytecode, strict=True) if path}


def _own_sources(modules: Iterable[str], program: str, secrets: Iterable[bytes]) -> dict[str, bytes]:
    """Return the texts of the program and its own modules, without secret values, as far as they are not too long."""
    sources: dict[str, bytes] = {}
    size = 0
    for path in filter(None, dict.fromkeys((program, *sorted(modules)))):
        with suppress(OSError):
            content = Path(path).read_bytes() if path == program or path.endswith(_SOURCE_SUFFIXES) else b""
            is_text = content and b"\0" not in content  # or it is an archive, or bytecode
            size += len(content) if is_text else 0
            if is_text and size <= file.MOST_SOURCE_BYTES:
                for secret in secrets:
                    content = content.replace(secret, b"*" * len(secret))
                sources[path] = content
    return sources


def _secrets_in(environment: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the secret values among variables."""
    secrets_by_name: dict[str, tuple[str, ...]] = {}
    for name, value in environment.items():
        if value and secrecy_of(name, setting=True) is Secrecy.ALL:
            secrets_by_name[name] = (value,)
        elif shaped := tuple(match[0] for match in SHAPES.finditer(value)):
            secrets_by_name[name] = shaped
    return secrets_by_name


def _without(value: str, secrets: tuple[str, ...]) -> str:
    for secret in secrets:
        value = value.replace(secret, "*" * len(secret.encode()))
    return value


@contextmanager
def _started(words: list[str], environment: Mapping[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    """Start the program, and pass signals on to it; those that are ignored, it ignores as well."""
    early: list[int] = []
    program: subprocess.Popen[bytes] | None = None

    def forward(number: int, _frame: object) -> None:
        if program is None:
            early.append(number)
        else:
            program.send_signal(number)

    def leave_to_program(_number: int, _frame: object) -> None:
        """Do nothing: it gets the terminal's signals itself."""

    before = {}
    for numbers, handler in ((_FORWARDED, forward), (_OF_TERMINAL, leave_to_program)):
        for number in numbers:
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
    try:
        program = subprocess.Popen(words, env=environment, close_fds=False)  # it has the descriptors that we were given
        for came in early:
            program.send_signal(came)
        yield program
    finally:
        for number, handler_before in before.items():
            signal.signal(number, handler_before)
