"""`sys.remote_exec` of Python 3.14: the interpreter itself runs a file in another process, at a safe point.

Both must be of the same minor version, so where the adapter's own Python is another the program's is asked to make
the call.
"""

import os
import shutil
import sys
from pathlib import Path

import anyio

from dapkit.python import limits
from dapkit.python.adapter.injection.target import TargetProcess

OLDEST = (3, 14)

_CALL = "import sys; sys.remote_exec(int(sys.argv[1]), sys.argv[2])"


async def execute(target: TargetProcess, file: Path) -> str | None:
    """Let a program run a file; return the reason if it cannot, else None."""
    interpreter = interpreter_for(target)
    if interpreter is None:
        return f"no Python {'.'.join(map(str, target.version))} was found that could ask it"
    try:
        with anyio.fail_after(limits.NATIVE_DEBUGGER_SECONDS):
            answer = await anyio.run_process(
                [interpreter, "-I", "-S", "-c", _CALL, str(target.pid), str(file)], check=False
            )
    except TimeoutError:
        return f"{interpreter} has not asked it in time"
    except OSError as error:
        return f"{interpreter} cannot ask it: {error.strerror}"
    if answer.returncode == 0:
        return None
    return answer.stderr.decode(errors="replace").strip().rpartition("\n")[2] or f"{interpreter} has failed"


def interpreter_for(target: TargetProcess) -> str | None:
    """Return an interpreter of the program's version; never one that other users could have put there."""
    if sys.version_info[:2] == target.version:
        return sys.executable
    return own_interpreter(target) or shutil.which(f"python{target.version[0]}.{target.version[1]}")


def own_interpreter(target: TargetProcess) -> str | None:
    """Return the program's interpreter, unless other users could have put it there."""
    own = target.executable
    try:
        if own.name.startswith("python") and own.stat().st_uid in {0, os.geteuid()}:
            return str(own)
    except OSError:
        pass  # it was replaced
    return None
