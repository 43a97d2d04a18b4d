"""Programs that use `dapkit.listen` and its like, started by a test, with no debugger around them."""

import os
import re
import subprocess
import textwrap
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from dapkit.client import Session
from e2e.python.adapter_client import ADAPTER

SOURCES = Path(__file__).parents[3] / "src"
SECONDS = 30.0


class Listening:
    """A running program.

    Attributes:
        file: its text.
        port: where it listens; 0 if it does not say so.
        token_file: what it said about its token.

    """

    def __init__(self, process: subprocess.Popen[str], file: Path) -> None:
        self.process = process
        self.file = file
        self.port = 0
        self.token_file = Path("/nowhere")

    def read_place(self) -> None:
        """Read on stderr where it listens."""
        said = self.error_line()
        found = re.fullmatch(r"dapkit: listening at .*?(?::(\d+))?(?:; the token is in (.*))?", said)
        assert found, said
        self.port = int(found[1] or 0)
        self.token_file = Path(found[2] or "/nowhere")

    def error_line(self) -> str:
        """Return the next line that it writes to stderr."""
        assert self.process.stderr is not None
        return self.process.stderr.readline().rstrip()

    def line(self) -> str:
        """Return the next line that it writes to stdout."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip()

    def go(self) -> None:
        """Make the file that the program waits for."""
        (self.file.parent / "go").touch()

    @property
    def connect(self) -> dict[str, object]:
        """What a launch configuration says to attach."""
        return {"connect": {"host": "127.0.0.1", "port": self.port}}


@contextmanager
def running(
    text: str,
    folder: Path,
    python: str,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    stdin: int = subprocess.DEVNULL,
) -> Iterator[Listening]:
    """Start a program; kill it at the end."""
    file = folder / "prog.py"
    with running_command(text, folder, [python, str(file), *arguments], env=env, stdin=stdin) as program:
        yield program


@contextmanager
def running_command(
    text: str,
    folder: Path,
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    stdin: int = subprocess.DEVNULL,
) -> Iterator[Listening]:
    """Write a program to `prog.py`, and start it by a command; kill it at the end."""
    file = folder / "prog.py"
    file.write_text(textwrap.dedent(text).lstrip("\n"))
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SOURCES), **(env or {})},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield Listening(process, file)
        finally:
            process.kill()


@asynccontextmanager
async def client() -> AsyncIterator[Session]:
    """Be the client of a new adapter."""
    async with Session.spawn(ADAPTER) as session:
        yield session
        assert session.violations == ()
