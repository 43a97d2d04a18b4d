"""Diagnostics as resources: the commands that only read.

The others write files, ask the user, or look at the program for a long time: they are commands.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dapkit.diagnostics.logs import logs
from dapkit.diagnostics.session_files import session_files
from dapkit.diagnostics.sessions import Where
from dapkit.diagnostics.system import system
from dapkit.diagnostics.transcript import as_markdown, transcript_of
from dapkit.diagnostics.wire import wire
from dapkit.diagnostics.wire_sources import SessionSource


@dataclass(frozen=True, slots=True)
class Look:
    """A resource.

    Attributes:
        description: its purpose, for the client.
        text: makes it, and blocks meanwhile; raises DiagnosticsError.

    """

    description: str
    text: Callable[[Where], str]
    mime_type: str = "text/plain"


OF_MACHINE: Mapping[str, Look] = {
    "system": Look("This machine, versions and environment", lambda where: system(where).as_text()),
    "logs": Look("The end of today's log of the hub", lambda where: logs(where).as_text()),
}
"""By the word after `dapkit://`."""

OF_SESSION: Mapping[str, Look] = {
    "transcript": Look(
        "The session as a page: actions, stops, values, output",
        lambda where: as_markdown(transcript_of(where)),
        "text/markdown",
    ),
    "wire": Look("The latest messages of the session", lambda where: wire(SessionSource(where)).as_text()),
    "artifacts": Look("Files about the session", lambda where: session_files(where).as_text()),
}
"""By the word after `dapkit://sessions/NAME/`."""
