"""A recording as a program to debug: its start, and its engine's options."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from dapkit.endpoint import RequestFailed
from dapkit.python.adapter.configuration.arguments import PythonLaunch
from dapkit.python.adapter.launch.command import Command, interpreter_of
from dapkit.python.debuggee_files import ENTRY
from dapkit.python.recording.comparison import changed_files, is_recorded_by, objection_to, remark_on, zone_of_machine
from dapkit.python.recording.file import (
    OF_COMMAND,
    Description,
    RecordingProblem,
    complete,
    describe,
    processes_of,
    sources_of,
    unpack,
)
from dapkit.python.recording.process_tree import as_replayed, ended, failed_processes, listed_processes

_MOST_PROCESSES = 10


@dataclass(frozen=True, slots=True)
class FailedProcesses:
    """The processes of a recording that have failed: the names of their programs, by their numbers."""

    file: Path
    names: dict[int, str]


class ProcessesAlone(RequestFailed):
    """The recording is of a command that is not Python: it has no program to execute, only processes.

    Attributes:
        failed: as in `Replay`.

    """

    def __init__(self, text: str, failed: FailedProcesses) -> None:
        super().__init__(text)
        self.failed = failed


@dataclass(frozen=True, slots=True)
class Replay:
    """A recording that was unpacked.

    Attributes:
        recorded: the recorded command.
        folder: where its notes are.
        interpreter: the command that runs it.
        texts: of files that have another text here, as they were recorded.
        program: the file with the text of the program, if the program's own file has another text here.
        remark: differences from the recorded machine that do not prevent a replay; empty for a machine without them.
        failed: the processes that the program has started, and that have failed.

    """

    recorded: Description
    folder: Path
    interpreter: tuple[str, ...]
    texts: dict[str, str]
    program: Path | None
    remark: str
    failed: FailedProcesses

    def command(self, link: Path) -> Command:
        """Return the command that starts it, and connects it to the socket `link`."""
        recorded = self.recorded
        start = (*self.interpreter, *recorded.options)
        argv = (*start, str(ENTRY), "--link", f"unix:{link}", f"--{recorded.kind}", recorded.what, "--", *recorded.args)
        taken_away = dict.fromkeys(os.environ)
        env = {**taken_away, **as_replayed(recorded)}
        return Command(self.interpreter, argv, Path(recorded.cwd), env, Path(recorded.what).name)

    def options(self) -> dict[str, object]:
        """Return the engine's options."""
        has_zone = "TZ" in self.recorded.environment or self.recorded.zone == zone_of_machine()
        return {
            "folder": str(self.folder),
            "program": str(self.program or ""),
            "began": self.recorded.began,
            "streams": self.recorded.streams,
            "signals": self.recorded.signals,
            "hidesSeed": self.recorded.hides_seed,
            "zone": "" if has_zone else self.recorded.zone,
        }

    def end(self) -> str:
        """Return how the recorded program has ended."""
        recorded = self.recorded
        if recorded.why:
            return f"The recording ended here, before the program: {recorded.why}."
        how = ended(recorded)
        return f"The recorded program has ended {'with' if how.startswith('exit') else 'by'} {how}."


@asynccontextmanager
async def opened(launch: PythonLaunch) -> AsyncIterator[Replay | None]:
    """Open the recording to replay, if there is one.

    Raises:
        RequestFailed: it cannot be.

    """
    if launch.recording is None:
        yield None
        return
    from dapkit.system.scratch_folder import scratch_folder

    with scratch_folder("dapkit-replay-") as folder:
        yield await anyio.to_thread.run_sync(lambda: _unpacked(launch, folder))


def _unpacked(launch: PythonLaunch, folder: Path) -> Replay:
    base = Path(launch.cwd or launch.workspace_folder or Path.cwd()).expanduser()
    file = base / Path(str(launch.recording)).expanduser()
    try:
        process = _process_number(launch)
        processes = [] if process else processes_of(file)
        lines = listed_processes(processes, str(file))[:_MOST_PROCESSES]
        failed = FailedProcesses(file.absolute(), failed_processes(processes))
        if not process and describe(file).kind == OF_COMMAND:
            text = "\n".join((f"replay: {file} has the processes of a command alone:", *lines))
            raise ProcessesAlone(text, failed)
        recorded = unpack(file, folder, process)
    except RecordingProblem as error:
        raise RequestFailed(f"replay: {error}") from error
    except OSError as error:
        raise _not_unpacked(file, folder, error) from error
    interpreter = recorded.executable
    is_same = is_recorded_by(recorded, interpreter)
    if not is_same and (launch.python or launch.python_path or launch.pythonpath):
        interpreter = interpreter_of(launch, base, {})[0]
        is_same = is_recorded_by(recorded, interpreter)
    if objection := objection_to(recorded, interpreter, is_same=is_same):
        raise RequestFailed(f"replay: {file} cannot be executed again: {objection}")
    try:
        complete(file, folder, recorded)
        contents = sources_of(file, changed_files(recorded), process)
        program = folder / "program" if recorded.program in contents else None
        if program is not None:
            program.write_bytes(contents[recorded.program])
    except RecordingProblem as error:
        raise RequestFailed(f"replay: {error}") from error
    except OSError as error:
        raise _not_unpacked(file, folder, error) from error
    texts = {path: content.decode("utf-8", "replace") for path, content in contents.items()}
    remark = "\n".join(filter(None, (remark_on(recorded), *lines)))
    return Replay(recorded, folder, (interpreter,), texts, program, remark, failed)


def _not_unpacked(file: Path, folder: Path, error: OSError) -> RequestFailed:
    return RequestFailed(f"replay: {file} cannot be unpacked into {folder}: {error.strerror or error}")


def _process_number(launch: PythonLaunch) -> int:
    """Return the number of the process in a recording that is to be opened: its argument; 0 for the program."""
    words = launch.args.split() if isinstance(launch.args, str) else launch.args
    match words:
        case [] | ():
            return 0
        case [text] if text.isdecimal():
            return int(text)
        case other:
            raise RequestFailed(f"replay: args is {[*other]!r:.200}, expected the number of a process of the recording")
