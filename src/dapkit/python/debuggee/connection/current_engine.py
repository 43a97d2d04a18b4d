"""The engine of this process, of which there is at most one, and the threads that wait for its client."""

import _thread
import os
import sys
from types import FrameType
from typing import TYPE_CHECKING

from ..interpreter.native import current_frames
from ..interpreter.thread_checks import in_link_thread

if TYPE_CHECKING:
    from typing import Protocol  # a class of it takes a quarter of a millisecond to make

    class Calls(Protocol):
        """Functions of an engine that the program calls, in the thread concerned."""

        def stop_in(self, frame: FrameType) -> None:
            """Stop in a frame as soon as it continues."""

        def post_mortem(self, exception: BaseException, frame: FrameType, *, as_uncaught: bool) -> bool:
            """Stop in a frame as soon as it continues, to show an exception; return whether."""

        def traced_threads_changed(self) -> None:
            """Record that `untraced` has changed."""

    class Debugger(Protocol):
        """The engine's methods that this module needs."""

        @property
        def owned(self) -> bool:
            """Whether the program was launched by the debugger."""

        @property
        def asked_to_end(self) -> bool:
            """Whether the client has asked the program to end."""

        @property
        def is_attended(self) -> bool:
            """Whether a client has configured its session, and is still there."""

        @property
        def calls(self) -> "Calls":
            """The program's requests to it."""

        def note_exit_code(self, code: int) -> None:
            """Take note how the program ended."""

        def finish(self, exit_code: int | None = None) -> None:
            """Send the last messages; the exit code, if it is known to the caller."""

        def forget_in_child(self) -> None:
            """Leave the child of a fork undebugged."""


engine: "Debugger | None" = None
"""The engine that a client talks to, or last talked to."""

expects_clients = False
"""Whether there is a thread that waits for one, or serves one."""

said: "dict[str, object] | None" = None
"""The options of the command line or the variable that started the program, if it was started so."""

config: dict[str, object] = {"qt": "none", "subProcess": True, "python": sys.executable, "pythonEnv": {}}
"""The options of `dapkit.configure` and `--configure-NAME`."""

untraced: set[int] = set()
"""Threads that nothing is to stop, as they have asked."""

_of_thread = _thread._local()
"""The object that ends with a thread: its place among `untraced`."""

_waiting: list["Waiter"] = []


class _Untraced:
    """The place of a thread among `untraced`; its identity may be given to another thread afterwards."""

    def __init__(self, ident: int) -> None:
        self._ident = ident
        untraced.add(ident)

    def __del__(self) -> None:
        untraced.discard(self._ident)


class Waiter:
    """A thread that waits for a client."""

    def __init__(self) -> None:
        self.came = False
        self.cancelled = False
        self.lock = _thread.allocate_lock()
        self.lock.acquire()


# A process that shows the past has an engine of its own, and may go on as the program: it is asked for where it counts.


def note_exit_code(code: int) -> None:
    """Tell the engine how the program ended."""
    if engine is not None:
        engine.note_exit_code(code)


def asked_to_end() -> bool:
    """Return whether the client has asked the program to end."""
    return engine is not None and engine.asked_to_end


def finish() -> None:
    """Let the engine send its last messages."""
    if engine is not None:
        engine.finish()


def is_debugged() -> bool:
    """Return whether a client has configured its session, and is still there."""
    return engine is not None and engine.is_attended


def wait() -> None:
    """Wait until a client has configured its session, or `stop_waiting`; a signal handler may raise meanwhile.

    Raises:
        RuntimeError: no client can attach, or it left before.

    """
    waiter = expect()
    try:
        if is_debugged():
            return
        if not expects_clients and engine is None:
            raise RuntimeError("no client can attach: call dapkit.listen() or dapkit.connect() first")
        wait_for(waiter)
    finally:
        _leave(waiter)


def _leave(waiter: "Waiter") -> None:
    try:
        _waiting.remove(waiter)
    except ValueError:
        return  # it was settled


def expect() -> "Waiter":
    """Record that the calling thread is about to wait: whatever settles it from now on is not missed."""
    waiter = Waiter()
    _waiting.append(waiter)
    return waiter


def wait_for(waiter: "Waiter") -> None:
    """Wait until a client has configured its session, or `stop_waiting` is called.

    Raises:
        RuntimeError: it left before.

    """
    waiter.lock.acquire()
    if not (waiter.came or waiter.cancelled):
        raise RuntimeError("the debugger left before it had configured its session")


@in_link_thread
def settle(*, came: bool) -> None:
    """Wake the threads that wait for a client: it has attached, or none will any more."""
    while _waiting:
        waiter = _waiting.pop()
        waiter.came = came
        waiter.lock.release()


def stop_waiting() -> None:
    """Release all threads that wait for a client."""
    while _waiting:
        waiter = _waiting.pop()
        waiter.cancelled = True
        waiter.lock.release()


def trace(should_trace: bool) -> None:
    """Let the debugger stop in the calling thread, or not."""
    _of_thread.untraced = None if should_trace else _Untraced(_thread.get_ident())
    if engine is not None:
        engine.calls.traced_threads_changed()


def main_thread() -> int:
    """Return the identity of the main thread if it is known, else of the calling thread."""
    if sys.version_info >= (3, 13):
        ident: int = _thread._get_main_thread_ident()  # type: ignore[attr-defined]  # the test that `threading` makes
        return ident
    if _thread.get_native_id() == os.getpid():
        return _thread.get_ident()
    main = getattr(sys.modules.get("threading"), "_main_thread", None)
    identity = getattr(main, "_ident", None)  # of a green thread, once gevent was there
    return identity if type(identity) is int and identity in current_frames() else _thread.get_ident()


def need_no_launcher() -> None:
    """Refuse a second debugger.

    Raises:
        RuntimeError: the program was launched by a debugger.

    """
    if engine is not None and engine.owned:
        raise RuntimeError("the program was launched by a debugger; it can have only one")


def stop_in(frame: FrameType) -> None:
    """Stop in a frame of the calling thread as soon as it continues, if a client is there."""
    if engine is not None:
        engine.calls.stop_in(frame)


def post_mortem(exception: BaseException, frame: FrameType, *, as_uncaught: bool) -> bool:
    """Show an exception to the client, if one is there, in a frame of the calling thread; return whether that is so."""
    return engine is not None and engine.calls.post_mortem(exception, frame, as_uncaught=as_uncaught)


def hook(*_arguments: object, **_more: object) -> None:
    """Stand for `sys.breakpointhook`."""
    stop_in(sys._getframe(1))
