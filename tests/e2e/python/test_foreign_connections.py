"""Whoever else connects where a program is waited for keeps nobody waiting, and is not taken for it."""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from dapkit.client import Ended
from dapkit.protocol import OutputEvent, ThreadEvent, encode_frame
from dapkit.python import limits
from dapkit.python.adapter.engine.link import NeverCame, listening
from e2e.python.adapter_client import AdapterClient
from e2e.python.listening_program import client, running

VISITED = """
    import os, socket, sys
    place = sys.argv[sys.argv.index("--link") + 1].removeprefix("unix:")
    for first_words in (b"", b"GET / HTTP/1.1\\r\\n\\r\\n", b"Content-Length: 2\\r\\n\\r\\n{}"):
        stranger = socket.socket(socket.AF_UNIX)
        stranger.connect(place)
        stranger.sendall(first_words)
        os.set_inheritable(stranger.detach(), True)
"""
"""Connects three times, and holds on to that."""

WRONG_TOKEN = {"seq": 1, "type": "request", "command": "dapkit/authenticate", "arguments": {"nonce": "0" * 64}}


@pytest.mark.row("launch")
async def test_strangers_who_come_before_the_engine_do_not_take_its_place(driver: AdapterClient, python: str) -> None:
    visited = driver.write(VISITED + "    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])\n", "visited.py")
    await driver.start("x = 1\nprint(x)\n", 2, python=[python, str(visited)])
    assert (await driver.session.next_stop()).reason == "breakpoint"
    assert await driver.resume() == Ended(0)


@pytest.mark.row("launch")
async def test_stranger_who_says_nothing_is_sent_away_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "INTRODUCTION_SECONDS", 0.05)
    monkeypatch.setattr(limits, "LINK_SECONDS", 5.0)
    heard: list[bytes] = []

    async def visit(place: Path) -> None:
        async with await anyio.connect_unix(place) as stranger:
            heard.append(await stranger.receive())  # it is asked who it is
            with pytest.raises(anyio.EndOfStream):
                await stranger.receive()

    async with listening() as listener:
        with pytest.raises(NeverCame, match="ended before it could be debugged"):
            async with listener.accept(lambda: visit(listener.path)):
                pytest.fail("a stranger was taken for the engine")
    assert b'"initialize"' in heard[0]


@contextmanager
def strangers(port: int) -> Iterator[None]:
    """Connect to a port several times, with nothing or the wrong things to say, and stay."""
    wrong = encode_frame(json.dumps(WRONG_TOKEN).encode())
    visits = [socket.create_connection(("127.0.0.1", port)) for _ in range(4)]
    for visit, words in zip(
        visits, (b"", wrong, b"GET / HTTP/1.1\r\n\r\n", b"Content-Length: 100\r\n\r\n{"), strict=True
    ):
        visit.sendall(words)
    yield
    for visit in visits:
        visit.close()


@pytest.mark.row("attach")
async def test_strangers_do_not_take_the_place_of_a_program_that_connects(tmp_path: Path, python: str) -> None:
    text = """
        import sys, dapkit
        dapkit.connect(int(sys.argv[1]))
        dapkit.wait_for_client()
        x = 1
    """
    async with client() as session, anyio.create_task_group() as tasks:
        await session.add_breakpoint(tmp_path / "prog.py", 4)
        tasks.start_soon(session.attach, {"listen": {"port": 0}})
        told = await session.wait_for(OutputEvent, since=0)
        port = told.output.partition("127.0.0.1', ")[2].partition(")")[0]
        with strangers(int(port)), running(text, tmp_path, python, port) as program:
            assert (await session.next_stop()).reason == "breakpoint"
            await session.resume()
            assert program.process.wait(30) == 0


@contextmanager
def relay(port: int) -> Iterator[tuple[int, socket.socket]]:
    """Stand between a client and a program at the same port of another address; yield that, and the program's side."""
    listening = socket.create_server(("127.0.0.2", port))
    program = socket.create_connection(("127.0.0.1", port))

    def carry(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def serve() -> None:
        with contextlib.suppress(OSError):
            client, _ = listening.accept()
            with client:
                back = threading.Thread(target=carry, args=(program, client))
                back.start()
                carry(client, program)
                back.join()

    server = threading.Thread(target=serve)
    server.start()
    with listening, program:
        try:
            yield port, program
        finally:
            for end in (listening, program):  # wakes the threads that wait there
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            server.join()


@pytest.mark.row("attach")
async def test_relay_between_client_and_program_can_add_no_request(tmp_path: Path, python: str) -> None:
    text = """
        import sys, time, dapkit
        dapkit.listen(0)
        while True:
            time.sleep(0.01)
            (lambda: 0)()
    """
    trap = tmp_path / "trap"
    attack = {"breakpoints": [{"name": "<lambda>", "condition": f"open({str(trap)!r}, 'w')"}]}
    words = {"seq": 99, "type": "request", "command": "setFunctionBreakpoints", "arguments": attack}
    with running(text, tmp_path, python) as program:
        program.read_place()
        with relay(program.port) as (port, way):
            async with client() as session:
                place = {"host": "127.0.0.2", "port": port, "tokenFile": str(program.token_file)}
                await session.attach({"connect": place})
                await session.wait_for(ThreadEvent, since=0)
                way.sendall(encode_frame(json.dumps(words).encode()))
                await session.wait_until_ended()
        async with client() as session:  # the program runs on without it
            await session.attach(program.connect)
            await session.add_breakpoint(tmp_path / "prog.py", 5)
            await session.next_stop()
        assert not trap.exists()
