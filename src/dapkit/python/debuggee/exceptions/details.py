"""The report about an exception: its text, notes, chain, members and stack, as `exceptionInfo` shows them."""

from types import FrameType

from ..connection.framing import Json
from ..evaluation.guard import EvaluationGuard
from ..interpreter import limits
from ..interpreter.frame_views import virtual_frame_of
from ..interpreter.safe_types import class_name, is_a, simple_name, stored, traceback_of, type_name
from ..values.error_text import error_text
from .traceback_text import TracebackWriter, linked_to, message_of


def trail_of(exception: BaseException, frame: FrameType) -> list[tuple[FrameType, int]]:
    """Return the frames, from the newest, through which an exception came to one that it is in now.

    An exception that was caught, kept and raised again has the frames of its earlier ways behind them. Its traceback
    lacks a frame that a handler has called, and in which a bare `raise` raises it again: that frame comes last then.
    A frame whose handler raises it again is there twice, but once if it stands for a line of a template.
    """
    passed: set[int] = set()  # frames that it cannot come through any more: older ones, and those it came out of
    older = frame.f_back
    while older is not None:
        passed.add(id(older))
        older = older.f_back
    trail: list[tuple[FrameType, int]] = []
    for current, line in reversed(traceback_of(exception)):
        is_next = not trail or trail[-1][0] is not current
        if trail and is_next and id(current) in passed:
            break
        if not is_next and virtual_frame_of(current, line) is not None:
            continue
        passed.add(id(current))
        trail.append((current, line))
    raises_again = [] if trail and trail[0][0] is frame else [(frame, frame.f_lineno)]
    return [*reversed(trail), *raises_again]


def summary(exception: BaseException) -> Json:
    """Return `description` and `text` of a stopped event, without running the program's code."""
    kind, message = type_name(exception), error_text(exception)
    return {"description": f"{kind}: {message}"[: limits.MESSAGE_CHARS] if message else kind, "text": kind}


def information(
    exception: BaseException,
    break_mode: str,
    frames: list[tuple[FrameType, int]],
    guard: EvaluationGuard | None,
    writer: TracebackWriter,
) -> Json:
    """Return the body of `exceptionInfo`.

    The stack trace has causes and members of groups, since editors show that alone: VS Code has no place for
    `innerException`.
    """
    details = _details(exception, "__exception__", guard, limits.EXCEPTION_DEPTH, writer, opened=set())
    details["stackTrace"] = writer.exception(exception, guard, frames=frames)
    return {
        "exceptionId": type_name(exception),
        "description": details["message"],
        "breakMode": break_mode,
        "details": details,
    }


def _details(
    exception: BaseException,
    path: str,
    guard: EvaluationGuard | None,
    depth: int,
    writer: TracebackWriter,
    *,
    opened: set[int],
) -> Json:
    """Return `ExceptionDetails`; `path` is the expression for the exception, where it stopped the thread.

    A linked exception is described once: `opened` are the exceptions described so far.
    """
    details: Json = {
        "message": message_of(exception, guard),
        "typeName": simple_name(type(exception)),
        "fullTypeName": class_name(type(exception)),
        "evaluateName": path,
        "stackTrace": writer.frames(traceback_of(exception)),
    }
    inner: list[tuple[BaseException, str]] = []
    if is_a(exception, BaseExceptionGroup):
        members = stored(exception, "exceptions")[: limits.EXCEPTION_DEPTH]
        inner += [(member, f"{path}.exceptions[{at}]") for at, member in enumerate(members)]
    earlier, is_cause = linked_to(exception)
    if earlier is not None:
        inner.append((earlier, f"{path}.__cause__" if is_cause else f"{path}.__context__"))
    if inner and depth and id(exception) not in opened:
        opened.add(id(exception))
        details["innerException"] = [
            _details(linked, where, guard, depth - 1, writer, opened=opened) for linked, where in inner
        ]
    return details
