"""Sockets of our user by a file with a port and a key, as Windows has them in place of unix sockets; on all systems."""

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import ByteStream

from dapkit.python.debuggee.connection import local_socket
from dapkit.transport import NotAdmitted, Unreachable
from dapkit.transport.port_file import connect_port_file, listen_port_file
from strangers import strangers_port

pytestmark = pytest.mark.timeout(300)

PORT_OF_NONE = 21_347
"""A port that systems do not give to sockets by themselves, as other tests let them do meanwhile."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return tmp_path / "engine"


@asynccontextmanager
async def echoing(path: Path) -> AsyncIterator[None]:
    """Serve clients at a path: each gets back its first bytes."""

    async def echo(stream: ByteStream) -> None:
        await stream.send(await stream.receive())

    async with listen_port_file(path, echo):
        yield


async def said_back(stream: ByteStream) -> bytes:
    async with stream:
        await stream.send(b"hello")
        return await stream.receive()


async def test_client_that_knows_the_key_is_served(path: Path) -> None:
    async with echoing(path):
        assert await said_back(await connect_port_file(path)) == b"hello"
        assert await said_back(await connect_port_file(path)) == b"hello"
    assert text_of(path) == ""


async def test_engine_connects_as_a_client(path: Path) -> None:
    def converse() -> bytes:
        connection = local_socket.connect_by_key(str(path))
        try:
            connection.sendall(b"hello")
            return connection.recv(100)
        finally:
            connection.close()

    async with echoing(path):
        assert await anyio.to_thread.run_sync(converse) == b"hello"


async def test_engine_listens_for_clients(path: Path) -> None:
    listening = local_socket.listen_by_key(str(path))
    listening.setblocking(True)  # noqa: FBT003 - its only parameter

    def serve() -> None:
        number, _ = listening._accept()  # type: ignore[attr-defined]  # the base of socket.accept
        connection = socket.socket(fileno=number)
        with connection:
            local_socket.check_key(connection, bytes.fromhex(path.read_text().split()[1]))
            connection.sendall(connection.recv(100))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(anyio.to_thread.run_sync, serve)
        assert await said_back(await connect_port_file(path)) == b"hello"
    listening.close()


def text_of(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def write(path: Path, text: str) -> None:
    path.write_text(text)


async def connect_as_engine(path: Path) -> None:
    await anyio.to_thread.run_sync(local_socket.connect_by_key, str(path))


@pytest.mark.parametrize(
    ("connects", "refusal"),
    [(connect_port_file, NotAdmitted), (connect_as_engine, ConnectionRefusedError)],
    ids=["adapter", "engine"],
)
async def test_process_that_does_not_know_the_key_is_not_talked_to(
    path: Path,
    connects: Callable[[Path], Awaitable[object]],
    refusal: type[Exception],
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with echoing(path):
        known = text_of(path)
        write(path, f"{known.split()[0]} {os.urandom(32).hex()}\n")
        with pytest.raises(refusal, match="does not know the key"):
            await connects(path)
        write(path, known)
        assert await said_back(await connect_port_file(path)) == b"hello"  # its own clients are served on
    assert "a connection was refused: it does not prove that it knows the key" in caplog.text


async def rest_of(stream: ByteStream) -> bytes:
    rest = b""
    with contextlib.suppress(anyio.EndOfStream, anyio.BrokenResourceError):
        while True:
            rest += await stream.receive()
    return rest


async def test_stranger_at_the_port_is_refused(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with echoing(path):
        port = int(text_of(path).split()[0])
        async with await anyio.connect_tcp("127.0.0.1", port) as stranger:
            await stranger.send(b"n" * 32)
            proof = b""
            while len(proof) < 64:  # a nonce, and that it knows the key itself
                proof += await stranger.receive()
            await stranger.send(b"p" * 32)
            assert await rest_of(stranger) == b""
    assert "a connection was refused: the other end does not know the key of the file" in caplog.text


@pytest.fixture
def port_of_stranger() -> Iterator[int]:
    """Return a port at which a program listens that knows no key, and ends each connection."""
    with strangers_port() as port:
        yield port


async def test_file_whose_port_a_stranger_has_by_now_is_replaced(path: Path, port_of_stranger: int) -> None:
    write(path, f"{port_of_stranger} {os.urandom(32).hex()} 1\n")
    async with echoing(path):
        assert await said_back(await connect_port_file(path)) == b"hello"


async def test_file_of_a_process_that_was_killed_is_replaced(path: Path) -> None:
    write(path, f"{PORT_OF_NONE} {os.urandom(32).hex()}\n")
    with pytest.raises(Unreachable, match="no process listens"):
        await connect_port_file(path)
    async with echoing(path):
        assert await said_back(await connect_port_file(path)) == b"hello"


@pytest.fixture
def pid_of_none() -> int:
    """Return the number of a process that has ended."""
    return int(subprocess.check_output([sys.executable, "-c", "import os; print(os.getpid())"]))


async def test_file_of_a_process_whose_socket_has_outlived_it_is_replaced(path: Path, pid_of_none: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        write(path, f"{silent.getsockname()[1]} {os.urandom(32).hex()} {pid_of_none}\n")
        async with echoing(path):
            assert await said_back(await connect_port_file(path)) == b"hello"


async def test_path_where_a_process_listens_is_refused(path: Path) -> None:
    async with echoing(path):
        with pytest.raises(Unreachable, match=r"another process listens at .* already"):
            async with echoing(path):
                raise AssertionError("it listened there a second time")
        assert await said_back(await connect_port_file(path)) == b"hello"


@pytest.mark.parametrize("text", ["", "port key\n", "80 12ab\n"])
async def test_file_without_port_and_key_is_an_error(path: Path, text: str) -> None:
    write(path, text)
    with pytest.raises(Unreachable, match=r"no process listens at .*: it has no port and key"):
        await connect_port_file(path)
    with pytest.raises(ConnectionRefusedError, match="has no port and key"):
        local_socket.connect_by_key(str(path))
