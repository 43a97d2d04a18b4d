"""The process that holds debug sessions, so that they outlive the command that started them.

These names are a caller's end, and quick to import. The parts of the process are imported from their module:
`dapkit.hub.daemon`.
"""

from dapkit.hub.client import call, status, stop
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
    "status",
    "stop",
]
