"""The parent of a launched program, in C and in Python, asked as the adapter asks it."""

import fcntl
import os
import signal
import socket
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from dapkit.python.adapter.launch import supervisor_main
from dapkit.python.adapter.launch.supervisor import parent_command, start_order
from dapkit.python.adapter.launch.supervisor_main import KILL, RELEASE, REPLACE, RESUME, TERMINATE
from e2e.python.processes import runs

SECONDS = 30.0


@pytest.fixture(params=["C", "Python"])
def parent_argv(request: pytest.FixtureRequest) -> list[str]:
    """Return the command of a parent, as far as the place where it reaches the adapter."""
    if request.param == "Python":
        return [sys.executable, "-I", "-S", supervisor_main.__file__]
    argv = parent_command("")[:-1]
    assert Path(argv[0]).name == "dapkit-supervisor"  # it was built with the package: tools/build_native.py
    return argv


class Parent:
    """A parent process, and our end of its socket."""

    def __init__(self, process: subprocess.Popen[str], adapter: socket.socket) -> None:
        self.process = process
        self._adapter = adapter
        self._reports = adapter.makefile("r")

    def start(self, argv: Sequence[str], sockets: Sequence[Path] = ()) -> int:
        """Have it start a program; return its process."""
        self.ask(start_order(argv, sockets))
        return int(self.report().removeprefix("started "))

    def ask(self, order: bytes) -> None:
        """Send something."""
        self._adapter.sendall(order)

    def ask_in_parts(self, *parts: bytes) -> None:
        """Send something in parts, each once the one before was read."""
        for part in parts:
            self.ask(part)
            wait_until(lambda: fcntl.ioctl(self._adapter, termios.TIOCOUTQ, bytes(4)) == bytes(4))

    def report(self) -> str:
        """Return the next report."""
        return self._reports.readline().rstrip("\n")

    def hang_up(self) -> None:
        """Close the socket, as the system does when the adapter is killed."""
        self._reports.close()
        self._adapter.close()


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for what nothing can be waited for that would say so."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        os.sched_yield()


def wait_ended(pid: int) -> None:
    """Wait until a process has ended that is not ours."""
    wait_until(lambda: not runs(pid))


@contextmanager
def parent_of(argv: list[str], *, before: Sequence[str] = (), env: Mapping[str, str] | None = None) -> Iterator[Parent]:
    """Start a parent, which is to end by itself within the block."""
    ours, theirs = socket.socketpair()
    ours.settimeout(SECONDS)
    command = [*before, *argv, f"fd:{theirs.fileno()}"]
    with (
        ours,
        subprocess.Popen(
            command, pass_fds=[theirs.fileno()], start_new_session=not before, env=env, stdin=-1, stdout=-1, text=True
        ) as process,
    ):
        theirs.close()
        parent = Parent(process, ours)
        try:
            yield parent
        finally:
            parent.hang_up()


def test_parent_ends_as_its_program_and_kills_what_that_has_left_when_it_is_asked_to(parent_argv: list[str]) -> None:
    with parent_of(parent_argv) as parent:
        parent.start(["/bin/sh", "-c", "setsid sh -c 'sleep 60 >/dev/null & echo $!' & wait; exit 3"])
        assert parent.process.stdout is not None
        daemon = int(parent.process.stdout.readline())
        assert parent.report() == f"ended 3 {daemon}"
        assert runs(daemon)
        parent.ask(KILL)
        assert parent.process.wait(SECONDS) == 3
        assert not runs(daemon)


def test_all_that_the_program_has_started_ends_with_the_adapter_and_its_sockets_are_removed(
    parent_argv: list[str], tmp_path: Path
) -> None:
    sockets = [tmp_path / "one", tmp_path / "none", tmp_path / "two"]
    for path in (sockets[0], sockets[2]):
        path.touch()
    with parent_of(parent_argv) as parent:
        pid = parent.start(["/bin/sh", "-c", "setsid sh -c 'sleep 60 & echo $!' & exec sleep 60"], sockets)
        assert parent.process.stdout is not None
        daemon = int(parent.process.stdout.readline())
        parent.hang_up()
        assert parent.process.wait(SECONDS) == -signal.SIGKILL
        assert not runs(pid)
        assert not runs(daemon)
        assert not list(tmp_path.iterdir())


def test_released_program_keeps_running_without_the_adapter(parent_argv: list[str], tmp_path: Path) -> None:
    (tmp_path / "one").touch()
    with parent_of(parent_argv) as parent:
        pid = parent.start(["/bin/cat"], [tmp_path / "one"])
        parent.ask(RELEASE)
        parent.hang_up()
        assert parent.process.stdin is not None
        parent.process.stdin.write("still there\n")
        parent.process.stdin.flush()
        assert parent.process.stdout is not None
        assert parent.process.stdout.readline() == "still there\n"
        assert runs(pid)
        parent.process.stdin.close()
        assert parent.process.wait(SECONDS) == 0
        assert (tmp_path / "one").exists()


def test_process_that_came_of_the_program_takes_its_place(parent_argv: list[str]) -> None:
    with parent_of(parent_argv) as parent:
        program = parent.start(["/bin/sh", "-c", "sleep 60 & echo $!; wait"])
        assert parent.process.stdout is not None
        child = int(parent.process.stdout.readline())
        number = child.to_bytes(4)
        parent.ask_in_parts(REPLACE + number[:2], number[2:])
        assert parent.report() == f"replaced {child}"
        wait_ended(program)
        parent.ask(RELEASE)
        os.kill(child, signal.SIGTERM)
        assert parent.report() == "ended -15"
        assert parent.process.wait(SECONDS) == -signal.SIGTERM


def test_program_that_cannot_be_started_is_reported_with_the_number_of_the_error(parent_argv: list[str]) -> None:
    with parent_of(parent_argv) as parent:
        parent.ask(start_order(["/nowhere/program"], sockets=()))
        assert parent.report() == "failed 2"
        assert parent.process.wait(SECONDS) == 127


def test_program_has_the_environment_that_its_parent_was_given(parent_argv: list[str]) -> None:
    environment = {"EMPTY": "", "LC_ALL": "C", "TEXT": "a=b"}
    with parent_of(parent_argv, env=environment) as parent:
        parent.start(["/usr/bin/env"])
        parent.ask(RELEASE)
        assert parent.report() == "ended 0"
        assert parent.process.stdout is not None
        assert parent.process.stdout.read().splitlines() == [f"{name}={text}" for name, text in environment.items()]


def test_program_ignores_no_signals_and_has_the_mask_that_its_parent_was_started_with(parent_argv: list[str]) -> None:
    before = signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    try:
        with parent_of(parent_argv) as parent:
            parent.start(["/bin/cat", "/proc/self/status"])
            parent.ask(RELEASE)
            assert parent.report() == "ended 0"
            assert parent.process.stdout is not None
            status = dict(line.split(":\t") for line in parent.process.stdout.read().splitlines())
    finally:
        signal.signal(signal.SIGUSR2, before)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    blocked, ignored, caught = (
        {number for number in signal.valid_signals() if int(status[name], 16) >> number - 1 & 1}
        for name in ("SigBlk", "SigIgn", "SigCgt")
    )
    assert (blocked, ignored, caught) == ({*mask, signal.SIGUSR1}, set(), set())


def test_program_has_no_descriptors_but_those_its_parent_was_given(parent_argv: list[str]) -> None:
    with parent_of(parent_argv) as parent:
        parent.start(["/bin/sh", "-c", "echo /proc/self/fd/*"])
        parent.ask(RELEASE)
        assert parent.process.stdout is not None
        numbers = [int(Path(path).name) for path in parent.process.stdout.read().split()]
        assert [number for number in numbers if number < 10] == [0, 1, 2, 3]  # the last is that of the folder


def test_parent_has_neither_input_nor_output_of_its_program(parent_argv: list[str]) -> None:
    with parent_of(parent_argv) as parent:
        parent.start(["/bin/sh", "-c", "exec <&- >&- 2>&-; kill -STOP $$"])
        assert parent.process.stdout is not None
        assert parent.process.stdout.read() == ""
        assert parent.report() == "stopped 19"


def test_signals_to_the_parent_are_for_the_group_and_terminate_is_for_the_program(parent_argv: list[str]) -> None:
    says = "trap 'echo {0} got it' {1}; echo ready; while :; do sleep 60 & wait; done"
    with parent_of(parent_argv) as parent:
        child = says.format("child", "INT TERM")
        parent.start(["/bin/sh", "-c", f'sh -c "$0" & read x; {says.format("program", "INT TERM")}', child])
        assert parent.process.stdin is not None
        assert parent.process.stdout is not None
        lines = parent.process.stdout
        assert lines.readline() == "ready\n"
        parent.process.stdin.write("\n")
        parent.process.stdin.flush()
        assert lines.readline() == "ready\n"
        parent.process.send_signal(signal.SIGTERM)
        assert {lines.readline(), lines.readline()} == {"program got it\n", "child got it\n"}
        parent.ask(TERMINATE)
        assert lines.readline() == "program got it\n"
        parent.ask(KILL)
        assert parent.process.wait(SECONDS) == -signal.SIGKILL
        assert lines.read() == ""


def test_parent_of_a_stopped_program_that_is_to_resume_and_release_it_does_both(parent_argv: list[str]) -> None:
    with parent_of(parent_argv) as parent:
        pid = parent.start(["/bin/sleep", "60"])
        os.kill(pid, signal.SIGSTOP)
        assert parent.report() == "stopped 19"
        parent.ask(RESUME + RELEASE)
        assert parent.report() == "continued"
        os.kill(pid, signal.SIGKILL)
        assert parent.report() == "ended -9"
        assert parent.process.wait(SECONDS) == -signal.SIGKILL


def test_order_that_comes_with_the_stop_of_a_job_is_read_once(parent_argv: list[str]) -> None:
    ours, theirs = os.openpty()
    with os.fdopen(ours, "rb"), os.fdopen(theirs, "rb"):
        terminal = os.ttyname(theirs)
        before = ["sh", "-c", f'exec setsid --ctty "$@" <{terminal}', "sh"]
        with parent_of(parent_argv, before=before) as parent:
            program = parent.start(["/bin/sleep", "60"])
            os.kill(parent.process.pid, signal.SIGSTOP)
            os.waitid(os.P_PID, parent.process.pid, os.WSTOPPED | os.WNOWAIT)
            os.kill(program, signal.SIGTSTP)
            wait_until(lambda: Path(f"/proc/{program}/stat").read_text().rpartition(")")[2].split()[0] == "T")
            parent.ask(RESUME)
            os.kill(parent.process.pid, signal.SIGCONT)
            assert parent.report() == "stopped 20"
            assert parent.report() == "continued"
            os.kill(program, signal.SIGKILL)
            assert parent.report() == "ended -9"


def test_parent_that_does_not_reach_the_adapter_says_so(parent_argv: list[str], tmp_path: Path) -> None:
    ran = subprocess.run([*parent_argv, f"unix:{tmp_path}/none"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (1, "the debugger has gone: No such file or directory\n")
