"""A frame that holds every kind of variable, and what a condition comes to in it."""

import sys
from collections.abc import Callable
from types import CodeType, FrameType

from dapkit.python.debuggee.breakpoints.condition_compiler import tree_of
from dapkit.python.debuggee.expressions.syntax import parse_expression
from dapkit.python.debuggee.interpreter import native

LOCALS = ("a", "b")
CELL = "c"
FREE = "d"
GLOBALS = ("g", "h")
UNBOUND = "u"
NAMES = (*LOCALS, CELL, FREE, *GLOBALS)

SOURCE = """
def outer(d):
    def probe(look, a, b, c):
        if look is None:
            u = 1
        (lambda: (c, d))
        return look()
    return probe
"""


class Outcome:
    """What came of a condition: true, false, or left to Python because it raised."""

    def __init__(self, said: str, frame: FrameType | None = None) -> None:
        self.said = said
        self.frame = frame

    def __repr__(self) -> str:
        return self.said


def in_a_frame(values: dict[str, object], look: Callable[[], object]) -> object:
    """Call a function from a frame whose variables have these values."""
    namespace: dict[str, object] = {name: values[name] for name in GLOBALS}
    exec(SOURCE, namespace)  # noqa: S102 - a program to look at
    outer: Callable[..., Callable[..., object]] = namespace["outer"]  # type: ignore[assignment]  # defined by SOURCE
    return outer(values[FREE])(look, values["a"], values["b"], values[CELL])


def natively(condition: str, values: dict[str, object]) -> str | None:
    """Say what the extension makes of a condition, None if it is not simple enough for it."""
    said = ["false"]

    def look() -> object:
        frame = sys._getframe(1)
        code, line = frame.f_code, frame.f_lineno
        check = check_of(
            condition, code, line, lambda: said.__setitem__(0, "true"), lambda: said.__setitem__(0, "raised")
        )
        if check is None:
            said[0] = ""
        else:
            check(code, line, 2)
        return None

    in_a_frame(values, look)
    return said[0] or None


def check_of(
    condition: str | None,
    code: CodeType,
    line: int,
    hit: Callable[[], object],
    careful: Callable[[], object],
    *,
    hits: native.Hits | None = None,
) -> Callable[..., object] | None:
    """Make a check whose functions take no arguments."""
    tree = None if condition is None else tree_of(parse_expression(condition, "condition"), code)
    if condition is not None and tree is None:
        return None
    return native.line_check(
        code,
        line,
        condition=tree,
        hits=hits,
        count=native.counter(),
        hit=lambda _frame, _code, _line: hit(),
        careful=lambda _frame: careful(),
    )


def by_python(condition: str, values: dict[str, object]) -> str:
    """Say what Python makes of a condition."""

    def look() -> str:
        frame = sys._getframe(1)
        try:
            return "true" if eval(condition, frame.f_globals, frame.f_locals) else "false"  # noqa: S307 - that is the model
        except Exception:  # noqa: BLE001 - any is the same here
            return "raised"

    return str(in_a_frame(values, look))
