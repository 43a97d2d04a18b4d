"""The C extension `_travel`, or the reason why there is none; the only module that knows.

It stands between the program and the C library: `native/travel/` has more. Without it there is no time travel.
"""

import sys
from typing import Final

from ..native import IS_FREE_THREADED

try:
    if IS_FREE_THREADED or sys.platform != "linux":
        raise ImportError  # noqa: TRY301 - as if the file were not there
    from .. import _travel as boundary
except ImportError as _error:
    AVAILABLE = False
    REASON = (
        f"time travel needs Linux; this is {sys.platform}"
        if sys.platform != "linux"
        else "time travel does not work with free-threaded Python yet"
        if IS_FREE_THREADED
        else f"the C extension for time travel cannot be loaded ({_error}); is there a C compiler?"
    )
else:
    AVAILABLE = True
    REASON = ""

__all__: Final = ["AVAILABLE", "REASON", "boundary"]
