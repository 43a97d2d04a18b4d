"""What programs ask of their debugger: `dapkit.listen`, `wait_for_client`, `breakpoint` and their like."""

import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import anyio.lowlevel
import pytest

from dapkit.client import StartRefused
from dapkit.protocol import encode_frame
from dapkit.python.debuggee.interpreter import limits
from e2e.python.adapter_client import AdapterClient
from e2e.python.listening_program import SOURCES, Listening, client, running
from e2e.transport.strangers import fate_of_another_user

pytestmark = pytest.mark.row("attach")

WAITS = """
    import os, sys, time
    import dapkit

    place = dapkit.listen({listen})
    print(place, dapkit.is_client_connected(), flush=True)
    while not os.path.exists("go"):
        time.sleep(0.01)
"""


@pytest.mark.each_python
def test_import_is_cheap_and_brings_nothing(python: str) -> None:
    text = """
import sys
before = set(sys.modules)
import dapkit
print(sorted(set(sys.modules) - before), dapkit.is_client_connected())
dapkit.breakpoint()
print(sorted(set(sys.modules) - before))
"""
    answer = subprocess.run(
        [python, "-c", text], env={"PYTHONPATH": str(SOURCES)}, capture_output=True, text=True, check=True
    )
    ours = ("program_api", "program_api.in_program", "program_api.presenters", "system", "system.original_parent")
    brought = ["dapkit", *(f"dapkit.{name}" for name in ours)]
    assert answer.stdout == f"{brought} False\n{brought}\n"


@pytest.mark.each_python
def test_listening_brings_hardly_anything_of_the_standard_library(python: str) -> None:
    text = """
import sys
before = set(sys.modules)
import dapkit
dapkit.listen(0)
print(sorted(name for name in set(sys.modules) - before if not name.startswith("dapkit")))
"""
    answer = subprocess.run(
        [python, "-c", text], env={"PYTHONPATH": str(SOURCES)}, capture_output=True, text=True, check=True
    )
    assert answer.stdout in {"['errno']\n", "[]\n"}  # Python 3.14 has it anyway


@pytest.mark.thorough
async def test_program_waits_for_a_client_that_has_set_its_breakpoints(tmp_path: Path, python: str) -> None:
    text = """
        import dapkit
        dapkit.listen()
        dapkit.wait_for_client()
        print(dapkit.is_client_connected())
    """
    with running(text, tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            await session.add_breakpoint(program.file, 4)
            await session.attach(program.connect)
            await session.next_stop()
            await session.resume()
        assert program.line() == "True"
        assert program.process.wait(30) == 0


STOPS = """
    import dapkit, sys
    def stop():
        here = 1
        breakpoint()
        return here
    dapkit.listen()
    stop()
    dapkit.wait_for_client()
    stop()
    print("done")
"""


@pytest.mark.thorough
@pytest.mark.each_python
@pytest.mark.parametrize("how", ["dapkit.breakpoint()", "breakpoint()", "variable"])
async def test_breakpoint_stops_in_its_caller_if_a_client_is_there(tmp_path: Path, python: str, how: str) -> None:
    text = STOPS.replace("breakpoint()", "dapkit.breakpoint()" if how == "dapkit.breakpoint()" else "breakpoint()")
    if how == "breakpoint()":
        text = text.replace("    stop()\n    dapkit.wait", "    dapkit.wait", 1)  # the debugger of Python would start
    env = {"PYTHONBREAKPOINT": "dapkit.breakpoint"} if how == "variable" else {}
    with running(text, tmp_path, python, env=env) as program:
        program.read_place()
        async with client() as session:
            await session.attach(program.connect)
            stop = await session.next_stop()
            [frame, caller] = (await session.stack_trace(1)).stack_frames
            assert (stop.reason, frame.name, frame.line, caller.name) == ("breakpoint", "stop", 4, "<module>")
            await session.next(1)
            await session.next_stop()
            [frame, _] = (await session.stack_trace(1)).stack_frames
            assert frame.line == 5
            await session.resume()
        assert program.line() == "done"
        assert program.process.wait(30) == 0


@pytest.mark.each_python
async def test_breakpoint_stops_in_a_launched_program_as_well(driver: AdapterClient, python: str) -> None:
    await driver.start("def f():\n    breakpoint()\n    return 1\nf()\n", python=python)
    await driver.session.next_stop()
    assert await driver.where() == ("f", 2)


async def test_launched_program_cannot_listen(driver: AdapterClient) -> None:
    await driver.run("import dapkit\ntry:\n    dapkit.listen()\nexcept RuntimeError as error:\n    print(error)\n")
    assert driver.output("stdout") == "the program was launched by a debugger; it can have only one\n"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("dapkit.listen(('0.0.0.0', 0))", "ValueError: 0.0.0.0 can be reached from other machines"),
        ("dapkit.listen([1])", "ValueError: [1] is not an address"),
        ("dapkit.listen(); dapkit.listen()", "RuntimeError: the program listens for clients, or is connected"),
        ("dapkit.connect(1)", "ConnectionRefusedError"),
        (
            "dapkit.wait_for_client()",
            "RuntimeError: no client can attach: call dapkit.listen() or dapkit.connect() first",
        ),
        ("dapkit.listen(token_file='/nowhere')", "FileNotFoundError"),
        ("dapkit.listen(token='a', token_file='b')", "ValueError: token and token_file say the same"),
        ("dapkit.listen(token='')", "ValueError: the token is empty"),
        ("dapkit.listen('socket', token='a')", "ValueError: a unix socket asks for no token"),
    ],
)
def test_calls_that_cannot_be_are_refused(call: str, error: str, python: str) -> None:
    answer = subprocess.run(
        [python, "-c", f"import dapkit\n{call}"],
        env={"PYTHONPATH": str(SOURCES)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert error in answer.stderr.splitlines()[-1]


# Who is let in


def exchange(program: Listening, *frames: bytes) -> bytes:
    """Say something at the port, and return all that comes until the connection is closed."""
    with socket.create_connection(("127.0.0.1", program.port), timeout=20) as connection:
        for frame in frames:
            connection.sendall(frame)
        heard = b""
        while data := connection.recv(4096):
            heard += data
        return heard


def request(command: str, arguments: str = "{}") -> bytes:
    text = f'{{"seq":1,"type":"request","command":"{command}","arguments":{arguments}}}'
    return encode_frame(text.encode())


NONCE = '{"nonce":"%s"}' % ("0" * 64)
PROOF = '{"proof":"%s"}' % ("0" * 64)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("frame", "told"),
    [
        (request("initialize"), b"the first request has to be dapkit/authenticate, by which a client proves"),
        (request("dapkit/authenticate"), b"the first request has to be dapkit/authenticate"),
        (request("dapkit/authenticate", '{"token":"guess"}'), b"the first request has to be dapkit/authenticate"),
        (request("dapkit/authenticate", '{"nonce":7}'), b"the first request has to be dapkit/authenticate"),
        (request("dapkit/authenticate", NONCE) + request("dapkit/authenticate"), b"the token is not the program's"),
        (request("dapkit/authenticate", NONCE) + request("initialize"), b"the token is not the program's token"),
        (
            request("dapkit/authenticate", NONCE) + request("dapkit/authenticate", PROOF),
            b"the token is not the program's",
        ),
        (encode_frame(b'{"seq":1,"type":"event","event":"x"}'), b""),
        (encode_frame(b"[1]"), b""),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b""),
        (b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", b""),
        (b"Content-Length: 100000\r\n\r\n" + b" " * 5000, b""),
    ],
)
def test_stranger_is_answered_if_that_makes_sense_and_closed(tmp_path: Path, frame: bytes, told: bytes) -> None:
    with running(WAITS.format(listen=""), tmp_path, sys.executable) as program:
        program.read_place()
        heard = exchange(program, frame)
        assert told in heard
        assert bool(heard) == bool(told)
        program.go()
        assert program.process.wait(30) == 0


def test_browser_gets_nothing(tmp_path: Path) -> None:
    with running(WAITS.format(listen=""), tmp_path, sys.executable) as program:
        program.read_place()
        connection = http.client.HTTPConnection("127.0.0.1", program.port, timeout=20)
        connection.request("POST", "/", body=request("dapkit/authenticate"))
        with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
            connection.getresponse()


def test_token_is_in_a_file_of_ours_and_nowhere_else(tmp_path: Path, python: str) -> None:
    with running(WAITS.format(listen=""), tmp_path, python) as program:
        program.read_place()
        token = program.token_file.read_text()
        assert len(token) >= 40
        assert program.token_file.stat().st_mode & 0o777 == 0o600
        assert program.token_file.parent.stat().st_mode & 0o777 == 0o700
        assert program.token_file.stat().st_uid == os.geteuid()
        for place in ("cmdline", "environ"):
            assert token.encode() not in Path(f"/proc/{program.process.pid}/{place}").read_bytes()
        program.go()
        program.process.wait(30)
        assert not program.token_file.exists()


def test_token_of_a_program_that_was_killed_goes_with_the_next_one(tmp_path: Path, python: str) -> None:
    alone = {"XDG_RUNTIME_DIR": str(tmp_path)}  # nobody else cleans up in here
    with running(WAITS.format(listen=""), tmp_path, python, env=alone) as living:
        living.read_place()
        with running(WAITS.format(listen=""), tmp_path, python, env=alone) as killed:
            killed.read_place()
        assert killed.process.returncode == -signal.SIGKILL
        assert killed.token_file.exists()
        with running(WAITS.format(listen=""), tmp_path, python, env=alone) as following:
            following.read_place()
            assert not killed.token_file.exists() or killed.token_file == following.token_file
            assert living.token_file.exists()


@pytest.mark.thorough
async def test_token_of_ones_own_is_shown_from_a_file(tmp_path: Path, python: str) -> None:
    secret = tmp_path / "secret"
    secret.touch(0o600)
    secret.write_text("from a file\n")
    with running(WAITS.format(listen="token_file='secret'"), tmp_path, python) as program:
        program.read_place()
        assert program.token_file == Path("/nowhere")
        async with client() as session:
            with pytest.raises(StartRefused, match="the first request has to be dapkit/authenticate"):
                await session.attach(program.connect)
        async with client() as session:
            place = {"host": "127.0.0.1", "port": program.port, "tokenFile": str(secret)}
            await session.attach({"connect": place})
            assert (await session.threads()).threads


async def test_silent_connections_lock_no_client_out(tmp_path: Path, python: str) -> None:
    with running(WAITS.format(listen="token=None"), tmp_path, python) as program, ExitStack() as strangers:
        program.read_place()
        silent = [
            strangers.enter_context(socket.create_connection(("127.0.0.1", program.port)))
            for _ in range(limits.PENDING_CONNECTIONS + 84)
        ]
        async with client() as session:
            await session.attach(program.connect)
            assert (await session.threads()).threads
        silent[0].settimeout(30)
        assert silent[0].recv(1) == b""


async def test_program_that_does_not_know_the_token_gets_nothing_of_it(tmp_path: Path, python: str) -> None:
    """Somebody else has taken the port of a program that has ended."""
    secret = tmp_path / "secret"
    secret.touch(0o600)
    secret.write_text("of the program that should be there")
    with running(WAITS.format(listen="token='another one'"), tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            place = {"host": "127.0.0.1", "port": program.port, "tokenFile": str(secret)}
            with pytest.raises(StartRefused, match="the server did not prove that it knows the token"):
                await session.attach({"connect": place})


def test_program_proves_nothing_to_a_debugger_that_does_not_know_the_token(tmp_path: Path, python: str) -> None:
    """Somebody else has taken the port where a debugger was to wait."""
    with running(WAITS.format(listen="token='another one'"), tmp_path, python) as listening:
        listening.read_place()
        answer = subprocess.run(
            [python, "-c", f"import dapkit; dapkit.connect({listening.port}, token='the token')"],
            env={"PYTHONPATH": str(SOURCES)},
            check=False,
            capture_output=True,
            text=True,
        )
    assert "RuntimeError: the peer did not prove that it knows the token" in answer.stderr


@pytest.mark.parametrize(("mode", "accepted"), [(0o755, True), (0o777, False), (0o1777, True)])
def test_unix_socket_lies_where_nobody_else_can_put_another(
    tmp_path: Path, python: str, mode: int, *, accepted: bool
) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(mode)
    answer = subprocess.run(
        [python, "-c", "import dapkit; print(dapkit.listen('shared/socket'))"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(SOURCES)},
        check=False,
        capture_output=True,
        text=True,
    )
    if accepted:
        assert answer.stdout == "shared/socket\n"
    else:
        place = f"ValueError: others could take the place of a socket at shared/socket: everybody can write to {folder}"
        assert place in answer.stderr


@pytest.mark.usefixtures("root")
def test_unix_socket_is_closed_to_other_users_whatever_its_mode(tmp_path: Path) -> None:
    folder = Path(tempfile.mkdtemp(dir="/tmp"))  # others can get in here, but not into `tmp_path`
    try:
        folder.chmod(0o755)
        with running(WAITS.format(listen=repr(str(folder / "socket"))), tmp_path, sys.executable) as program:
            program.read_place()
            (folder / "socket").chmod(0o666)
            assert fate_of_another_user(str(folder / "socket")) in ("closed", "ConnectionResetError", "BrokenPipeError")
    finally:
        shutil.rmtree(folder)


async def test_program_can_listen_on_a_unix_socket(tmp_path: Path, python: str) -> None:
    with running(WAITS.format(listen="'door'"), tmp_path, python) as program:
        program.read_place()
        assert (tmp_path / "door").stat().st_mode & 0o777 == 0o600
        async with client() as session:
            await session.attach({"socket": str(tmp_path / "door")})
            assert (await session.threads()).threads
            await session.detach()
        program.go()
        assert program.process.wait(30) == 0
        assert not (tmp_path / "door").exists()


@pytest.mark.each_python
@pytest.mark.thorough
async def test_child_of_a_fork_leaves_the_door_to_its_parent(tmp_path: Path, python: str) -> None:
    text = """
        import os, time
        import dapkit
        dapkit.listen()
        dapkit.wait_for_client()
        child = os.fork()
        if child == 0:
            x = 1
            os._exit(7)
        print(os.waitpid(child, 0)[1] >> 8, flush=True)
        while not os.path.exists("go"):
            time.sleep(0.01)
    """
    with running(text, tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            await session.add_breakpoint(program.file, 7)
            await session.attach({**program.connect, "subProcess": False})
            assert program.line() == "7"
            assert (await session.threads()).threads
        async with client() as session:
            await session.attach(program.connect)
            assert (await session.threads()).threads


@pytest.mark.each_python
async def test_stopped_threads_are_all_there_and_all_go_on(tmp_path: Path, python: str) -> None:
    text = """
        import os, threading, time
        import dapkit
        dapkit.listen()
        def work():
            while not os.path.exists("go"):
                time.sleep(0.01)
        threads = [threading.Thread(target=work, name=f"worker {n}") for n in range(3)]
        for thread in threads:
            thread.start()
        open("begun", "w").close()
        work()
    """
    with running(text, tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            await session.attach(program.connect)
            while not (tmp_path / "begun").exists():
                await anyio.lowlevel.checkpoint()
            await session.pause(1)
            await session.next_stop()
            names = {thread.name for thread in (await session.threads()).threads}
            assert names == {"MainThread", "worker 0", "worker 1", "worker 2"}
            await session.detach()
        program.go()
        assert program.process.wait(30) == 0
