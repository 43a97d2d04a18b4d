"""Errors of adapter authors, and the answer to a request whose handler raised.

    DapkitError                      (dapkit.protocol)
    ├── RequestFailed                (dapkit.endpoint) raise it in a handler: the request gets this error for an answer
    │   └── NotSupported             no handler for this request
    └── AdapterError
        ├── DefinitionError          the class contradicts itself or the protocol: raised when it is created
        └── NotServed                an event or request without a client

VS Code shows a notification for each failed request whose error has `showUser`. A notification is right for an action
of the user, who would otherwise wait in vain. An expression that cannot be evaluated is shown where it stands (a hover,
a watch, the console), and a request that the editor sends by itself needs no notification. A failed start has a dialog
of its own, which a notification would double.
"""

import logging
from typing import Final

from dapkit.endpoint import CapabilityMissing, RequestFailed
from dapkit.protocol import DapkitError, InvalidValue
from dapkit.transport import TransportError


class AdapterError(DapkitError):
    """A mistake in an adapter."""


class DefinitionError(AdapterError):
    """A class of an adapter that cannot be right."""


class NotServed(AdapterError):  # noqa: N818 - the sentence reads right where it is raised
    """The adapter has no client: it is not served yet."""


class NotSupported(RequestFailed):
    """A request that this adapter does not answer."""

    def __init__(self, command: str) -> None:
        super().__init__(f"unsupported request: {command}")


log = logging.getLogger(__name__)

CANCELLED = RequestFailed("cancelled", message="cancelled")
"""The answer to a request that was cancelled."""

SHOWN: Final = frozenset(
    {
        "continue",
        "goto",
        "gotoTargets",
        "next",
        "pause",
        "restart",
        "restartFrame",
        "reverseContinue",
        "setExpression",
        "setVariable",
        "stepBack",
        "stepIn",
        "stepInTargets",
        "stepOut",
        "terminate",
        "terminateThreads",
        "writeMemory",
    }
)
"""Requests that a user makes, and whose failure is to be seen nowhere else."""


def to_show(command: str, failure: RequestFailed) -> RequestFailed:
    """Return whether the client is to show a failure by itself, where the handler has not said it."""
    if command not in SHOWN or failure.cancelled or failure.error is not None or failure.show_user is not None:
        return failure
    return RequestFailed(failure.text, message=failure.message, show_user=True)


def failure_of(command: str, error: Exception) -> RequestFailed:
    """Turn the exception of a handler into the response; log an exception that was not raised on purpose."""
    error = _single(error)
    match error:
        case RequestFailed():
            return error
        case CapabilityMissing() | TransportError() | NotServed():
            return RequestFailed(f"{command}: {error}")
        case _:
            log.error("the handler of %s failed", command, exc_info=error)
            return RequestFailed(f"internal error in {command}: {type(error).__name__}: {error}")


def bad_arguments(command: str, error: InvalidValue) -> RequestFailed:
    """Answer a request whose arguments the author's type does not allow."""
    return RequestFailed(f"{command}: {error}")


def _single(error: Exception) -> Exception:
    """Take an error out of the groups that task groups put around it."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
