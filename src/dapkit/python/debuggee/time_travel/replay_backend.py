"""The C extension `_travel`, which records a program and replays it; or the reason why it cannot be used."""

from typing import Final

from ..engine.interpreter_checks import NEWEST_TESTED, is_newer
from ..interpreter.native import IS_FREE_THREADED
from ..system import IS_LINUX


def _unsupported() -> str:
    """Return why this system or interpreter has no time travel; empty if it has."""
    if not IS_LINUX:
        return "time travel needs Linux"
    if IS_FREE_THREADED:
        return "time travel does not work with free-threaded Python yet"
    if is_newer():
        return f"time travel was tested with Python 3.12 to {'.'.join(map(str, NEWEST_TESTED))} only"
    return ""


_reason = _unsupported()
try:
    if _reason:
        raise ImportError  # noqa: TRY301 - as if the file did not exist
    from .. import _travel as backend
except ImportError as _error:
    backend = None  # type: ignore[assignment]  # nothing uses it where there is a REASON
    _reason = _reason or (
        f"time travel and recordings need the C extension of dapkit, which cannot be loaded ({_error}); "
        "install a wheel of dapkit, or install it where there are a C compiler and the headers of Python"
    )

REASON: Final = _reason
"""Why this process has no time travel and no recordings; empty if it has them."""

__all__: Final = ["REASON", "backend"]
