"""The debugged program as a process of ours: its start, its output, its end.

It gets pipes for its output and the null device for its input, and leads a process
group of its own. That group does not outlive us: the program ends when its link
breaks, and `transport.guard` kills the group when we were killed. Only a program
that was released, and what a program that ended by itself left in the background,
run on.
"""

import codecs
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
from dapkit.transport import Guard, ProcessGroup, background_tasks
from dapkit.transport.descriptors import DescriptorReader

type Category = Literal["stdout", "stderr"]
type Tell = Callable[[str, Category], Awaitable[object]]
"""Takes the program's output, and waits while there is too much of it."""


class Program:
    """A started program; made by `started`."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process  # kept: Popen would reap it by itself if nobody had it any more
        self._group = ProcessGroup(process.pid)
        self._pipes: dict[Category, int] = {"stdout": _own(process.stdout), "stderr": _own(process.stderr)}
        self._readers = {category: DescriptorReader(pipe) for category, pipe in self._pipes.items()}
        self._last_errors = bytearray()
        self._is_told = anyio.Event()
        self._asked_to_end = False
        self._released = False

    @property
    def returncode(self) -> int | None:
        """Exit code, or minus the signal that killed it; None while it runs."""
        return self._group.returncode

    async def attend(self, tell: Tell) -> None:
        """Pass output on until the program has ended, and all that it wrote was told.

        What its children write later, on pipes that they inherited, is waited for
        `limits.LAST_OUTPUT_SECONDS` and then dropped.
        """
        async with anyio.create_task_group() as readers:
            for category in self._pipes:
                readers.start_soon(self._tell_all, category, tell)
            await self._group.wait()
            readers.cancel_scope.deadline = anyio.current_time() + limits.LAST_OUTPUT_SECONDS
        self._is_told.set()

    async def _tell_all(self, category: Category, tell: Tell) -> None:
        """Pass on what comes, bytes that are not UTF-8 as their backslash escapes."""
        decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        reader = self._readers[category]
        async for data in reader:
            if category == "stderr":
                self._last_errors += data
                del self._last_errors[: -limits.STDERR_BYTES]
            if text := decoder.decode(data):
                await tell(text, category)
        await reader.aclose()
        if text := decoder.decode(b"", final=True):
            await tell(text, category)

    async def wait(self) -> None:
        """Wait until the program has ended and its output was told."""
        await self._is_told.wait()

    def last_errors(self) -> str:
        """Return the last `limits.STDERR_BYTES` that it wrote to stderr."""
        return self._last_errors.decode(errors="backslashreplace").strip()

    def interrupted(self) -> None:
        """Take note that it was asked to end: whatever of its group is left after it ends, too."""
        self._asked_to_end = True

    def kill(self) -> None:
        """Kill it and its group."""
        self._asked_to_end = True
        self._group.send(signal.SIGKILL)

    def release(self) -> None:
        """Let it run on after us; what it writes from now on is read and dropped."""
        self._released = True

    async def close(self) -> None:
        """Kill what is left, unless the program was released or has ended by itself."""
        if self._released or (self.returncode is not None and not self._asked_to_end):
            self._hand_over()
            self._group.reap()
        else:
            await self._group.kill()
        self._process.returncode = self.returncode  # it was reaped behind the back of Popen
        for reader in self._readers.values():
            await reader.aclose()

    def _hand_over(self) -> None:
        """Let processes of their own empty the pipes: who still writes to one would fail at its next `print`."""
        for category, reader in self._readers.items():
            if reader.read_now(1) != b"":
                pipe = self._pipes[category]
                os.set_blocking(pipe, True)
                actions = [
                    (os.POSIX_SPAWN_DUP2, pipe, 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ]
                os.posix_spawn("/bin/cat", ["cat"], os.environ, file_actions=actions, setsid=True)


@asynccontextmanager
async def started(command: Command, tell: Tell) -> AsyncIterator[Program]:
    """Start a program and pass its output on; leaving the block ends it as `Program.close` says.

    Raises:
        RequestFailed: the operating system refused to start it.

    """
    guard = Guard()
    try:
        process = _popen(command)
        guard.watch(process.pid)
        program = Program(process)
        try:
            async with background_tasks() as tasks:
                tasks.start_soon(program.attend, tell)
                yield program
        finally:
            with anyio.CancelScope(shield=True):
                await program.close()
    finally:
        guard.dismiss()


def _popen(command: Command) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command.argv,
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
