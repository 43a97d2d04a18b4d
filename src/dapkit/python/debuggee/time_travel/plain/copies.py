"""Copies of the live program that wait, and the processes that are executed again from them.

They speak with the adapter as those of the C extension do: `native/time_travel/checkpoints.c` has the lines. A copy is
nobody's child: the process between it and the program ends at once. All that the program has open leads nowhere in it.
"""

import _signal  # type: ignore[import-not-found]  # the C half of `signal`
import _socket
import _warnings
import os
import sys
from collections.abc import Callable
from time import time_ns
from typing import Final

from ...connection.descriptor import moved_up
from ...interpreter.hidden_frames import unseen
from .log import Log
from .state import REPLAY, state

_IGNORED: Final = ("ignore", None, DeprecationWarning, None, 0)
"""The filter for what the interpreter remarks on a fork where there are threads: the copy does not need them."""


class Copies:
    """The copies of one program, and in one of them: what it is for.

    Attributes:
        count: of copies that the live program has had made.
        kind: what this process is for, in one of the past.
        goal: the clock that it goes to.

    """

    def __init__(self, socket: str, token: str, log: Log, clock: Callable[[], int]) -> None:
        """Take where the adapter listens, and what it knows the copies by."""
        self._address = socket
        self._token = token
        self._log = log
        self._clock = clock
        self._control: _socket.socket | None = None
        self._heard = b""
        self.count = 0
        self.kind = ""
        self.goal = 0
        self.limit = 0

    @property
    def control(self) -> int:
        """The descriptor of the connection of a process of the past."""
        assert self._control is not None  # noqa: S101 - says so to mypy
        return self._control.fileno()

    @unseen
    def make(self) -> int:
        """Have a copy of this process: 1 in what is executed again from it, 0 else, -1 if it cannot be now."""
        if not state.is_past:
            self._log.flush()
        made = time_ns() // 1000, state.written
        self.count += 1
        between = _forked()
        if between == 0:
            copy = _forked()
            if copy:
                os._exit(copy < 0)
            try:
                self._wait_for_orders(*made)
            except BaseException:
                os._exit(1)  # nobody would hear of it, and the program must not go on
            return 1
        if between > 0 and _succeeded(between):
            return 0
        self.count -= 1
        return -1

    def _wait_for_orders(self, copied_at: int, written: int) -> None:
        """Be a copy that waits; return in each process that is executed again."""
        number = 0 if state.is_past else self.count
        _signal.pthread_sigmask(_signal.SIG_SETMASK, _signal.valid_signals())
        handler = _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)  # nobody waits for what is executed again
        state.is_past = True
        state.mode = REPLAY
        self._close_all()
        self._connect()
        self.say(f"checkpoint {self._token} {number} {os.getpid()} {self._clock()} {copied_at} {written}")
        while True:
            kind, name, goal, limit = self._hear().split(" ")
            if _forked():
                continue
            _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL if handler is None else handler)
            self.kind, self.goal, self.limit = kind, int(goal), int(limit)
            self._connect()
            self.say(f"begun {name} {os.getpid()} {self._clock()}")
            return

    def _close_all(self) -> None:
        """Have all that the program has open lead nowhere: its numbers stay in use, as they are in the live program."""
        nothing = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC), os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
        empty, sink = map(moved_up, nothing)
        ours = self._log.file, empty, sink
        for number in map(int, os.listdir("/proc/self/fd")):
            if number not in ours:
                os.dup2(sink if number < 3 else empty, number, inheritable=number < 3)
        os.close(sink)
        os.close(empty)
        self._control = None

    def _connect(self) -> None:
        if self._control is not None:
            self._control.close()
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        connection.connect(self._address)
        self._control = _socket.socket(fileno=moved_up(connection.detach()))

    def say(self, line: str) -> None:
        """Say a line to the adapter; the process ends with the connection."""
        try:
            assert self._control is not None  # noqa: S101 - says so to mypy
            self._control.sendall(line.encode("utf-8", "surrogateescape") + b"\n")
        except OSError:
            os._exit(0)

    def _hear(self) -> str:
        assert self._control is not None  # noqa: S101 - says so to mypy
        while b"\n" not in self._heard:
            got = self._control.recv(4096)
            if not got:
                os._exit(0)
            self._heard += got
        line, _, self._heard = self._heard.partition(b"\n")
        return line.decode()


@unseen
def _forked() -> int:
    """Fork, unnoticed by what the program does at forks; -1 if it cannot be."""
    filters = [
        listed
        for module in (_warnings, sys.modules.get("warnings"))
        if type(listed := getattr(module, "filters", None)) is list
    ]
    for listed in filters:
        listed.insert(0, _IGNORED)
    was_copying, state.is_copying = state.is_copying, True
    try:
        return os.fork()
    except OSError:
        return -1
    finally:
        state.is_copying = was_copying
        for listed in filters:
            listed.remove(_IGNORED)


def _succeeded(child: int) -> bool:
    """Wait for the process between."""
    try:
        return os.waitpid(child, 0)[1] == 0
    except ChildProcessError:
        return True  # the program does not wait for children
