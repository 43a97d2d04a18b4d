"""Standard input and output taken over by real processes, over each kind of file that they can be."""

import fcntl
import os
import pty
import socket
import subprocess
import sys
import termios
import textwrap
from pathlib import Path

import anyio
import pytest

from dapkit.transport import spawn

ECHO = """
import anyio
from dapkit.transport import stdio
async def main():
    async with stdio() as stream:
        async for data in stream:
            await stream.send(data)
anyio.run(main)
"""

NOISY = """
import anyio, os, ctypes, subprocess, sys
sys.stdout.write("buffered before\\n")
old = sys.stdout
libc = ctypes.CDLL(None)
from dapkit.transport import stdio
async def main():
    async with stdio() as stream:
        print("printed", flush=True)
        print("printed to the old object", file=old)
        os.write(1, b"raw\\n")
        libc.puts(b"from C")
        subprocess.run(["echo", "from a child"], check=True)
        await stream.send(await stream.receive())
    print("after", flush=True)
anyio.run(main)
"""


def python(program: str) -> list[str]:
    return [sys.executable, "-I", "-c", textwrap.dedent(program)]  # -I: whatever PYTHON... variables are set here


async def test_ten_megabytes_go_both_ways_at_once() -> None:
    message = os.urandom(1024) * 10 * 1024
    received = bytearray()
    async with spawn(python(ECHO)) as child, anyio.create_task_group() as tasks:

        async def send() -> None:
            await child.stream.send(message)
            await child.stream.send_eof()

        tasks.start_soon(send)
        async for data in child.stream:
            received += data
    assert received == message


async def test_stray_prints_go_to_stderr_and_never_into_the_protocol() -> None:
    received = bytearray()
    async with spawn(python(NOISY)) as child:
        await child.stream.send(b"protocol ")
        async for data in child.stream:
            received += data
        assert await child.wait() == 0
        noise = child.stderr_tail().splitlines()
    assert received == b"protocol after\n"
    assert sorted(noise) == [
        "buffered before",
        "from C",
        "from a child",
        "printed",
        "printed to the old object",
        "raw",
    ]


async def test_program_finds_an_empty_standard_input() -> None:
    program = """
        import anyio, subprocess, sys
        from dapkit.transport import stdio
        async def main():
            async with stdio() as stream:
                assert sys.stdin.read() == ""
                assert subprocess.run(["cat"], capture_output=True).stdout == b""
                await stream.send(await stream.receive())
        anyio.run(main)
    """
    async with spawn(python(program)) as child:
        await child.stream.send(b"for the protocol")
        assert await child.stream.receive() == b"for the protocol"


async def test_children_inherit_none_of_the_private_descriptors() -> None:
    program = """
        import anyio, subprocess
        from dapkit.transport import stdio
        async def main():
            async with stdio() as stream:
                names = subprocess.run(["ls", "/proc/self/fd"], capture_output=True, text=True, close_fds=False).stdout
                await stream.send(repr(names.split()).encode())
        anyio.run(main)
    """
    async with spawn(python(program)) as child:
        assert await child.stream.receive() == b"['0', '1', '2', '3']"  # 3 is the folder itself


@pytest.mark.thorough
def test_one_socket_serves_as_input_and_output() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, subprocess.Popen(python(ECHO), stdin=theirs.fileno(), stdout=theirs.fileno()):
        theirs.close()
        message = os.urandom(100_000)
        ours.sendall(message)
        received = b""
        while len(received) < len(message):
            received += ours.recv(65536)
        assert received == message
        assert not fcntl.fcntl(ours, fcntl.F_GETFL) & os.O_NONBLOCK
        ours.shutdown(socket.SHUT_WR)


def test_shared_pipe_keeps_its_blocking_mode() -> None:
    reading, writing = os.pipe()
    with subprocess.Popen(python(ECHO), stdin=subprocess.PIPE, stdout=writing) as process:
        assert process.stdin is not None
        process.stdin.write(b"x")
        process.stdin.flush()
        assert os.read(reading, 1) == b"x"
        assert not fcntl.fcntl(writing, fcntl.F_GETFL) & os.O_NONBLOCK
        process.stdin.close()
    os.close(reading)
    os.close(writing)


def test_shared_terminal_keeps_its_blocking_mode() -> None:
    master, terminal = pty.openpty()
    attributes = termios.tcgetattr(terminal)
    with subprocess.Popen(python(ECHO), stdin=terminal, stdout=terminal) as process:
        os.write(master, b"line\n")
        received = b""
        while received.count(b"line") < 2:  # the terminal's own echo, and ours
            received += os.read(master, 100)
        assert not fcntl.fcntl(terminal, fcntl.F_GETFL) & os.O_NONBLOCK
        os.write(master, b"\x04")  # end of input
        assert process.wait() == 0
    assert termios.tcgetattr(terminal) == attributes
    os.close(master)
    os.close(terminal)


def test_files_serve_as_input_and_output(tmp_path: Path) -> None:
    message = os.urandom(200_000)
    (tmp_path / "in").write_bytes(message)
    (tmp_path / "out").write_bytes(b"before ")
    with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("ab") as target:
        subprocess.run(python(ECHO), stdin=source, stdout=target, check=True)
    assert (tmp_path / "out").read_bytes() == b"before " + message


@pytest.mark.skipif(os.getuid() != 0, reason="changing the user needs root")
def test_pipe_of_another_user_is_written_without_blocking() -> None:
    program = "import anyio._backends._asyncio, dapkit.transport, os; os.setuid(65534)\n" + ECHO
    with subprocess.Popen(python(program), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.communicate(b"x" * 200_000)[0] == b"x" * 200_000


def test_peer_that_stops_reading_breaks_the_stream() -> None:
    program = """
        import anyio, sys
        from dapkit.transport import stdio
        async def main():
            async with stdio() as stream:
                await stream.receive()
                try:
                    await stream.send(b"x" * 1_000_000)
                except anyio.BrokenResourceError:
                    print("broken")
        anyio.run(main)
    """
    with subprocess.Popen(
        python(program), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(b"go")
        process.stdin.close()
        assert process.stderr.read() == b"broken\n"


def test_process_without_stderr_keeps_the_protocol_clean() -> None:
    program = """
        import anyio, os
        from dapkit.transport import stdio
        async def main():
            async with stdio() as stream:
                print("printed")
                os.write(1, b"raw")
                await stream.send(await stream.receive())
        anyio.run(main)
    """
    shell = ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", *python(program)]
    done = subprocess.run(shell, input=b"protocol", stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"protocol"


@pytest.mark.parametrize(("closed", "name"), [("<&-", "input"), (">&-", "output")])
def test_closed_descriptor_is_a_clear_error(closed: str, name: str) -> None:
    shell = f"{sys.executable} -c 'from dapkit.transport import stdio; stdio()' {closed}"
    done = subprocess.run(["/bin/sh", "-c", shell], capture_output=True, text=True, check=False)
    assert f"TransportError: standard {name} is closed" in done.stderr


def test_second_taker_is_refused_and_a_later_one_is_not() -> None:
    program = """
        import anyio
        from dapkit.transport import TransportError, stdio
        async def main():
            async with stdio():
                try:
                    stdio()
                except TransportError as error:
                    print(error)
            async with stdio() as again:
                await again.send(b"again")
        anyio.run(main)
    """
    done = subprocess.run(python(program), capture_output=True, check=True, stdin=subprocess.DEVNULL)
    assert done.stdout == b"again"
    assert b"in use by another stream" in done.stderr


@pytest.mark.thorough
def test_send_eof_is_seen_by_the_peer_while_input_goes_on() -> None:
    program = """
        import anyio, sys
        from dapkit.transport import stdio
        async def main():
            async with stdio() as stream:
                await stream.send(b"last word")
                await stream.send_eof()
                print((await stream.receive()).decode())
        anyio.run(main)
    """
    with subprocess.Popen(
        python(program), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read() == b"last word"
        process.stdin.write(b"heard")
        process.stdin.close()
        assert process.stderr.read() == b"heard\n"
