"""Files with a transcript, which only the user can read."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dapkit.agent.results.diagnostics import RecordResult
from dapkit.diagnostics.artifacts import session_folder, timestamp, write_artifact
from dapkit.diagnostics.sessions import OnProgress, Where, record_of, wire_of
from dapkit.diagnostics.transcript.content import Transcript
from dapkit.diagnostics.transcript.html_page import as_html
from dapkit.diagnostics.transcript.markdown import as_markdown
from dapkit.diagnostics.transcript.reading import transcript_from

PREFIX: Final = "transcript-"

FORMATS: Final[Mapping[str, str]] = {"markdown": ".md", "html": ".html"}
"""The formats, and how names of their files end."""


@dataclass(frozen=True, slots=True)
class WrittenTranscript:
    """A transcript, and where it is.

    Attributes:
        paths: the files, by their format.

    """

    transcript: Transcript
    paths: Mapping[str, Path]

    def as_json(self) -> dict[str, object]:
        """Return where it is, as JSON has it."""
        return {"session": self.transcript.session, **{name: str(path) for name, path in self.paths.items()}}

    def as_text(self) -> str:
        """Return a line for each file."""
        titles = {"markdown": "Markdown:", "html": "Page:"}
        return "\n".join(f"{titles[name]:9} {path}" for name, path in self.paths.items())


def write(
    where: Where,
    folder: Path | None = None,
    *,
    formats: Collection[str] = tuple(FORMATS),
    with_wire: bool = False,
    on_progress: OnProgress | None = None,
) -> WrittenTranscript:
    """Write the transcript of a session into files, `transcript-TIME.md` and `transcript-TIME.html`.

    Args:
        where: whose session.
        folder: where they are written, which must be there; None for the session's own folder.
        formats: of `FORMATS`.
        with_wire: with the messages between dapkit and the adapter.
        on_progress: called with the current step.

    Raises:
        DiagnosticsError: there is no such session, or they cannot be written.

    """
    record, transcript = _read(where, with_wire=with_wire, on_progress=on_progress)
    if folder is None:
        folder = session_folder(record.project, record.snapshot.id, record.created)
    name = f"{PREFIX}{timestamp()}"
    paths: dict[str, Path] = {}
    for kind in formats:
        if on_progress is not None:
            on_progress(f"writing {kind}", None)
        paths[kind] = folder.absolute() / f"{name}{FORMATS[kind]}"
        write_artifact(paths[kind], _in_utf8(written_as(transcript, kind)))
    return WrittenTranscript(transcript, paths)


def write_to(
    where: Where, path: Path, *, kind: str, with_wire: bool = False, on_progress: OnProgress | None = None
) -> WrittenTranscript:
    """Write the transcript of a session into a file, in one of `FORMATS`; otherwise as `write`."""
    _, transcript = _read(where, with_wire=with_wire, on_progress=on_progress)
    write_artifact(path.absolute(), _in_utf8(written_as(transcript, kind)), replace=True)
    return WrittenTranscript(transcript, {kind: path.absolute()})


def _read(where: Where, *, with_wire: bool, on_progress: OnProgress | None) -> tuple[RecordResult, Transcript]:
    if on_progress is not None:
        on_progress("reading the session", None)
    record = record_of(where)
    wire = wire_of(Where(where.project, record.snapshot.id), leaves=True) if with_wire else None
    return record, transcript_from(record, wire)


def written_as(transcript: Transcript, kind: str) -> str:
    """Return a transcript in one of `FORMATS`."""
    return as_html(transcript) if kind == "html" else as_markdown(transcript)


def _in_utf8(text: str) -> bytes:
    return text.encode(errors="backslashreplace")
