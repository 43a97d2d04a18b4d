"""Start the ranks of a job with the variables of torchrun, keep their store, and start all again if one fails.

Usage: launch.py RANKS RESTARTS COMMAND...
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections import defaultdict


class _Barriers:
    """The requests of the ranks that wait, by what they wait for."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.changed = threading.Condition()
        self.present: dict[str, int] = defaultdict(int)

    def wait(self, request: dict[str, str]) -> None:
        with self.changed:
            (kind, name), *_ = request.items()
            if kind != "get":
                self.present[name] += 1
                self.changed.notify_all()
            least = {"barrier": self.size, "get": 1, "set": 0}[kind]
            self.changed.wait_for(lambda: self.present[name] >= least)


def serve(connection: socket.socket, barriers: _Barriers) -> None:
    with connection, connection.makefile("rw") as file:
        for line in file:
            barriers.wait(json.loads(line))
            file.write("done\n")
            file.flush()


def accept(listener: socket.socket, barriers: _Barriers) -> None:
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, barriers), daemon=True).start()


def start(size: int, restart: int, command: list[str]) -> list[subprocess.Popen[bytes]]:
    listener = socket.create_server(("127.0.0.1", 0), backlog=size)
    threading.Thread(target=accept, args=(listener, _Barriers(size)), daemon=True).start()
    return [
        subprocess.Popen(
            command,
            env={
                **os.environ,
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "WORLD_SIZE": str(size),
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(listener.getsockname()[1]),
                "TORCHELASTIC_RESTART_COUNT": str(restart),
            },
        )
        for rank in range(size)
    ]


def main() -> None:
    size, restarts, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    ranks: list[subprocess.Popen[bytes]] = []
    try:
        for restart in range(restarts + 1):
            ranks = start(size, restart, command)
            if restart == restarts:
                for rank in ranks:
                    rank.wait()
            while all(rank.poll() is None for rank in ranks):
                threading.Event().wait(0.05)
            for rank in ranks:
                rank.kill()
                rank.wait()
    finally:
        for rank in ranks:
            rank.kill()


main()
