"""Errors of adapter authors, and the refusal of a request.

DapkitError                      (dapkit.protocol)
├── RequestFailed                (dapkit.endpoint) raise it in a handler: the request gets this error for an answer
│   └── NotSupported             no handler for this request
└── AdapterError
    ├── DefinitionError          the class contradicts itself or the protocol: raised when it is created
    └── NotServed                an event or request without a client
"""

from dapkit.endpoint import RequestFailed
from dapkit.protocol import DapkitError


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
