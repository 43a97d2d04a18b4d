"""Connecting to a program that runs already, that connects by itself, or that is made to (`injection`).

Both sides of a port must know a token, and prove it to each other in their first messages
(`transport.authentication`). Between processes of one user on one machine the user need not carry it: the side that
listens on a port leaves the token in a file named after the port, in a folder that only that user can enter, and
the other looks for it there.
"""

import math
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path

import anyio
import msgspec
from anyio.abc import ByteStream

from dapkit.adapter import RequestFailed
from dapkit.endpoint import Endpoint, Role
from dapkit.protocol import DisconnectArguments, InitializeRequestArguments, RawJson, decode_as
from dapkit.python import limits
from dapkit.python.adapter.children.children import ends_now
from dapkit.python.adapter.configuration.arguments import ProgramAddress, PythonAttach
from dapkit.python.adapter.configuration.certificates import client_context, server_context
from dapkit.python.adapter.configuration.paths import PathTranslation
from dapkit.python.adapter.engine.debuggee import Debuggee
from dapkit.python.adapter.engine.link import Engine, close_at_end, listening
from dapkit.python.adapter.engine.marked_output import MarkedOutput
from dapkit.python.adapter.engine.resume_order import ResumeOrder
from dapkit.python.adapter.session.engine_options import engine_options
from dapkit.python.adapter.session.run import Connector, DebuggeeRun, ProgramEndedEarly
from dapkit.system.this_system import SYSTEM
from dapkit.transport import (
    Connection,
    TransportError,
    background_tasks,
    connect_tcp,
    connect_unix,
    left_token,
    listen_tcp,
    new_token,
    read_token,
    token_left_for,
)


class AttachedProgram:
    """A program that was started elsewhere: all we have of it is the link."""

    returncode: None = None

    def __init__(self, link: Connection, process: int) -> None:
        self.marked = MarkedOutput()
        self._link = link
        self._process = process  # if it is on this machine, else 0

    def runs(self) -> bool:
        """Report that it is not known."""
        return False

    async def stopped(self) -> str:
        """Wait until a signal has stopped it, and return the signal's name."""
        await self._until(stopped=True)
        return "a signal"

    async def continued(self) -> None:
        """Wait until no signal keeps it stopped."""
        await self._until(stopped=False)

    async def _until(self, *, stopped: bool) -> None:
        while not self._process or SYSTEM.is_suspended(self._process) != stopped:  # noqa: ASYNC110 - there is no event
            await anyio.sleep(limits.SIGNAL_STOP_SECONDS)

    def resume(self) -> bool:
        """Do nothing: who has stopped it lets it continue."""
        return False

    async def wait(self) -> None:
        """Wait until the program has ended, or its engine has let us go."""
        await self._link.wait_ended()

    async def report_output(self) -> None:
        """Do nothing: the engine reports it in order."""

    def interrupted(self) -> None:
        """Do nothing: its children do not belong to this session."""

    def send_term(self) -> None:
        """Refuse: it may run on another machine.

        Raises:
            RequestFailed: always.

        """
        raise RequestFailed("terminate: the program does not answer, it is inside native code; ask again to kill it")

    async def kill(self) -> None:
        """Let the engine end it at once."""
        await self._link.request(DisconnectArguments(terminate_debuggee=True))

    def release(self) -> None:
        """Do nothing: the engine does it."""


def attach_connector(args: PythonAttach) -> Connector:
    """Return the connector to a program for `attach`."""

    def connect(run: DebuggeeRun) -> AbstractAsyncContextManager[Debuggee]:
        return _attached(args, run)

    return connect


@asynccontextmanager
async def _attached(args: PythonAttach, run: DebuggeeRun) -> AsyncIterator[Debuggee]:
    async with AsyncExitStack() as stack:
        try:
            link, order = await stack.enter_async_context(_engine(args, run))
            program = _Attached.read(await link.request_custom("attach", engine_options(args, run.children)))
        except TransportError as error:
            if args.sub_process_id is not None and await ends_now(args.sub_process_id):
                raise ProgramEndedEarly(f"process {args.sub_process_id} has ended") from error
            raise
        process = AttachedProgram(link, program.process())
        elsewhere = program.is_elsewhere()
        if args.sub_process_id is None and not elsewhere:
            run.children.family = program.family
        yield Debuggee(link, order, process, PathTranslation(args.path_mappings, program.cwd, elsewhere=elsewhere))


@asynccontextmanager
async def _engine(args: PythonAttach, run: DebuggeeRun) -> AsyncIterator[Engine]:
    """Converse with the engine of a program."""
    match _place(args):
        case "processId", int() | str() as number:
            from dapkit.python.adapter.injection.injector import bring
            from dapkit.python.adapter.injection.target import look_at, number_of

            target = await anyio.to_thread.run_sync(look_at, number_of(number))
            async with (
                listening() as listener,
                listener.accept(partial(bring, target, listener.path), patience=math.inf) as engine,
            ):
                yield engine
        case _:
            order = ResumeOrder()
            async with (
                _stream(args, run) as stream,
                Connection(stream, Endpoint(Role.CLIENT), watch=order.observe) as link,
                background_tasks() as tasks,
            ):
                tasks.start_soon(close_at_end, link, stream)
                await link.request(InitializeRequestArguments(adapter_id="dapkit"))
                yield link, order


class _Attached(msgspec.Struct):
    """The engine's response to `attach`."""

    cwd: str = "/"
    pid: int = 0
    family: str = ""

    def process(self) -> int:
        """Return the number of the program's process if that seems to be on this machine, else 0."""
        try:
            is_here = SYSTEM.folder_of(self.pid) == self.cwd
        except OSError:
            return 0
        return self.pid if is_here else 0

    def is_elsewhere(self) -> bool:
        """Return whether its files seem to be on another machine or in a container."""
        return not self.process() or not SYSTEM.shares_files(self.pid)

    @classmethod
    def read(cls, body: RawJson | None) -> "_Attached":
        return decode_as(cls, body)


@asynccontextmanager
async def _stream(args: PythonAttach, run: DebuggeeRun) -> AsyncIterator[ByteStream]:
    match _place(args):
        case "connect", ProgramAddress() as place:
            async with await connect_tcp(
                place.host, place.number, token=_token_for(place), tls=client_context(place)
            ) as stream:
                yield stream
        case "listen", ProgramAddress() as place:
            async with _first_visitor(place, run) as stream:
                yield stream
        case _, path:
            async with await connect_unix(Path(str(path))) as stream:
                yield stream


def _place(args: PythonAttach) -> tuple[str, ProgramAddress | str | int]:
    """Find where to attach.

    Raises:
        RequestFailed: it is not said, or not once.

    """
    connect = args.connect
    if connect is None and args.port is not None:
        connect = ProgramAddress(host=args.host or "127.0.0.1", port=args.port)
    places = {"connect": connect, "listen": args.listen, "socket": args.socket, "processId": args.process_id}
    choices = [(name, place) for name, place in places.items() if place is not None]
    if len(choices) != 1:
        names = " and ".join(name for name, _ in choices) or "none of them"
        raise RequestFailed(f"attach needs exactly one of connect, listen, socket and processId, got {names}")
    return choices[0]


def _token_for(place: ProgramAddress) -> str | None:
    """Find the token of a listening program, if there is one."""
    if place.token_file is None:
        return token_left_for(place.host, place.number)
    try:
        return read_token(Path(place.token_file).expanduser())
    except OSError as error:
        raise RequestFailed(f"tokenFile {place.token_file} cannot be read: {error.strerror}") from error


@asynccontextmanager
async def _first_visitor(place: ProgramAddress, run: DebuggeeRun) -> AsyncIterator[ByteStream]:
    """Listen until a program connects."""
    send, arrivals = anyio.create_memory_object_stream[ByteStream](1)

    async def take(stream: ByteStream) -> None:
        await send.send(stream)
        await anyio.sleep_forever()  # the stream is closed when this returns

    file_token = None if place.token_file is None else _token_for(place)
    token = file_token or new_token()
    with send, arrivals:
        async with listen_tcp(
            place.host,
            place.number,
            take,
            token=token,
            tls=server_context(place),
            allow_remote=place.allow_remote,
            max_connections=1,
        ) as port:
            with nullcontext() if file_token else left_token(token, port, place.host) as where:
                text = f"Waiting for a program that calls dapkit.connect(({place.host!r}, {port}))"
                await run.host.output(f"{text}{f'; the token is in {where}' if where else ''}\n", category="console")
                yield await arrivals.receive()
