"""The answers of Windows about processes, jobs, sockets and files."""

import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from ctypes import wintypes
from pathlib import Path

import psutil
import pytest

assert sys.platform == "win32"  # and so the types of Windows hold below

from dapkit.system.file_owner import stranger_who_owns  # noqa: E402 - there is none for other systems
from dapkit.system.files import lock, open_private, open_to_lock  # noqa: E402 - it comes after that
from dapkit.system.this_system import SYSTEM  # noqa: E402 - the same

pytestmark = pytest.mark.timeout(300)

PATIENCE = 60.0
SLEEPS = "import time; time.sleep(300)"
STARTS_ANOTHER = (
    "import subprocess, sys, time\n"
    f"child = subprocess.Popen([sys.executable, '-c', {SLEEPS!r}])\n"
    "print(child.pid, flush=True)\n"
    "time.sleep(300)"
)

type Start = Callable[[str], "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Return a function that starts code in a process."""
    processes: list[subprocess.Popen[str]] = []

    def started(code: str) -> "subprocess.Popen[str]":
        pipe = subprocess.PIPE
        processes.append(subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, text=True))
        return processes[-1]

    yield started
    for process in processes:
        process.kill()
        process.communicate()


def test_end_of_a_process_is_noticed(start: Start) -> None:
    process = start(SLEEPS)
    with SYSTEM.open_process(process.pid) as handle:
        assert not handle.has_ended()
        assert SYSTEM.exit_code(process.pid) is None
        descriptor = handle.descriptor
        assert select.select([descriptor], [], [], 0)[0] == []
        handle.send(signal.SIGTERM)
        assert handle.has_ended(PATIENCE)
        assert select.select([descriptor], [], [], PATIENCE)[0] == [descriptor]
        with pytest.raises(ProcessLookupError):
            handle.send(signal.SIGTERM)


def test_exit_code_is_known_after_the_end(start: Start) -> None:
    process = start("import os; os._exit(7)")
    with SYSTEM.open_process(process.pid) as handle:
        assert handle.has_ended(PATIENCE)
        assert SYSTEM.exit_code(process.pid) == 7
    assert SYSTEM.is_exiting(process.pid)


def test_process_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ProcessLookupError):
        SYSTEM.open_process(0)
    with pytest.raises(ProcessLookupError):
        SYSTEM.open_process(0x7FFF_FFF0)
    assert not SYSTEM.exists(0x7FFF_FFF0)


def test_facts_about_a_process(start: Start) -> None:
    process = start(STARTS_ANOTHER)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    assert SYSTEM.descendants(process.pid) == [child]
    assert Path(SYSTEM.executable_of(process.pid)).name.lower() == "python.exe"
    assert SYSTEM.command_of(process.pid)[1:] == ["-c", STARTS_ANOTHER]
    psutil.Process(child).kill()


def test_job_ends_with_all_that_its_processes_have_started(start: Start) -> None:
    job = SYSTEM.new_job()
    assert job is not None
    process = start(f"input()\n{STARTS_ANOTHER}")
    job.take(process.pid)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")  # it is in the job by now
    process.stdin.flush()
    child = int(process.stdout.readline())
    job.close()
    deadline = time.monotonic() + PATIENCE
    while psutil.pid_exists(child) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not psutil.pid_exists(child)
    process.wait(PATIENCE)


def test_process_that_listens_at_a_port_is_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        assert SYSTEM.process_listening_on(port) == os.getpid()
        assert port in SYSTEM.listening_ports(os.getpid())


def test_folder_is_locked_for_other_processes(tmp_path: Path, start: Start) -> None:
    descriptor = open_to_lock(str(tmp_path))
    assert lock(descriptor)
    tries = (
        f"from dapkit.system.files import lock, open_to_lock\nprint(lock(open_to_lock({str(tmp_path)!r}), waits=False))"
    )
    assert start(tries).communicate(timeout=PATIENCE)[0] == "False\n"
    os.close(descriptor)
    assert start(tries).communicate(timeout=PATIENCE)[0] == "True\n"


def test_own_files_belong_to_no_stranger(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert stranger_who_owns(str(file)) is None
    with pytest.raises(OSError, match="2"):
        stranger_who_owns(str(tmp_path / "missing"))


def access_list(file: Path) -> str:
    """Return who may do what with a file, in the notation of Windows."""
    security = ctypes.WinDLL("advapi32")
    size, text = wintypes.DWORD(), wintypes.LPWSTR()
    security.GetFileSecurityW(str(file), 4, None, 0, ctypes.byref(size))
    descriptor = ctypes.create_string_buffer(size.value)
    assert security.GetFileSecurityW(str(file), 4, descriptor, size, ctypes.byref(size))
    convert = security.ConvertSecurityDescriptorToStringSecurityDescriptorW
    assert convert(descriptor, 1, 4, ctypes.byref(text), None)
    return str(text.value)


def test_private_file_is_made_for_its_owner_alone_and_an_old_one_stays_as_it_is(tmp_path: Path) -> None:
    old, private = tmp_path / "old", tmp_path / "private"
    old.write_text("old")
    os.close(open_private(private, os.O_WRONLY))
    assert ";;;WD)" not in access_list(private)  # WD stands for everybody
    assert ";;;WD)" in access_list(old)  # by Wine; from its folder on a real Windows
    private.write_text("secret")
    assert private.read_text() == "secret"
    os.close(open_private(old, os.O_WRONLY | os.O_APPEND))
    assert ";;;WD)" in access_list(old)
