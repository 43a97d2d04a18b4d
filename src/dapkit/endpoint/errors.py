"""Errors that the endpoint raises when its owner would violate the protocol.

    DapkitError                      (dapkit.protocol)
    ├── RequestFailed                a request that is, or is to be, answered with an error
    └── ProtocolError                (dapkit.protocol)
        └── LocalProtocolError       we would break the protocol
            ├── OutOfOrder           not in this phase of the session
            ├── CapabilityMissing    the peer did not say that it can do this
            └── AlreadyAnswered      a request gets exactly one response

Breaches by the peer are never raised: they are collected as `Violation`s.
"""

from dapkit.protocol import DapkitError, Message, ProtocolError


class RequestFailed(DapkitError):  # noqa: N818 - the sentence reads right where it is raised
    """A request with an error for an answer: raised by handlers, and to those who asked.

    Attributes:
        text: the failure, for people.
        message: the short form for machines, such as `cancelled` or `notStopped`; by default the text.
        error: the structured form, if there is one.
        show_user: whether the client must show the error by itself (`Message.showUser`); None leaves that to the SDK,
            which shows failures of user actions but not of requests that editors send by themselves.

    """

    def __init__(
        self, text: str, *, message: str | None = None, error: Message | None = None, show_user: bool | None = None
    ) -> None:
        super().__init__(text)
        self.text = text
        self.message = text if message is None else message
        self.error = error
        self.show_user = show_user

    @property
    def cancelled(self) -> bool:
        """Whether the request failed because it was cancelled."""
        return self.message == "cancelled"


class LocalProtocolError(ProtocolError):
    """An outgoing message that the protocol forbids; nothing was sent."""


class OutOfOrder(LocalProtocolError):  # noqa: N818 - the sentence reads right where it is raised
    """A message that is not legal in the present phase of the session."""


class CapabilityMissing(LocalProtocolError):  # noqa: N818 - as above
    """A request or event that the peer did not announce support for.

    Attributes:
        what: the command or event.
        capability: wire name of the missing capability, such as `supportsStepBack`.

    """

    def __init__(self, what: str, capability: str, whose: str) -> None:
        super().__init__(f"{what} is not supported: the {whose} did not announce {capability}")
        self.what = what
        self.capability = capability


class AlreadyAnswered(LocalProtocolError):  # noqa: N818 - as above
    """A second response to one request, or a response to none."""
