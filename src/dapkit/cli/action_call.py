"""Asking the hub for one action, from the folder in which the command was given."""

import os

from dapkit import hub, limits
from dapkit.cli.progress import ProgressLine
from dapkit.hub.folder import project_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

type ActionAnswer = dict[str, object]
"""The answer of an action: action, session, success, text, and details or error."""


def ask(
    action: str,
    arguments: "Mapping[str, object]",
    *,
    session: str | None = None,
    project: str | None = None,
    read_only: bool = False,
    patience: float | None = None,
    stdin: str | None = None,
    on_part: "Callable[[str], None] | None" = None,
) -> ActionAnswer:
    """Carry out an action and return its answer; an unreachable hub is an answer too.

    A program that is started reads `stdin`, if its adapter can have it do that. With `patience`, the call is given up
    after so many seconds, even if the hub would have gone on with it. `on_part` is called with each part of the answer
    that comes before the whole.
    """
    try:
        with ProgressLine() as progress:
            return hub.call(
                action,
                arguments,
                project=project_of(os.getcwd() if project is None else project),
                session=session,
                read_only=read_only,
                timeout=limits.HUB_CALL_SECONDS if patience is None else patience,
                on_progress=progress.show,
                on_part=None if on_part is None else progress.before(on_part),
                stdin=stdin,
            )
    except hub.HubError as error:
        return unanswered(action, session, error)


def unanswered(action: str, session: str | None, error: hub.HubError) -> ActionAnswer:
    """Make an answer of the error that kept the hub from giving one."""
    return {
        "action": action,
        "session": session,
        "success": False,
        "text": str(error),
        "error": {"code": error.code, "message": error.message, "hint": error.hint},
    }
