"""The lint report: the peer's violations of the protocol that were tolerated.

A violation never ends a conversation. The report gives the fault, its place and its message, so that the author of the
peer can find it.
"""

from dataclasses import dataclass

from dapkit.endpoint import limits
from dapkit.protocol import AnyMessage, Event, Request, Response


@dataclass(frozen=True, slots=True)
class Violation:
    """One breach of the protocol by the peer."""

    message: str
    """Which message, in protocol words: `event stopped (seq 7)`."""

    path: str
    """Where in it, such as `$.body.threadId`; `$` is the message as a whole."""

    problem: str
    """The value found and the value expected."""

    def __str__(self) -> str:
        """One line of a report."""
        return f"{self.message}: {self.problem} - at `{self.path}`"


class Violations:
    """Violations in order of arrival; past `limits.VIOLATIONS` they are counted only."""

    def __init__(self) -> None:
        self.kept: list[Violation] = []
        self.count = 0

    def add(self, message: AnyMessage | str, problem: str, path: str = "$") -> None:
        """Note one breach."""
        self.count += 1
        if len(self.kept) < limits.VIOLATIONS:
            self.kept.append(Violation(described(message), path, problem))


def described(message: AnyMessage | str) -> str:
    """Name a message in protocol words; messages that cannot be told apart already have names."""
    match message:
        case Request(seq, command):
            return f"request {command} (seq {seq})"
        case Response(seq, command=command):
            return f"response {command} (seq {seq})"
        case Event(seq, event):
            return f"event {event} (seq {seq})"
        case str():
            return message
