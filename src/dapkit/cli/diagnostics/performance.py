"""`dapkit performance`: a CPU profile until a key is pressed, then a work profile, both in a report."""

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
from typing import TYPE_CHECKING

import click

from dapkit import limits
from dapkit.cli.diagnostics.common import interruptible, menu_command, show_json, show_page

if TYPE_CHECKING:
    from dapkit.diagnostics.sessions import Where


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


@click.command(epilog="Example: dapkit performance --seconds 10")
@click.option(
    "--seconds",
    type=click.FloatRange(1, limits.PROFILE_SECONDS_MOST),
    default=limits.PROFILE_SECONDS_MOST,
    show_default=True,
    help="How long the CPU profile takes, if nothing ends it before.",
)
@click.option(
    "--work-seconds",
    type=click.FloatRange(1, limits.PROFILE_SECONDS_MOST),
    default=limits.PROFILE_SECONDS,
    show_default=True,
    help="How long the work profile takes after that.",
)
@menu_command
def performance(where: "Where", *, seconds: float, work_seconds: float, as_json: bool) -> None:
    """Profile the program's processor time until a key is pressed, then the time of its threads.

    Both profiles, as text, JSON, folded stacks and flame graphs, come into a report with all else that is known of the
    session; secrets are left out. A key, or Ctrl-C, ends the present profile and keeps its data.
    """
    from dapkit.diagnostics.profiling.performance import performance as profiled

    until = threading.Event()
    with interruptible(until) as (show, stop), ended_by_keys(until, stop) as has_keys:
        hint = " (any key ends it)" if has_keys else ""
        profiles = profiled(
            where,
            until=until,
            seconds=seconds,
            work_seconds=work_seconds,
            on_progress=lambda text, percentage: show(f"{text}{hint}", percentage),
            stop=stop,
        )
    if as_json:
        show_json(profiles.as_json())
    else:
        show_page(profiles.as_text())
