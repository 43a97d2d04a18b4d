"""Facts about processes from /proc."""

import mmap
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from dapkit.system import procfs
from dapkit.transport.signals import signal_name


def no_process() -> int:
    """Return the number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_process_has_its_status() -> None:
    status = procfs.status_of(os.getpid())
    assert (status["Pid"], status["PPid"]) == (str(os.getpid()), str(os.getppid()))
    assert os.getpid() in procfs.pids()


def test_of_a_process_that_has_ended_nothing_is_known() -> None:
    pid = no_process()
    assert (procfs.status_of(pid), procfs.mapped_files(pid), procfs.memory_sizes(pid)) == ({}, {}, {})
    assert procfs.sockets_of(pid) == set()


def test_the_bytes_of_a_mapped_file_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "data with spaces"
    path.write_bytes(bytes(3 * mmap.PAGESIZE))
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ):
        assert procfs.mapped_files(os.getpid())[str(path)] == 3 * mmap.PAGESIZE
    assert str(path) not in procfs.mapped_files(os.getpid())


def test_shared_memory_counts_in_part() -> None:
    sizes = procfs.memory_sizes(os.getpid())
    assert 0 < sizes["Pss"] <= sizes["Rss"]


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_listening_socket_is_found_by_its_port(family: socket.AddressFamily, host: str) -> None:
    with socket.socket(family) as listening:
        try:
            listening.bind((host, 0))
        except OSError:
            pytest.skip(f"{host} is not there")
        listening.listen()
        port = f"{listening.getsockname()[1]:04X}"
        links = {
            row.link for row in procfs.tcp_sockets() if row.local.endswith(f":{port}") and row.state == procfs.LISTEN
        }
        assert links & procfs.sockets_of(os.getpid())


@pytest.mark.parametrize(("number", "name"), [(9, "SIGKILL"), (35, "signal 35"), (0, "signal 0")])
def test_a_signal_without_a_name_is_named_by_its_number(number: int, name: str) -> None:
    assert signal_name(number) == name
