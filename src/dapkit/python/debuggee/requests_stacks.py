"""Requests about threads and their stacks."""

from types import FrameType
from typing import TYPE_CHECKING, Final

from .handling import Handler, number
from .jobs import Request
from .wire import Json

if TYPE_CHECKING:
    from .engine import Engine


def threads(engine: "Engine", _request: Request) -> Json:
    """List the threads."""
    return {"threads": engine.threads.listing()}


def stack_trace(engine: "Engine", request: Request) -> Json:
    """List the frames of a thread, stopped or running."""
    ident = engine.threads.ident(request.arguments.get("threadId"))
    return engine.stacks.page(
        _frames_of(engine, ident),
        ident,
        number(request, "startFrame"),
        number(request, "levels"),
        stopped=engine.world.stands(ident),
    )


def _frames_of(engine: "Engine", ident: int) -> list[tuple[FrameType, int]]:
    parked = engine.world.parked.get(ident)
    if parked is not None:
        return engine.stacks.of_parked(parked)
    return engine.stacks.walk(engine.threads.frames().get(ident))


HANDLERS: Final[dict[str, Handler]] = {
    "threads": threads,
    "stackTrace": stack_trace,
}
