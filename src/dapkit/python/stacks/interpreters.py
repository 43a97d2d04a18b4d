"""Reads of a program's memory by interpreters of its version, as JSON of a script of ours.

The program's own interpreter is asked first: of one version there are builds whose objects are laid out differently.
"""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dapkit.python import limits
from dapkit.python.adapter.injection.remote_exec import interpreter_for, own_interpreter
from dapkit.python.adapter.injection.target import TargetProcess
from dapkit.python.versions import OLDEST

_FOLDER = Path(__file__).parent
_UNWINDER = (3, 14)
"""Versions from here on can read another process of their version themselves."""
INTERPRETER_READS_STACKS = (3, 15)
"""And from here on, the stacks of its threads."""
_START = "import sys, runpy; sys.path.append(sys.argv.pop(1)); runpy.run_module('remote_memory', run_name='__main__')"


def reading_of(target: TargetProcess, *, blocking: bool) -> dict[str, Any]:
    """Return `threads` and `tasks` of a program, each None if it is not known, with `reasons` for that.

    Args:
        target: the program.
        blocking: whether it may be made to stand still meanwhile.

    """
    version = ".".join(map(str, target.version))
    if target.version < OLDEST:
        return _refusal("they are read from Python 3.12 on")
    if target.version >= _UNWINDER:
        command = [str(_FOLDER / "unwinder_script.py"), str(target.pid), *([] if blocking else ["nonblocking"])]
    else:
        command = ["-c", _START, str(_FOLDER), str(target.pid)]
    interpreters = list(dict.fromkeys(filter(None, (own_interpreter(target), interpreter_for(target)))))
    answer = _refusal(f"no Python {version} was found here that could read them")
    for number, interpreter in enumerate(interpreters):
        reading = _answer([interpreter, "-I", "-S", "-B", *command])
        if reading["tasks"] is not None or reading["threads"] is not None:
            return reading
        if number == 0:
            answer = reading  # its reasons count, not another build's
    return answer


def _refusal(reason: str) -> dict[str, Any]:
    return {"threads": None, "tasks": None, "reasons": {"threads": reason, "tasks": reason}}


def _answer(command: Sequence[str]) -> dict[str, Any]:
    try:
        answer = subprocess.run(
            command, capture_output=True, check=False, timeout=limits.DUMP_SECONDS, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return _refusal(f"{command[0]} did not read them within {limits.DUMP_SECONDS:g} s")
    except OSError as error:
        return _refusal(f"{command[0]} cannot be run: {error.strerror}")
    try:
        reading: dict[str, Any] = json.loads(answer.stdout)
    except ValueError:
        last_line = answer.stderr.decode(errors="replace").strip().rpartition("\n")[2].strip().rstrip(".")
        failure = f"{command[0]} failed with status {answer.returncode}"
        return _refusal(f"{failure} ({last_line})" if last_line else failure)
    return reading
