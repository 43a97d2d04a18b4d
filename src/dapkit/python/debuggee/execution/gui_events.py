"""Windows of the program that stay alive while its main thread is stopped (`guiEventLoop`).

The windows of a stopped thread are not served. On request the thread serves them itself while it waits for
work, a few times a second: it calls the toolkit's function for that, which runs timers, slots and callbacks of the
program. No breakpoint stops in them, and one that hangs keeps the thread from its work; therefore only on request.

    qt            Qt, by whichever of its packages the program has imported
    tk            tkinter, the windows of its default root
    matplotlib    figures, by whichever toolkit draws them
    MODULE.NAME   a function of the program without parameters; it has to return soon
    none          nothing
"""

import sys
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, Final

from ..connection.framing import Json
from ..interpreter import limits
from ..interpreter.gc_pause import gc_pause
from ..loader import import_for_program
from ..options import EngineOptions
from ..threads.table import ThreadTable
from ..values.error_text import say

_QT: Final = ("PySide6", "PyQt6", "PySide2", "PyQt5")
_EVENTS: Final = 100
"""How many events are served in one turn, where they are served one by one."""
_DONT_WAIT: Final = 2  # Tcl, Tcl_DoOneEvent
_NONE: Final = ("", "none")


def _serve_qt() -> None:
    for package in _QT:
        core: Any = sys.modules.get(f"{package}.QtCore")
        application = core.QCoreApplication.instance() if core is not None else None
        if application is not None:
            application.processEvents()


def _serve_tk() -> None:
    root: Any = getattr(sys.modules.get("tkinter"), "_default_root", None)
    for _ in range(_EVENTS if root is not None else 0):
        if not root.tk.dooneevent(_DONT_WAIT):
            return


def _serve_matplotlib() -> None:
    helpers: Any = sys.modules.get("matplotlib._pylab_helpers")
    for manager in helpers.Gcf.get_all_fig_managers() if helpers is not None else ():
        manager.canvas.flush_events()


TOOLKITS: Final[Mapping[str, Callable[[], None]]] = {
    "qt": _serve_qt,
    **dict.fromkeys(("qt5", "qt6", *(package.lower() for package in _QT)), _serve_qt),
    "tk": _serve_tk,
    "matplotlib": _serve_matplotlib,
}
"""The functions that serve windows, by their names in the configuration."""


class GuiEvents:
    """Serves the windows of the program, in its main thread.

    Invariant: a function that has failed once is not called again.
    """

    def __init__(self, options: EngineOptions, threads: ThreadTable, report: Callable[[str, Json], None]) -> None:
        self._options = options
        self._threads = threads
        self._report = report
        self._serve: Callable[[], object] | None = None
        self._has_failed = False
        self._next = 0.0

    def seconds_to_turn(self, ident: int) -> float | None:
        """Return in how many seconds a stopped thread is to take a turn, None for never."""
        if self._options.gui_event_loop in _NONE or self._has_failed or ident != self._threads.main:
            return None
        return max(0.0, self._next - monotonic())

    def take_turn(self) -> None:
        """Serve the waiting events. Only exceptions of signal handlers and exits are raised."""
        is_ours = gc_pause.resume()
        name = self._options.gui_event_loop
        try:
            if self._serve is None:
                self._serve = TOOLKITS.get(name) or _of_program(name)
            self._serve()
        except Exception as error:
            self._has_failed = True
            text = f"guiEventLoop: {name} failed, and is called no more: {say(error)}\n"
            self._report("output", {"category": "stderr", "output": text})
        finally:
            self._next = monotonic() + limits.GUI_SECONDS
            if is_ours:
                gc_pause.pause()


def _of_program(path: str) -> Callable[[], object]:
    module, _, name = path.rpartition(".")
    if not module:
        raise ValueError(f"expected {', '.join(TOOLKITS)}, none, or a function by its full name")
    serve: Callable[[], object] = getattr(import_for_program(module), name)
    return serve
