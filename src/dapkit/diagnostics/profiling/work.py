"""`work`: where the threads of a program spend their time, as a flame graph."""

import threading
from dataclasses import dataclass
from pathlib import Path

from dapkit import limits
from dapkit.diagnostics.artifacts import session_folder, timestamp, write_artifact
from dapkit.diagnostics.profiling.profile import Profile
from dapkit.diagnostics.profiling.profile_recording import record_profile, running_program
from dapkit.diagnostics.profiling.recording_window import Window
from dapkit.diagnostics.sessions import OnProgress, Where


@dataclass(frozen=True, slots=True)
class WorkProfile:
    """A work profile that was written.

    Attributes:
        path: the flame graph.

    """

    profile: Profile
    path: Path

    def as_json(self) -> dict[str, object]:
        """Return it as JSON has it."""
        return {"path": str(self.path), **self.profile.as_json()}

    def as_text(self) -> str:
        """Return the profile."""
        return self.profile.as_text()


def work(
    where: Where,
    *,
    seconds: float = limits.PROFILE_SECONDS,
    on_progress: OnProgress | None = None,
    stop: threading.Event | None = None,
) -> WorkProfile:
    """Record a work profile, and draw it.

    Args:
        where: whose program.
        seconds: how long, up to `limits.PROFILE_SECONDS_MOST`.
        on_progress: called with how far it is.
        stop: ends it early, and keeps its data.

    Raises:
        DiagnosticsError: the program does not run, its tool is not installed or fails, or nothing can be written.

    """
    program = running_program(where)
    folder = session_folder(program.project, program.snapshot.id, program.created)
    length = min(seconds, limits.PROFILE_SECONDS_MOST)
    window = Window(length, "Work profile", on_progress, stop or threading.Event())
    profile = record_profile(where, program, "work", window)
    path = folder / f"work-{timestamp()}.svg"
    write_artifact(path, profile.svg().encode())
    return WorkProfile(profile, path)
