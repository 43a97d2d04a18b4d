"""Errors of a conversation over a real stream.

DapkitError                      (dapkit.protocol)
└── TransportError
    ├── ConversationLost         the peer is gone, or cannot be understood any more
    ├── DeadlineExceeded         the peer lives, but did not answer in time
    ├── NotAdmitted              the gate of a listener was not passed
    └── CannotStart              a command could not be started, or not be reached
"""

from dapkit.protocol import DapkitError


class TransportError(DapkitError):
    """Base of the errors of this layer."""


class ConversationLost(TransportError):  # noqa: N818 - the sentence reads right where it is raised
    """Nothing more can be sent to this peer or received from it."""


class DeadlineExceeded(TransportError):  # noqa: N818 - as above
    """A request that was not answered in time; the conversation continues.

    Attributes:
        command: the command of the request.
        seconds: how long was waited.
        unanswered: how many requests, this one among them, went without an answer since the peer's last response.

    """

    def __init__(self, command: str, seconds: float, *, unanswered: int = 1) -> None:
        super().__init__(f"{command} was not answered within {seconds:g} s")
        self.command = command
        self.seconds = seconds
        self.unanswered = unanswered


class NotAdmitted(TransportError):  # noqa: N818 - as above
    """A connection that was refused at the gate."""


class NotPrivate(TransportError):  # noqa: N818 - as above
    """A file, folder or address that others can reach, and that must be ours alone."""


class Unreachable(TransportError):  # noqa: N818 - as above
    """An address that cannot be connected to, or not be listened on."""


class CannotStart(TransportError):  # noqa: N818 - as above
    """A command that could not be started, or that was started and cannot be reached."""
