"""A program in a terminal: keys are typed, and its screen is read."""

import contextlib
import io
import os
import re
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import groupby
from pathlib import Path

import pyte
from pyte.screens import Char
from rich.color import ColorParseError
from rich.console import Console
from rich.style import Style
from rich.text import Text

if sys.platform != "win32":  # where tests of terminals are left out
    import fcntl
    import termios

LINES, COLUMNS = 50, 160
_WEB_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""What a picture would load from elsewhere."""

WRITE_PICTURES = os.environ.get("DAPKIT_WRITE_PICTURES") == "1"
"""Whether pictures of the documentation are replaced, as the run of the tests was begun: tests clear the variable."""

PATIENCE = 120.0
"""Seconds that the screen may take to show something."""


class _Screen(pyte.Screen):
    """A screen that answers what programs ask their terminal."""

    def __init__(self, answer: Callable[[str], None], columns: int, lines: int) -> None:
        super().__init__(columns, lines)
        self._answer = answer

    def write_process_input(self, data: str) -> None:
        """Answer a question."""
        self._answer(data)


class Terminal:
    """A terminal whose program is ours to use.

    Attributes:
        process: the program.

    """

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int, columns: int, lines: int) -> None:
        self.process = process
        self._descriptor = descriptor
        self._screen = _Screen(self.type, columns, lines)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def text(self) -> str:
        """What the screen shows."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    def picture(self, title: str) -> str:
        """Draw what the screen shows, as an SVG."""
        console = Console(width=self._screen.columns, record=True, file=io.StringIO(), force_terminal=True)
        for number in range(self._last_line() + 1):
            row = self._screen.buffer[number]
            line = Text(no_wrap=True, overflow="crop")
            for style, alike in groupby((row[column] for column in range(self._screen.columns)), _style):
                line.append("".join(char.data for char in alike), style)
            console.print(line, crop=True, soft_wrap=True)
        return _WEB_FONT.sub("", console.export_svg(title=title, unique_id="screen"))

    def _last_line(self) -> int:
        display = self._screen.display
        return max((number for number, line in enumerate(display) if line.strip()), default=0)

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
                raise AssertionError(f"{failure}:\n{self.text}\n{self._state()}")
            self._look()

    def wait_for_the_end(self) -> int:
        """Wait until the program has ended; return its exit status."""
        self.wait_until(lambda: self.process.poll() is not None, "the program does not end")
        return self.process.wait()

    def _state(self) -> str:
        """Return what the program does, for the message of a failure."""
        if self.process.poll() is not None:
            return f"the program has ended with {self.process.returncode}"
        look = [str(Path(sys.executable).with_name("py-spy")), "dump", "--nonblocking", "--pid", str(self.process.pid)]
        return subprocess.run(look, capture_output=True, text=True, timeout=30, check=False).stdout

    def _look(self) -> None:
        ready, _, _ = select.select([self._descriptor], [], [], 0.05)
        if ready:
            with contextlib.suppress(OSError):  # EIO: nobody has the other end any more
                self._stream.feed(os.read(self._descriptor, 65536))


@contextmanager
def terminal(
    command: Sequence[str | Path], folder: Path, env: Mapping[str, str], *, columns: int = COLUMNS, lines: int = LINES
) -> Iterator[Terminal]:
    """Run a program in a terminal of its own, which is closed at the end."""
    ours, its = os.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    ours_alone = {"COLUMNS", "LINES"}  # a worker of pytest has them, and programs believe them more than the terminal
    environment = {**{name: value for name, value in os.environ.items() if name not in ours_alone}, **env}
    environment["TERM"] = "xterm-256color"
    process = subprocess.Popen(
        ["/usr/bin/setsid", "--ctty", *command], cwd=folder, env=environment, stdin=its, stdout=its, stderr=its
    )
    os.close(its)
    try:
        yield Terminal(process, ours, columns, lines)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(ours)


def keep_picture(terminal: Terminal, name: str, title: str) -> None:
    """Draw the screen for the documentation, `docs/how-to/diagnose/NAME.svg`, which has to have such a picture.

    It is replaced there with `DAPKIT_WRITE_PICTURES=1`; pictures differ with each run, by times and numbers.
    """
    drawn = terminal.picture(title)
    in_docs = Path(__file__).parents[1] / "docs" / "how-to" / "diagnose" / f"{name}.svg"
    if WRITE_PICTURES:
        in_docs.parent.mkdir(parents=True, exist_ok=True)
        in_docs.write_text(_without_test_paths(drawn), encoding="utf-8")
    assert in_docs.exists(), f"docs have no picture {in_docs.name}: run the test with DAPKIT_WRITE_PICTURES=1"


def _without_test_paths(drawing: str) -> str:
    """Name folders as a user would have them, in as many characters: a picture has columns."""

    def as_users(match: re.Match[str]) -> str:
        _, state, in_state = match[0].partition("/run/state")
        _, _, in_project = match[0].partition("/project")
        path = f"~/.local/state/dapkit{in_state}" if state else f"~/shop{in_project}"
        return path.ljust(len(match[0]), "\xa0")[: len(match[0])]

    return re.sub(r"/tmp/pytest-of-[\w./-]+", as_users, drawing)  # noqa: S108 - the folder of pytest


@cache
def _style(char: Char) -> Style:
    """Return the style of a character, in the words of rich."""
    return Style(
        color=_colour(char.fg),
        bgcolor=_colour(char.bg),
        bold=char.bold,
        underline=char.underscore,
        reverse=char.reverse,
    )


def _colour(name: str) -> str | None:
    if name == "default":
        return None
    given = f"#{name}" if len(name) == 6 and all(digit in "0123456789abcdef" for digit in name) else name
    given = {"brown": "yellow"}.get(given, given).replace("bright", "bright_")
    try:
        Style(color=given)
    except ColorParseError:
        return None
    return given
