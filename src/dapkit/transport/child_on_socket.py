"""Adapters that speak on a socket instead of their stdin and stdout.

Their command line says where to meet, by one placeholder:

    ${port}      the adapter listens on this port of 127.0.0.1 (lldb-dap, js-debug, dlv dap --listen)
    ${socket}    it listens on this unix socket (cmake --debugger-pipe)
    ${callback}  we listen on this port of 127.0.0.1, and it connects (dlv dap --client-addr)

Most such adapters know no token, and any process of the machine could be quicker than they are. So a connection counts
only if the adapter, or a child of it, has the other end of it: the kernel names the socket at the other end, and the
open sockets of the child and its descendants. The table of connections alone proves nothing, since it has rows of
closed sockets, whose owner it does not know.
"""

import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import cast

import anyio
from anyio.abc import ByteStream

from dapkit import limits
from dapkit.system.socket_options import UNIX
from dapkit.system.this_system import SYSTEM
from dapkit.transport.authentication import introduce
from dapkit.transport.child import ChildProcess, StderrSink, started
from dapkit.transport.errors import CannotStart, NotAdmitted
from dapkit.transport.gate import Gate
from dapkit.transport.private_files import token_left_for
from dapkit.transport.sockets import SocketStream, connected
from dapkit.transport.state_change import StateChange
from dapkit.transport.tasks import background_tasks
from dapkit.transport.tcp import listening_socket

PLACEHOLDERS = ("${port}", "${socket}", "${callback}")
"""Placeholders in the command of an adapter for its port, its unix socket, or a port that it connects to."""

type Meet = Callable[[int], Awaitable[ByteStream]]
"""Waits until the adapter is reached, which leads a session of this number."""


@asynccontextmanager
async def spawn_listening(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    on_stderr: StderrSink | None = None,
    ready: str = "",
    patience: float = limits.CONNECT_SECONDS,
) -> AsyncIterator[ChildProcess]:
    """Start an adapter that speaks on a socket, and connect; otherwise as `spawn`.

    Its stdin is the null device; its stdout is read like its stderr.
    `ready` is the text that it writes when it accepts connections, if it listens before; `patience` is the number of
    seconds that it may take until it is reached.

    Raises:
        CannotStart: the command cannot be started, ends before it is reached, or is not reached in time; the text has
            the end of its stderr.

    """
    marks = [mark for mark in PLACEHOLDERS if any(mark in argument for argument in argv)]
    async with AsyncExitStack() as stack:
        match marks:
            case ["${port}"]:
                place, meet = _by_port()
            case ["${socket}"]:
                place, meet = _by_socket(stack)
            case ["${callback}"]:
                place, meet = await _by_callback(stack)
            case _:
                raise CannotStart(f"{list(argv)} has to name one of {', '.join(PLACEHOLDERS)}, and names {marks}")
        command = [argument.replace(marks[0], place) for argument in argv]
        cue = _Cue(ready.encode(), on_stderr)
        child = await stack.enter_async_context(started(command, cwd=cwd, env=env, on_stderr=cue.read, on_stdio=False))
        child.stream = await stack.enter_async_context(await _met(child, place, cue, meet, patience))
        yield child


class _Cue:
    """Waits for words in a child's output; without words, not at all."""

    def __init__(self, words: bytes, sink: StderrSink | None) -> None:
        self.given = anyio.Event()
        self._words = words
        self._sink = sink
        self._heard = b""
        self.read(b"")

    def read(self, data: bytes) -> None:
        """Take in a piece, and pass it on."""
        if not self.given.is_set():
            self._heard += data
            if self._words in self._heard:
                self.given.set()
            self._heard = self._heard[-len(self._words) :]
        if self._sink is not None and data:
            self._sink(data)


def _by_port() -> tuple[str, Meet]:
    # Released at once, since some adapters cannot bind a port that another process holds; the system gives it to a
    # process that asks for any port only after all others.
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
    return str(port), partial(_retried, partial(_connect, port))


def _by_socket(stack: AsyncExitStack) -> tuple[str, Meet]:
    import tempfile

    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="dapkit-"))  # of mode 0700
    path = Path(folder, "adapter")
    return str(path), partial(_retried, lambda _: connected(UNIX, str(path)))


async def _by_callback(stack: AsyncExitStack) -> tuple[str, Meet]:
    arrived: ByteStream | None = None
    updates = StateChange()
    session = 0

    async def admit_adapter(stream: SocketStream) -> ByteStream:
        await updates.until(lambda: session != 0)
        if not SYSTEM.is_held_by_session(stream.socket, session):
            raise NotAdmitted("it comes from another process than the adapter")
        return stream

    async def take(stream: ByteStream) -> None:
        nonlocal arrived
        arrived = stream
        updates.notify()
        await anyio.sleep_forever()  # the stream is closed when this returns

    async def meet(pid: int) -> ByteStream:
        nonlocal session
        session = pid
        updates.notify()
        await updates.until(lambda: arrived is not None)
        return cast("ByteStream", arrived)

    listening = stack.enter_context(listening_socket("127.0.0.1", 0))
    tasks = await stack.enter_async_context(background_tasks())
    tasks.start_soon(Gate(admit_adapter, take, max_connections=1).guard, listening, tasks)
    return str(listening.getsockname()[1]), meet


async def _connect(port: int, session: int) -> ByteStream:
    stream = await connected(socket.AF_INET, ("127.0.0.1", port))
    try:
        while (is_adapter := SYSTEM.is_held_by_session(stream.socket, session)) is None:  # noqa: ASYNC110 - the system does not report this
            await anyio.sleep(limits.CONNECT_RETRY_SECONDS)
        if is_adapter and (token := token_left_for("127.0.0.1", port)) is not None:  # it is one of dapkit's
            return await introduce(stream, token, port=port)
    except BaseException:
        await stream.aclose()
        raise
    if not is_adapter:  # we talk to ourselves, or to another process that has taken the port
        await stream.aclose()
        raise ConnectionRefusedError
    return stream


async def _retried(connect: Meet, session: int) -> ByteStream:
    while True:
        try:
            return await connect(session)
        except OSError:
            await anyio.sleep(limits.CONNECT_RETRY_SECONDS)


async def _met(child: ChildProcess, place: str, cue: _Cue, meet: Meet, patience: float) -> ByteStream:
    stream: ByteStream | None = None
    try:
        async with background_tasks() as tasks:
            tasks.start_soon(_raise_when_ended, child)
            with anyio.move_on_after(patience):
                await cue.given.wait()
                stream = await meet(child.pid)
    except CannotStart:
        if stream is None:  # else it was reached before it ended, and its data must be read
            raise
    if stream is not None:
        return stream
    raise CannotStart(f"{child.argv[0]} was not reached at {place} within {patience:g} s{_last_words(child)}")


async def _raise_when_ended(child: ChildProcess) -> None:
    code = await child.wait()
    raise CannotStart(f"{child.argv[0]} ended with exit code {code} before it was reached{_last_words(child)}")


def _last_words(child: ChildProcess) -> str:
    text = child.stderr_tail().strip()
    return f"; it wrote:\n{text}" if text else "; it wrote nothing"
