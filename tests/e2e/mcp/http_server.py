"""A server by HTTP that listens."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2


class Served:
    """A server that listens.

    Attributes:
        process: that of the server.
        address: where.
        token: the file that holds its token.

    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.process = process
        self.address = process.stdout.readline().removeprefix("address: ").strip()
        self.token = Path(process.stdout.readline().removeprefix("token: ").strip())

    def client(self, **headers: str) -> httpx2.AsyncClient:
        """Return a client by HTTP that has the token."""
        return httpx2.AsyncClient(timeout=60, headers={"Authorization": f"Bearer {self.token.read_text()}", **headers})


@contextmanager
def serving(project: Path, **env: str) -> Iterator[Served]:
    """Have a server for a project, which ends with the block."""
    command = [sys.executable, "-m", "dapkit.cli", "mcp", "--http", "--project", str(project)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **env}, cwd=project.parent
    ) as process:
        try:
            yield Served(process)
        finally:
            process.terminate()
            process.wait(20)
