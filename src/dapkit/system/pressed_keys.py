"""Keys that are pressed in our terminal while something goes on, as each system has them."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

if sys.platform == "win32":
    import msvcrt

    _LOOK_SECONDS = 0.05
    """How often it is looked whether a key was pressed."""

    @contextmanager
    def ended_by_keys(*events: threading.Event) -> Iterator[bool]:
        """Let each key set the next of some events; yield whether keys can be read: there are in a console."""
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            yield False
            return
        over = threading.Event()

        def read() -> None:
            while not over.wait(_LOOK_SECONDS):
                if not msvcrt.kbhit():
                    continue
                while msvcrt.kbhit():  # a key may be several codes
                    msvcrt.getwch()
                _set_next(events)

        reader = threading.Thread(target=read, name="keys", daemon=True)
        reader.start()
        try:
            yield True
        finally:
            over.set()
            reader.join()

else:
    import select
    import signal
    import termios
    import tty
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
            tty.setcbreak(terminal)  # signals keep their meaning, such as SIGINT by Ctrl-C
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
                _set_next(events)

        reader = threading.Thread(target=read, name="keys", daemon=True)
        reader.start()
        try:
            yield
        finally:
            os.close(wake)
            reader.join()
            os.close(wakes)


def _set_next(events: tuple[threading.Event, ...]) -> None:
    """Set the first event that is not set yet."""
    if (event := next((event for event in events if not event.is_set()), None)) is not None:
        event.set()
