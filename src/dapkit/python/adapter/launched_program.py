"""The debugged program as a process of ours: its start, its output, its end.

It gets pipes for its output and the null device for its input, and leads a process
group of its own. That group does not outlive us: the program ends when its link
breaks, and `transport.guard` kills the group when we were killed. What has left the
group is found by `descendants`. Only a program that was released, and what a program that
ended by itself left in the background, run on.
"""

import codecs
import contextlib
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import IO, Literal, cast

import anyio

from dapkit import limits
from dapkit.endpoint import RequestFailed
from dapkit.python.adapter.command import Command
from dapkit.python.adapter.descendants import Descendants, account_for
from dapkit.transport import Guard, ProcessGroup, background_tasks, with_default_signals
from dapkit.transport.descriptors import DescriptorReader

type Category = Literal["stdout", "stderr"]
type Report = Callable[[str, Category], Awaitable[object]]
"""Takes the program's output, and waits while there is too much of it."""


class _Pipe:
    """What the program writes, as text of one category: bytes that are not UTF-8 are shown as escapes."""

    def __init__(self, pipe: IO[bytes] | None, category: Category, report: Report) -> None:
        self._fd = _own(pipe)
        self._reader = DescriptorReader(self._fd)
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._category = category
        self._report = report
        self.tail = bytearray()
        """The last `limits.STDERR_BYTES` that came."""

    async def run(self) -> None:
        """Pass everything on until the end."""
        async for data in self._reader:
            await self._pass_on(data)
        await self.close()
        await self._pass_on(b"", final=True)

    async def pass_on_now(self) -> None:
        """Pass on what has been written by now: a pipe holds no more than one read takes."""
        if data := self._reader.read_now():
            await self._pass_on(data)

    async def _pass_on(self, data: bytes, *, final: bool = False) -> None:
        self.tail += data
        del self.tail[: -limits.STDERR_BYTES]
        if text := self._decoder.decode(data, final=final):
            await self._report(text, self._category)

    def hand_over(self) -> None:
        """Let a process of its own empty it: a process that still writes to it would fail at its next `print`."""
        if self._reader.read_now(1) == b"":
            return  # no process does
        os.set_blocking(self._fd, True)
        actions = [
            (os.POSIX_SPAWN_DUP2, self._fd, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        account_for(os.posix_spawn("/bin/cat", ["cat"], os.environ, file_actions=actions, setsid=True))

    async def close(self) -> None:
        """Read no more."""
        await self._reader.aclose()


class LaunchedProgram:
    """A started program; made by `started`."""

    def __init__(self, process: subprocess.Popen[bytes], guard: Guard, report: Report) -> None:
        self._process = process  # kept: Popen would reap it by itself without a reference to it
        self._guard = guard
        self._group = ProcessGroup(process.pid)
        self._family = Descendants(process.pid)
        self._output = _Pipe(process.stdout, "stdout", report)
        self._errors = _Pipe(process.stderr, "stderr", report)
        self._is_reported = anyio.Event()
        self._asked_to_end = False
        self._released = False

    @property
    def returncode(self) -> int | None:
        """Exit code, or minus the signal that killed it; None while it runs."""
        return self._group.returncode

    async def attend(self) -> None:
        """Pass output on until the program has ended, and all that it wrote was reported.

        What its children write later, on pipes that they inherited, is waited for
        `limits.LAST_OUTPUT_SECONDS` and then dropped.
        """
        async with anyio.create_task_group() as readers:
            readers.start_soon(self._output.run)
            readers.start_soon(self._errors.run)
            await self._group.wait()
            readers.cancel_scope.deadline = anyio.current_time() + limits.LAST_OUTPUT_SECONDS
        self._is_reported.set()

    async def report_output(self) -> None:
        """Pass on what it has written by now."""
        await self._output.pass_on_now()
        await self._errors.pass_on_now()

    async def wait(self) -> None:
        """Wait until the program has ended and its output was reported."""
        await self._is_reported.wait()

    def last_errors(self) -> str:
        """Return the last `limits.STDERR_BYTES` that it wrote to stderr."""
        return self._errors.tail.decode(errors="backslashreplace").strip()

    def interrupted(self) -> None:
        """Take note that it was asked to end: whatever it started is to end after it, too."""
        self._asked_to_end = True
        self._family.look()

    def send_term(self) -> None:
        """Send it SIGTERM, not its group."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGTERM)

    async def kill(self) -> None:
        """Kill it and its group; the rest follows in `close`."""
        self.interrupted()
        self._group.send(signal.SIGKILL)

    def release(self) -> None:
        """Let it run on after us, also if we are killed; what it writes after us is read and dropped."""
        self._released = True
        self._guard.dismiss()

    async def close(self) -> None:
        """Kill what is left, unless the program was released or has ended by itself."""
        if self._released or (self.returncode is not None and not self._asked_to_end):
            self._output.hand_over()
            self._errors.hand_over()
            self._group.reap()
            self._family.forget()
        else:
            self._family.look()
            await self._group.kill()
            await self._family.kill()
        self._process.returncode = self.returncode  # it was reaped behind the back of Popen
        await self._output.close()
        await self._errors.close()


@asynccontextmanager
async def started(command: Command, report: Report) -> AsyncIterator[LaunchedProgram]:
    """Start a program and pass its output on; leaving the block ends it as `LaunchedProgram.close` says.

    Raises:
        RequestFailed: the operating system refused to start it.

    """
    guard = Guard()
    account_for(guard.pid)
    try:
        process = _popen(command)
        guard.watch(process.pid)
        program = LaunchedProgram(process, guard, report)
        try:
            async with background_tasks() as tasks:
                tasks.start_soon(program.attend)
                yield program
        finally:
            with anyio.CancelScope(shield=True):
                await program.close()
    finally:
        guard.dismiss()


def _popen(command: Command) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            with_default_signals(command.argv),
            bufsize=0,
            cwd=command.cwd,
            env=command.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise RequestFailed(f"{command.argv[0]} could not be started: {error.strerror}") from error


def _own(pipe: IO[bytes] | None) -> int:
    """Our end of a pipe as a non-blocking descriptor of our own."""
    with cast("IO[bytes]", pipe) as given:  # Popen has made what it was asked for
        fd = os.dup(given.fileno())
    os.set_blocking(fd, False)
    return fd
