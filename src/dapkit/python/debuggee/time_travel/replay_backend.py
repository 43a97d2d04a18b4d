"""What stands between the program and the outside: `_travel` in C, or what Python can do without it.

This is the only module that knows which. `native/time_travel/` has more of the first, `plain/` is the second. That does
less: it keeps no recordings, and the history of a program ends where it does what Python cannot note.
"""

import sys
from typing import Final

from ..engine.interpreter_checks import NEWEST_TESTED, is_newer
from ..interpreter.native import IS_FREE_THREADED

try:
    if IS_FREE_THREADED or sys.platform != "linux" or is_newer():
        raise ImportError  # noqa: TRY301 - as if the file were not there
    from .. import _travel as boundary
except ImportError as _error:
    RECORDS = False
    _WHY_NOT = (
        f"time travel needs Linux; this is {sys.platform}"
        if sys.platform != "linux"
        else "time travel does not work with free-threaded Python yet"
        if IS_FREE_THREADED
        else f"time travel was tested with Python 3.12 to {'.'.join(map(str, NEWEST_TESTED))} only"
        if is_newer()
        else f"time travel on Python 3.15 and later needs the C extension, which cannot be loaded ({_error})"
        if sys.version_info >= (3, 15)
        else ""
    )
    NO_RECORDINGS = _WHY_NOT or f"the C extension for recordings cannot be loaded ({_error}); is there a C compiler?"
    AVAILABLE, REASON = not _WHY_NOT, _WHY_NOT
    if AVAILABLE:
        from .plain.interface import boundary  # type: ignore[no-redef]  # it has what is asked of it here
else:
    AVAILABLE, REASON = True, ""
    RECORDS, NO_RECORDINGS = True, ""

__all__: Final = ["AVAILABLE", "NO_RECORDINGS", "REASON", "RECORDS", "boundary"]
