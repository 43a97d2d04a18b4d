"""The log of the engine's decisions: `DAPKIT_ENGINE_LOG=FILE`, `--log-to` of `python -m dapkit`, `dapkit.log_to`.

One line each: seconds since the engine was loaded, process, thread, topic, and details.

    0.031604 4711 140231 look prog.py:3 f: not again
    0.031702 4711 140231 events prog.py:3 f: site PY_START LINE
    0.031755 4711 140231 stop thread 140231: breakpoint
    0.031760 4711 140231 state thread 140231: running -park-> stopped

Topics are `look` (a code object that starts for the first time), `events` (which events are on, where and why), `stop`,
`go`, `step`, `resume`, `state` (moves of `execution.states`) and `error`. Call it behind the switch, so that it costs a
look at a constant when it is off:

    if LOG:
        write("stop", ...)

The file is appended to, by one call of the system per line, through a descriptor that programs do not inherit
and that is out of the way of the small numbers they expect.
"""

import os
from _thread import get_ident
from time import monotonic
from types import CodeType
from typing import Final

from .. import loader
from ..system import CLOSE_IN_CHILDREN, duplicate_above

FILE: Final = loader.log_file or os.environ.get("DAPKIT_ENGINE_LOG", "")
"""`-` is stderr."""
LOG: Final = bool(FILE)
"""Whether decisions are written."""

_FIRST_DESCRIPTOR: Final = 200
_began: Final = monotonic()
_write: Final = os.write  # functions that the program may replace in the module
_descriptor = -1


def write(topic: str, *details: object) -> None:
    """Write one line; a file that cannot be written is left alone."""
    line = " ".join(map(str, details)).replace("\n", "\\n")
    try:
        _write(_opened(), f"{monotonic() - _began:.6f} {os.getpid()} {get_ident()} {topic} {line}\n".encode())
    except OSError:
        return


def code_name(code: CodeType) -> str:
    """Return the name of a code object for a line."""
    return f"{os.path.basename(code.co_filename)}:{code.co_firstlineno} {code.co_qualname}"


def _opened() -> int:
    global _descriptor  # noqa: PLW0603 - one file per process
    if _descriptor < 0:
        opened = (
            os.dup(2)
            if FILE == "-"
            else os.open(FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND | CLOSE_IN_CHILDREN, 0o600)
        )
        try:
            _descriptor = duplicate_above(opened, _FIRST_DESCRIPTOR)
        finally:
            os.close(opened)
    return _descriptor


def close() -> None:
    """Let go of the file, in the child of a fork."""
    global _descriptor  # noqa: PLW0603 - the same
    if _descriptor >= 0:
        os.close(_descriptor)
        _descriptor = -1
