"""The answer to a request whose handler raised."""

import logging

from dapkit.adapter.errors import NotServed
from dapkit.endpoint import CapabilityMissing, RequestFailed
from dapkit.protocol import InvalidValue
from dapkit.transport import TransportError

log = logging.getLogger(__name__)

CANCELLED = RequestFailed("cancelled", message="cancelled")
"""The answer to a request that was cancelled."""


def failure_of(command: str, error: Exception) -> RequestFailed:
    """Turn what a handler raised into the answer; log what nobody meant to raise."""
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
