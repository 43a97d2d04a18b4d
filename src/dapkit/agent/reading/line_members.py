"""Members that a line of source reads, such as `order.limit` and `rates["tea"]`: the whole object tells less."""

import re
from collections.abc import Sequence

from dapkit.agent import limits

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'')
_COMMENT = re.compile(r"(?://|#(?!\[)|/\*).*$")
_MEMBER = re.compile(
    r"""
    (?<![\w.\])>"'])[A-Za-z_]\w*                       # a variable
    (?: (?:\.|->|::)[A-Za-z_]\w*                       # a field of it
      | \[\s*(?:-?\w+|\x00\d+\x00)\s*\] )+             # an item: a number, a name or a text stands for it
    (?P<call>\s*\()?
    """,
    re.VERBOSE,
)


def members_near(lines: Sequence[str], line: int) -> list[str]:
    """Return the members that a line reads, or else the ones of the nearest line above that reads any."""
    for number in range(min(line, len(lines)), max(0, line - 1 - limits.LINES_OF_MEMBERS), -1):
        if members := members_of_line(lines[number - 1]):
            return members
    return []


def members_of_line(text: str) -> list[str]:
    """Return the members that a line reads, as expressions that call nothing, in their order.

    >>> members_of_line('due = order["cost"] - self.rates.get(kind) + len(rows[i]) > limit')
    ['order["cost"]', 'self.rates', 'rows[i]']
    """
    strings: list[str] = []

    def stand_in(match: re.Match[str]) -> str:
        strings.append(match[0])
        return f"\x00{len(strings) - 1}\x00"

    bare = _COMMENT.sub("", _STRING.sub(stand_in, text))
    members: list[str] = []
    for match in _MEMBER.finditer(bare):
        member = match[0]
        if match["call"] is not None:  # of a function
            member = re.sub(r"(?:\.|->|::)?\w+\s*\($", "", member)
        if not re.search(r"[.>\[]", member) or "::" in member or not member.strip():
            continue
        expression = re.sub(r"\x00(\d+)\x00", lambda match: strings[int(match[1])], member).strip()
        if expression not in members:
            members.append(expression)
    return members[: limits.LINE_MEMBERS]
