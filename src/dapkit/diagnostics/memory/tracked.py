"""The code that runs in a program whose allocations memray traces.

    host      listens at a unix socket, and calls `begin` in the main thread
    program   a thread of its own connects, imports memray, and says BEGUN once memray traces; otherwise the reason
    host      closes its end of the stream, or ends
    program   the thread has memray end, which writes the file, and undoes its changes; says ENDED, and ends

Whatever was imported for it stands in `sys.modules` for no longer than the import takes. Some effects cannot be undone:
memray's library and others stay mapped, with classes, functions that are called at forks, and a pipe (of libunwind). A
profile function that the program has set (`sys.setprofile`) is taken from other threads than ours, so with one that is
known memray does not begin.
"""

import _codecs
import _thread
import posix
import sys

BEGUN, MISSING, FAILED, ENDED = b"+", b"?", b"!", b"."
"""The messages: one byte; after MISSING and FAILED follows the reason."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket
    from types import ModuleType
    from typing import Any


def begin(place: str, output: str, site: str) -> None:
    """Begin, unless that was done already.

    Args:
        place: the socket.
        output: the file that memray is to write.
        site: a folder with memray, for a program without memray; empty if it does not fit the program's Python.

    """
    try:
        posix.unlink(place + ".go")
    except OSError:
        return  # the same call has come twice, or too late
    _thread.start_new_thread(track, (place, output, site))


def track(place: str, output: str, site: str) -> None:
    """Trace allocations with memray until the host has closed its end."""
    _ask_not_to_be_stopped()
    imports = _Imports(site)
    with imports:
        import socket

    with socket.socket(socket.AF_UNIX) as connection:
        undo: list[Callable[[], object]] = []
        end: Callable[[], object] = _nothing
        try:
            connection.connect(place)
            with imports:
                end = _begun(output, undo)
            connection.sendall(BEGUN)
            connection.recv(1)
        except BaseException as error:  # noqa: BLE001 - it is reported, and must not show in the program
            missing = type(error) is ModuleNotFoundError and error.name == "memray"
            _say(connection, MISSING if missing else FAILED, error)
        try:
            end()
        except BaseException as error:  # noqa: BLE001 - as above
            _say(connection, FAILED, error)
        for step in reversed(undo):
            step()
        _say(connection, ENDED)


def _say(connection: "socket", mark: bytes, error: "BaseException | None" = None) -> None:
    """Report to the host, if it is still there."""
    text = "" if error is None else f"{type(error).__name__}: {error}"
    try:
        connection.sendall(mark + text.encode(errors="replace"))
    except OSError:
        return


def _begun(output: str, undo: "list[Callable[[], object]]") -> "Callable[[], object]":
    """Start memray; return the function that ends it, and register functions that undo everything else."""
    import atexit
    import threading

    ours = threading.current_thread()  # which stands in the table of threads from now on
    undo.append(lambda: threading._active.pop(ours.ident, None))  # type: ignore[attr-defined]  # noqa: SLF001 - nothing else takes it out
    vars(ours).update(pydev_do_not_trace=True, is_pydev_daemon_thread=True)  # debugpy's question
    if sys.getprofile() is not None or threading.getprofile() is not None:
        raise RuntimeError("the program has a profile function, which memray would replace")
    import memray

    set_os_name = vars(threading.Thread).get("_set_os_name")
    tracker = memray.Tracker(
        destination=memray.FileDestination(output, overwrite=True, compress_on_exit=False),
        file_format=memray.FileFormat.AGGREGATED_ALLOCATIONS,
        trace_python_allocators=True,
    )
    tracker.__enter__()
    lock = _thread.allocate_lock()

    def end() -> None:
        if lock.acquire(blocking=False):
            tracker.__exit__(None, None, None)
            if set_os_name is not None:
                threading.Thread._set_os_name = set_os_name  # type: ignore[attr-defined]  # noqa: SLF001 - memray leaves its own

    atexit.register(end)  # so that there is a file if the program ends meanwhile
    undo.append(lambda: atexit.unregister(end))
    return end


def _ask_not_to_be_stopped() -> None:
    """Tell dapkit's debugger, if it is present, not to stop the calling thread."""
    try:
        load: Any = _codecs.lookup_error("dapkit.engine")
    except LookupError:
        return
    load("connection.current_engine").trace(should_trace=False)


class _Imports:
    """At the end of a block, removes the modules that the calling thread imported in it from `sys.modules`.

    Imports of other threads stay.

    In the block, modules that the program lacks are found in the host's folder, by this thread alone: memray needs
    further libraries.
    """

    def __init__(self, site: str) -> None:
        self._site = site
        self._ident = _thread.get_ident()
        self._ours: set[str] = set()
        self._theirs: set[str] = set()
        self._before: set[str] = set()
        self._path_finder: Any = sys.modules["_frozen_importlib_external"].PathFinder
        self._first = _Finder(self._note)
        self._last = _Finder(self._find)

    def __enter__(self) -> None:
        self._before = {*sys.modules}
        sys.meta_path.insert(0, self._first)  # type: ignore[arg-type]  # all that is asked of it
        sys.meta_path.append(self._last)  # type: ignore[arg-type]  # as above

    def __exit__(self, *error: object) -> None:
        sys.meta_path.remove(self._first)  # type: ignore[arg-type]  # as above
        sys.meta_path.remove(self._last)  # type: ignore[arg-type]  # as above
        # Native code adds some without an import.
        unasked = set() if self._theirs else {*sys.modules} - self._before
        for name in self._ours | unasked:
            module: ModuleType | None = sys.modules.pop(name, None)
            package, _, short = name.rpartition(".")
            parent = sys.modules.get(package)
            if parent is not None and module is not None and vars(parent).get(short) is module:
                delattr(parent, short)
        self._ours.clear()
        self._theirs.clear()

    def _note(self, name: str, path: object) -> object:  # noqa: ARG002 - as of all finders
        (self._ours if _thread.get_ident() == self._ident else self._theirs).add(name)
        return None

    def _find(self, name: str, path: object) -> object:
        if not self._site or path is not None or _thread.get_ident() != self._ident:
            return None
        return self._path_finder.find_spec(name, [self._site])


class _Finder:
    """Has a function find modules."""

    def __init__(self, find: "Callable[[str, object], object]") -> None:
        self._find = find

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:  # noqa: ARG002 - as of all
        """Find a module."""
        return self._find(name, path)


def _nothing() -> None:
    """End memray if it has not begun."""
