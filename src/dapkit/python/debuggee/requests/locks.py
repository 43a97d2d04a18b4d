"""The request for locks that are taken; the work is in `threads.locks`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ..connection.framing import Json
from ..connection.request import IncomingRequest
from ..threads.locks import SeenLock, taken_locks
from .handler import Handler

if TYPE_CHECKING:
    from ..engine.engine import Engine


def locks(engine: "Engine", _request: IncomingRequest) -> Json:
    """Look for locks here, in the link's thread: it needs no thread of the program, which may run or stand."""
    frames = engine.threads.frames()
    return {"locks": [_row(engine, lock, frames) for lock in taken_locks(frames, engine.sources)]}


def _row(engine: "Engine", lock: SeenLock, frames: Mapping[int, object]) -> Json:
    row: Json = {
        "kind": lock.kind,
        "count": lock.count,
        "places": [
            {
                "threadId": engine.threads.number(ident),
                "function": frame.f_code.co_qualname,
                "path": frame.f_code.co_filename,
                "line": frame.f_lineno or 0,
                "expression": expression,
            }
            for ident, frame, expression in lock.places
        ],
    }
    if lock.owner is not None and lock.owner in frames:
        row["ownerId"] = engine.threads.number(lock.owner)
    elif lock.owner is not None:
        row["endedOwner"] = lock.owner
    return row


HANDLERS: Final[dict[str, Handler]] = {"dapkit/locks": locks}
