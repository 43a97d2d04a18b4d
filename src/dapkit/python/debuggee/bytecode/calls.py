"""Calls of a line that a step can go into, one chosen among several.

They are the call instructions that the frame has not executed yet and whose text touches its line.
"""

from types import CodeType, FrameType
from typing import Final

from .disassembly import instructions
from .positions import span_at
from .texts import ProgramText
from .tree_places import Span

_CALLS: Final = frozenset(("CALL", "CALL_KW", "CALL_FUNCTION_EX"))
_CALL_CHARS: Final = 60
"""A call whose arguments are shown."""
_AWAITING: Final = frozenset(
    (
        "GET_AWAITABLE",
        "GET_AITER",
        "GET_ANEXT",
        "GET_YIELD_FROM_ITER",
        "GET_ITER",
        "LOAD_CONST",
        "LOAD_COMMON_CONSTANT",
        "PUSH_NULL",
        "SEND",
        "YIELD_VALUE",
        "RESUME",
        "JUMP_BACKWARD_NO_INTERRUPT",
        "END_SEND",
        "BEFORE_ASYNC_WITH",
    )
)
"""Instructions that may follow a call and execute the body of its result."""


class StepCall:
    """A call that a step is to go into: where it is made, and the instructions that belong to it after that.

    Instructions after it await its result: the body of a coroutine runs in them.
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

    `calling` means that the frame has made its call: the callee is just returning.
    """
    code = frame.f_code
    rows = instructions(code)
    targets: list[CallTarget] = []
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
        targets.append(CallTarget(frame, line, StepCall(instruction.offset, awaited), span))
    return targets


def label(code: CodeType, target: CallTarget, text: ProgramText | None) -> str:
    """Return the text of the callee, as far as it is known."""
    if text is None:
        return f"{code.co_qualname}: call at {target.call.offset}"
    call = written(target, text)
    function, bracket, _ = _before_last_bracket(call)
    return f"{function}(…)" if bracket else call


def written(target: CallTarget, text: ProgramText | None) -> str:
    """Return the call as it is written, in one line; empty if that is not known."""
    return "" if text is None else " ".join(text.cut(target.span).split())


def distinct(labels: list[str], calls: list[str]) -> list[str]:
    """Tell calls apart that have the same label: by their arguments, and those that are written alike by numbers."""
    distinct_targets = [
        label if labels.count(label) == 1 or not call else _shortened(call)
        for label, call in zip(labels, calls, strict=True)
    ]
    return [
        label
        if distinct_targets.count(label) == 1
        else f"{label}, {distinct_targets[: at + 1].count(label)} of {distinct_targets.count(label)}"
        for at, label in enumerate(distinct_targets)
    ]


def _shortened(call: str) -> str:
    return call if len(call) <= _CALL_CHARS else call[: _CALL_CHARS - 1] + "…"


def _before_last_bracket(text: str) -> tuple[str, str, str]:
    """Split a call at the bracket of its arguments."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] in ")]}") - (text[at] in "([{")
        if depth == 0 and text[at] == "(":
            return text[:at], "(", text[at + 1 :]
    return text, "", ""
