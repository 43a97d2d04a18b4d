"""Errors of all layers below, in the words of the contract and with a code."""

from collections.abc import Mapping

from dapkit.agent.calls.failures import ActionFailed, Code, InvalidArguments
from dapkit.catalog import CatalogError, Incapable, NoAdapter
from dapkit.client import AdapterDied, UnknownFilter, WaitExpired
from dapkit.cluster.errors import UnknownTarget, WrongSet
from dapkit.endpoint import CapabilityMissing, RequestFailed
from dapkit.protocol import DapkitError
from dapkit.sessions import errors
from dapkit.transport import CannotStart, ConversationLost, DeadlineExceeded

_CODES: Mapping[Code, tuple[type[DapkitError], ...]] = {
    "invalid_arguments": (
        *(CatalogError, UnknownFilter, errors.NameTaken, errors.NoSuchBreakpoint, errors.Misplaced),
        *(UnknownTarget, WrongSet),
    ),
    "not_stopped": (errors.NotStopped, errors.NoFrame, errors.NoThreads),
    "no_session": (errors.NoSession, errors.UnknownSession, errors.AmbiguousSession, errors.SessionOver),
    "stale_reference": (errors.StaleReference, errors.UnknownReference),
    "unsupported": (errors.NoInput, errors.CannotRestart, errors.PostMortem, CapabilityMissing, Incapable),
    "timeout": (WaitExpired, DeadlineExceeded, errors.StartExpired),
    "adapter_unavailable": (NoAdapter, CannotStart),
}

_NOT_STOPPED = "notStopped"
"""The specification's word, which gdb uses."""


def explain(error: DapkitError, *, adapter: str) -> ActionFailed:
    """Explain an error to the caller of an action; `adapter` is the name of the adapter that was used."""
    text, hint = _words(error, adapter)
    return ActionFailed(_code(error), text, hint=hint)


def _words(error: DapkitError, adapter: str) -> tuple[str, str]:
    text, hint = str(error), ""
    match error:
        case NoAdapter():
            text, hint = error.problem, " ".join(error.hints)
        case CapabilityMissing():
            text, hint = f"Current adapter does not support {error.what}", f"It lacks {error.capability}."
        case DeadlineExceeded():
            text = f"DAP request {error.command} timed out after {round(error.seconds * 1000)}ms"
            hint = "Try again with a longer timeout; sessions shows the state of the program."
            if error.unanswered > 1:
                text += f"; the adapter has not answered the last {error.unanswered} requests"
                hint = "It may hang. restart starts it and the program again; terminate ends both."
        case RequestFailed() if text == _NOT_STOPPED:  # nothing but the word
            text, hint = "The program runs, and has to be stopped for this.", "Pause it, or wait for a stop."
        case AdapterDied():
            text, hint = _death(error), "Launch or attach again."
        case ConversationLost():
            text, hint = f"DAP adapter {adapter} is not running", text
        case errors.StartExpired():
            hint = "Try again with a longer timeout."
    return text, hint


def _code(error: DapkitError) -> Code:
    """Find the code; of those that fit the most special one."""
    if isinstance(error, RequestFailed) and error.message == _NOT_STOPPED:
        return "not_stopped"
    for kind in type(error).mro():
        for code, kinds in _CODES.items():
            if kind in kinds:
                return code
    return "adapter_failed"


def _death(error: AdapterDied) -> str:
    if error.exit_code is None:
        return f"DAP connection closed: {error}"
    if words := error.stderr.strip():
        return f"DAP adapter exited (code {error.exit_code}): {words}"
    return f"DAP adapter exited unexpectedly (code {error.exit_code})"


def unknown_action(name: str) -> InvalidArguments:
    """Make the error about an action that there is not."""
    return InvalidArguments(f"Unsupported debug action: {name}")
