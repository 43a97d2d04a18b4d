"""Requests of the adapter for time travel."""

from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from ..connection.framing import Json
from ..connection.request import DEFERRED, Deferred, IncomingRequest, number, text
from ..evaluation.guard import EvaluationGuard
from ..evaluation.jobs import Job
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..interpreter.thread_frames import stack_of
from ..loader import load
from ..time_travel.value_names import identity_of, place_of_value
from .bytecode import JumpTarget
from .handler import Handler
from .values import origin_of

if TYPE_CHECKING:
    from ..engine.engine import Engine


def identity(engine: "Engine", request: IncomingRequest) -> Json:
    """Say by which number a frame is known in each replay process."""
    return {"identity": identity_of(_frame_of(engine, request))}


def _frame_of(engine: "Engine", request: IncomingRequest) -> FrameType:
    frame = origin_of(engine, request).frame
    if frame is None:
        raise RequestRefused(f"{request.message['command']} needs a frame: frameId is missing")
    return frame


def place_of_expression(engine: "Engine", request: IncomingRequest) -> Json:
    """Return the meaning of an expression at any time: names of a module or of one call, or an object's data."""
    frame, expression = _frame_of(engine, request), text(request, "expression")
    try:
        code = compile(expression.strip(), "<dapkit: why>", "eval", dont_inherit=True)
    except SyntaxError as error:
        raise RequestRefused(f"{expression!r:.200} is not an expression: {error.msg}") from error
    return place_of_value(frame, code, expression)


def origin(engine: "Engine", request: IncomingRequest) -> Json:
    """Return where the value came from that a line has bound, at the moment before that."""
    parked = next(iter(engine.stops.parked.values()), None)
    if parked is None:
        raise RequestRefused("the process does not stand at a line")
    arguments: dict[str, Any] = request.arguments
    finder = load("time_travel.value_origin").ValueOrigin(engine, parked.shown)
    body: Json = finder.find(arguments["change"], text(request, "expression"), arguments["place"])
    return body


def place_of_target(engine: "Engine", request: IncomingRequest) -> Json:
    """Return where a target of `goto` lies: a line of a function, and in which call on the stack of a thread, or 0."""
    target = engine.references.get(request.arguments.get("targetId"), JumpTarget)
    parked = engine.stops.parked.get(engine.threads.ident(request.arguments.get("threadId")))
    chain = [] if parked is None else stack_of(parked.shown)
    call = next((identity_of(frame) for frame in chain if frame.f_code is target.code), 0)
    code = target.code
    return {"path": code.co_filename, "first": code.co_firstlineno, "line": target.line, "frame": call}


def prepare_branch(_engine: "Engine", request: IncomingRequest) -> None:
    """Listen for the live program, whose place is to be taken."""
    load("time_travel.branch").prepare(text(request, "place"))


def hand_over(engine: "Engine", request: IncomingRequest) -> Json:
    """Send the program's open files to the process that takes its place."""
    body: Json = load("time_travel.branch").hand_over(engine, text(request, "place"))
    return body


def branch(engine: "Engine", request: IncomingRequest) -> Deferred:
    """Let this process, which shows a moment of the past, take the place of the live program."""
    descriptors = request.arguments.get("pipes")
    pipes = [(device, inode) for device, inode in descriptors] if isinstance(descriptors, list) else []

    def work(_guard: EvaluationGuard) -> Json:
        body: Json = load("time_travel.branch").take_place(engine, pipes, number(request, "mark"))
        return body

    def instead(_begun: bool) -> Json:
        raise RequestRefused("readOnlyPast: the thread is busy with an evaluation that cannot be interrupted")

    engine.jobs.post(engine.threads.main, Job(request, work, seconds=limits.BRANCH_SECONDS * 2, instead=instead))
    return DEFERRED


HANDLERS: Final[dict[str, Handler]] = {
    "dapkit/branch": branch,
    "dapkit/identity": identity,
    "dapkit/origin": origin,
    "dapkit/handOver": hand_over,
    "dapkit/placeOfExpression": place_of_expression,
    "dapkit/placeOfTarget": place_of_target,
    "dapkit/prepareBranch": prepare_branch,
}
