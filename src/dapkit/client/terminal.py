"""A real pseudo-terminal for a program that the adapter wants to run in one (`runInTerminal`).

The program leads a session of its own with the terminal as its controlling one,
so that `isatty`, window size and Ctrl-C work as in a window. Its output is read
all the time, so that it never waits for a reader; the last of it is kept. Closing hangs up, as closing a window does,
and then kills the remaining processes; the same happens when this process is killed. Only a terminal that was released
keeps running.

A program that reads a file has nothing to do with a terminal but that it is its
controlling one: its stdout and stderr are pipes, as in a shell without a terminal.
"""

import codecs
import os
import struct
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType

import anyio

from dapkit import limits
from dapkit.client.errors import WaitExpired
from dapkit.client.output import OutputText, TextLog
from dapkit.client.terminal_launcher import REPORT
from dapkit.protocol import RunInTerminalRequestArguments
from dapkit.system.unix_modules import fcntl, termios
from dapkit.transport import CannotStart, GroupReaper, ProcessGroup, StateChange, background_tasks, ignored_signals
from dapkit.transport.descriptors import DescriptorReader, DescriptorWriter

type OnOutput = Callable[["Terminal", str, str], None]
"""Called with the program's output, piece by piece as it arrives, and with its category: stdout or stderr."""

_SIZE = (24, 80)
_CATEGORIES = {1: "stdout", 2: "stderr"}
_LAUNCHER = Path(__file__).with_name("terminal_launcher.py")


class Terminal:
    """A program in a pseudo-terminal; made by `open_terminal`.

    Attributes:
        title: the adapter's name for it.
        pid: of the program, which also names its process group and its session.

    """

    def __init__(
        self,
        pid: int,
        master: int,
        title: str,
        on_output: "OnOutput | None" = None,
        *,
        pipes: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        self.title = title
        self.pid = pid
        self._process = ProcessGroup(pid)
        self._master = master
        self._read = {master: "stdout", **pipes}
        self._readers = [(DescriptorReader(descriptor), category) for descriptor, category in self._read.items()]
        self._writer = DescriptorWriter.over(os.dup(master))
        self._output = TextLog()
        self._on_output = on_output
        self._updates = StateChange()
        self._hung_up = False
        self._released = False

    def read(self, *, since: int = 0) -> OutputText:
        """Read the program's output since a position, as far as it is kept; it includes the echo of the input."""
        return self._output.read(since=since)

    async def wait_for_output(
        self, expected: str, *, since: int = 0, deadline: float = limits.REQUEST_SECONDS
    ) -> OutputText:
        """Wait until the program wrote something, such as a prompt.

        Raises:
            WaitExpired: the text did not come; the error shows the output that came instead.

        """
        with anyio.move_on_after(deadline):
            await self._updates.until(lambda: expected in self.read(since=since).text or self._hung_up)
        text = self.read(since=since)
        if expected not in text.text:
            raise WaitExpired(f"{expected!r} in the terminal, which shows {text.text!r},", deadline)
        return text

    async def send_input(self, text: str) -> None:
        r"""Type: a line needs its line end, `\x03` is Ctrl-C, `\x04` is the end of input."""
        await self._writer.send(text.encode())

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of the window."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @property
    def returncode(self) -> int | None:
        """Exit code, or minus the signal that killed it; None while it runs."""
        return self._process.returncode

    async def wait(self, *, deadline: float = limits.REQUEST_SECONDS) -> int:
        """Wait until the program has ended and return its `returncode`; all of its output has been read then.

        Raises:
            WaitExpired: it has not.

        """
        with anyio.move_on_after(deadline):
            code = await self._process.wait()
            with anyio.move_on_after(limits.LAST_OUTPUT_SECONDS):  # its children may hold the terminal open
                await self._updates.until(lambda: self._hung_up)
            return code
        raise WaitExpired("the end of the program in the terminal", deadline)

    def release(self) -> None:
        """Let the program continue when the terminal is closed; its output is read and dropped."""
        self._released = True

    async def read_all(self) -> None:
        """Collect output until the program has ended, and all that it started have closed the terminal."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._reap)
            async with anyio.create_task_group() as readers:
                for reader, category in self._readers:
                    readers.start_soon(self._read_from, reader, category)
            self._hung_up = True
            self._updates.notify()

    async def _reap(self) -> None:
        """Remove the program from the system's list when it has ended: js-debug waits for its pid to be gone."""
        await self._process.wait()
        self._process.reap()

    async def _read_from(self, reader: DescriptorReader, category: str) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        try:
            while True:
                text = decoder.decode(await reader.receive())
                self._output.append(text, "terminal")
                if self._on_output is not None:
                    self._on_output(self, text, category)
                self._updates.notify()
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            # EIO, since no process has the other side open any more; or `close` was faster.
            return

    async def close(self) -> None:
        """Hang up and end the program, or let it keep running if it was released."""
        if self._released and self.returncode is None:
            self._hand_over()
        for reader, _ in self._readers:
            await reader.aclose()
        await self._writer.aclose()
        if not self._released:
            await self._process.end()

    def _hand_over(self) -> None:
        """Let processes of their own keep the terminal open, or the program would be hung up with us."""
        null = os.open(os.devnull, os.O_WRONLY)
        try:
            for descriptor in self._read:
                os.set_blocking(descriptor, True)
                _spawn(["/bin/cat"], os.environ, {0: descriptor, 1: null, 2: null})
        finally:
            os.close(null)


@asynccontextmanager
async def open_terminal(
    request: RunInTerminalRequestArguments, *, on_output: OnOutput | None = None, program_input: Path | None = None
) -> AsyncIterator[Terminal]:
    """Run a program in a terminal of 24 lines by 80 columns; leaving the block closes it.

    A variable of `wanted.env` whose value is null is taken out of the environment. The program reads `program_input`
    instead of typed input, if it is given.

    Raises:
        CannotStart: there is no such program, folder or file.

    """
    if not request.args:
        raise CannotStart("runInTerminal names no command to run")
    guard = GroupReaper()
    try:
        terminal, report = _start(request, on_output, program_input)
        guard.watch(terminal.pid)
        async with background_tasks() as tasks:
            try:
                await _need_program(request, report)
                tasks.start_soon(terminal.read_all)
                yield terminal
            finally:
                with anyio.CancelScope(shield=True):
                    await terminal.close()
    finally:
        guard.dismiss()


def _start(
    request: RunInTerminalRequestArguments, on_output: OnOutput | None, program_input: Path | None
) -> tuple[Terminal, DescriptorReader]:
    """Start the launcher; return the terminal, and where it says why it could not become the program."""
    master, slave = os.openpty()
    reading, reports = os.pipe()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *_SIZE, 0, 0))
    input_path = "" if program_input is None else str(program_input.absolute())
    pipes = {} if program_input is None else {1: os.pipe(), 2: os.pipe()}
    launcher = [sys.executable, "-I", "-S", str(_LAUNCHER), request.cwd or ".", input_path, *request.args]
    given_to_it = {0: slave, 1: slave, 2: slave, REPORT: reports}
    given_to_it |= {standard: writing for standard, (_, writing) in pipes.items()}
    try:
        pid = _spawn(launcher, _environment(request.env), given_to_it)
    finally:
        for descriptor in {slave, reports, *(writing for _, writing in pipes.values())}:
            os.close(descriptor)
    ours = {reading: _CATEGORIES[standard] for standard, (reading, _) in pipes.items()}
    for descriptor in (master, *ours):
        os.set_blocking(descriptor, False)
    terminal = Terminal(pid, master, request.title or Path(request.args[0]).name, on_output, pipes=ours)
    return terminal, DescriptorReader(reading)


async def _need_program(request: RunInTerminalRequestArguments, report: DescriptorReader) -> None:
    """Wait until the launcher has become the program: a named pipe as its input opens only when a writer opens it.

    Raises:
        CannotStart: it has not.

    """
    async with report:
        try:
            failure = await report.receive()
        except anyio.EndOfStream:  # closed by becoming the program
            return
    raise CannotStart(f"{request.args[0]} could not be run in {request.cwd}: {failure.decode(errors='replace')}")


def _spawn(argv: list[str], environment: Mapping[str, str], descriptors: Mapping[int, int]) -> int:
    """Start a process that leads a session of its own, with these descriptors only."""
    actions = [(os.POSIX_SPAWN_DUP2, source, target) for target, source in descriptors.items()]
    return os.posix_spawn(argv[0], argv, environment, file_actions=actions, setsid=True, setsigdef=ignored_signals())


def _environment(changes: Mapping[str, str | None] | None) -> dict[str, str]:
    environment = {**os.environ, **(changes or {})}
    return {name: value for name, value in environment.items() if value is not None}
