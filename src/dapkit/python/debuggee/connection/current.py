"""The engine of this process, of which there is at most one, and the threads that wait for its client."""

import _thread
import os
import sys
from types import FrameType
from typing import TYPE_CHECKING

from ..marks import in_link_thread
from ..native import current_frames

if TYPE_CHECKING:
    from typing import Protocol  # a class of it takes a quarter of a millisecond to make

    class Debugger(Protocol):
        """What this module needs of an engine."""

        @property
        def owned(self) -> bool:
            """Whether the program was launched by the debugger."""

        @property
        def is_attended(self) -> bool:
            """Whether a client has configured its session, and is still there."""

        def stop_in(self, frame: FrameType) -> None:
            """Stop in a frame of the calling thread as soon as it goes on."""

        def finish(self) -> None:
            """Send what is to be sent last."""

        def forget_in_child(self) -> None:
            """Leave the child of a fork undebugged."""


engine: "Debugger | None" = None
"""The engine that a client talks to, or last talked to."""

expects_clients = False
"""Whether there is a thread that waits for one, or serves one."""

_waiting: list["Waiter"] = []


class Waiter:
    """A thread that waits for a client."""

    def __init__(self) -> None:
        self.came = False
        self.lock = _thread.allocate_lock()
        self.lock.acquire()


def is_debugged() -> bool:
    """Say whether a client has configured its session, and is still there."""
    return engine is not None and engine.is_attended


def wait() -> None:
    """Wait until a client has configured its session; a signal handler may raise meanwhile.

    Raises:
        RuntimeError: no client can attach, or it left before.

    """
    waiter = expect()
    if is_debugged():
        return
    if not expects_clients and engine is None:
        raise RuntimeError("no client can attach: call dapkit.listen() or dapkit.connect() first")
    wait_for(waiter)


def expect() -> "Waiter":
    """Take note that the calling thread is about to wait: whatever settles it from now on is not missed."""
    waiter = Waiter()
    _waiting.append(waiter)
    return waiter


def wait_for(waiter: "Waiter") -> None:
    """Wait until a client has configured its session.

    Raises:
        RuntimeError: it left before.

    """
    waiter.lock.acquire()
    if not waiter.came:
        raise RuntimeError("the debugger left before it had configured its session")


@in_link_thread
def settle(*, came: bool) -> None:
    """Wake the threads that wait for a client: it has attached, or none will any more."""
    while _waiting:
        waiter = _waiting.pop()
        waiter.came = came
        waiter.lock.release()


def main_thread() -> int:
    """Return the identity of the main thread if it is known, else of the calling thread."""
    if sys.version_info >= (3, 13):
        ident: int = _thread._get_main_thread_ident()  # type: ignore[attr-defined]  # what `threading` asks
        return ident
    if _thread.get_native_id() == os.getpid():
        return _thread.get_ident()
    main = getattr(sys.modules.get("threading"), "_main_thread", None)
    known = getattr(main, "_ident", None)  # of a green thread, once gevent was there
    return known if type(known) is int and known in current_frames() else _thread.get_ident()


def takes_breakpoint_calls() -> bool:
    """Say whether the built-in `breakpoint` may be ours: neither the program nor the environment has replaced it."""
    return sys.breakpointhook is sys.__breakpointhook__ and not os.environ.get("PYTHONBREAKPOINT")


def need_no_launcher() -> None:
    """Refuse a second debugger.

    Raises:
        RuntimeError: the program was launched by a debugger.

    """
    if engine is not None and engine.owned:
        raise RuntimeError("the program was launched by a debugger; it can have only one")


def stop_in(frame: FrameType) -> None:
    """Stop in a frame of the calling thread as soon as it goes on, if a client is there."""
    if engine is not None:
        engine.stop_in(frame)


def hook(*_arguments: object, **_more: object) -> None:
    """Stand for `sys.breakpointhook`."""
    stop_in(sys._getframe(1))
