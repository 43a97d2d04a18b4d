"""Debug sessions that outlive the command that started them.

What stands here is the callers' end, quick to import. What the hub process itself is made of is imported
from its module: `dapkit.hub.daemon`, `dapkit.hub.settings`.
"""

from dapkit.hub.errors import (
    CallRefused,
    FolderRefused,
    HubError,
    HubLost,
    HubSilent,
    HubUnavailable,
    OtherVersion,
)
from dapkit.hub.front import call, holding, status, stop

__all__ = [
    "CallRefused",
    "FolderRefused",
    "HubError",
    "HubLost",
    "HubSilent",
    "HubUnavailable",
    "OtherVersion",
    "call",
    "holding",
    "status",
    "stop",
]
