import os
import socket
import stat
from pathlib import Path

import anyio
import pytest
from anyio.abc import ByteStream

from dapkit.transport import NotPrivate, Unreachable, connect_unix, listen_unix, remove_dead_sockets
from e2e.transport.strangers import NOBODY, fate_of_another_user

needs_root = pytest.mark.usefixtures("root")


async def echo(stream: ByteStream) -> None:
    async for data in stream:
        await stream.send(data)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return tmp_path / "socket"


def names_in(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir()]


def remove(path: Path) -> None:
    path.unlink()


def mode(path: Path) -> int:
    return path.stat().st_mode


async def test_bytes_go_both_ways(path: Path) -> None:
    async with listen_unix(path, echo) as listening, await connect_unix(listening) as stream:
        await stream.send(b"hello")
        assert await stream.receive() == b"hello"


async def test_socket_file_is_ours_alone_whatever_the_umask(path: Path) -> None:
    before = os.umask(0)
    try:
        async with listen_unix(path, echo):
            assert stat.S_IMODE(mode(path)) == 0o600
    finally:
        os.umask(before)


async def test_socket_file_is_removed_when_the_block_ends(path: Path) -> None:
    async with listen_unix(path, echo):
        pass
    assert names_in(path.parent) == []
    with pytest.raises(Unreachable, match="no process listens at"):
        await connect_unix(path)


async def test_stale_socket_file_is_replaced(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    async with listen_unix(path, echo), await connect_unix(path) as stream:
        await stream.send(b"alive")
        assert await stream.receive() == b"alive"


async def test_live_socket_is_an_error_and_lives_on(path: Path) -> None:
    async with listen_unix(path, echo):
        with pytest.raises(Unreachable, match=f"another process listens at {path} already"):
            async with listen_unix(path, echo):
                pass
        async with await connect_unix(path) as stream:
            await stream.send(b"alive")
            assert await stream.receive() == b"alive"


async def test_file_that_is_no_socket_is_not_replaced(path: Path) -> None:
    os.mknod(path)
    with pytest.raises(Unreachable, match="exists and is not a socket"):
        async with listen_unix(path, echo):
            pass
    assert stat.S_ISREG(mode(path))


async def test_socket_of_a_successor_is_not_removed(path: Path) -> None:
    async with listen_unix(path, echo):
        remove(path)
        with socket.socket(socket.AF_UNIX) as successor:
            successor.bind(str(path))
    assert names_in(path.parent) == ["socket"]


async def test_dead_sockets_are_removed_and_what_is_alive_or_other_stays(path: Path) -> None:
    for name in ("engine-dead", "other-dead"):
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(path.with_name(name)))
    path.with_name("engine-file").touch()
    async with listen_unix(path.with_name("engine-alive"), echo):
        remove_dead_sockets(path.parent, "engine-*")
        assert sorted(names_in(path.parent)) == ["engine-alive", "engine-file", "other-dead"]


async def test_socket_that_its_own_process_removes_meanwhile_is_passed_over(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_socket = Path.is_socket

    def is_socket_and_is_removed_then(asked: Path) -> bool:
        found = is_socket(asked)
        if asked.name == "engine-removed":
            remove(asked)
        return found

    for name in ("engine-removed", "engine-dead"):
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(path.with_name(name)))
    monkeypatch.setattr(Path, "is_socket", is_socket_and_is_removed_then)
    remove_dead_sockets(path.parent, "engine-*")
    assert names_in(path.parent) == []


async def test_question_whether_a_socket_is_alive_is_not_heard_by_who_listens(path: Path) -> None:
    alive = path.with_name("engine-alive")
    heard: list[bytes] = []
    done = anyio.Event()

    async def take(stream: ByteStream) -> None:
        try:
            heard.append(await stream.receive())
        except anyio.EndOfStream:
            heard.append(b"nothing")
        if heard[-1] == b"hello":
            done.set()

    async with listen_unix(alive, take):
        remove_dead_sockets(path.parent, "engine-*")
        with pytest.raises(Unreachable, match="another process listens"):
            async with listen_unix(alive, take):
                pass
        async with await connect_unix(alive) as stream:
            await stream.send(b"hello")
            await done.wait()
    assert heard == [b"hello"]


async def test_folder_open_to_others_is_refused(path: Path) -> None:
    path.parent.chmod(0o750)
    with pytest.raises(NotPrivate, match="chmod it to 0700"):
        async with listen_unix(path, echo):
            pass


async def test_path_that_is_too_long_is_a_clear_error(path: Path) -> None:
    with pytest.raises(Unreachable, match="too long for a unix socket"):
        async with listen_unix(path.with_name("x" * 108), echo):
            pass


@needs_root
async def test_folder_keeps_other_users_out(path: Path) -> None:
    async with listen_unix(path, echo):
        assert await anyio.to_thread.run_sync(fate_of_another_user, str(path)) == "PermissionError"


@needs_root
async def test_other_user_who_got_through_to_the_socket_is_refused(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with listen_unix(path, echo):
        # What a mistake of an administrator could be: the socket linked to where everybody gets.
        way_in = Path("/tmp", f"{path.parent.name}-{os.getpid()}")  # noqa: S108 - a folder that everybody reaches
        os.link(path, way_in)
        os.chown(way_in, NOBODY, NOBODY)
        try:
            fate = await anyio.to_thread.run_sync(fate_of_another_user, str(way_in))
        finally:
            remove(way_in)
    assert fate in ("closed", "ConnectionResetError", "BrokenPipeError")
    assert "it comes from user 65534, expected user 0" in caplog.text
