"""What a program has written, as answers show it."""

from dapkit.client import OutputText
from dapkit.sessions.session import DebugSession

_NOT_FOR_USERS = "telemetry"
"""A category of output that is meant for the makers of the adapter."""


def written(session: DebugSession, category: str | None = None, *, since: int = 0) -> OutputText:
    """Read what came in a category, or in all that are meant for users, since a position."""
    log = session.output
    categories = (category,) if category is not None else tuple(set(log.categories) - {_NOT_FOR_USERS})
    return log.read(*categories, since=since) if categories else OutputText("", log.end)
