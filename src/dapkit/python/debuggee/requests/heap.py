"""The request for the contents of the program's heap; the work is in `heap`."""

import os
from typing import TYPE_CHECKING, Final

from ..connection.framing import Json
from ..connection.request import IncomingRequest
from ..heap import snapshot
from ..interpreter import limits
from ..loader import PACKAGE
from .handler import Handler

if TYPE_CHECKING:
    from ..engine.engine import Engine

FOLDER: Final = os.path.dirname(os.path.dirname(__file__)) + os.sep
"""Of the engine's modules."""


def heap(_engine: "Engine", _request: IncomingRequest) -> Json:
    """Take a snapshot here, in the link's thread: it needs no thread of the program, which may run or stand."""
    body: Json = snapshot(
        seconds=limits.HEAP_SECONDS,
        most=limits.HEAP_OBJECTS,
        rows=limits.HEAP_ROWS,
        trace_bytes=limits.HEAP_TRACE_BYTES,
        debuggers=(PACKAGE,),
        folders=(FOLDER,),
    )
    return body


HANDLERS: Final[dict[str, Handler]] = {"dapkit/heap": heap}
