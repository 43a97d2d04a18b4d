"""Keys that end something, pressed in the terminal of a command."""

import os
import select
import signal
import sys
import termios
import threading
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ended_by_keys(*events: threading.Event) -> Iterator[bool]:
    """Let each key set the next of some events; yield whether keys can be read.

    There are in a terminal, in the foreground. It is as it was afterwards, also if we are asked to end, and takes
    single keys again when we are continued after Ctrl-Z.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty() and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()):
        yield False
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)

    def restore() -> None:
        termios.tcsetattr(terminal, termios.TCSAFLUSH, before)

    def end(number: int, _frame: FrameType | None) -> None:
        restore()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(signal.Signals(number))

    handlers = {
        signal.SIGTERM: signal.signal(signal.SIGTERM, end),
        signal.SIGHUP: signal.signal(signal.SIGHUP, end),
        signal.SIGCONT: signal.signal(signal.SIGCONT, lambda *_: tty.setcbreak(terminal)),
    }
    try:
        tty.setcbreak(terminal)  # signals such as that of Ctrl-C keep their meaning
        with _keys_set(terminal, events):
            yield True
    finally:
        restore()
        for number, handler in handlers.items():
            signal.signal(number, handler)


@contextmanager
def _keys_set(terminal: int, events: tuple[threading.Event, ...]) -> Iterator[None]:
    """Read keys in a thread, until the block ends."""
    wakes, wake = os.pipe()

    def read() -> None:
        while True:
            ready, _, _ = select.select([terminal, wakes], [], [])
            if wakes in ready or not os.read(terminal, 64):  # a key may be several bytes
                return
            if (event := next((event for event in events if not event.is_set()), None)) is not None:
                event.set()

    reader = threading.Thread(target=read, name="keys", daemon=True)
    reader.start()
    try:
        yield
    finally:
        os.close(wake)
        reader.join()
        os.close(wakes)
