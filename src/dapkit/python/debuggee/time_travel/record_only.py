"""A program that is recorded: it is not debugged, and its lines are counted only while it has threads."""

import marshal
import os
import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any, Final

from ..interpreter.hidden_frames import hidden_frame
from ..sources.fileless_code import UnfiledTexts
from ..sources.files import Sources
from ..system import at_fork
from . import line_counter, signal_state, standard_streams
from .replay_backend import REASON, backend

_SEED: Final = "PYTHONHASHSEED"
_FORKS: Final = "forks"
_folders: Final[list[str]] = []
"""The folder of the recording; in a child, after the folders of its ancestors."""


def begin(folder: str, run: Callable[[], None]) -> Callable[[], None]:
    """Begin to record the program's inputs, into files of a folder; return the function that runs it so.

    The folder has the file `given`, and gets `begin`, `notes` and `collections`.

    Raises:
        SystemExit: it cannot be recorded.

    """
    with open(f"{folder}/given", "rb") as file:
        options = marshal.load(file)  # noqa: S302 - written by who started us
    if REASON:
        raise SystemExit(f"dapkit record: {REASON}")
    try:
        line_counter.claim()
    except ValueError:
        raise SystemExit(f"dapkit record: tool {line_counter.TOOL} of sys.monitoring is in use") from None
    if options["hides_seed"]:
        hide_seed()
    description = {
        "cwd": os.getcwd(),
        "version": sys.version,
        "library": os.path.dirname(os.__file__),
        "path": [os.path.abspath(entry) for entry in sys.path if type(entry) is str],
        "interpreter": _libraries_of_interpreter(),
        "streams": standard_streams.describe(),
        "signals": signal_state.describe(),
    }
    _write(f"{folder}/begin", description)
    counts = line_counter.counted(Sources(UnfiledTexts()), everything=False)

    def count_from_here() -> None:
        """Count the lines of the frames on the stack as well as of frames that start from now on.

        All is reported anew: where nothing was counted meanwhile, each line and start has been turned off.
        """
        line_counter.count(backend.on_recorded_line, backend.on_recorded_start)
        sys.monitoring.restart_events()
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            backend.on_start(frame.f_code, 0)
            frame = frame.f_back

    _folders.append(folder)
    if options[_FORKS]:
        os.mkdir(f"{folder}/{_FORKS}")
        at_fork(after_in_child=backend.engine_context(_record_fork))
    set_events = sys.monitoring.set_local_events
    given_files = f"{folder}/notes", f"{folder}/collections"
    start = backend.on_start
    backend.record(
        *given_files,
        options["most"],
        options["is_child"],
        count_from_here,
        start,
        line_counter.TOOL,
        counts,
        set_events,
    )
    return _then_list_files(backend.program_context(run))


def _record_fork() -> None:
    """Go on to record in the child of a fork, in a folder of its own: below its parent's folder."""
    place = backend.forked_at()
    if place is None:
        return
    folder = f"{_folders[-1]}/{_FORKS}/{place:015}-{os.getpid()}"
    try:
        os.mkdir(folder)
        os.mkdir(f"{folder}/{_FORKS}")
        _write(f"{folder}/begin", {"pid": os.getpid(), "place": place})
        backend.record_fork(f"{folder}/notes", f"{folder}/collections", _list_files)
    except OSError:  # the program runs without
        return
    _folders.append(folder)


def _libraries_of_interpreter() -> list[str]:
    """Return the file of the shared library that has the interpreter, in a list; empty if the program has it itself."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        paths = {line.split(maxsplit=5)[-1].rstrip() for line in maps if "/libpython3." in line}
    return sorted(paths)


def note_exit_code(code: int) -> None:
    """Record the exit code of this process, whose parent may not be recorded."""
    backend.note_exit_code(code)


def _then_list_files(run: Callable[[], None]) -> Callable[[], None]:
    """List the files of the imported modules when the program has ended."""

    @hidden_frame
    def run_and_list() -> None:
        try:
            run()
            note_exit_code(0)
        finally:
            _list_files()

    return run_and_list


def _list_files() -> None:
    modules = [module for module in [*sys.modules.values()] if type(module) is ModuleType]
    try:
        _write(f"{_folders[-1]}/files", ([*map(_file_of, modules)], [*map(_bytecode_of, modules)]))
    except OSError:  # it has outlived the program whose recorder has made the folder
        return


def _write(path: str, content: Any) -> None:  # noqa: ANN401 - marshal's values
    with open(path, "wb") as file:
        file.write(marshal.dumps(content))


def _file_of(module: ModuleType) -> str:
    path = vars(module).get("__file__")
    return path if type(path) is str else ""


def _bytecode_of(module: ModuleType) -> str:
    spec: Any = vars(module).get("__spec__")
    path = spec.cached if type(spec) is sys.modules["_frozen_importlib"].ModuleSpec else None
    return path if type(path) is str else ""


def set_zone(name: str) -> None:
    """Set a time zone in the C library, without a variable that the program could find."""
    os.putenv("TZ", name)
    module = sys.modules.get("time")
    if module is not None:
        module.tzset()


def hide_seed() -> None:
    """Take out of the environment that the order of hashes was chosen: as the program would find it without us."""
    import posix

    os.unsetenv(_SEED)
    posix.environ.pop(_SEED.encode(), None)
    module = sys.modules.get("os")
    if module is not None:
        module.environ._data.pop(_SEED.encode(), None)
