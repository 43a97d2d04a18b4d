import socket
import sys
import textwrap
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from dapkit import limits
from dapkit.transport import CannotStart, spawn_listening

LISTENS_ON_PORT = """
import socket, sys
print("listening", flush=True)
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
peer = server.accept()[0]
while data := peer.recv(65536): peer.sendall(data)
"""

LISTENS_ON_SOCKET = """
import socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
peer = server.accept()[0]
while data := peer.recv(65536): peer.sendall(data)
"""

DIALS_BACK = """
import socket, sys
host, port = sys.argv[1].split(":")
peer = socket.create_connection((host, int(port)))
while data := peer.recv(65536): peer.sendall(data)
"""


def python(program: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(program), *arguments]


@pytest.mark.parametrize(
    "argv",
    [
        python(LISTENS_ON_PORT, "${port}"),
        python(LISTENS_ON_SOCKET, "${socket}"),
        python(DIALS_BACK, "127.0.0.1:${callback}"),
    ],
    ids=["port", "socket", "callback"],
)
async def test_adapter_is_reached_where_its_command_says(argv: Sequence[str]) -> None:
    async with spawn_listening(argv) as child:
        await child.stream.send(b"hello")
        assert await child.stream.receive() == b"hello"
    assert child.returncode == 0


WAITS = """
import os, socket, sys, time
os.write(1, sys.argv[1].encode())
while not os.path.exists(sys.argv[2]): time.sleep(0.01)
place = ("127.0.0.1", int(sys.argv[1]))
"""


def accepted(place: tuple[str, int]) -> socket.socket:
    with socket.create_server(place) as server:
        return server.accept()[0]


QUICKER: dict[str, Callable[[tuple[str, int]], socket.socket]] = {
    "${port}": accepted,
    "${callback}": socket.create_connection,
}


@pytest.mark.parametrize(
    ("mark", "meets"),
    [("${port}", "socket.create_server(place).accept()[0]"), ("${callback}", "socket.create_connection(place)")],
)
async def test_process_that_is_quicker_than_the_adapter_does_not_take_its_place(
    mark: str, meets: str, tmp_path: Path
) -> None:
    """It listens where the adapter will, or connects where the adapter is waited for."""

    def be_quicker(place: tuple[str, int]) -> None:
        with QUICKER[mark](place) as stranger, suppress(ConnectionError):
            stranger.sendall(b"stranger")
            assert stranger.recv(1) == b""
        (tmp_path / "go").touch()

    strangers: list[Thread] = []

    def begin(port: bytes) -> None:
        strangers.append(Thread(target=be_quicker, args=(("127.0.0.1", int(port)),)))
        strangers[0].start()

    program = f"{WAITS}\npeer = {meets}; peer.sendall(b'adapter'); peer.recv(1)"
    async with spawn_listening(python(program, mark, str(tmp_path / "go")), on_stderr=begin, patience=30) as child:
        assert await child.stream.receive() == b"adapter"
    strangers[0].join()


GREETS_WHO_COMES_TOO_EARLY = """
import select, socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
early = bool(select.select([server], [], [], 0.3)[0])
print("may be ", end="", flush=True)
print("connected to", flush=True)
peer = server.accept()[0]
peer.sendall(b"early" if early else b"ready")
peer.recv(1)
"""


async def test_adapter_that_listens_before_it_is_ready_is_waited_for() -> None:
    heard: list[bytes] = []
    argv = python(GREETS_WHO_COMES_TOO_EARLY, "${port}")
    async with spawn_listening(argv, ready="may be connected", on_stderr=heard.append) as child:
        assert await child.stream.receive() == b"ready"
    assert b"".join(heard) == b"may be connected to\n"


async def test_what_it_prints_is_heard_and_its_stdin_is_empty() -> None:
    heard: list[bytes] = []
    program = "import sys; assert sys.stdin.read() == ''\n" + LISTENS_ON_PORT
    async with spawn_listening(python(program, "${port}"), on_stderr=heard.append) as child:
        assert child.stderr_tail() == "listening\n"
    assert b"".join(heard) == b"listening\n"


async def test_adapter_that_dies_first_is_reported_at_once_with_its_last_words() -> None:
    program = "import sys; sys.exit('no licence')"
    with pytest.raises(CannotStart, match=r"ended with exit code 1 before it was reached; it wrote:\nno licence"):
        async with spawn_listening(python(program, "${port}")):
            pass


@pytest.mark.parametrize("mark", ["${port}", "${socket}", "${callback}"])
async def test_adapter_that_never_listens_is_given_up(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CLOSE_SECONDS", 0.1)
    with pytest.raises(CannotStart, match=r"was not reached at .* within 0\.2 s; it wrote nothing"):
        async with spawn_listening(python("import time; time.sleep(60)", mark), patience=0.2):
            pass


@pytest.mark.parametrize("argv", [["adapter"], ["adapter", "${port}", "${socket}"]])
async def test_command_has_to_name_one_place(argv: list[str]) -> None:
    with pytest.raises(CannotStart, match="has to name one of"):
        async with spawn_listening(argv):
            pass


async def test_real_adapter_on_a_port() -> None:
    argv = [sys.executable, "-m", "debugpy.adapter", "--host", "127.0.0.1", "--port", "${port}"]
    async with spawn_listening(argv) as child:
        assert (await child.stream.receive()).startswith(b"Content-Length: ")
