"""What a program has written, as answers show it."""

from dapkit.client import OutputText
from dapkit.sessions.session import DebugSession

_NOT_FOR_USERS = "telemetry"
"""A category of output that is meant for the makers of the adapter."""


_PROGRAM = "program"
"""Stands for all categories in which a program writes, as a caller may ask for them."""

_OF_THE_DEBUGGER = frozenset({"console", "important", _NOT_FOR_USERS})
"""Categories in which debuggers write."""


def written(session: DebugSession, category: str | None = None, *, since: int = 0) -> OutputText:
    """Read what came in a category, or in all that are meant for users, since a position."""
    log = session.output
    if category is None or category == _PROGRAM:
        categories = tuple(set(log.categories) - ({_NOT_FOR_USERS} if category is None else _OF_THE_DEBUGGER))
    else:
        categories = (category,)
    return log.read(*categories, since=since) if categories else OutputText("", log.end)
