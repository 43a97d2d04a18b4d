"""Debug sessions that outlive the command that started them.

What stands here is the callers' end, quick to import. What the hub process itself is made of is imported
from its module: `dapkit.hub.daemon`, `dapkit.settings`.
"""

from dapkit.hub.client import call, hold_session, status, stop
from dapkit.hub.errors import (
    CallRefused,
    FolderRefused,
    HubError,
    HubLost,
    HubSilent,
    HubUnavailable,
    OtherVersion,
)

__all__ = [
    "CallRefused",
    "FolderRefused",
    "HubError",
    "HubLost",
    "HubSilent",
    "HubUnavailable",
    "OtherVersion",
    "call",
    "hold_session",
    "status",
    "stop",
]
