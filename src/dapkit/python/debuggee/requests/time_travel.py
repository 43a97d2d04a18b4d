"""What the adapter asks for the sake of time travel."""

from types import FrameType
from typing import TYPE_CHECKING, Final

from ..chain import chain_of
from ..connection.request import IncomingRequest, text
from ..connection.wire import Json
from ..errors import RequestRefused
from ..travel.naming import place_in
from .bytecode import JumpTarget
from .handler import Handler
from .values import origin_of

if TYPE_CHECKING:
    from ..engine import Engine


def depth(engine: "Engine", request: IncomingRequest) -> Json:
    """Say how many frames there are from the bottom of the stack up to one, this one included."""
    return {"depth": len(chain_of(_frame_of(engine, request)))}


def _frame_of(engine: "Engine", request: IncomingRequest) -> FrameType:
    frame = origin_of(engine, request).frame
    if frame is None:
        raise RequestRefused(f"{request.message['command']} needs a frame: frameId is missing")
    return frame


def place_of_expression(engine: "Engine", request: IncomingRequest) -> Json:
    """Say what an expression means at any time: names of a module, or of one call of a function."""
    frame = _frame_of(engine, request)
    try:
        code = compile(text(request, "expression").strip(), "<dapkit: why>", "eval", dont_inherit=True)
    except SyntaxError as error:
        raise RequestRefused(f"{text(request, 'expression')!r:.200} is not an expression: {error.msg}") from error
    return place_in(frame, code)


def place_of_target(engine: "Engine", request: IncomingRequest) -> Json:
    """Say where a target of `goto` lies: a line of a function, and how deep that is on the stack of a thread, or 0."""
    target = engine.references.get(request.arguments.get("targetId"), JumpTarget)
    parked = engine.stops.parked.get(engine.threads.ident(request.arguments.get("threadId")))
    chain = [] if parked is None else chain_of(parked.shown)
    depth = next((len(chain) - above for above, frame in enumerate(chain) if frame.f_code is target.code), 0)
    code = target.code
    return {"path": code.co_filename, "first": code.co_firstlineno, "line": target.line, "depth": depth}


HANDLERS: Final[dict[str, Handler]] = {
    "dapkit/depth": depth,
    "dapkit/placeOfExpression": place_of_expression,
    "dapkit/placeOfTarget": place_of_target,
}
