"""Which end may send which message at which time: the conversation as pure state, for either end.

`Endpoint` takes bytes and gives happenings, takes messages and gives bytes. It
neither waits nor reads nor writes; `dapkit.transport` does.
"""

from dapkit.endpoint.conversation import Role
from dapkit.endpoint.conversion import Formats
from dapkit.endpoint.endpoint import Endpoint, Overtakes
from dapkit.endpoint.errors import AlreadyAnswered, CapabilityMissing, LocalProtocolError, OutOfOrder, RequestFailed
from dapkit.endpoint.happenings import (
    CancelRequested,
    ConversationEnded,
    EventReceived,
    Happening,
    LateResponse,
    ProgressCancelRequested,
    RequestReceived,
    ResponseReceived,
    ResponseUnusable,
)
from dapkit.endpoint.lifecycle import MOVES, ONLY, RESUMING, STOPPING, Lifecycle, Phase, Trigger
from dapkit.endpoint.violations import Violation, Violations

__all__ = [
    "MOVES",
    "ONLY",
    "RESUMING",
    "STOPPING",
    "AlreadyAnswered",
    "CancelRequested",
    "CapabilityMissing",
    "ConversationEnded",
    "Endpoint",
    "EventReceived",
    "Formats",
    "Happening",
    "LateResponse",
    "Lifecycle",
    "LocalProtocolError",
    "OutOfOrder",
    "Overtakes",
    "Phase",
    "ProgressCancelRequested",
    "RequestFailed",
    "RequestReceived",
    "ResponseReceived",
    "ResponseUnusable",
    "Role",
    "Trigger",
    "Violation",
    "Violations",
]
