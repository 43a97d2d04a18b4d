"""The debugged program as a process of ours: its start, its output, its end.

It gets pipes for its output and the null device for its input, leads a process
group of its own, and does not outlive us: it ends when its link breaks, and
`transport.guard` kills its group when we were killed. A program in a terminal of
the client's is no child of ours and has no part in this module.
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
from dapkit.transport.descriptors import DescriptorReader
from dapkit.transport.guard import Guard
from dapkit.transport.process import ProcessGroup

type Category = Literal["stdout", "stderr"]
type Tell = Callable[[str, Category], Awaitable[object]]
"""Takes the program's output, and waits while there is too much of it."""


class Program:
    """A started program."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.group = ProcessGroup(process.pid)
        self._pipes: dict[Category, int] = {"stdout": _own(process.stdout), "stderr": _own(process.stderr)}
        self._readers = {category: DescriptorReader(pipe) for category, pipe in self._pipes.items()}
        self._released = False

    async def run(self, tell: Tell) -> int:
        """Pass output on until the program has ended, and all that it wrote was told.

        What its children write later, on pipes that they inherited, is waited for
        `limits.LAST_OUTPUT_SECONDS` and then dropped.

        Returns:
            The exit code, or minus the signal that killed it.

        """
        async with anyio.create_task_group() as readers:
            for category, reader in self._readers.items():
                readers.start_soon(_tell_all, reader, category, tell)
            code = await self.group.wait()
            readers.cancel_scope.deadline = anyio.current_time() + limits.LAST_OUTPUT_SECONDS
        return code

    def release(self) -> None:
        """Let the program run on after us; what it writes from now on is read and dropped."""
        self._released = True

    async def close(self) -> None:
        """Kill what is left of the program's group, unless it was released."""
        if self._released:
            self._hand_over()
        else:
            self.group.send(signal.SIGKILL)
            await self.group.end()
        for reader in self._readers.values():
            await reader.aclose()

    def _hand_over(self) -> None:
        """Let processes of their own empty the pipes, or the program would fail at its next `print`."""
        for pipe in self._pipes.values():
            os.set_blocking(pipe, True)
            actions = [
                (os.POSIX_SPAWN_DUP2, pipe, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ]
            os.posix_spawn("/bin/cat", ["cat"], os.environ, file_actions=actions, setsid=True)


@asynccontextmanager
async def started(command: Command) -> AsyncIterator[Program]:
    """Start a program; leaving the block ends it, with all its process group.

    Raises:
        RequestFailed: the operating system refused to start it.

    """
    guard = Guard()
    try:
        program = Program(_popen(command))
        guard.watch(program.group.pid)
        try:
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


async def _tell_all(reader: DescriptorReader, category: Category, tell: Tell) -> None:
    """Pass on what comes, bytes that are not UTF-8 as their backslash escapes."""
    decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
    async for data in reader:
        if text := decoder.decode(data):
            await tell(text, category)
    if text := decoder.decode(b"", final=True):
        await tell(text, category)
