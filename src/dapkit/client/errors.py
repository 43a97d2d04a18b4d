"""Errors of driving a debugger.

DapkitError                      (dapkit.protocol)
├── RequestFailed                (dapkit.endpoint) the adapter answered with an error
│   └── StartRefused             it refused launch or attach
├── LocalProtocolError           (dapkit.endpoint)
│   └── CapabilityMissing        the adapter did not announce the capability for a request
├── TransportError               (dapkit.transport)
│   ├── CannotStart              the adapter could not be started
│   ├── Unreachable              nothing listens where it should
│   ├── DeadlineExceeded         it lives, but did not answer in time
│   └── ConversationLost
│       └── AdapterDied          it is gone: exit code and the end of its stderr
└── ClientError
    ├── ProgramEnded             the awaited event cannot happen any more
    ├── WaitExpired              the awaited event did not happen in time
    ├── UnknownFilter            the adapter offers no such exception filter
    └── UnknownBreakpoint        the session has no breakpoint of this number
"""

from collections.abc import Iterable

from dapkit.endpoint import RequestFailed
from dapkit.protocol import DapkitError
from dapkit.transport import ConversationLost


class ClientError(DapkitError):
    """Base of the errors of this layer alone."""


class AdapterDied(ConversationLost):
    """The adapter went away in the middle of a session.

    Attributes:
        exit_code: of its process, negative for a signal; None if dapkit did not start it or has not ended.
        stderr: the last that it wrote there.

    """

    def __init__(self, reason: str, *, exit_code: int | None = None, stderr: str = "") -> None:
        end = "" if exit_code is None else f"; its process ended with exit code {exit_code}"
        tail = f"\n{stderr.rstrip()}" if stderr.strip() else ""
        super().__init__(f"the debug adapter is gone: {reason}{end}{tail}")
        self.exit_code = exit_code
        self.stderr = stderr


class StartRefused(RequestFailed):
    """The adapter would not launch the program or attach to it.

    Attributes:
        failures: the failures, a sentence each: the failure of the request itself, and the failure of the configuration
            if that failed as well.

    """

    def __init__(self, command: str, refusal: RequestFailed, *, configuration: DapkitError | None = None) -> None:
        failures = [f"{command} failed: {refusal.text}"]
        if configuration is not None:
            failures.append(f"configurationDone also failed: {configuration}")
        super().__init__("\n".join(failures), message=refusal.message, error=refusal.error)
        self.failures = tuple(failures)


class ProgramEnded(ClientError):  # noqa: N818 - the sentence reads right where it is raised
    """The program ended while something else was waited for.

    Attributes:
        exit_code: if the adapter reported it.

    """

    def __init__(self, exit_code: int | None) -> None:
        how = "" if exit_code is None else f" with exit code {exit_code}"
        super().__init__(f"the program ended{how} and will not stop any more")
        self.exit_code = exit_code


class WaitExpired(ClientError):  # noqa: N818 - as above
    """The awaited event did not arrive before the deadline; the session continues."""

    def __init__(self, what: str, seconds: float, state: str = "") -> None:
        super().__init__(f"{what} did not come within {seconds:g} s{f': {state}' if state else ''}")
        self.seconds = seconds


class UnknownFilter(ClientError):  # noqa: N818 - as above
    """An exception filter that the adapter does not offer."""

    def __init__(self, name: str, offered: Iterable[str]) -> None:
        choice = ", ".join(offered) or "none at all"
        super().__init__(f"the adapter offers no exception filter {name!r}; it offers {choice}")


class UnknownBreakpoint(ClientError):  # noqa: N818 - as above
    """A number that names no breakpoint of the session."""

    def __init__(self, number: int) -> None:
        super().__init__(f"there is no breakpoint {number}: it was never set, or was removed")
