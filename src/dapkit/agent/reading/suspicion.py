"""Variables that are worth a look first where a program broke off."""

import re
from collections.abc import Sequence

from dapkit.agent import limits
from dapkit.protocol import Variable

_SUSPICIOUS = re.compile(
    r"""
    None | null | NULL | nil | undefined | nullptr | <nil> | \S+\ nil(?:\ .*)?  # refers to nothing
    | 0x0+ | \(.*\*\)\ ?(?:0x)?0+                           # a pointer to nothing
    | -?nan | NaN | NaT | -?[Ii]nf(?:inity)? | -?Infinity   # no number, or one beyond all
    | '' | "" | b'' | \[\s*\] | \{\s*\} | \(\s*\) | (?:\(0\)\s*)?\[\]      # empty
    | (?:\w+\.)*\w+\((?:\[\]|\{\})?\)
    """,
    re.VERBOSE,
)

_LOW_ADDRESS = re.compile(r"0x0*[0-9a-f]{1,3}(?!\w)")
"""A pointer into the first page, which no program has: mostly a field of something that is not there."""


_ZERO = re.compile(r"-?0(?:\.0*)?")


def is_suspicious(variable: Variable, *, divides: bool = False) -> bool:
    """Whether a value is empty, not a number, refers to nothing, or is zero where the program has divided.

    >>> [is_suspicious(Variable(name="n", value=value, variables_reference=0)) for value in ("None", "0x10", "[]", "4")]
    [True, True, True, False]
    """
    value = variable.value.strip()
    if _SUSPICIOUS.fullmatch(value) or (divides and _ZERO.fullmatch(value)):
        return True
    return bool(_LOW_ADDRESS.match(value)) and "*" in (variable.type or "*")


def is_named(name: str, text: str) -> bool:
    """Whether a line of source names a variable."""
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) is not None


def line_assigned(name: str, lines: Sequence[str], before: int) -> int:
    """Return the number of the nearest line above one that assigns to a variable, by its text; 0 if no near one does.

    >>> line_assigned("total", ["total = 0", "count = 1", "for total, each in rows:", "return total"], 4)
    3
    """
    word = rf"(?<![\w.]){re.escape(name)}(?!\w)"
    targets = r"(?:[\w.,*\s()\[\]]*?)"
    assigns = re.compile(
        rf"^[^=(\"']*{word}(?:\[[^\]]*\]|\.\w+)*\s*(?:,{targets})?(?::?[-+*/%&|^@]{{0,2}}=(?!=)|:\s*\w[^=]*=(?!=)|\+\+|--)"
        rf"|(?:\bfor|\bas|\blet|\bauto)\b{targets}{word}|{word}\.(?:append|add|update|extend|insert|push|push_back)\("
    )
    first = max(1, before - limits.ASSIGNMENT_LINES)
    return next((number for number in range(before - 1, first - 1, -1) if assigns.search(lines[number - 1])), 0)
