"""The debugged program as a process that we have started: its start, its output, its end.

It gets pipes for its output and the null device for its input. In a terminal of the client's, the client starts the
supervisor, which connects to us: we control the program as much, but its output goes to the terminal. The program does
not outlive us: its parent, a process of its own, kills it and all that it has started, wherever that has gone
(`supervisor`). Only a program that was released, and background processes of a program that ended by itself, continue.
"""

import os
import socket
import subprocess
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import IO, Literal, cast

import anyio

from dapkit import limits as shared_limits
from dapkit.endpoint import RequestFailed
from dapkit.python import limits
from dapkit.python.adapter.engine.marked_output import STDERR, STDOUT, MarkedOutput, OutputMemory, begun_mark, parts
from dapkit.python.adapter.launch.command import Command
from dapkit.python.adapter.launch.parent_listener import awaiting_parent
from dapkit.python.adapter.launch.supervisor import ProgramParent, parent_command
from dapkit.system.program_text import new_decoder
from dapkit.system.selection import IS_WINDOWS
from dapkit.system.started_processes import NO_WINDOW, start_to_empty
from dapkit.transport import ProcessGroup, background_tasks
from dapkit.transport.descriptors import DescriptorReader
from dapkit.transport.pumps import reader_of
from dapkit.transport.sockets import SocketStream

type Category = Literal["stdout", "stderr"]
type Report = Callable[[str, Category], Awaitable[object]]
"""Takes the program's output, and waits while there is too much of it."""
type RunInTerminal = Callable[[list[str]], Awaitable[object]]
"""Lets the client run a command in a terminal: by a shell, or by a program that hands over to another and ends."""
type Outlived = Callable[[list[int]], Awaitable[None]]
"""Waits until nothing is debugged any more of the processes that a program has left, and of those below them."""


class _Pipe:
    """The program's output, as text of one category (`system.program_text`)."""

    def __init__(self, pipe: IO[bytes] | None, category: Category, report: Report, marked: MarkedOutput) -> None:
        self._fd = _own(pipe)
        self._number = STDOUT if category == "stdout" else STDERR
        read_pipe = os.read if marked.memory is None else partial(marked.memory.read, self._number)
        self._reader = reader_of(os.dup(self._fd)) if IS_WINDOWS else DescriptorReader(self._fd, read_bytes=read_pipe)
        self._decoder = new_decoder()
        self._category = category
        self._report = report
        self._marked = marked
        self._taken: deque[bytes] = deque()
        self._turn = anyio.Lock()
        self._begun = b""  # of a mark that was not read to its end
        self.tail = bytearray()
        """The last `limits.STDERR_BYTES` that came."""

    async def run(self) -> None:
        """Pass everything on until the end."""
        try:
            async for data in self._reader:
                self._taken.append(data)
                await self._pass_on_taken()
            await self.close()
            await self._pass_on_taken()
            await self._pass_on(self._begun, final=True)
        finally:
            self._marked.end(self._number)

    async def pass_on_now(self) -> None:
        """Relay the output so far: a pipe holds no more than one read takes."""
        if data := self._reader.read_now():
            self._taken.append(data)
        await self._pass_on_taken()

    async def _pass_on_taken(self) -> None:
        async with self._turn:  # the data that was read first comes first
            while self._taken:
                data, self._begun = self._begun + self._taken.popleft(), b""
                was_full = len(data) >= shared_limits.READ_CHUNK_BYTES  # else there was no more
                if was_full and (mark_size := begun_mark(data)):
                    data, self._begun = data[:-mark_size], data[-mark_size:]
                for part, mark in parts(data):
                    if part:
                        await self._marked.wait_in(self._number, before=mark)
                        await self._pass_on(part)
                    if mark:
                        self._marked.come_to(self._number, mark)

    async def _pass_on(self, data: bytes, *, final: bool = False) -> None:
        self.tail += data
        del self.tail[: -shared_limits.STDERR_BYTES]
        if text := self._decoder.decode(data, final=final):
            await self._report(text, self._category)

    def identity(self) -> tuple[int, int]:
        """Return device and inode, which are the same for the other end."""
        status = os.fstat(self._fd)
        return status.st_dev, status.st_ino

    def hand_over(self) -> None:
        """Let a process of its own empty it: a process that still writes to it would fail at its next `print`."""
        if self._reader.read_now(1) == b"":
            return  # no process does
        start_to_empty(self._fd)

    async def close(self) -> None:
        """Read no more."""
        await self._reader.aclose()
        if IS_WINDOWS and self._fd >= 0:  # elsewhere the reader has closed it
            fd, self._fd = self._fd, -1
            os.close(fd)


class LaunchedProgram:
    """A started program; made by `started`, or by `terminal.started_in_terminal`.

    Attributes:
        released: whether it keeps running after us.
        marked: the order of its output and log messages.
        outlived_by: waits for processes that are still debugged when the program itself has ended.

    """

    def __init__(
        self,
        parent: ProgramParent,
        output: _Pipe | None = None,
        errors: _Pipe | None = None,
        marked: MarkedOutput | None = None,
    ) -> None:
        self._parent = parent
        self.marked = marked or MarkedOutput()
        self._errors = errors
        self._pipes = [pipe for pipe in (output, errors) if pipe is not None]
        self._is_reported = anyio.Event()
        self._asked_to_end = False
        self.released = False
        self.outlived_by: Outlived = _by_nothing

    @property
    def returncode(self) -> int | None:
        """Exit code, or minus the signal that killed it; None while it runs."""
        return self._parent.returncode

    async def attend(self) -> None:
        """Pass output on until the program has ended, and all that it wrote was reported.

        Later output of its children, on pipes that they inherited, is awaited for `limits.LAST_OUTPUT_SECONDS` and then
        dropped.
        """
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._parent.attend)
            async with anyio.create_task_group() as readers:
                for pipe in self._pipes:
                    readers.start_soon(pipe.run)
                await self._parent.wait()
                if not self._asked_to_end:
                    await self.outlived_by(self._parent.left)
                (self._parent.kill if self._asked_to_end else self._parent.release)()
                readers.cancel_scope.deadline = anyio.current_time() + shared_limits.LAST_OUTPUT_SECONDS
            self._is_reported.set()

    async def report_output(self) -> None:
        """Relay the output so far."""
        with self.marked.hurrying():
            for pipe in self._pipes:
                await pipe.pass_on_now()

    async def wait(self) -> None:
        """Wait until the program has ended, with all that is debugged of it, and its output was reported."""
        await self._is_reported.wait()

    def pipe_identities(self) -> list[tuple[int, int]]:
        """Return the identities of its stdout and stderr if they are the adapter's pipes.

        An empty list in a terminal, and on Windows, whose pipes have no identity.
        """
        return [] if IS_WINDOWS else [pipe.identity() for pipe in self._pipes]

    def last_errors(self) -> str:
        """Return the last `limits.STDERR_BYTES` that it wrote to stderr, if that is known."""
        return "" if self._errors is None else self._errors.tail.decode(errors="backslashreplace").strip()

    def runs(self) -> bool:
        """Return whether it runs at this very moment."""
        return self._parent.runs()

    async def stopped(self) -> str:
        """Wait until a signal has stopped it, and return the signal's name."""
        return await self._parent.stopped()

    async def continued(self) -> None:
        """Wait until no signal keeps it stopped."""
        await self._parent.continued()

    async def replace(self, pid: int) -> None:
        """Kill it; a replay process takes its place."""
        await self._parent.replace(pid)

    def resume(self) -> bool:
        """Continue it after a signal stopped it, through its parent."""
        self._parent.resume()
        return True

    def interrupted(self) -> None:
        """Record that it was asked to end: whatever it started is to end after it, too."""
        self._asked_to_end = True

    def send_term(self) -> None:
        """Send it SIGTERM, not its group."""
        self._parent.terminate()

    async def kill(self) -> None:
        """Kill it, and all that it has started."""
        self._asked_to_end = True
        self._parent.kill()

    def release(self) -> None:
        """Let it outlive the adapter, even if the adapter is killed; its later output is read and dropped."""
        self.released = True
        self._parent.release()

    async def close(self) -> None:
        """Kill the remaining processes, unless the program was released or has ended by itself."""
        if self.released or (self.returncode is not None and not self._asked_to_end):
            for pipe in self._pipes:
                pipe.hand_over()
        else:
            self._parent.kill()
            with anyio.move_on_after(shared_limits.CLOSE_SECONDS):
                await self._parent.attend()
        await self._parent.close()
        for pipe in self._pipes:
            await pipe.close()
        if self.marked.memory is not None:
            self.marked.memory.close()


async def _by_nothing(_left: list[int]) -> None:
    """Wait for nothing."""


@asynccontextmanager
async def started(command: Command, report: Report) -> AsyncIterator[LaunchedProgram]:
    """Start a program and pass its output on; leaving the block ends it as `LaunchedProgram.close` says.

    Raises:
        RequestFailed: the operating system refused to start it.

    """
    async with _started_parent(command) as (process, stream):
        program: LaunchedProgram | None = None
        try:
            parent = ProgramParent(stream)
            marked = MarkedOutput(OutputMemory.made())
            output = _Pipe(process.stdout, "stdout", report, marked)
            errors = _Pipe(process.stderr, "stderr", report, marked)
            program = LaunchedProgram(parent, output, errors, marked)
            async with attended(program, parent, command):
                yield program
        finally:
            with anyio.CancelScope(shield=True):
                if program is None or not program.released:
                    await ProcessGroup(process.pid).end()
            process.returncode = 0  # it was reaped behind the back of Popen, or outlives us


@asynccontextmanager
async def started_in_terminal(command: Command, run: RunInTerminal) -> AsyncIterator[LaunchedProgram]:
    """Let the client start a program; leaving the block ends it as `LaunchedProgram.close` describes.

    Raises:
        RequestFailed: the client, or the operating system, refused.
        NeverCame: nothing was started within `limits.LINK_SECONDS`, or `limits.PASSWORD_SECONDS` as root.

    """
    async with awaiting_parent("in the terminal") as (place, arrival):
        await run([*command.as_root, *parent_command(place)])
        parent = ProgramParent(await arrival(limits.PASSWORD_SECONDS if command.as_root else limits.LINK_SECONDS))
        program = LaunchedProgram(parent)
        async with attended(program, parent, command):
            yield program


@asynccontextmanager
async def _started_parent(command: Command) -> AsyncIterator[tuple[subprocess.Popen[bytes], SocketStream]]:
    """Start a supervisor, with the program's descriptors; yield it, and the connection to it."""
    if IS_WINDOWS:  # no child inherits a socket by its number there
        async with awaiting_parent("by the adapter") as (place, arrival):
            process = _popen(command, place)
            yield process, await arrival(shared_limits.CONNECT_SECONDS)
        return
    ours, theirs = socket.socketpair()
    async with SocketStream(ours) as stream:
        with theirs:
            process = _popen(command, f"fd:{theirs.fileno()}", pass_fds=[theirs.fileno()], start_new_session=True)
        yield process, stream


@asynccontextmanager
async def attended(program: LaunchedProgram, parent: ProgramParent, command: Command) -> AsyncIterator[None]:
    """Let a supervisor start the program, and end the program with the block.

    Raises:
        RequestFailed: the operating system refused to start it.

    """
    try:
        await parent.start(command.argv, command.sockets)
        async with background_tasks() as tasks:
            tasks.start_soon(program.attend)
            yield
    finally:
        with anyio.CancelScope(shield=True):
            await program.close()


def _popen(
    command: Command, place: str, *, pass_fds: Sequence[int] = (), start_new_session: bool = False
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            parent_command(place),
            bufsize=0,
            cwd=command.cwd,
            env=command.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=pass_fds,
            start_new_session=start_new_session,
            creationflags=NO_WINDOW,
        )
    except OSError as error:
        raise RequestFailed(f"{command.argv[0]} could not be started: {error.strerror}") from error


def _own(pipe: IO[bytes] | None) -> int:
    """Our end of a pipe as a non-blocking descriptor of our own."""
    with cast("IO[bytes]", pipe) as file:  # Popen has made the requested pipes
        fd = os.dup(file.fileno())
    if not IS_WINDOWS:  # where a thread reads it
        os.set_blocking(fd, False)
    return fd
