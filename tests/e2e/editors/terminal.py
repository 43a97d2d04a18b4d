"""A program in a terminal: keys are typed, and its screen is read."""

import contextlib
import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyte

LINES, COLUMNS = 50, 160
PATIENCE = 60.0
"""Seconds that the screen may take to show something."""


class _Screen(pyte.Screen):
    """A screen that answers what programs ask their terminal."""

    def __init__(self, answer: Callable[[str], None]) -> None:
        super().__init__(COLUMNS, LINES)
        self._answer = answer

    def write_process_input(self, data: str) -> None:
        """Answer a question."""
        self._answer(data)


class Terminal:
    """A terminal whose program is ours to use.

    Attributes:
        process: the program.

    """

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int) -> None:
        self.process = process
        self._descriptor = descriptor
        self._screen = _Screen(self.type)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def text(self) -> str:
        """What the screen shows."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._descriptor, keys.encode())

    def wait(self, text: str) -> str:
        """Wait until the screen shows a text; return the screen."""
        self.wait_until(lambda: text in self.text, f"the screen does not show {text!r}")
        return self.text

    def wait_for_a_change(self) -> None:
        """Wait until the screen shows something else."""
        before = self.text
        self.wait_until(lambda: self.text != before, "the screen does not change")

    def wait_until(self, fact: Callable[[], bool], failure: str) -> None:
        """Wait until something is so, and look at the screen meanwhile."""
        deadline = time.monotonic() + PATIENCE
        while not fact():
            if time.monotonic() > deadline:
                raise AssertionError(f"{failure}:\n{self.text}")
            self._look()

    def wait_for_the_end(self) -> int:
        """Wait until the program has ended; return its exit status."""
        self.wait_until(lambda: self.process.poll() is not None, "the editor does not end")
        return self.process.wait()

    def _look(self) -> None:
        ready, _, _ = select.select([self._descriptor], [], [], 0.05)
        if ready:
            with contextlib.suppress(OSError):  # EIO: nobody has the other end any more
                self._stream.feed(os.read(self._descriptor, 65536))


@contextmanager
def terminal(command: Sequence[str | Path], folder: Path, env: Mapping[str, str]) -> Iterator[Terminal]:
    """Run a program in a terminal of its own, which is closed at the end."""
    ours, its = os.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    environment = {**os.environ, **env, "TERM": "xterm-256color"}
    process = subprocess.Popen(
        ["/usr/bin/setsid", "--ctty", *command], cwd=folder, env=environment, stdin=its, stdout=its, stderr=its
    )
    os.close(its)
    try:
        yield Terminal(process, ours)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(ours)
