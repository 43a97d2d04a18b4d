"""Requests about instructions: disassembly, calls of a line, jumps."""

from collections.abc import Callable
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Final

from ..bytecode import calls
from ..bytecode.calls import CallTarget, calls_ahead
from ..bytecode.disassembly import disassemble
from ..bytecode.instructions import parse
from ..bytecode.positions import entries
from ..connection.framing import Json
from ..connection.request import DEFERRED, Deferred, IncomingRequest, flag, number
from ..evaluation.guard import EvaluationGuard
from ..evaluation.jobs import Job
from ..execution import jumps
from ..execution.parked_thread import ParkedThread
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..interpreter.frame_views import virtual_frame_of
from ..sources.compilation import with_nested
from ..sources.files import lines_of_code
from ..stacks.frames import frames_only
from ..values.variables import ShownFrame
from .breakpoints import source_asked
from .handler import Handler

if TYPE_CHECKING:
    from ..engine.engine import Engine


class JumpTarget:
    """A line that a client may choose to go to."""

    what = "line to go to"

    def __init__(self, code: CodeType, line: int) -> None:
        self.code = code
        self.line = line


def disassemble_(engine: "Engine", request: IncomingRequest) -> Json:
    """Show instructions around an address."""
    arguments = request.arguments
    address = parse(arguments.get("memoryReference"), "memoryReference") + _whole(request, "offset")
    count = number(request, "instructionCount")
    if count > limits.INSTRUCTIONS:
        raise RequestRefused(f"instructionCount is {count}; {limits.INSTRUCTIONS} can be shown at once")
    addresses = engine.callbacks.breakpoints.addresses
    place = addresses.find(address)
    source = text = None
    if place is not None:
        source, text = engine.shown.source_of(place[0]), engine.texts.of_code(place[0])
    rows = disassemble(
        addresses,
        address,
        first=_whole(request, "instructionOffset"),
        count=count,
        symbols=flag(request, "resolveSymbols", default=False),
        source=source,
        text=text,
    )
    return {"instructions": rows}


def step_in_targets(engine: "Engine", request: IncomingRequest) -> Json:
    """List the calls of a frame's line that are still to be made."""
    frame = engine.references.get(request.arguments.get("frameId"), ShownFrame)
    parked = engine.stops.parked.get(frame.ident)
    if parked is None or parked.shown is not frame.frame or parked.leaving:
        raise RequestRefused("only the newest frame of a stopped thread makes calls next")
    if virtual_frame_of(frame.frame) is not None:
        return {"targets": []}
    code = frame.frame.f_code
    text = engine.texts.of_code(code)
    targets: list[Json] = []
    labels: list[str] = []
    running = frames_only(engine.stacks.of_running(engine.threads.frames().get(frame.ident)))
    calling = next((running_frame for running_frame, _ in running), None) is not frame.frame
    for target in calls_ahead(frame.frame, frame.line, calling=calling):
        span = target.span
        row: Json = {
            "id": engine.references.add(target, frame.ident),
            "label": calls.label(code, target, text),
            "line": span.line,
            "endLine": span.end_line,
        }
        if text is not None:
            row["column"] = text.shown_column(span.line, span.column)
            row["endColumn"] = text.shown_column(span.end_line, span.end_column)
        targets.append(row)
        labels.append(calls.written(target, text))
    for row, label in zip(targets, calls.distinct([str(row["label"]) for row in targets], labels), strict=True):
        row["label"] = label
    return {"targets": targets}


def goto_targets(engine: "Engine", request: IncomingRequest) -> Json:
    """List the jump targets of a thread in a line: in a stopped function first, or else in any function."""
    key, _ = source_asked(engine, request)
    line = number(request, "line")
    if not line:
        raise RequestRefused("gotoTargets needs a line, from 1 on")
    if not engine.stops.standing:
        raise RequestRefused("the program is running; pause it to go elsewhere")
    standing = [parked for parked in list(engine.stops.parked.values()) if virtual_frame_of(parked.shown) is None]
    stopped = [(parked.ident, parked.shown.f_code) for parked in standing]
    codes = [(ident, code) for ident, code in stopped if key in engine.sources.keys(code)]
    here = [(ident, code) for ident, code in codes if line in lines_of_code(code)]
    others = [(ident, part) for ident, code in codes for part in with_nested(code) if line in lines_of_code(part)]
    targets = [
        {
            "id": engine.references.add(JumpTarget(code, line), ident),
            "label": f"line {line} of {code.co_qualname}",
            "line": line,
            "column": 1,
        }
        for ident, code in {id(code): (ident, code) for ident, code in here or others}.values()
    ]
    return {"targets": targets}


def goto(engine: "Engine", request: IncomingRequest) -> Deferred:
    """Let a thread continue at another line of its newest frame."""
    target = engine.references.get(request.arguments.get("targetId"), JumpTarget)
    ident = engine.threads.ident(request.arguments.get("threadId"))
    engine.stops.need_stop(ident)

    def move(parked: ParkedThread) -> list[str]:
        if parked.shown.f_code is not target.code:
            raise RequestRefused(
                f"line {target.line} is in {target.code.co_qualname}, and the thread is stopped in "
                f"{parked.shown.f_code.co_qualname}; Python can only jump within one function"
            )
        return jumps.jump(parked, target.line)

    return _move(engine, request, ident, move, "goto")


def restart_frame(engine: "Engine", request: IncomingRequest) -> Deferred:
    """Let the newest frame of a thread begin again."""
    frame = engine.references.get(request.arguments.get("frameId"), ShownFrame)

    def move(parked: ParkedThread) -> list[str]:
        if virtual_frame_of(frame.frame) is not None:
            raise RequestRefused("a template cannot begin again")
        why = jumps.objection(parked, frame.frame)
        if why:
            raise RequestRefused(why)
        return jumps.restart(parked, engine.callbacks.arguments)

    return _move(engine, request, frame.ident, move, "restart")


def _move(
    engine: "Engine", request: IncomingRequest, ident: int, move: Callable[[ParkedThread], list[str]], reason: str
) -> Deferred:
    """Let a thread jump, and report its new place."""
    parked = engine.stops.parked.get(ident)
    if parked is None:
        raise RequestRefused("the thread is inside native code and cannot jump")

    def work(_guard: EvaluationGuard) -> Json:
        line = parked.shown.f_lineno
        unbound = move(parked)
        request.afterwards = lambda: _report_move(engine, parked, reason, unbound, line)
        return {}

    def instead(_begun: bool) -> Json:
        raise RequestRefused("the thread is busy with an evaluation that cannot be interrupted")

    engine.jobs.post(ident, Job(request, work, seconds=limits.PAGE_SECONDS, instead=instead))
    return DEFERRED


def _report_move(engine: "Engine", parked: ParkedThread, reason: str, unbound: list[str], line: int) -> None:
    if unbound:
        names = ", ".join(unbound)
        text = f"Variables without a value are None after the jump from line {line}: {names}"
        engine.callbacks.breakpoints.console(text)
    engine.stops.stop_again(parked, reason)


def chosen_call(engine: "Engine", request: IncomingRequest, parked: ParkedThread) -> CallTarget | None:
    """Return the call that a stepIn is to go into, None if it names none."""
    identity = request.arguments.get("targetId")
    if identity is None:
        return None
    target = engine.references.get(identity, CallTarget)
    if target.frame is not parked.shown:
        raise RequestRefused("the target is a call of another frame; ask for stepInTargets again")
    return target


def statements_of_line(engine: "Engine", frame: FrameType) -> frozenset[int]:
    """Return where the statements of a frame's line begin, if it holds several."""
    code = frame.f_code
    text = engine.texts.of_code(code) if virtual_frame_of(frame) is None else None
    line: int | None = frame.f_lineno  # None at an instruction that the compiler has added
    if text is None or line is None:
        return frozenset()
    return frozenset(offset for span in text.statements(line) for offset in entries(code, span))


def _whole(request: IncomingRequest, name: str) -> int:
    value = request.arguments.get(name)
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool):
        raise RequestRefused(f"{name} is {value!r:.200}, expected a whole number")
    return value


HANDLERS: Final[dict[str, Handler]] = {
    "disassemble": disassemble_,
    "stepInTargets": step_in_targets,
    "gotoTargets": goto_targets,
    "goto": goto,
    "restartFrame": restart_frame,
}
