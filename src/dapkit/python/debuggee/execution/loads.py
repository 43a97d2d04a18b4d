"""Where modules begin, and where threads do, without a look at everything that starts.

The import system runs the code of every module that it loads through one function, and `threading` the body of
every thread through another. These two are watched for as long as the program runs; all other code is not.
"""

import sys
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType

from ..interpreter.frame_locals import locals_of
from ..interpreter.thread_checks import under_lock
from ..sources.compilation import with_nested
from ..sources.imported_modules import names_of
from .monitor import EVENTS, Monitor

_THREAD_BODY = "Thread._bootstrap_inner"


def _names(module: str) -> dict[str, object]:
    return names_of(sys.modules.get(module)) or {}


class Loads:
    """The two functions, by the identities of their code; there may be more than one `threading`.

    Invariant: their code is kept alive by the monitor.
    """

    def __init__(self, monitor: Monitor, loading: Callable[[CodeType, FrameType], None]) -> None:
        """Begin with a function that is called with the code of each module and the frame that is about to run it."""
        self._monitor = monitor
        self._loading = loading
        self._runner = 0
        self.threads: set[int] = set()
        """Code that every new thread of `threading` runs."""

    @under_lock
    def begin(self) -> None:
        """Watch from here on."""
        run = _names("_frozen_importlib").get("_call_with_frames_removed")
        if isinstance(run, FunctionType):
            self._runner = id(run.__code__)
            self._monitor.want(run.__code__, "load", EVENTS.PY_START)
        thread = _names("threading").get("Thread")
        body = thread.__dict__.get("_bootstrap_inner") if type(thread) is type else None
        if isinstance(body, FunctionType):
            self._watch_thread(body.__code__)

    def runs(self, code: CodeType) -> bool:
        """Return whether code is the function that runs the code of modules."""
        return id(code) == self._runner

    @under_lock
    def look(self, frame: FrameType) -> None:
        """Note the code that this frame of that function is about to run."""
        match locals_of(frame).get("args"):
            case (CodeType() as code, dict() as namespace, *_):
                self._loading(code, frame)
                if namespace.get("__name__") == "threading":
                    for part in with_nested(code):
                        if part.co_qualname == _THREAD_BODY:
                            self._watch_thread(part)

    def _watch_thread(self, code: CodeType) -> None:
        self.threads.add(id(code))
        self._monitor.want(code, "thread", EVENTS.PY_START | EVENTS.PY_RETURN)
