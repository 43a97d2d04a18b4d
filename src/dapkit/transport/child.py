"""A debug adapter as a child process that speaks the protocol on its stdin and stdout.

This module decides which resources the child inherits (nothing but three pipes and a session of its own, no ignored
signals) and how much of its stderr is kept. That nothing of its process group outlives the block that started it, or
this process, is the work of `process` and `guard`; how an adapter is reached that listens on a socket, of
`child_on_socket`.
"""

import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, cast

import anyio
from anyio.abc import ByteStream

from dapkit import limits
from dapkit.system.platform_support import unsupported
from dapkit.system.selection import IS_WINDOWS
from dapkit.system.started_processes import NO_WINDOW
from dapkit.transport.descriptors import DescriptorReader, DescriptorStream, DescriptorWriter
from dapkit.transport.errors import CannotStart
from dapkit.transport.group_reaper import new_reaper
from dapkit.transport.process import ProcessGroup
from dapkit.transport.pumps import reader_of, writer_of
from dapkit.transport.signals import with_default_signals
from dapkit.transport.tasks import background_tasks

type StderrSink = Callable[[bytes], None]
"""Told of a child's stderr, piece by piece as it comes."""


class ChildProcess:
    """An adapter that was started, and may have ended.

    Attributes:
        argv: the command as it was given; it was started by the full path of its program.
        pid: of the process, which also names its group and its session.
        on_stdio: whether it speaks the protocol there; otherwise its stdout is read like its stderr.

    """

    stream: ByteStream
    """Protocol bytes to it and from it."""

    takes_along: bool = False
    """Whether all of its session ends with it, and not its group alone.

    Debuggers put programs into groups of their own, which stay if the debugger is killed.
    """

    def __init__(
        self,
        argv: Sequence[str],
        process: subprocess.Popen[bytes],
        text: DescriptorReader,
        sink: StderrSink | None,
        *,
        on_stdio: bool = True,
    ) -> None:
        self.argv = tuple(argv)
        self.on_stdio = on_stdio
        self.pid = process.pid
        self._process = process
        self._group = ProcessGroup(process.pid)
        self._text = text
        self._sink = sink
        self._tail = bytearray()

    @property
    def returncode(self) -> int | None:
        """Exit code, or minus the signal that killed it; None while it runs."""
        return self._group.returncode

    async def wait(self) -> int:
        """Wait until the process has ended and return its `returncode`."""
        return await self._group.wait()

    def stderr_tail(self) -> str:
        """Last `limits.STDERR_BYTES` of its stderr so far."""
        while data := self._text.read_now():
            self._keep(data)
        return self._tail.decode(errors="replace")

    def tell(self, sink: StderrSink) -> None:
        """Pass its stderr to another reader from now on, beginning with the output so far."""
        if self._tail:
            sink(bytes(self._tail))
        self._sink = sink

    async def read(self) -> None:
        """Collect stderr until its end, so that the child never waits for a reader of it."""
        try:
            while True:
                self._keep(await self._text.receive())
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            return

    async def end(self) -> None:
        """End it and its group: it gets `limits.CLOSE_SECONDS` to go, the same again after SIGTERM, then SIGKILL."""
        await self._group.end(signal.SIGTERM, session=self.takes_along)
        self._process.returncode = self.returncode  # it was reaped behind the back of Popen
        self.stderr_tail()
        await self._text.aclose()

    def _keep(self, data: bytes) -> None:
        self._tail += data
        del self._tail[: -limits.STDERR_BYTES]
        if self._sink is not None:
            self._sink(data)


@asynccontextmanager
async def spawn(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    on_stderr: StderrSink | None = None,
) -> AsyncIterator[ChildProcess]:
    """Start an adapter and talk to it on its stdin and stdout.

    Leaving the block closes its stdin and ends it and its group. `env` is its
    whole environment, but for the mark of the guard; None: as ours.

    Raises:
        CannotStart: the command does not exist or is not executable.

    Example:
        >>> async def main() -> bytes:
        ...     async with spawn(["cat"]) as child:
        ...         await child.stream.send(b"hello")
        ...         return await child.stream.receive()
        >>> anyio.run(main)
        b'hello'

    """
    async with started(argv, cwd=cwd, env=env, on_stderr=on_stderr, on_stdio=True) as child, child.stream:
        yield child


@asynccontextmanager
async def started(
    argv: Sequence[str],
    *,
    cwd: Path | None,
    env: Mapping[str, str] | None,
    on_stderr: StderrSink | None,
    on_stdio: bool,
) -> AsyncIterator[ChildProcess]:
    """Start an adapter and end it with the block.

    If it does not speak the protocol on its stdin and stdout, its stdin is the null
    device, its stdout is read like its stderr, and it has no `stream` yet.
    """
    executable = _found(argv, cwd, env)
    guard = new_reaper()
    try:
        # By its full path: lldb-dap 22 starts itself again in a terminal, by its own argv[0].
        process = _popen([executable, *argv[1:]], cwd=cwd, env=guard.mark(env), on_stdio=on_stdio)
        guard.watch(process.pid)
        text = _reader(process.stderr if on_stdio else process.stdout)
        child = ChildProcess(argv, process, text, on_stderr, on_stdio=on_stdio)
        if on_stdio:
            child.stream = DescriptorStream(_writer(process.stdin), _reader(process.stdout))
        async with background_tasks() as tasks:
            tasks.start_soon(child.read)
            try:
                yield child
            finally:
                with anyio.CancelScope(shield=True):
                    await child.end()
    finally:
        guard.dismiss()


def _popen(argv: Sequence[str], *, cwd: Path | None, env: Mapping[str, str], on_stdio: bool) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            with_default_signals(argv),
            bufsize=0,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE if on_stdio else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if on_stdio else subprocess.STDOUT,
            start_new_session=not IS_WINDOWS,
            creationflags=NO_WINDOW,
        )
    except OSError as error:
        raise CannotStart(f"{argv[0]} could not be started: {error.strerror}") from error


def _reader(pipe: IO[bytes] | None) -> DescriptorReader:
    return reader_of(_own(pipe)) if IS_WINDOWS else DescriptorReader(_own(pipe))


def _writer(pipe: IO[bytes] | None) -> DescriptorWriter:
    return writer_of(_own(pipe)) if IS_WINDOWS else DescriptorWriter.over(_own(pipe))


def _own(pipe: IO[bytes] | None) -> int:
    """Our end of a pipe as a non-blocking descriptor of our own; on Windows it blocks, and a thread serves it."""
    with cast("IO[bytes]", pipe):  # Popen has made the requested pipes
        fd = os.dup(cast("IO[bytes]", pipe).fileno())
    if not IS_WINDOWS:
        os.set_blocking(fd, False)
    return fd


def _found(argv: Sequence[str], cwd: Path | None, env: Mapping[str, str] | None) -> str:
    """Absolute path of the program to start."""
    reason = unsupported()
    if reason is not None:
        raise CannotStart(reason)
    if not argv:
        raise CannotStart("the command is empty: there is nothing to start")
    if cwd is not None and not cwd.is_dir():
        raise CannotStart(f"{argv[0]} cannot be started in {cwd}: there is no such folder")
    if os.sep in argv[0]:
        path = Path(cwd or Path(), argv[0]).absolute()
        if not path.exists():
            raise CannotStart(f"{argv[0]} does not exist (looked for {path})")
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise CannotStart(f"{path} is not an executable file")
        return str(path)
    import shutil

    search = (os.environ if env is None else env).get("PATH", os.defpath)
    program = shutil.which(argv[0], path=search)
    if program is None:
        raise CannotStart(f"{argv[0]} was not found on PATH ({search}): install it, or give its full path")
    return str(Path(program).absolute())
