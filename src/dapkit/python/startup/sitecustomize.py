"""Has a program obey the variables DAPKIT and DAPKIT_RECORD, whose command line cannot be changed.

This folder is put into PYTHONPATH for that (`python -m dapkit --startup-folder` prints it). The interpreter imports
this module before the program begins; it lets clients attach, removes itself, the folder and the variable, so that
neither the program nor its children see them, and gives way to another `sitecustomize` if there is one. A word that is
wrong, or a port that is taken, is reported on stderr, and the program runs without.

DAPKIT_RECORD, which is `failed` or `always`, has the program executed again by `dapkit record`, in this process. There
the variable stays, so that the processes that it starts are recorded, too: each is executed again by itself, and
`dapkit record`, which has made a folder for them, packs their recordings.
"""

import os
import sys
import time

_ENTRY = os.path.join("debuggee", "starting", "entry.py")


def _obey() -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != folder]
    sys.path_importer_cache.pop(folder, None)
    if "DAPKIT_RECORD" in os.environ and any(word.endswith(_ENTRY) for word in sys.orig_argv[1:]):
        return  # started by a recorder or a debugger
    path = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.path.abspath(part) != folder]
    if any(path):
        os.environ["PYTHONPATH"] = os.pathsep.join(path)
    else:
        os.environ.pop("PYTHONPATH", None)
    sources = os.path.dirname(os.path.dirname(os.path.dirname(folder)))
    keep = os.environ.pop("DAPKIT_RECORD", "")
    if keep and _can_be_recorded():
        (_record_process if "DAPKIT_RECORDED_BY" in os.environ else _record)(keep, sources)
    words = os.environ.pop("DAPKIT", "")
    if words:
        _begin(words, sources)


def _can_be_recorded() -> bool:
    if not hasattr(os, "memfd_create") or sys.implementation.name != "cpython" or "t" in getattr(sys, "abiflags", ""):
        return False
    if not (3, 12) <= sys.version_info[:2] <= (3, 15):
        return False
    if not sys.argv or sys.argv[0] in ("", "-") or sys.flags.interactive:
        return False  # there is no program
    # Executed under another name, it would not be the same if it were executed again.
    return os.path.realpath(sys.executable) == os.path.realpath("/proc/self/exe")


def _place(folder: str) -> str:
    """Return the path of a new recording in a folder, without a suffix."""
    name = os.path.splitext(os.path.basename(sys.argv[0]))[0].strip("-")
    name = {"c": "code", "m": "module"}.get(name, name)
    return os.path.join(folder, f"{name}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}")


def _record(keep: str, sources: str) -> None:
    """Execute the program again, recorded; return where that is not possible."""
    if keep not in ("failed", "always"):
        sys.stderr.write(f"dapkit: DAPKIT_RECORD is {keep!r}, expected failed or always; the program is not recorded\n")
        return
    python = _python_of_dapkit(sources)
    if not python:
        sys.stderr.write("dapkit: set DAPKIT_PYTHON to an interpreter that has dapkit; the program is not recorded\n")
        return
    folder = os.environ.get("DAPKIT_RECORDINGS") or os.getcwd()
    if not os.access(folder, os.W_OK):
        sys.stderr.write(f"dapkit: {folder} cannot be written to; the program is not recorded\n")
        return
    begin = f"import sys; sys.path.insert(0, {sources!r}); from dapkit.cli.entry import main; main()"
    recorder = [python, "-E", "-P", "-c", begin]  # the program's PYTHONPATH may be for another version
    options = ["--children", "--keep", keep, "-o", f"{_place(folder)}.dapkit", "--", sys.executable]
    try:
        os.execv(python, [*recorder, "record", *options, *sys.orig_argv[1:]])  # noqa: S606 - as the words say
    except OSError as error:
        sys.stderr.write(f"dapkit: {python}: {error.strerror}; the program is not recorded\n")


def _record_process(keep: str, sources: str) -> None:
    """Execute the program again, its inputs recorded in a folder; return where that is not possible."""
    folder = os.environ.get("DAPKIT_RECORDINGS", "")
    if not os.access(folder, os.W_OK):
        return  # it has gone with the recorder that has made it
    if any("multiprocessing.resource_tracker import main" in word for word in sys.orig_argv):
        return  # the user has not written it
    sys.path.insert(0, sources)
    try:
        from dapkit.python.recording.started_process import prepare  # another program follows, which does not see it

        place = f"{_place(folder)}-{time.monotonic_ns()}"  # a process can execute several programs
        words, environment = prepare(place, keep)
        os.execve(sys.executable, words, environment)  # noqa: S606 - the same program
    except (ImportError, OSError):  # the program runs without
        sys.path.remove(sources)


def _python_of_dapkit(sources: str) -> str:
    """Return an interpreter that has dapkit with all that it needs; empty if none is known."""
    library, folder = os.path.split(sources)
    installed = os.path.join(os.path.dirname(os.path.dirname(library)), "bin", "python")
    if "DAPKIT_PYTHON" in os.environ:
        return os.environ["DAPKIT_PYTHON"]
    if folder == "site-packages" and os.access(installed, os.X_OK):
        return installed
    return sys.executable if any(os.path.isdir(os.path.join(path, "msgspec")) for path in sys.path) else ""


def _begin(words: str, sources: str) -> None:
    """Let clients attach; nothing of dapkit stays behind that the program could find."""
    before = set(sys.modules)
    sys.path.insert(0, sources)
    try:
        from dapkit.program_api.in_program import begin

        begin(words)
    except Exception as error:  # noqa: BLE001 - the program is to run in any case
        sys.stderr.write(f"dapkit: DAPKIT: {error}; the program runs without a debugger\n")
    finally:
        sys.path.remove(sources)
        for name in set(sys.modules) - before:
            if name.partition(".")[0] == "dapkit":
                del sys.modules[name]


_obey()
del sys.modules[__name__]
import sitecustomize  # type: ignore[import-not-found]  # noqa: E402, F401 - another one; there need not be any, which `site` does not mind
