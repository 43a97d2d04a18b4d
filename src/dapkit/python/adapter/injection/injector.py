"""How a running program is brought to the adapter: which ways there are, in which order, how often they are tried.

    3.14    `sys.remote_exec`: the main thread runs a file of dapkit at its next safe point
               | refused, or the main thread is in native code and has not come to one
               v
    all     gdb or lldb hold the program and look where its main thread is
               |
               | first     a call is noted down (Py_AddPendingCall), which the main thread makes at its next safe point
               | later     it has not, and has let go of the interpreter: the call is made at once, as native code
               |           that calls back would
               | not now   it is where the list of noted calls is locked, or in an allocator, the loader, the collector

A repeated or late injection does nothing: the first one removes a file that the others need to begin
(`debuggee.starting.injected`). No lock of imports is taken.
"""

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from dapkit.adapter import RequestFailed
from dapkit.python import limits
from dapkit.python.adapter.injection import remote_exec
from dapkit.python.adapter.injection.native_debugger import NativeDebugger, NoAnswer, StandingProgram, held, installed
from dapkit.python.adapter.injection.target import ENGINE_FOLDER, OTHERWISE, TargetProcess, command_line
from dapkit.python.debuggee.starting.injected import PERMISSION, REFUSAL
from dapkit.system.interface import ProcessHandle
from dapkit.system.this_system import SYSTEM
from dapkit.transport import background_tasks

_ADDRESS = 0x1DA900000000
"""Of the memory for the text that the program runs: always the same, so that there is never more than one."""
_MEMORY_BYTES = 8192
_TEXTS = "injected-"

_GET_MEMORY = f"((long(*)(long,long,int,int,int,long))mmap)({_ADDRESS:#x},{_MEMORY_BYTES},3,0x100022,-1,0)"
# PROT_READ | PROT_WRITE; MAP_FIXED_NOREPLACE | MAP_ANONYMOUS | MAP_PRIVATE: no allocator takes part
_NOTE_DOWN = f"((int(*)(long,long))Py_AddPendingCall)((long)(void*)PyRun_SimpleString,{_ADDRESS:#x})"
_HOLDS_INTERPRETER = "((int(*)(void))PyGILState_Check)()"
_TAKE_INTERPRETER = "((int(*)(void))PyGILState_Ensure)()"
_CALL = f"((int(*)(long))PyRun_SimpleString)({_ADDRESS:#x})"
_RELEASE_INTERPRETER = "((long(*)(int))PyGILState_Release)(1)"  # PyGILState_UNLOCKED

_LOCKS_NOTES = re.compile(r"pending", re.IGNORECASE)
"""Functions in which the list of noted calls is locked."""
_UNSAFE = re.compile(
    r"alloc|memalign|arena|_int_free|^c?free$|PyMem_|PyObject_Free|^_*dl_?|fork|pthread_create|pending"
    r"|gc_collect|collect_main|import_?lock|take_gil|drop_gil",
    re.IGNORECASE,
)
"""Functions in which nothing is called: their locks are those that a call needs."""


class _NotNow(Exception):  # noqa: N818 - the sentence reads right where it is raised
    """A program cannot be reached where it is; the text says where that is."""


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways that may be taken.

    Attributes:
        asks: whether the interpreter may be asked (`sys.remote_exec`).
        debuggers: the native debuggers, the preferred one first.

    """

    asks: bool = True
    debuggers: tuple[str, ...] = ("gdb", "lldb")


_ALL_WAYS = Ways()


async def bring(
    target: TargetProcess,
    place: Path,
    *,
    beginning: Mapping[str, object] | None = None,
    script: str | None = None,
    ways: Ways = _ALL_WAYS,
) -> None:
    """Connect the engine of a program to a unix socket; return when the program has ended.

    With a `beginning` (`debuggee.starting.startup`), the program listens for clients and leaves word beside `place`.
    With a `script`, have the program run that instead: it has to remove the file that lets it begin before all else.

    Raises:
        RequestFailed: it does not connect; the text says why, and what to do.

    """
    text = _way_to_engine(place, beginning) if script is None else script
    with _process(target.pid) as process, _text(target.pid, place, text) as file:
        async with background_tasks() as tasks:
            tasks.start_soon(_raise_refusal, place)
            tasks.start_soon(_Attempts(target, file, ways).make)
            await anyio.wait_readable(process.descriptor)


def _process(pid: int) -> ProcessHandle:
    try:
        return SYSTEM.open_process(pid)
    except ProcessLookupError as error:
        raise RequestFailed(f"process {pid} has ended") from error


def _way_to_engine(place: Path, beginning: Mapping[str, object] | None) -> str:
    source = (ENGINE_FOLDER / "starting/injected.py").read_text()
    return f"{source}begin({str(ENGINE_FOLDER)!r}, {str(place)!r}, {beginning!r})"


@contextmanager
def _text(pid: int, place: Path, script: str) -> Iterator[Path]:
    """Write the code for the program to a file beside the socket, and the file that lets it begin.

    The file is emptied and stays, since the program may still be about to read it; there is one for each program, and
    the files of ended programs are removed.
    """
    for old_file in place.parent.glob(f"{_TEXTS}*"):
        number = old_file.name.removeprefix(_TEXTS)
        if number.isdecimal() and not SYSTEM.exists(int(number)):
            old_file.unlink(missing_ok=True)
    text = f"exec({script!a}, {{}})"  # in ASCII, so that a character is a byte
    if len(text) >= _MEMORY_BYTES:
        raise RequestFailed(
            f"paths and words are too long by {len(text) - _MEMORY_BYTES + 1} characters to attach to it"
        )
    file, permission = place.with_name(f"{_TEXTS}{pid}"), place.with_name(place.name + PERMISSION)
    file.touch(0o600)
    file.write_text(text.ljust(_MEMORY_BYTES - 1))  # over all of an older one, to its zero
    permission.touch(0o600)
    try:
        yield file
    finally:
        permission.unlink(missing_ok=True)
        file.write_text("")


async def _raise_refusal(place: Path) -> None:
    """Raise the error that the program left."""
    word = place.with_name(place.name + REFUSAL)
    while True:
        await anyio.sleep(limits.REFUSAL_TICK_SECONDS)
        try:
            text = word.read_text(errors="replace")
        except OSError:
            continue
        if text:
            word.unlink(missing_ok=True)
            raise RequestFailed(f"the program cannot be attached to: {text}")


class _Attempts:
    """The attempts at one program.

    Invariant: `_problem` says why the last one did not succeed.
    """

    def __init__(self, target: TargetProcess, file: Path, ways: Ways) -> None:
        self._target = target
        self._ways = ways
        self._file = file
        self._noted = False
        self._problem = ""

    async def make(self) -> None:
        """Try until that is cancelled, since the program has come.

        Raises:
            RequestFailed: it has not come in time, or there is no way to it.

        """
        until = anyio.current_time() + limits.INJECTION_SECONDS
        question = await self._ask()
        debugger = await anyio.to_thread.run_sync(installed, self._ways.debuggers)  # it may ask gdb for its version
        if debugger is not None:
            self._need_no_tracer()
        elif not question:
            raise RequestFailed(self._without_debugger())
        attempts = 0
        while anyio.current_time() < until or attempts < limits.INJECTION_ATTEMPTS:
            await anyio.sleep(limits.SAFE_POINT_SECONDS if debugger is None else await self._attempt(debugger))
            attempts += 1
        raise RequestFailed(
            f"process {self._target.pid} did not come to the debugger within {limits.INJECTION_SECONDS:g} s: "
            f"{self._problem}; `dapkit stacks {self._target.pid}` shows the stacks of its threads"
        )

    async def _ask(self) -> bool:
        """Ask its own interpreter, where that can be asked; return whether it will do it sooner or later."""
        if not self._ways.asks or self._target.version < remote_exec.OLDEST:
            return False
        problem = await remote_exec.execute(self._target, self._file)
        self._problem = problem or _BUSY
        if problem is None:
            await anyio.sleep(limits.SAFE_POINT_SECONDS)
        return problem is None

    def _without_debugger(self) -> str:
        version = ".".join(map(str, self._target.version))
        why = f" ({self._problem})" if self._problem else ""
        gdb = shutil.which("gdb") if "gdb" in self._ways.debuggers else None
        lack = "neither is on PATH" if gdb is None else f"{gdb} is older than gdb 14, which damages programs here"
        return (
            f"to attach to a running Python {version}{why} the debugger needs gdb or lldb, and {lack}: "
            f"install {'gdb' if gdb is None else 'gdb 14 or lldb'}, {OTHERWISE}"
        )

    def _need_no_tracer(self) -> None:
        if tracer := self._target.tracer:
            raise RequestFailed(
                f"process {self._target.pid} is being traced by process {tracer} ({command_line(tracer)}), "
                "and only one can do that: end it first"
            )

    async def _attempt(self, debugger: NativeDebugger) -> float:
        """Try once; return how long to wait before the next time."""
        try:
            async with held(debugger, self._target.pid) as program:
                functions = await program.functions()
                if self._noted:
                    await self._call(program, functions)
                else:
                    await self._note_down(program, functions)
        except (_NotNow, NoAnswer) as error:
            self._problem = str(error)
            return limits.UNSAFE_SECONDS
        self._problem = _BUSY
        return limits.SAFE_POINT_SECONDS

    async def _note_down(self, program: StandingProgram, functions: list[str]) -> None:
        """Call a function in the main thread at its next safe point."""
        _need_none_of(_LOCKS_NOTES, functions)
        if not _has_memory(self._target.pid) and await program.number(_GET_MEMORY) != _ADDRESS:
            raise _NotNow(f"it has no memory to give at {_ADDRESS:#x}")
        await program.write(self._file, _ADDRESS)
        if await program.number(_NOTE_DOWN):
            raise _NotNow("it has too many calls to make already")
        self._noted = True

    async def _call(self, program: StandingProgram, functions: list[str]) -> None:
        """Make the call at once, where native code may call back."""
        if await program.number(_HOLDS_INTERPRETER):
            raise _NotNow(f"its main thread does not let go of the interpreter in native code: {_shown(functions)}")
        _need_none_of(_UNSAFE, functions)
        with anyio.CancelScope(shield=True):  # memory is freed, although the engine has connected meanwhile
            try:
                await program.number(_TAKE_INTERPRETER)
                await program.number(_CALL)
            finally:
                if await program.number(_HOLDS_INTERPRETER):
                    await program.number(_RELEASE_INTERPRETER)


_BUSY = "its main thread has run no Python code since it was asked to"


def _need_none_of(unsafe: re.Pattern[str], functions: list[str]) -> None:
    if any(map(unsafe.search, functions)):
        raise _NotNow(f"nothing can be called where its main thread is: {_shown(functions)}")


def _shown(functions: list[str]) -> str:
    return " < ".join(functions[:4])


def _has_memory(pid: int) -> bool:
    """Return whether the program has our memory from another time."""
    start = f"{_ADDRESS:x}-{_ADDRESS + _MEMORY_BYTES:x} rw-p"
    return any(line.startswith(start) for line in Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines())
