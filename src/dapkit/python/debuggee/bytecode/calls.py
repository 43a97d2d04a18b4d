"""Calls of a line that a step can go into, one chosen among several.

They are the call instructions that the frame has not executed yet and whose text touches its line.
"""

from types import CodeType, FrameType
from typing import Final

from .disassembly import instructions
from .positions import ProgramText, Span, span_at

_CALLS: Final = frozenset(("CALL", "CALL_KW", "CALL_FUNCTION_EX"))
_AWAITING: Final = frozenset(
    (
        "GET_AWAITABLE",
        "GET_AITER",
        "GET_ANEXT",
        "GET_YIELD_FROM_ITER",
        "LOAD_CONST",
        "SEND",
        "YIELD_VALUE",
        "RESUME",
        "JUMP_BACKWARD_NO_INTERRUPT",
        "END_SEND",
        "BEFORE_ASYNC_WITH",
    )
)
"""What may follow a call and execute the body of what it returned."""


class StepCall:
    """A call that a step is to go into: where it is made, and the instructions that belong to it after that.

    Those after it are what awaits its result: the body of a coroutine runs in them.
    """

    __slots__ = ("after", "begun", "offset")

    def __init__(self, offset: int, after: frozenset[int]) -> None:
        self.offset = offset
        self.after = after
        self.begun = False


class CallTarget:
    """A call that a client may choose to step into."""

    what = "call to step into"

    def __init__(self, frame: FrameType, line: int, call: StepCall, span: Span) -> None:
        self.frame = frame
        self.line = line
        self.call = call
        self.span = span


def calls_ahead(frame: FrameType, line: int, *, calling: bool) -> list[CallTarget]:
    """Return the calls of a line that are still to be made, in the order in which they are.

    `calling` says that the call which the frame is at has been made: what it called is just returning.
    """
    code = frame.f_code
    rows = instructions(code)
    found: list[CallTarget] = []
    for at, instruction in enumerate(rows):
        if instruction.opname not in _CALLS or instruction.offset < frame.f_lasti + calling:
            continue
        span = span_at(code, instruction.offset)
        if span is None or not span.line <= line <= span.end_line:
            continue
        after: list[int] = []
        for later in rows[at + 1 :]:
            if later.opname not in _AWAITING:
                break
            after.append(later.offset)
        awaited = frozenset(after) if len(after) > 1 else frozenset()
        found.append(CallTarget(frame, line, StepCall(instruction.offset, awaited), span))
    return found


def label(code: CodeType, target: CallTarget, text: ProgramText | None) -> str:
    """Return the text of what is called, as far as it is known."""
    if text is None:
        return f"{code.co_qualname}: call at {target.call.offset}"
    written = " ".join(text.cut(target.span).split())
    function, bracket, _ = _before_last_bracket(written)
    return f"{function}(…)" if bracket else written


def _before_last_bracket(text: str) -> tuple[str, str, str]:
    """Split a call at the bracket of its arguments."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] in ")]}") - (text[at] in "([{")
        if depth == 0 and text[at] == "(":
            return text[:at], "(", text[at + 1 :]
    return text, "", ""
