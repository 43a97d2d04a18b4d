"""Another user of the machine tries to get into an adapter that root serves on a port."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dapkit import limits
from dapkit.client import Ended, Session
from dapkit.transport.private_files import token_file
from e2e.transport.strangers import NOBODY

pytestmark = pytest.mark.usefixtures("root")

STRANGER = """
import hmac, json, os, socket, sys
port, token_file, trap, silent, user = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
os.setgroups([]); os.setgid(user); os.setuid(user)

def frames(*commands):
    for number, (command, arguments) in enumerate(commands, 1):
        body = json.dumps({"seq": number, "type": "request", "command": command, "arguments": arguments}).encode()
        yield b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body)

def connected():
    visit = socket.socket()
    visit.connect(("127.0.0.1", port))
    return visit

def answer_to(data):
    with connected() as visit:
        visit.sendall(data)
        return visit.recv(10000)

try:
    open(token_file)
except PermissionError:
    print("may not read the token")
attack = b"".join(frames(("initialize", {"adapterID": "x"}), ("launch", {"code": f"open({trap!r}, 'w')"})))
assert b"has to be dapkit/authenticate" in answer_to(attack)
for _ in range(20):
    with connected() as quick:  # its owner is known to nobody once it is closed
        quick.sendall(attack)
nonce = "0" * 64
with connected() as guess:
    asked, shown = frames(("dapkit/authenticate", {"nonce": nonce}), ("dapkit/authenticate", {"proof": nonce}))
    guess.sendall(asked)
    assert b'"proof"' in guess.recv(10000)
    guess.sendall(shown)
    assert b"the token is not this server's" in guess.recv(10000)
held = [connected() for _ in range(silent)]
print("waits", flush=True)
sys.stdin.read()
"""


@contextmanager
def stranger(port: int, trap: Path) -> Iterator[subprocess.Popen[str]]:
    """Run the other user's program until it holds its connections."""
    arguments = [port, token_file(port), trap, limits.UNADMITTED_CONNECTIONS + 436, NOBODY]
    command = [sys.executable, "-c", STRANGER, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "may not read the token\n"
        assert process.stdout.readline() == "waits\n"
        yield process


@pytest.fixture
def served() -> Iterator[int]:
    """Return the port of an adapter, which ends in order when it is told to."""
    command = [sys.executable, "-m", "dapkit.python", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        yield int(server.stdout.readline().rpartition(":")[2])
        server.terminate()
        assert server.wait(30) == 0


@pytest.mark.thorough
async def test_port_is_closed_to_another_user_and_open_to_its_own_meanwhile(served: int, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    with stranger(served, trap) as visitor:
        async with Session.connect("127.0.0.1", served) as session:
            await session.launch({"code": "x = 1"})
            assert await session.wait_until_ended() == Ended(0)
        visitor.communicate()
        assert visitor.returncode == 0
    assert not trap.exists()
