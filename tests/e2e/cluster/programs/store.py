"""Collectives by a store, as gloo has them: each rank sends its part to the store, and waits for the others'."""

import json
import os
import socket


class Store:
    """The connection of a rank to the store of its launcher."""

    def __init__(self) -> None:
        self._connection = socket.create_connection((os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])))
        self._file = self._connection.makefile("rw")
        self.rank = int(os.environ["RANK"])

    def barrier(self, name: str) -> None:
        self._ask({"barrier": name})

    def send(self, to: int, name: str) -> None:
        self._ask({"set": f"{self.rank}-{to}-{name}"})

    def receive(self, source: int, name: str) -> None:
        self._ask({"get": f"{source}-{self.rank}-{name}"})

    def _ask(self, request: dict[str, object]) -> None:
        self._file.write(json.dumps(request) + "\n")
        self._file.flush()
        self._file.readline()
