"""A Python process that a recorded program starts, on its way to be recorded: executed in that process itself.

It needs the standard library alone, as the interpreter of any program executes it.
"""

import marshal
import os
import random
import sys
import time
from pathlib import Path

from dapkit.python.program_command import python_command

COMMAND = "command"
"""The file in its folder that tells of the process: marshalled facts."""
PARENT = "DAPKIT_RECORDED_BY"
"""The variable with the name of the recording whose program has started a process."""
SEED = "PYTHONHASHSEED"
_ENTRY = Path(__file__).parent.parent / "debuggee" / "starting" / "entry.py"
_STARTUP = Path(__file__).parent.parent / "startup"
OPTIONS = "options"
"""The file in the folder of all processes with the options of the recorder."""


def prepare(folder: str, keep: str) -> tuple[list[str], dict[str, str]]:
    """Make the folder of a process, and return the command that records its program there, with its environment.

    Raises:
        OSError: the folder cannot be made.

    """
    command = python_command(Path(sys.executable), sys.orig_argv[1:])
    if command is None:
        raise OSError("there is no program")
    kind, what = command.program
    path = os.pathsep.join(filter(None, (str(_STARTUP), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "DAPKIT_RECORD": keep, PARENT: Path(folder).name, "PYTHONPATH": path}
    hides_seed = not environment.get(SEED)
    if hides_seed:
        environment[SEED] = str(random.SystemRandom().randrange(1, 1 << 32))
    facts = {
        "executable": sys.executable,
        "options": command.options,
        "kind": kind,
        "what": what,
        "args": command.args,
        "environment": environment,
        "hidesSeed": hides_seed,
        "began": time.time_ns() // 1000,
        "parent": os.environ[PARENT],
        "pid": os.getpid(),
    }
    options = marshal.loads(Path(folder).with_name(OPTIONS).read_bytes())  # noqa: S302 - by the recorder
    options |= {"hides_seed": hides_seed, "forks": True, "is_child": True}
    Path(folder).mkdir()
    Path(folder, "given").write_bytes(marshal.dumps(options))
    Path(folder, COMMAND).write_bytes(marshal.dumps(facts))
    words = [sys.executable, *command.options, str(_ENTRY), "--record", folder, f"--{kind}", what, "--", *command.args]
    return words, environment
