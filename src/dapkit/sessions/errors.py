"""Errors of long-lived sessions.

DapkitError                      (dapkit.protocol)
└── SessionError
    ├── NoSession                the project has no session that lives
    ├── UnknownSession           none of this name
    ├── AmbiguousSession         several, and none was named
    ├── NameTaken                a live session has this name already
    ├── StartFailed              the program could not be launched or attached to
    │   └── StartExpired         the adapter did not do it in time
    ├── SessionOver              the request needs a program, and it has ended
    ├── CannotRestart            the session attached to its program
    ├── NotStopped               the request needs a stop, and the program runs
    ├── PostMortem               the request would run the program, and there is only its core file
    ├── NoFrame                  no frame was chosen, and there is no current one
    ├── NoThreads                the adapter reports no thread to work with
    ├── NoInput                  the program has no terminal of the session to type into
    ├── StaleReference           a frame or value of an earlier stop
    ├── UnknownReference         a number that was never given out
    ├── NoSuchBreakpoint         a breakpoint number that the session does not have
    └── Misplaced                a breakpoint by text that is nowhere in the file, or in several places
"""

from collections.abc import Iterable
from pathlib import Path

from dapkit.protocol import DapkitError


class SessionError(DapkitError):
    """Base of the errors of this layer."""


class NoSession(SessionError):  # noqa: N818 - the sentence reads right where it is raised
    """The project has no session that lives.

    Attributes:
        near: live sessions of folders around the project and below it, each with its folder.

    """

    def __init__(self, near: Iterable[tuple[str, Path]] = ()) -> None:
        self.near = tuple(near)
        others = "".join(f" Session {name} belongs to {folder} (--project {folder})." for name, folder in self.near)
        super().__init__(f"No active debug session{' here' if others else ''}. Launch or attach first.{others}")


class UnknownSession(SessionError):  # noqa: N818 - as above
    """No session of the project has this name."""

    def __init__(self, name: str, names: Iterable[str]) -> None:
        have = ", ".join(names) or "none"
        super().__init__(f"No debug session is named {name!r} in this project; it has: {have}.")


class AmbiguousSession(SessionError):  # noqa: N818 - as above
    """Several sessions live, and none was named."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(
            f"Several debug sessions are active: {', '.join(names)}. Name one (`session`; `-s NAME` in the shell)."
        )


class NameTaken(SessionError):  # noqa: N818 - as above
    """A live session of the project has this name already."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Debug session {name} is still active."
            " Terminate it before launching another of that name, or choose another."
        )


class StartFailed(SessionError):  # noqa: N818 - as above
    """The program could not be launched or attached to.

    Attributes:
        output: the end of the adapter's output about it, such as the errors of a build.

    """

    def __init__(self, why: str, output: str) -> None:
        super().__init__(f"{why}\n{output.rstrip()}" if output.strip() else why)
        self.output = output


class StartExpired(StartFailed):
    """The adapter did not launch or attach in time."""

    def __init__(self, command: str, seconds: float, output: str) -> None:
        super().__init__(f"DAP request {command} timed out after {round(seconds * 1000)}ms", output)


class SessionOver(SessionError):  # noqa: N818 - as above
    """The program of the session has ended, or was released."""

    def __init__(self, name: str, ending: str) -> None:
        super().__init__(f"Debug session {name} is over: {ending}. Restart it, or launch another.")


class CannotRestart(SessionError):  # noqa: N818 - as above
    """A program that the session attached to."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Debug session {name} attached to its program, so it can't be started again from here.")


class NotStopped(SessionError):  # noqa: N818 - as above
    """The request needs a stopped program."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} needs a stopped program, and it is running. Pause it, or wait for a breakpoint.")


class PostMortem(SessionError):  # noqa: N818 - as above
    """The request would run the program, and there is only its core file."""

    def __init__(self) -> None:
        super().__init__("This is a core file: its stacks and values can be read, and nothing of it runs any more.")


class NoFrame(SessionError):  # noqa: N818 - as above
    """No frame was chosen, and there is no current one."""

    def __init__(self) -> None:
        super().__init__("No active stack frame. Run stack_trace first or supply frame_id.")


class NoThreads(SessionError):  # noqa: N818 - as above
    """The adapter reports no thread to work with."""

    def __init__(self) -> None:
        super().__init__("Debugger reported no threads.")


class NoInput(SessionError):  # noqa: N818 - as above
    """The program has no terminal that belongs to the session."""

    def __init__(self) -> None:
        super().__init__(
            "The program has no terminal here to type into. Launch it with its console in a terminal"
            ' (for most adapters "console": "integratedTerminal").'
        )


class StaleReference(SessionError):  # noqa: N818 - as above
    """A frame or value of an earlier stop: the adapter would take its number for something else.

    Attributes:
        number: the reference.
        stop: the stop that it is from; None if it was made while the program ran.
        now: the present stop; None while the program runs or after it has ended.

    """

    def __init__(self, number: int, *, stop: int | None, now: int | None) -> None:
        origin = f"stop {stop}" if stop is not None else "a time when the program ran"
        present = f"now at stop {now}" if now is not None else "and the program has moved on since"
        super().__init__(f"Reference {number} is stale: reference from {origin}, {present}. Ask for it anew.")
        self.number = number
        self.stop = stop
        self.now = now


class UnknownReference(SessionError):  # noqa: N818 - as above
    """A number that was never given out for this kind of thing."""

    def __init__(self, number: int, kind: str) -> None:
        super().__init__(f"There is no {kind} {number}: numbers come from the answers of this session.")


class NoSuchBreakpoint(SessionError):  # noqa: N818 - as above
    """A number that names no breakpoint of the session."""

    def __init__(self, number: int, numbers: Iterable[int]) -> None:
        have = ", ".join(map(str, numbers)) or "none"
        super().__init__(f"There is no breakpoint {number}; the session has: {have}.")


class Misplaced(SessionError):  # noqa: N818 - as above
    """A breakpoint by text that is nowhere in the file, or in several places."""
