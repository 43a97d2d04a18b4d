"""A terminal for a program that the adapter wants to run in one (`runInTerminal`).

Its output is read all the time, so that it never waits for a reader; the last of it is kept. Closing hangs up, as
closing a window does, and then kills the remaining processes; the same happens when this process is killed. Only a
terminal that was released keeps running.

`pseudo_terminal` has the terminals of POSIX systems, `piped_terminal` has the substitute for one on Windows.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from dapkit import limits
from dapkit.client.errors import WaitExpired
from dapkit.client.output import OutputText, TextLog
from dapkit.client.started_terminal import StartedTerminal
from dapkit.protocol import RunInTerminalRequestArguments
from dapkit.system.program_text import new_decoder
from dapkit.system.selection import IS_WINDOWS
from dapkit.transport import CannotStart, ProcessGroup, StateChange, background_tasks
from dapkit.transport.descriptors import DescriptorReader
from dapkit.transport.group_reaper import new_reaper

if IS_WINDOWS:
    from dapkit.client.piped_terminal import start
else:
    from dapkit.client.pseudo_terminal import start

type OnOutput = Callable[["Terminal", str, str], None]
"""Called with the program's output, piece by piece as it arrives, and with its category: stdout or stderr."""


class Terminal:
    """A program in a terminal; made by `open_terminal`.

    Attributes:
        title: the adapter's name for it.
        pid: of the program, which also names its process group and its session.

    """

    def __init__(self, started: StartedTerminal, title: str, on_output: "OnOutput | None" = None) -> None:
        self.title = title
        self.pid = started.pid
        self._started = started
        self._process = ProcessGroup(started.pid)
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
        await self._started.writer.send(text.encode())

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of the window."""
        self._started.resize(rows, columns)

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
                for reader, category in self._started.readers:
                    readers.start_soon(self._read_from, reader, category)
            self._hung_up = True
            self._updates.notify()

    async def _reap(self) -> None:
        """Remove the program from the system's list when it has ended: js-debug waits for its pid to be gone."""
        await self._process.wait()
        self._process.reap()

    async def _read_from(self, reader: DescriptorReader, category: str) -> None:
        decoder = new_decoder()
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

    async def close(self) -> bool:
        """Hang up and end the program, or let it keep running if it was released; return whether it was."""
        self._started.leave(self._released and self.returncode is None)
        for reader, _ in self._started.readers:
            await reader.aclose()
        await self._started.writer.aclose()
        if not self._released:
            await self._process.end()
        return self._released


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
    guard = new_reaper()
    goes_on = False
    try:
        started = start(request, program_input)
        terminal = Terminal(started, request.title or Path(request.args[0]).name, on_output)
        guard.watch(terminal.pid)
        async with background_tasks() as tasks:
            try:
                if started.report is not None:
                    await _need_program(request, started.report)
                tasks.start_soon(terminal.read_all)
                yield terminal
            finally:
                with anyio.CancelScope(shield=True):
                    goes_on = await terminal.close()
    finally:
        guard.dismiss(keep=goes_on)


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
