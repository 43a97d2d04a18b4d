"""The lines of a call: those that decide say which way it went."""

import re
from collections.abc import Sequence

from dapkit.agent.results.trace import TraceRow
from dapkit.protocol import changed

_DECIDES = re.compile(r"(?:\} *)?(?:if|elif|elsif|else if|while|unless|until)\b.*[:{]\s*$")
"""A line after which the next one tells which way it went: its body is below it."""


def with_branches(rows: Sequence[TraceRow]) -> list[TraceRow]:
    """Say of each line that decides whether the next line of its call is in the body below it."""
    result = []
    for index, row in enumerate(rows):
        following = next((each for each in rows[index + 1 :] if each.level <= row.level), None)
        if following is None or following.level < row.level or not _DECIDES.match(row.text.strip()):
            result.append(row)
        else:
            inside = following.line > row.line and _indent(following.text) > _indent(row.text)
            result.append(changed(row, branch=inside))
    return result


def _indent(text: str) -> int:
    expanded = text.expandtabs(8)
    return len(expanded) - len(expanded.lstrip())
