"""Where modules of a command of ours are looked for: not in the folder that it happens to be started in.

`python -m` puts that folder before the standard library, and a `queue.py` of a project would be imported instead of the
real one. This is imported before anything else; `-P` of the interpreter does the same, and also keeps out
a module of the folder that has our own name, which would be taken before any line of ours runs.
"""

import os
import sys


def _leave_out_current_folder() -> None:
    if sys.flags.safe_path or not sys.path:
        return
    try:
        current = os.getcwd()
    except FileNotFoundError:  # it was removed
        current = ""
    if sys.path[0] in {"", current}:
        del sys.path[0]


_leave_out_current_folder()
