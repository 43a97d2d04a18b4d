"""Which failures an editor is to show by itself.

VS Code shows a notification for each failed request whose error has `showUser`. That is right for what a user has
asked for and would otherwise wait for in vain; an expression that cannot be evaluated is shown in its place
(a hover, a watch, the console), and what editors ask on their own account concerns nobody. A failed start has a dialog
of its own, which a notification would double.
"""

from typing import Any, Final

from dapkit.adapter import Adapter, Proceed, RequestFailed, ResponseBody
from dapkit.protocol import Request, error_message

SHOWN: Final = frozenset(
    {
        "continue",
        "goto",
        "gotoTargets",
        "next",
        "pause",
        "restart",
        "restartFrame",
        "setExpression",
        "setVariable",
        "stepIn",
        "stepInTargets",
        "stepOut",
        "terminate",
        "terminateThreads",
        "writeMemory",
    }
)
"""Requests that a user makes, and whose failure is to be seen nowhere else."""


async def with_shown_failures(_adapter: Adapter[Any, Any], request: Request, proceed: Proceed) -> ResponseBody:
    """Answer a request; if it fails, say whether the user is to be shown the error."""
    try:
        return await proceed(request)
    except RequestFailed as failure:
        if failure.cancelled:
            raise
        error = error_message(failure.text, show_user=True if request.command in SHOWN else None)
        raise RequestFailed(failure.text, message=failure.message, error=error) from failure
