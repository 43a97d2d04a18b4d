"""Has a program obey the variable DAPKIT, whose command line cannot be changed.

This folder is put into PYTHONPATH for that (`python -m dapkit --startup-folder` prints it). The interpreter imports
this module before the program begins; it lets clients attach, removes itself, the folder and the variable, so that
neither the program nor its children see them, and gives way to another `sitecustomize` if there is one. A word that is
wrong, or a port that is taken, is reported on stderr, and the program runs without.
"""

import os
import sys


def _obey() -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != folder]
    path = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.path.abspath(part) != folder]
    if any(path):
        os.environ["PYTHONPATH"] = os.pathsep.join(path)
    else:
        os.environ.pop("PYTHONPATH", None)
    sys.path_importer_cache.pop(folder, None)
    words = os.environ.pop("DAPKIT", "")
    if words:
        _begin(words, os.path.dirname(os.path.dirname(os.path.dirname(folder))))


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
