"""Emulation for adapters that lack conditions, hit counts or log messages.

Hits are counted by us as well where a hit condition has another meaning for the adapter:
3 is the third hit for one, the third and all after it for the next, and skips three for
gdb, where `>= 3` is an expression of C.

The breakpoint is set without the parts that the adapter lacks. Whenever it stops there,
the condition is evaluated, the hit is counted and the message is logged by us, and
the program continues if it was not to stop. From the first thing that the adapter
lacks on, all that comes after it is ours as well: an adapter that cannot check the
condition must not count the hits or log the message either.
"""

import operator
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from dapkit.catalog import Traits
from dapkit.client import BreakpointSpec, SourceLocation
from dapkit.protocol import Capabilities, DapkitError
from dapkit.python.debuggee.breakpoints.hit_conditions import parse_hit_condition
from dapkit.sessions.errors import SessionError

type Evaluate = Callable[[str], Awaitable[str]]
"""Evaluates an expression where the program stopped; raises DapkitError."""

_FALSE = re.compile(
    r"""(?ix) \s* (
        | false | none | nil | null | nullptr | undefined | off | no
        | [-+]? 0+ (\.0*)? | 0x0+ | 0\s*'\\0+' | '' | "" | \[\] | \{\} | \(\)
    ) \s*"""
)
"""The forms of false values in various languages."""


class WrongHitCondition(SessionError):  # noqa: N818 - the sentence reads right where it is raised
    """A hit condition that cannot be read."""


def check_hit_condition(text: str) -> None:
    """Raise WrongHitCondition if hits cannot be counted by this."""
    _parsed(text)


def acts_at(hit_condition: str, hit: int) -> bool:
    """Whether a breakpoint acts at this hit, counted from 1. Raises: WrongHitCondition."""
    sign, number = _parsed(hit_condition)
    return _COMPARE[sign](hit, number)


def _parsed(text: str) -> tuple[str, int]:
    try:
        return parse_hit_condition(text)
    except ValueError as error:
        raise WrongHitCondition(str(error)) from error


_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "%": lambda hit, number: hit % number == 0,
}


@dataclass(frozen=True, slots=True)
class Emulated:
    """The part of a spec that is ours."""

    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None

    def __bool__(self) -> bool:
        return any((self.condition, self.hit_condition, self.log_message))

    def __str__(self) -> str:
        texts = {
            "the condition": self.condition,
            "the hit count": self.hit_condition,
            "the log message": self.log_message,
        }
        parts = " and ".join(name for name, value in texts.items() if value)
        return f"dapkit does {parts} itself: the program stops there each time, and goes on" if parts else ""


NOTHING = Emulated()
"""The adapter does everything."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The action at an emulated breakpoint that was hit.

    Attributes:
        stop: whether the program is to stay.
        hits: how many hits count now.
        log: the message to log.
        remark: the error that keeps the program stopped.

    """

    stop: bool
    hits: int
    log: str | None = None
    remark: str | None = None


def split(spec: BreakpointSpec, capabilities: Capabilities, traits: Traits) -> tuple[BreakpointSpec, Emulated]:
    """Divide a spec into the adapter's part and dapkit's part."""
    in_source = isinstance(spec.location, SourceLocation)
    able = {
        "condition": bool(capabilities.supports_conditional_breakpoints),
        "hit_condition": bool(capabilities.supports_hit_conditional_breakpoints) and traits.counts_hits,
        # Only breakpoints in sources have log messages (SourceBreakpoint.logMessage).
        "log_message": bool(capabilities.supports_log_points) and in_source,
    }
    fields = {name: getattr(spec, name) for name in able}
    ours: dict[str, str | None] = dict.fromkeys(able)
    for name, value in fields.items():
        if value is not None and (any(ours.values()) or not able[name]):
            ours[name] = value
    emulated = Emulated(**ours)
    log_message = None if emulated.log_message else spec.log_message
    native = replace(
        spec,
        condition=None if emulated.condition else spec.condition,
        hit_condition=None if emulated.hit_condition else spec.hit_condition,
        log_message=f"{log_message}\n" if log_message is not None and traits.log_lines_run_on else log_message,
    )
    return native, emulated


def is_true(value: str) -> bool:
    """Whether the value of a condition, as an adapter shows it, counts as true."""
    return _FALSE.fullmatch(value) is None


async def judge(emulated: Emulated, *, hits: int, evaluate: Evaluate) -> Judgement:
    """Emulate the missing parts, at a breakpoint that was hit; `hits` counts the earlier hits.

    Whatever goes wrong stops the program and is reported: a breakpoint that never stops would hide its mistake.
    """
    if emulated.condition is not None:
        try:
            value = await evaluate(emulated.condition)
        except DapkitError as error:
            return Judgement(stop=True, hits=hits, remark=f"condition {emulated.condition!r} failed: {error}")
        if not is_true(value):
            return Judgement(stop=False, hits=hits)
    hits += 1
    if emulated.hit_condition is not None and not acts_at(emulated.hit_condition, hits):
        return Judgement(stop=False, hits=hits)
    if emulated.log_message is not None:
        return Judgement(stop=False, hits=hits, log=await interpolate(emulated.log_message, evaluate))
    return Judgement(stop=True, hits=hits)


async def interpolate(message: str, evaluate: Evaluate) -> str:
    """Put values into a log message; doubled braces are braces, and an error stands in the place of its value."""
    pieces: list[str] = []
    for literal, expression in _pieces(message):
        pieces.append(literal)
        if expression is not None:
            try:
                pieces.append(await evaluate(expression))
            except DapkitError as error:
                pieces.append(f"<{error}>")
    return "".join(pieces)


def _pieces(message: str) -> list[tuple[str, str | None]]:
    """Cut a message into literal texts, each with the expression after it."""
    pieces: list[tuple[str, str | None]] = []
    literal, position = "", 0
    while position < len(message):
        two = message[position : position + 2]
        if two in ("{{", "}}"):
            literal += two[0]
            position += 2
        elif message[position] == "{" and (end := _closing(message, position)) is not None:
            pieces.append((literal, message[position + 1 : end]))
            literal, position = "", end + 1
        else:
            literal += message[position]
            position += 1
    return [*pieces, (literal, None)]


def _closing(message: str, opened: int) -> int | None:
    """Find the brace that closes the one here."""
    depth = 0
    for position in range(opened, len(message)):
        depth += {"{": 1, "}": -1}.get(message[position], 0)
        if depth == 0:
            return position
    return None
