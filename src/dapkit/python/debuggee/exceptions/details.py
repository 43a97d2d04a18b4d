"""What is reported about an exception: its text, notes, chain, members and stack, as `exceptionInfo` shows them."""

from types import FrameType

from .. import limits
from ..classes import class_name, is_a, namespace, plain_text, simple_name, stored, type_name
from ..connection.wire import Json
from ..evaluation.guard import EvaluationGuard
from ..values.text import error_text, own_text


def traceback_of(exception: BaseException) -> list[tuple[FrameType, int]]:
    """Return the frames of an exception's traceback, from the newest; some of them have ended."""
    found: list[tuple[FrameType, int]] = []
    traceback = stored(exception, "__traceback__")
    while traceback is not None:
        found.append((traceback.tb_frame, traceback.tb_lineno or 0))
        traceback = traceback.tb_next
    return found[::-1]


def trail_of(exception: BaseException, frame: FrameType) -> list[tuple[FrameType, int]]:
    """Return the frames, from the newest, through which an exception came to one that it is in now.

    An exception that was caught, kept and raised again has those of its earlier ways behind them.
    """
    passed: set[int] = set()  # frames that it cannot come through any more: older ones, and those it came out of
    older = frame.f_back
    while older is not None:
        passed.add(id(older))
        older = older.f_back
    found: list[tuple[FrameType, int]] = []
    for current, line in reversed(traceback_of(exception)):
        is_next = not found or found[-1][0] is not current  # where it is raised again in its handler, it is there twice
        if found and is_next and id(current) in passed:
            break
        passed.add(id(current))
        found.append((current, line))
    return found[::-1]


def summary(exception: BaseException) -> Json:
    """Return `description` and `text` of a stopped event, without running the program's code."""
    kind, said = type_name(exception), error_text(exception)
    return {"description": f"{kind}: {said}"[: limits.MESSAGE_CHARS] if said else kind, "text": kind}


def formatted(frames: list[tuple[FrameType, int]]) -> str:
    """Write frames, given from the newest, as the lines of a traceback."""
    return "".join(
        f'  File "{frame.f_code.co_filename}", line {line}, in {frame.f_code.co_qualname}\n'
        for frame, line in reversed(frames)
    )


def information(
    exception: BaseException, break_mode: str, frames: list[tuple[FrameType, int]], guard: EvaluationGuard | None
) -> Json:
    """Return the body of `exceptionInfo`."""
    details = _details(exception, "__exception__", guard, limits.EXCEPTION_DEPTH)
    details["stackTrace"] = formatted(frames)
    return {
        "exceptionId": type_name(exception),
        "description": details["message"],
        "breakMode": break_mode,
        "details": details,
    }


def _details(exception: BaseException, path: str, guard: EvaluationGuard | None, depth: int) -> Json:
    """Return `ExceptionDetails`; `path` is the expression for the exception, where it stopped the thread."""
    message = own_text(str, exception, guard)
    notes = namespace(exception).get("__notes__")
    if type(notes) is list:
        message = "\n".join([message, *(plain_text(note) for note in notes if is_a(note, str))])
    details: Json = {
        "message": message[: limits.MESSAGE_CHARS],
        "typeName": simple_name(type(exception)),
        "fullTypeName": class_name(type(exception)),
        "evaluateName": path,
        "stackTrace": formatted(traceback_of(exception)),
    }
    inner: list[tuple[BaseException, str]] = []
    if is_a(exception, BaseExceptionGroup):
        members = stored(exception, "exceptions")[: limits.EXCEPTION_DEPTH]
        inner += [(member, f"{path}.exceptions[{at}]") for at, member in enumerate(members)]
    cause, context = stored(exception, "__cause__"), stored(exception, "__context__")
    if cause is not None:
        inner.append((cause, f"{path}.__cause__"))
    elif context is not None and not stored(exception, "__suppress_context__"):
        inner.append((context, f"{path}.__context__"))
    if inner and depth:
        details["innerException"] = [_details(linked, where, guard, depth - 1) for linked, where in inner]
    return details
