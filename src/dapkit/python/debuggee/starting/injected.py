"""Code that runs in a program without a debugger: its way to the engine.

The adapter has the text of this file executed in the main thread, with a call of `begin` behind it, wherever that
thread is at the moment; or `python -m dapkit --pid`, which wants clients to come, and waits for a file that says
where. So it takes no lock, imports nothing that is not there in every program, and leaves no name
behind: all it does is to start a thread, which loads the engine and goes to the adapter. An error on this way is
written to a file beside the adapter's socket.
"""

import _codecs
import _thread
import builtins
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

HANDLE = "dapkit.engine"
"""As in `loader`."""

PERMISSION = ".go"
REFUSAL = ".refused"
ANSWER = ".begun"
"""The endings of the names of the files, after the name of the socket."""


def begin(folder: str, place: str, beginning: "dict[str, Any] | None" = None) -> None:
    """Go to the adapter that listens at a unix socket, unless that was done already; the engine is in a folder.

    With a `beginning`, have clients come to this program as that says (`startup.Beginning`).
    """
    try:
        os.unlink(place + PERMISSION)
    except OSError:
        return  # the same call has come twice, or too late
    start: Any = _thread.start_new_thread
    try:
        if getattr(start, "__self__", None) is _thread:
            start(visit, (folder, place, _thread.get_ident(), beginning))
        else:  # gevent has replaced it
            visit(folder, place, 0, beginning)
    except BaseException as error:
        report(place, error)


def visit(folder: str, place: str, main: int, beginning: "dict[str, Any] | None") -> None:
    """Load the engine and go to the adapter, or begin otherwise; `main` is the main thread, 0 if that is not known."""
    try:
        load = _loader(folder)
        if beginning is None:
            load("starting.attachable").visit(place, main)
        else:
            load("loader").log_file = beginning["log"]
            leave_word(place, ANSWER, load("starting.startup").begin_in_running(beginning, main))
    except BaseException as error:
        report(place, error)


def report(place: str, error: BaseException) -> None:
    """Leave word of an error, unless the adapter has gone."""
    leave_word(place, REFUSAL, str(error) if isinstance(error, RuntimeError) else f"{type(error).__name__}: {error}")


def leave_word(place: str, suffix: str, text: str) -> None:
    """Leave a file beside the adapter's socket, unless the adapter has gone."""
    try:
        os.stat(place)
        file = os.open(place + suffix, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(file, text.encode(errors="replace"))
        os.close(file)
    except OSError:
        return


def _loader(folder: str) -> "Callable[[str], Any]":
    """Return the loader of the engine's modules; it may exist from an earlier attach."""
    try:
        return _codecs.lookup_error(HANDLE)  # type: ignore[return-value]  # no handler of errors, but ours
    except LookupError:
        pass
    path = folder + "/loader.py"
    loader: Any = type(sys)("_dapkit_debuggee.loader")
    loader.__file__ = path
    loader.__builtins__ = dict(vars(builtins))
    files: Any = sys.modules["_frozen_importlib_external"]
    exec(files.SourceFileLoader("loader", path).get_code("loader"), vars(loader))
    load: Callable[[str], Any] = loader.start(loader)
    return load
