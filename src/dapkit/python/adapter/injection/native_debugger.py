"""gdb or lldb, asked to look at a program and to call a function in it, while the whole program is stopped.

They differ in words only, which are a table. It is asked one command after the other through its standard input, and
lets go of the program when that is closed, also if the adapter is killed.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.abc import Process

from dapkit.adapter import RequestFailed
from dapkit.python import limits
from dapkit.system.selection import LINUX, NAME

_MARK = "dapkit-has-answered"


@dataclass(frozen=True, slots=True)
class _Dialect:
    """The commands of one of them; `{}` stands for an argument.

    Attributes:
        names: of its program; the first that is found is taken.
        attach: its options, behind which comes the number of the process.
        begin: commands before all others.
        mark: has it say `_MARK` in a line of its own.
        frames: shows the native stack of the selected thread, which is the main thread.
        frame: finds the name of a function in a line of that.
        number: shows the value of an expression of C as a whole number.
        value: finds it.
        write: copies a file to an address.
        end: lets go of the program.

    """

    names: tuple[str, ...]
    attach: tuple[str, ...]
    begin: tuple[str, ...]
    mark: str
    frames: str
    frame: re.Pattern[str]
    number: str
    value: re.Pattern[str]
    write: str
    end: tuple[str, ...]


_GDB = _Dialect(
    names=("gdb",),
    attach=(
        *("--quiet", "--nx", "-iex", "set debuginfod enabled off", "-iex", "set auto-load python-scripts off"),
        *("-iex", "set auto-load local-gdbinit off", "--pid"),
    ),
    begin=(
        *("set confirm off", "set pagination off", "set width 0", "set print frame-arguments none"),
        *("set unwindonsignal on", "handle all nostop noprint pass", "handle SIGINT nostop noprint pass"),
    ),
    mark=f"echo \\n{_MARK}\\n",
    frames=f"backtrace {limits.NATIVE_FRAMES}",
    frame=re.compile(r"(?:^|\) )#\d+ +(?:0x[0-9a-f]+ in )?([^ (]+)", re.MULTILINE),
    number="print /d {}",
    value=re.compile(r"\$\d+ = (-?\d+)$", re.MULTILINE),
    write="restore {} binary {:#x}",
    end=("detach", "quit"),
)

_LLDB = _Dialect(
    names=("lldb", *(f"lldb-{version}" for version in range(40, 13, -1))),
    attach=("--no-lldbinit", "--no-use-colors", "--attach-pid"),
    begin=("thread select 1",),
    mark=f"platform shell --host -- echo {_MARK}",
    frames=f"thread backtrace --count {limits.NATIVE_FRAMES}",
    frame=re.compile(r"frame #\d+: 0x[0-9a-f]+ [^`\n]*`([^ (\n]+)"),
    number="expression --format d --unwind-on-error true -- {}",
    value=re.compile(r"\(\w[\w ]*\) \$\d+ = (-?\d+)$", re.MULTILINE),
    write="memory write --infile {} {:#x}",
    end=("process detach", "quit"),
)

_DIALECTS = {"gdb": _GDB, "lldb": _LLDB}


_FIRST_WITH_AMX = 14


class NoAnswer(Exception):  # noqa: N818 - the sentence reads right where it is raised
    """It did not answer the question; the text has its answer."""


@dataclass(frozen=True, slots=True)
class NativeDebugger:
    """One that is installed."""

    path: str
    dialect: _Dialect

    def __str__(self) -> str:
        return Path(self.path).name


def installed(names: Sequence[str] = ("gdb", "lldb")) -> NativeDebugger | None:
    """Return the first of these that is installed and fit for this processor."""
    for name in names:
        for program in _DIALECTS[name].names:
            for folder in os.get_exec_path():
                path = shutil.which(program, path=folder)
                if path is not None and not (name == "gdb" and damages_programs(path)):
                    return NativeDebugger(path, _DIALECTS[name])
    return None


def damages_programs(gdb: str, cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Return whether this gdb damages a program in which it calls a function.

    GDB 13 and older cannot write the registers of a processor with AMX ("Couldn't write extended state status"): they
    leave the program amid a system call, which then fails (measured with GDB 13.1; 16.3 is right).
    """
    if NAME != LINUX:
        return False
    try:
        if b" amx_tile" not in cpuinfo.read_bytes():
            return False
        output = subprocess.run(
            [gdb, "--version"], capture_output=True, text=True, timeout=limits.NATIVE_DEBUGGER_SECONDS, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return False
    version = re.search(r"(\d+)(?:\.\d+)+\s*$", output.partition("\n")[0])
    return version is not None and int(version[1]) < _FIRST_WITH_AMX


class StandingProgram:
    """A program that a native debugger holds: its main thread is the one that is asked about."""

    def __init__(self, debugger: NativeDebugger, process: Process) -> None:
        self._debugger = debugger
        self._process = process

    async def functions(self) -> list[str]:
        """Return the native functions that the main thread is in, the innermost first; `??` where that is not known."""
        dialect = self._debugger.dialect
        return dialect.frame.findall(await self._answer(dialect.frames))

    async def number(self, expression: str) -> int:
        """Return the value of an expression of C, which may call functions of the program.

        Raises:
            NoAnswer: it gave no answer.

        """
        dialect = self._debugger.dialect
        answer = await self._answer(dialect.number.format(expression))
        match = dialect.value.search(answer)
        if match is None:
            raise NoAnswer(f"{self._debugger}: {' '.join(answer.split())[-300:]}")
        return int(match[1])

    async def write(self, file: Path, address: int) -> None:
        """Copy a file into the program's memory."""
        await self._answer(self._debugger.dialect.write.format(file, address))

    async def begin(self) -> str:
        """Wait until it holds the program; return its output."""
        return await self._answer(*self._debugger.dialect.begin)

    async def _answer(self, *commands: str) -> str:
        """Return the output of commands.

        Raises:
            NoAnswer: it did not come in time, or never will.

        """
        process, dialect = self._process, self._debugger.dialect
        if process.stdin is None or process.stdout is None:
            raise NoAnswer(f"{self._debugger} has no pipes")
        answer = b""
        try:
            await process.stdin.send("".join(f"{line}\n" for line in (*commands, dialect.mark)).encode())
            with anyio.fail_after(limits.NATIVE_DEBUGGER_SECONDS):
                while f"\n{_MARK}\n".encode() not in answer:
                    answer += await process.stdout.receive()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGINT)  # it gives up the call, and puts the thread back where it was
            raise NoAnswer(f"{self._debugger} did not answer to {commands[-1]!r}") from None
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise NoAnswer(f"{self._debugger} has ended: {_text(answer)[-300:].strip()}") from None
        return _text(answer)

    async def let_go(self) -> None:
        """Let the program continue, and end the debugger."""
        process = self._process
        with anyio.move_on_after(limits.NATIVE_DETACH_SECONDS, shield=True):
            if process.stdin is not None:
                with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    await process.stdin.send("".join(f"{line}\n" for line in self._debugger.dialect.end).encode())
                    await process.stdin.aclose()
            await process.wait()
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()


def _text(answer: bytes) -> str:
    return answer.decode(errors="replace")


@asynccontextmanager
async def held(debugger: NativeDebugger, pid: int) -> AsyncIterator[StandingProgram]:
    """Hold a program with a native debugger while the block runs.

    Raises:
        NoAnswer: it cannot.
        RequestFailed: it cannot be started.

    """
    try:
        process = await anyio.open_process(
            [debugger.path, *debugger.dialect.attach, str(pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "LC_ALL": "C", "DEBUGINFOD_URLS": ""},
            start_new_session=True,  # Ctrl-C in the terminal is not meant for it
        )
    except OSError as error:
        raise RequestFailed(f"{debugger.path} cannot be run: {error.strerror}") from error
    async with process:
        program = StandingProgram(debugger, process)
        try:
            await program.begin()
            yield program
        finally:
            await program.let_go()
