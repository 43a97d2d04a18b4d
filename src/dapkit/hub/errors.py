"""Errors of a call to the hub, before any action has begun.

HubError
├── FolderRefused     the folder for sockets is not the user's alone, or not suitable
├── HubUnavailable    no hub runs, and none could be started
├── OtherVersion      the hub that runs is another version's, and in use
├── HubLost           it ended before it answered
├── HubSilent         it runs, and does not answer in time
└── CallRefused       it answered that it cannot do this call

They are not `DapkitError`s: that tree belongs to the protocol layer, which takes
longer to import than a call takes.
"""

from dapkit.system.coded_error import CodedError


class HubError(CodedError):
    """Base of the errors of a call to the hub."""

    code = "hub_failed"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(self.code, message, hint)


class FolderRefused(HubError):  # noqa: N818 - the sentence reads right where it is raised
    """A folder in which others could put or reach a socket."""

    code = "folder_refused"


class HubUnavailable(HubError):  # noqa: N818 - as above
    """There is no hub, and it could not be started."""

    code = "hub_unavailable"


class OtherVersion(HubError):  # noqa: N818 - as above
    """A hub of another version holds sessions."""

    code = "other_version"


class HubLost(HubError):  # noqa: N818 - as above
    """The hub ended before it answered; the effect of the call is unknown, its session is over."""

    code = "hub_lost"


class HubSilent(HubError):  # noqa: N818 - as above
    """The hub did not answer in time; the call was given up."""

    code = "hub_silent"


class CallRefused(HubError):  # noqa: N818 - as above
    """The hub's own answer to a call that it cannot do."""

    def __init__(self, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code
