"""Each system answers the same questions; Linux can be asked in the way of other POSIX systems as well."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from dapkit.system.interface import System
from dapkit.system.linux import Linux
from dapkit.system.posix import Posix

pytestmark = pytest.mark.timeout(300)

WAITING = "import sys; sys.stdout.write('x'); sys.stdout.flush(); sys.stdin.read()"


@pytest.fixture(params=[Linux, Posix])
def system(request: pytest.FixtureRequest) -> System:
    made: System = request.param()
    return made


@pytest.fixture
def child(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that waits for the end of its input."""
    env = {**os.environ, "MARKED": "by the test"}
    with subprocess.Popen([sys.executable, "-c", WAITING], cwd=tmp_path, env=env, stdin=-1, stdout=-1) as process:
        assert process.stdout is not None
        assert process.stdout.read(1) == b"x"
        yield process
        process.kill()


def until_ended(system: System, pid: int) -> int:
    """Return the exit code of a child once it has ended."""
    with system.open_process(pid) as process:
        assert process.has_ended(120)
    code = system.exit_code(pid)
    assert code is not None
    return code


def test_facts_of_a_process(system: System, child: subprocess.Popen[bytes], tmp_path: Path) -> None:
    assert system.exists(child.pid)
    assert child.pid in system.pids()
    assert system.parents()[child.pid] == os.getpid()
    assert child.pid in system.descendants(os.getpid())
    assert Path(system.folder_of(child.pid)) == tmp_path
    assert Path(system.executable_of(child.pid)) == Path(sys.executable).resolve()
    assert Path(system.program_file(child.pid)).read_bytes() == Path(sys.executable).read_bytes()
    assert WAITING in system.command_of(child.pid)
    assert system.has_in_environment(child.pid, b"MARKED=by the test")
    assert not system.has_in_environment(child.pid, b"MARKED=by another")
    assert 0 < system.started_at(os.getpid()) < system.started_at(child.pid)
    assert system.shares_files(child.pid)
    assert not system.is_exiting(child.pid)


def test_a_suspended_process_is_known(system: System, child: subprocess.Popen[bytes]) -> None:
    assert not system.is_suspended(child.pid)
    child.send_signal(signal.SIGSTOP)
    os.waitpid(child.pid, os.WUNTRACED)
    assert system.is_suspended(child.pid)


def test_the_end_of_a_child_is_noticed_before_it_is_reaped(system: System, child: subprocess.Popen[bytes]) -> None:
    assert system.exit_code(child.pid) is None
    with system.open_process(child.pid) as process:
        assert not process.has_ended()
        process.send(signal.SIGTERM)
        assert process.has_ended(120)
        with suppress(ProcessLookupError):  # one that is not reaped takes signals, to the kernel
            process.send(signal.SIGTERM)
    assert system.exit_code(child.pid) == -signal.SIGTERM
    assert system.exists(child.pid)
    system.reap(child.pid)
    child.returncode = -signal.SIGTERM  # it was reaped behind the back of Popen
    assert not system.exists(child.pid)
    assert system.is_exiting(child.pid)
    with pytest.raises(ProcessLookupError):
        system.open_process(child.pid)


def test_an_exit_code_is_one(system: System) -> None:
    process = subprocess.Popen([sys.executable, "-c", "raise SystemExit(7)"])
    assert until_ended(system, process.pid) == 7
    system.reap(process.pid)
    process.returncode = 7


@pytest.mark.parametrize("fact", ["folder_of", "executable_of", "command_of", "started_at"])
def test_of_a_process_that_has_ended_there_are_no_facts(system: System, fact: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    with pytest.raises(OSError, match=str(process.pid)):
        getattr(system, fact)(process.pid)


@pytest.mark.parametrize("pid", [0, -1])
def test_a_number_that_stands_for_a_group_is_no_process(system: System, pid: int) -> None:
    with pytest.raises((ProcessLookupError, OSError)):
        system.open_process(pid)


def test_a_socket_file_is_ours_alone(system: System, tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as connecting:
        system.bind_private(listening, str(path))
        listening.listen()
        assert path.stat().st_mode & 0o777 == 0o600
        connecting.connect(str(path))
        assert system.peer_of(connecting)[1] == os.geteuid()
        assert system.peer_of(connecting)[0] in {0, os.getpid()}


def test_a_listener_is_found_by_its_port(system: System) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert system.process_listening_on(port) == os.getpid()
        assert port in system.listening_ports(os.getpid())
    assert port not in system.listening_ports(os.getpid())


def test_a_connection_is_held_by_a_session_or_not(system: System) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as ours:
        assert system.is_held_by_session(ours, os.getsid(0)) in {None, True}  # nobody has accepted it
        theirs, _ = server.accept()
        with theirs:
            assert system.is_held_by_session(ours, os.getsid(0)) is True
            assert not system.is_held_by_session(ours, 2**30)
