"""A process that shows a moment of the past takes the place of the live program, and continues from there.

    past: listens -> the live program, which stands: sends its descriptors -> past: takes them, and is live

State that cannot be restored is named; see `native/time_travel/branch.c`. The adapter ends the other process
afterwards.
"""

import _socket
import os
from typing import TYPE_CHECKING, Final

from ..connection.framing import Json
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..system import user_behind
from . import record, replay
from .replay_backend import backend

if TYPE_CHECKING:
    from ..engine.engine import Engine

BRANCHED_EVENT: Final = "dapkit/branched"

_HIGHEST: Final = 4000
"""Descriptors from here on are ours, where the limit allows it (`LOWEST_OF_OURS`)."""

_CREDENTIALS: Final = 12
"""Bytes of `struct ucred`."""

_waiting: list[_socket.socket] = []


def prepare(place: str) -> None:
    """Listen for the live program.

    Raises:
        RequestRefused: this process cannot take its place; the text says why.
        OSError: nothing can be listened to there.

    """
    reason = backend.why_no_branch()
    if reason:
        raise RequestRefused(f"readOnlyPast: the program cannot go on from this moment: {reason}")
    listening = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    listening.bind(place)
    listening.listen(1)
    _waiting[:] = [listening]


def hand_over(engine: "Engine", place: str) -> Json:
    """Send the live program's open files to the process that listens at an address.

    Raises:
        OSError: no process listens there.

    """
    with_it = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    try:
        with_it.connect(place)
        backend.hand_over(with_it.fileno(), _below(engine))
    finally:
        with_it.close()
    return {"marks": engine.link.marks.next()}


def _below(engine: "Engine") -> int:
    return min(engine.link.number, _HIGHEST)


def take_place(engine: "Engine", pipes: list[tuple[int, int]], mark: int) -> Json:
    """Become the live program; in its stopped thread. Return the facts that the adapter needs.

    It is given the adapter's pipes for its output, and the number of the next mark in them.

    Raises:
        RequestRefused: it could not be.

    """
    [listening] = _waiting
    _waiting.clear()
    listening.settimeout(limits.BRANCH_SECONDS)
    try:
        number, _ = listening._accept()  # type: ignore[attr-defined]  # called by `socket`
        listening.close()  # before descriptors of the program come, which may have its number
        connection = _socket.socket(fileno=number)
        if user_behind(connection) != os.getuid():
            raise RequestRefused("another process connected where the live program was to send its open files")
        lost_files = backend.branch(connection.detach(), _below(engine))
    except OSError as error:
        raise RequestRefused(f"the program's open files could not be taken over: {error.strerror}") from error
    engine.link.event(BRANCHED_EVENT, {})
    replay.leave()
    record.continue_as_live(engine)
    engine.link.marks.begin(pipes, first=mark)
    return {"lost": lost_files, "pid": os.getpid(), "copies": backend.count_copies()}
