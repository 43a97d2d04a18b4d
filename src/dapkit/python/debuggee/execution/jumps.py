"""Moving a stopped thread to another line of its newest frame: goto, and restarting the frame.

CPython lets a frame jump only from within its LINE event; in other frames and at other
events an attempt is refused, or in 3.13 and later crashes the interpreter. So it is done by the thread
itself, while it stands in that event, and refused everywhere else with the reason. A jump executes nothing:
no `finally`, no `__exit__`. Local variables without a value become None by it.
"""

from types import FrameType

from ..expressions.evaluate import Namespaces
from ..interpreter.errors import RequestRefused
from ..interpreter.frame_locals import locals_of
from ..sources.compilation import warning_filters
from ..sources.files import first_line, is_function, lines_of_code
from .arguments import KnownArguments
from .parked_thread import ParkedThread


def objection(parked: ParkedThread | None, frame: FrameType) -> str:
    """Return why a frame cannot jump now, an empty text if it can."""
    if parked is None:
        return "the thread is inside native code"
    if parked.shown is not frame or parked.trail is not None:
        return "only the newest frame of a stopped thread can jump"
    if not parked.at_line:
        return "Python lets a frame jump only from the beginning of a line; step to the next line first"
    return ""


def jump(parked: ParkedThread, line: int) -> list[str]:
    """Let the frame of a parked thread continue at another line; return the variables that became None.

    To be called in that thread.

    Raises:
        RequestRefused: if Python does not allow it.

    """
    frame = parked.shown
    why = objection(parked, frame)
    if why:
        raise RequestRefused(why)
    code = frame.f_code
    if line not in lines_of_code(code):
        raise RequestRefused(f"line {line} has no code of {code.co_qualname}, where the thread is stopped")
    variables = locals_of(frame)
    unbound = [name for name in code.co_varnames if name not in variables] if is_function(code) else []
    filters = warning_filters()
    silence = ("ignore", None, RuntimeWarning, None, 0)  # of unbound variables, which are reported otherwise
    filters.insert(0, silence)
    try:
        frame.f_lineno = line  # type: ignore[misc]  # writable while the frame is in a line event
    except ValueError as error:
        raise RequestRefused(f"Python cannot jump to line {line} of {code.co_qualname}: {error}") from error
    finally:
        filters.remove(silence)
    return unbound


def restore(frame: FrameType, values: dict[str, object]) -> None:
    """Give parameters their first values again."""
    if values:
        namespaces = Namespaces(frame)
        namespaces.locals.update(values)
        namespaces.write_back()


def restart(parked: ParkedThread, arguments: KnownArguments) -> list[str]:
    """Let the newest frame of a thread begin again; return the variables that became None. In that thread.

    Raises:
        RequestRefused: if it cannot.

    """
    frame = parked.shown
    why = objection(parked, frame) or restart_objection(frame, arguments)
    if why:
        raise RequestRefused(why)
    values = arguments.known(frame) or {}
    unbound = jump(parked, first_line(frame.f_code))
    restore(frame, values)
    return unbound


def restart_objection(frame: FrameType, arguments: KnownArguments) -> str:
    """Return why a frame that can jump still cannot be restarted, an empty text if it can."""
    if not is_function(frame.f_code):
        return "only functions can be restarted"
    if arguments.known(frame) is None:
        names = ", ".join(arguments.assigned(frame.f_code))
        return (
            f"{frame.f_code.co_qualname} assigns to its parameters {names}, and their values at its call are "
            "not known: Python hands values over and keeps nothing, and the call has computed them. Calls that begin "
            "from now on are noted, as long as there is a breakpoint in the function"
        )
    return ""
