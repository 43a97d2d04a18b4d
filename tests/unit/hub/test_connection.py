"""The connection of a command to the hub."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dapkit.hub import connection
from dapkit.hub.connection import HubConnection
from dapkit.hub.errors import HubLost

KILLED_HUB = """
import os, signal, socket, subprocess, sys
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
listening.listen()
print("listens", flush=True)
caller, _ = listening.accept()
child = subprocess.Popen(["sleep", "60"], pass_fds=[caller.fileno()], stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="the connection cannot be kept by another process")
def test_the_end_of_the_hub_is_noticed_where_its_connection_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "UNINTERRUPTED_SECONDS", 0.05)  # as on Windows
    path = str(tmp_path / "hub")
    with subprocess.Popen([sys.executable, "-c", KILLED_HUB, path], stdout=subprocess.PIPE, text=True) as hub:
        assert hub.stdout is not None
        assert hub.stdout.readline() == "listens\n"
        deadline = time.monotonic() + 50
        calling = socket.socket(socket.AF_UNIX)
        calling.connect(path)
        child = int(hub.stdout.readline())
        try:
            with HubConnection(calling, pid=hub.pid) as called, pytest.raises(HubLost):
                called.greet(deadline)
        finally:
            os.kill(child, signal.SIGKILL)
