"""The diagnostics that only look, as resources; each is imported when it is read.

The others write files, ask the user, or look at the program for a long time: they are commands.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dapkit.diagnostics.sessions import Where


@dataclass(frozen=True, slots=True)
class Look:
    """A resource.

    Attributes:
        description: its purpose, for the client.
        text: makes it, and blocks meanwhile; raises DiagnosticsError.

    """

    description: str
    text: "Callable[[Where], str]"
    mime_type: str = "text/plain"


def _system(where: "Where") -> str:
    from dapkit.diagnostics.system import system

    return system(where).as_text()


def _logs(where: "Where") -> str:
    from dapkit.diagnostics.logs import logs

    return logs(where).as_text()


def _transcript(where: "Where") -> str:
    from dapkit.diagnostics.transcript import as_markdown, transcript_of

    return as_markdown(transcript_of(where))


def _wire(where: "Where") -> str:
    from dapkit.diagnostics.wire import wire
    from dapkit.diagnostics.wire_sources import SessionSource

    return wire(SessionSource(where)).as_text()


def _artifacts(where: "Where") -> str:
    from dapkit.diagnostics.session_files import session_files

    return session_files(where).as_text()


OF_MACHINE: Mapping[str, Look] = {
    "system": Look("This machine, versions and environment", _system),
    "logs": Look("The end of today's log of the hub", _logs),
}
"""By the word after `dapkit://`."""

OF_SESSION: Mapping[str, Look] = {
    "transcript": Look("The session as a page: actions, stops, values, output", _transcript, "text/markdown"),
    "wire": Look("The latest messages of the session", _wire),
    "artifacts": Look("Files about the session", _artifacts),
}
"""By the word after `dapkit://sessions/NAME/`."""
