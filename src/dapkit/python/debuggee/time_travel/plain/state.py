"""What this process is in a history without the C extension, and whether what runs is the program.

A program without it has one thread; where a second begins, its history ends. So what is said here of `the program` is
said of that thread, and other threads that run are the debugger's.
"""

import _thread
from typing import Final

OFF: Final = "off"
"""Calls pass: the program has not begun or has ended, or its history has."""
LIVE: Final = "live"
"""Calls are made and noted."""
REPLAY: Final = "replay"
"""Calls are answered from the notes; nothing outside is touched."""

STANDARD_OUTPUTS: Final = (1, 2)


class State:
    """What this process is.

    Attributes:
        mode: OFF, LIVE or REPLAY.
        is_past: whether this process is no more the live program.
        is_inside: whether the thread of the program executes the program, and not the debugger.
        is_copying: whether a copy of the process is being made.
        guarded: how many expressions of the past are evaluated, which may change nothing outside.
        main: the thread of the program.
        ended: what has ended the history of the live program; empty if nothing has.
        written: bytes that the program has written to its standard output and errors.

    """

    def __init__(self) -> None:
        self.mode = OFF
        self.is_past = False
        self.is_inside = False
        self.is_copying = False
        self.guarded = 0
        self.main = 0
        self.ended = ""
        self.written = 0

    @property
    def is_of_program(self) -> bool:
        """Whether what calls now is the program, with a history."""
        return self.is_inside and self.mode is not OFF and _thread.get_ident() == self.main


state: Final = State()
