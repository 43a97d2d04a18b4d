"""The output of a program, as answers show it."""

import re
from collections.abc import Iterable, Iterator

from dapkit.client import OutputText
from dapkit.sessions.session import DebugSession

_NOT_FOR_USERS = "telemetry"
"""A category of output that is meant for the makers of the adapter."""


_PROGRAM = "program"
"""Stands for all categories in which a program writes, as a caller may ask for them."""

_OF_THE_DEBUGGER = frozenset({"console", "important", _NOT_FOR_USERS})
"""Categories in which debuggers write."""


def written(session: DebugSession, category: str | None = None, *, since: int = 0) -> OutputText:
    """Read the output since a position, in one category or in all categories that are meant for users."""
    categories = _categories(session, category)
    return session.output.read(*categories, since=since) if categories else OutputText("", session.output.end)


def written_lines(session: DebugSession) -> list[tuple[int, str]]:
    """Return the lines of all that is meant for users, each with the position where it began.

    Lines that came in several pieces stay whole, whatever came in other categories meanwhile; all end with a line
    end, but perhaps the last.
    """
    lines = sorted(line for name in _categories(session, None) for line in _lines(session.output.pieces(name)))
    return [(begin, text if text.endswith("\n") else f"{text}\n") for begin, text in lines[:-1]] + lines[-1:]


def _lines(pieces: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Put the pieces of one category together into lines."""
    start, parts = 0, list[str]()
    for position, piece in pieces:
        offset = 0
        for part in re.findall(r"[^\n]*\n|[^\n]+", piece):
            start = start if parts else position + offset
            parts.append(part)
            offset += len(part)
            if part.endswith("\n"):
                yield start, "".join(parts)
                parts = []
    if parts:
        yield start, "".join(parts)


def _categories(session: DebugSession, category: str | None) -> tuple[str, ...]:
    if category is None or category == _PROGRAM:
        return tuple(set(session.output.categories) - ({_NOT_FOR_USERS} if category is None else _OF_THE_DEBUGGER))
    return (category,)
