"""Functions whose frames are never shown.

The interpreter leaves a frame out until it has reached its RESUME, where a call is complete: of `sys._getframe` and
`f_back`, of `sys._current_frames`, of every traceback; and instructions before RESUME cause no event of sys.monitoring.
So a function that has its RESUME behind its last instruction runs as any other, and is never seen. CPython:
`_PyFrame_IsIncomplete`, the same from 3.12 to 3.15.

For the few that lie below the program, and those in which our own thread waits: errors lack them, too. Before 3.15,
events of exceptions that pass through them are reported all the same.
"""

from collections.abc import Callable
from opcode import opmap
from types import CodeType
from typing import Any, Final, cast

from . import native

_RESUME = opmap["RESUME"]
_NOP = opmap["NOP"]
_CACHE = opmap["CACHE"]  # the instruction after RESUME from 3.15 on

CODES: Final[dict[int, CodeType]] = {}
"""The code that is not seen, by identity."""
_made: Final[dict[int, tuple[CodeType, CodeType]]] = {}
_set_events: Callable[[CodeType], object] | None = None


def allocate_events(set_events: Callable[[CodeType], object]) -> None:
    """Call `set_events` with all hidden code, present and future: it removes that code's events.

    Exceptions are local events from 3.15 on. RESUME allocates the interpreter's data about such events, and reads it
    where an exception passes: code that never reached its RESUME crashed the interpreter.
    """
    global _set_events  # noqa: PLW0603 - one for the process, as CODES
    _set_events = set_events
    for code in CODES.values():
        set_events(code)


def _note(code: CodeType) -> None:
    CODES[id(code)] = code
    if _set_events is not None:
        _set_events(code)


def hidden_frame[**P, T](function: Callable[P, T]) -> Callable[P, T]:
    """Hide the frames of a function; not for generators and coroutines."""
    plain = cast("Any", function)  # a function, which has its code
    usual = plain.__code__
    if id(usual) not in _made:
        content = bytearray(usual.co_code)
        first = next(offset for offset in range(0, len(content), 2) if content[offset] == _RESUME)
        end = first + 2
        while content[end] == _CACHE:
            end += 2
        resume = bytes(content[first:end])
        content[first:end] = bytes((_NOP, 0)) * (len(resume) // 2)
        code = usual.replace(co_code=bytes(content) + resume)
        _note(code)
        _made[id(usual)] = (usual, code)
    plain.__code__ = _made[id(usual)][1]
    return function


def hide(code: CodeType) -> bool:
    """Hide the frame of code that already runs; return whether that is possible, which needs C."""
    plain = _sample.__code__
    samples = [(plain.replace(co_code=bytes((_NOP, 0)) * count + plain.co_code), count) for count in (3, 7, 12)]
    if native.hide(code, samples):
        _note(code)
    return id(code) in CODES


def _sample() -> None:
    """Do nothing before its RESUME."""
