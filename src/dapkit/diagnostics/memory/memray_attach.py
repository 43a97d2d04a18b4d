"""memray inside a running program: its later allocations that are still held at the end.

It gets there as dapkit's debugger gets into a running program (`dapkit.python.adapter.injection`), and works there as
`tracked` says. Its file is read in a separate process.
"""

import importlib.util
import os
import subprocess
import sys
import threading
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import anyio
import anyio.abc

from dapkit import limits as shared_limits
from dapkit.adapter import RequestFailed
from dapkit.agent.text.escaping import one_line
from dapkit.diagnostics import limits
from dapkit.diagnostics.artifacts import session_folder, timestamp
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.memory import memray_file, tracked
from dapkit.diagnostics.memory.snapshot import Allocations
from dapkit.diagnostics.memory.tables import bytes_text
from dapkit.diagnostics.profiling.tools import running_tool
from dapkit.diagnostics.programs import Program
from dapkit.diagnostics.sessions import OnProgress
from dapkit.protocol import DapkitError, decode_as
from dapkit.protocol.heap import HeapTable
from dapkit.python.adapter.injection.injector import bring
from dapkit.python.adapter.injection.target import TargetProcess, look_at
from dapkit.system import procfs
from dapkit.transport import background_tasks, private_folder

INSTALL = "pip install 'dapkit[profile]'"


def allocations_of(
    program: Program,
    *,
    seconds: float = shared_limits.HEAP_ATTACH_SECONDS,
    on_progress: OnProgress | None = None,
    stop: threading.Event | None = None,
) -> Allocations | None:
    """Trace a program's allocations with memray; None if it was ended before it began.

    Args:
        program: which must run, and be Python.
        seconds: how long.
        on_progress: called with how far it is.
        stop: ends it early, with a partial result.

    Raises:
        DiagnosticsError: memray is not installed, or the program cannot be reached, or has a memray of its own.

    """
    memray = importlib.util.find_spec("memray")
    if memray is None or memray.origin is None:
        raise DiagnosticsError(
            "not_installed", f"Allocations are looked at by memray, which is not installed: {INSTALL}"
        )
    if program.snapshot.status != "running":
        raise DiagnosticsError(
            "not_running",
            f"The program of {program.snapshot.id} stands still: it allocates nothing.",
            "Continue it first: dapkit continue. Without --attach the snapshot is taken where it stands.",
        )
    folder = session_folder(program.project, program.snapshot.id, program.created)
    output = folder / f".memray-{timestamp()}-{os.getpid()}"
    window = _Window(seconds, on_progress, stop or threading.Event())
    before = procfs.mapped_files(program.pid)
    with ExitStack() as opened:
        opened.callback(output.unlink, missing_ok=True)
        try:
            target = look_at(program.pid)
            fits = target.version == sys.version_info[:2]
            site = str(Path(memray.origin).parents[1]) if fits else ""
            passed, file = anyio.run(_track, target, output, site, window, opened)
        except RequestFailed as error:
            raise DiagnosticsError("not_possible", f"memray cannot look at the program: {error.text}") from error
        return None if file is None else _allocations(file, passed, _left(before, procfs.mapped_files(program.pid)))


@dataclass(frozen=True, slots=True)
class _Window:
    """The duration of the trace, and its progress reports."""

    seconds: float
    on_progress: OnProgress | None
    stop: threading.Event = field(default_factory=threading.Event)

    def report(self, text: str, percentage: float | None = None) -> None:
        if self.on_progress is not None:
            self.on_progress(text, percentage)


async def _track(
    target: TargetProcess, output: Path, site: str, window: _Window, opened: ExitStack
) -> tuple[float, BinaryIO | None]:
    """Load memray, wait, and end it; return the seconds that it traced, and its output.

    The file loses its name at once, since it has the program's command line in it. The output is None if memray did not
    begin.
    """
    place = private_folder() / f"memray-{os.urandom(8).hex()}"
    window.report("bringing memray into the program")
    try:
        async with await anyio.create_unix_listener(place) as listener:
            stream = await _visitor(listener, target, _script(place, output, site), place, window.stop)
    finally:
        place.unlink(missing_ok=True)
    if stream is None:
        return 0.0, None
    async with stream:
        await _need_beginning(stream, target)
        file = opened.enter_context(output.open("rb"))
        await anyio.Path(output).unlink()
        passed, lives = await _pass_by(stream, window)
        window.report("writing the list of allocations")
        if lives:
            await _end(stream)
        return passed, file


async def _visitor(
    listener: anyio.abc.SocketListener,
    target: TargetProcess,
    script: str,
    place: Path,
    stop: threading.Event,
) -> anyio.abc.ByteStream | None:
    """Wait until the program has come; None if that was ended early."""
    came: list[anyio.abc.ByteStream] = []

    async def accept() -> None:
        async with background_tasks() as tasks:
            tasks.start_soon(_bring, target, place, script)
            came.append(await listener.accept())

    async with background_tasks() as tasks:
        end = anyio.Event()

        async def wait() -> None:
            await accept()
            end.set()

        tasks.start_soon(wait)
        while not end.is_set() and not stop.is_set():
            with anyio.move_on_after(limits.PROFILE_LOOK_SECONDS):
                await end.wait()
    return came[0] if came else None


async def _bring(target: TargetProcess, place: Path, script: str) -> None:
    await bring(target, place, script=script)
    raise RequestFailed(f"{target} has ended")


def _script(place: Path, output: Path, site: str) -> str:
    """Return code for the main thread of the program: it reads the file as an import does, and leaves no name."""
    path = str(Path(tracked.__file__))
    loaded = f"sys.modules['_frozen_importlib_external'].SourceFileLoader('tracked', {path!r}).get_code('tracked')"
    return (
        f"import sys\nnames = {{'__name__': 'tracked'}}\nexec({loaded}, names)\n"
        f"names['begin']({str(place)!r}, {str(output)!r}, {site!r})"
    )


async def _need_beginning(stream: anyio.abc.ByteStream, target: TargetProcess) -> None:
    answer = b""
    try:
        with anyio.fail_after(limits.HEAP_BEGIN_SECONDS):
            while not answer.startswith(tracked.BEGUN) and not answer.endswith(tracked.ENDED):
                answer += await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        raise DiagnosticsError("not_running", "The program has ended before memray looked at it.") from None
    except TimeoutError:
        message = f"memray did not begin within {limits.HEAP_BEGIN_SECONDS:g} s: the program may have been stopped."
        raise DiagnosticsError("tool_failed", message) from None
    if answer.startswith(tracked.BEGUN):
        return
    text = _reason(answer)
    if answer.startswith(tracked.MISSING):
        version = ".".join(map(str, target.version))
        raise DiagnosticsError(
            "not_installed",
            f"dapkit's own memray does not fit Python {version}, and the program's Python has no memray: {text}",
            f"Install it there: {target.executable} -m pip install memray",
        )
    raise DiagnosticsError("tool_failed", f"memray cannot look at the program: {text}")


def _reason(answer: bytes) -> str:
    return one_line(answer[1:-1].decode(errors="replace"))


async def _pass_by(stream: anyio.abc.ByteStream, window: _Window) -> tuple[float, bool]:
    """Wait until the time is over; return the seconds that have passed, and whether the program lives."""
    start = anyio.current_time()
    while (passed := anyio.current_time() - start) < window.seconds and not window.stop.is_set():
        window.report(f"memray: {passed:.0f} of {window.seconds:.0f} s", 100 * passed / window.seconds)
        with anyio.move_on_after(min(limits.PROFILE_LOOK_SECONDS, window.seconds - passed)):
            try:
                await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return passed, False
    return passed, True


async def _end(stream: anyio.abc.ByteStream) -> None:
    """End memray, and wait until it has been removed."""
    answer = b""
    try:
        await stream.send_eof()
        with anyio.fail_after(limits.HEAP_END_SECONDS):
            while not answer.endswith(tracked.ENDED):
                answer += await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return  # the program has ended, and memray with it
    except TimeoutError:
        raise DiagnosticsError(
            "tool_failed",
            f"memray did not end within {limits.HEAP_END_SECONDS:g} s: the program may have been stopped.",
            "It ends, and is taken back, once the program goes on.",
        ) from None
    if answer.startswith(tracked.FAILED):
        raise DiagnosticsError("tool_failed", f"memray has failed: {_reason(answer)}")


def _allocations(file: BinaryIO, seconds: float, remains: str) -> Allocations:
    number = file.fileno()
    if not os.fstat(number).st_size:
        raise DiagnosticsError("tool_failed", "The program has ended, and memray has written nothing.")
    command = [sys.executable, "-P", memray_file.__file__, f"/dev/fd/{number}", str(limits.HEAP_LINES)]
    with running_tool("memray", command, stdout=subprocess.PIPE, keep=[number]) as tool:
        assert tool.process.stdout is not None  # noqa: S101 - it is a pipe
        text = tool.process.stdout.read()
        if tool.process.wait():
            raise tool.failure("cannot read its file")
    try:
        lines = decode_as(HeapTable, text)
    except DapkitError as error:
        raise DiagnosticsError("tool_failed", f"the file of memray cannot be read: {error}") from error
    return Allocations(
        seconds=seconds,
        size=sum(row.size for row in lines.rows) + lines.other_size,
        count=sum(row.count for row in lines.rows) + lines.other_count,
        lines=lines,
        left=remains,
    )


def _left(before: dict[str, int], after: dict[str, int]) -> str:
    new = after.keys() - before.keys()
    if not after:
        return "The program has ended."
    if not new:
        return "Nothing of memray is left in the program that was not there before."
    size = bytes_text(sum(after[path] for path in new))
    return (
        f"Of memray, {len(new)} libraries ({size}) stay mapped in the program, with a pipe of theirs and functions "
        "that are called at forks. Its modules, threads and hooks are gone."
    )
