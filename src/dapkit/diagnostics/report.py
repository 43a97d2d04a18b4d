"""A report of a session for those who look into a fault: one archive, with everything that is known of it.

    dapkit-report-<time>.tar.gz
        README.md                its contents, and the unreadable parts
        system.txt, system.json  the machine and the versions
        settings.json            of dapkit
        configuration.json       how the session was started
        session.json             its actions with their answers
        transcript.md            the same, to read
        output.txt               the end of the program's output
        wire.jsonl               the latest messages of the protocol
        hub.log                  the last lines of the log
        children/1/...           the latest child sessions: where each stands, and its messages
        artifacts/...            earlier files about the session, byte for byte

A part that cannot be had is listed, and raises nothing. Texts are without secrets, whatever the settings say, since a
report leaves the machine; files of the session's folder are left as they are.
"""

import io
import json
import os
import tarfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dapkit.agent.results.diagnostics import RecordResult, WireRow
from dapkit.diagnostics import limits
from dapkit.diagnostics.artifacts import project_folder, session_folder, timestamp
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.logs import last_lines
from dapkit.diagnostics.sessions import OnProgress, Where, record_of, wire_of
from dapkit.diagnostics.system import system
from dapkit.diagnostics.transcript import as_markdown, transcript_from
from dapkit.protocol import to_json_value
from dapkit.redaction.redaction import Redaction
from dapkit.settings import Settings
from dapkit.system.files import NO_LINK, open_private
from dapkit.system.trusted_files import read_file

PREFIX = "dapkit-report-"
_REPORTS = (PREFIX, "performance-")
"""The beginning of a report's file name."""


@dataclass(frozen=True, slots=True)
class Report:
    """A report that was written.

    Attributes:
        path: the archive.
        files: names in it.
        size: of the archive, in bytes.
        left_out: the missing parts, each with the reason.
        complete: whether it was not ended early.

    """

    path: Path
    files: Sequence[str]
    size: int
    left_out: Sequence[str]
    complete: bool = True

    def as_json(self) -> dict[str, object]:
        """Return it as JSON has it."""
        return {
            "path": str(self.path),
            "files": list(self.files),
            "size": self.size,
            "leftOut": list(self.left_out),
            "complete": self.complete,
        }

    def as_text(self) -> str:
        """Return its path and its contents."""
        lines = [f"Report: {self.path}", f"{len(self.files)} files, {self.size / 1024:.0f} KiB"]
        if not self.complete:
            lines.append("It was ended early, and is partial.")
        lines += [f"  {name}" for name in self.files]
        if self.left_out:
            lines += ["Left out:", *(f"  {line}" for line in self.left_out)]
        return "\n".join(lines)


@dataclass
class _Archive:
    """The archive while it is written.

    Invariant: its parts have at most `limits.REPORT_BYTES` before they are packed.
    """

    tar: tarfile.TarFile
    redaction: Redaction
    files: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    size: int = 0

    def add(self, name: str, content: bytes) -> None:
        """Put a file in, as it is."""
        if self.size + len(content) > limits.REPORT_BYTES:
            self.left_out.append(f"{name}: {len(content)} bytes, and there is no room for them")
            return
        entry = tarfile.TarInfo(name)
        entry.size, entry.mtime, entry.mode = len(content), time.time(), 0o600
        self.tar.addfile(entry, io.BytesIO(content))
        self.files.append(name)
        self.size += len(content)

    def add_text(self, name: str, text: str) -> None:
        """Put a text in, without secrets."""
        self.add(name, self.redaction.text(text).encode(errors="backslashreplace"))

    def add_json(self, name: str, value: object) -> None:
        """Put a JSON value in, without secrets."""
        self.add_text(name, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def write_report(
    where: Where,
    *,
    output: Path | None = None,
    extra: Mapping[str, bytes] | None = None,
    on_progress: OnProgress | None = None,
    stop: threading.Event | None = None,
) -> Report:
    """Write a report of a session, or of the machine alone if there is no session.

    Args:
        where: whose session.
        output: the file to write, which must not be there yet; None for one in the session's folder.
        extra: files to be put in besides, by their names in the archive, such as profiles.
        on_progress: called with the current step.
        stop: ends it early, and keeps the parts so far.

    Raises:
        DiagnosticsError: it cannot be written, or it is not clear which session is meant.

    """
    left_out: list[str] = []
    record = _record(where, left_out)
    folder = project_folder(where.project) if record is None else _folder_of(record)
    path = folder / f"{PREFIX}{timestamp()}.tar.gz" if output is None else output.absolute()
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    complete = True
    try:
        descriptor = open_private(unfinished, os.O_WRONLY | os.O_EXCL | NO_LINK)
        with os.fdopen(descriptor, "wb") as file, tarfile.open(fileobj=file, mode="w:gz") as tar:
            archive = _Archive(tar, Redaction([os.environ]), left_out=left_out)
            for name, content in (extra or {}).items():
                archive.add(name, content)
            for name, write_part in _parts(where, record, folder, on_progress):
                if stop is not None and stop.is_set():
                    complete = False
                    left_out.append(f"{name}, and all later parts: ended early")
                    break
                _report(on_progress, name)
                _put(archive, name, write_part)
            archive.add_text("README.md", _contents(archive, record, where))
        os.link(unfinished, path)  # which replaces nothing
    except OSError as error:
        raise DiagnosticsError("no_folder", f"{path} cannot be written: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return Report(path, archive.files, path.stat().st_size, left_out, complete)


type _Put = Callable[[_Archive], None]


def _put(archive: _Archive, name: str, write_part: _Put) -> None:
    try:
        write_part(archive)
    except DiagnosticsError as error:
        archive.left_out.append(f"{name}: {error.args[0]}")
    except OSError as error:
        archive.left_out.append(f"{name}: {error.strerror or error}")


def _record(where: Where, left_out: list[str]) -> RecordResult | None:
    try:
        return record_of(where)
    except DiagnosticsError as error:
        if where.session is not None or error.code != "no_session":
            raise
        left_out.append(f"the session: {error.args[0]}")
        return None


def _folder_of(record: RecordResult) -> Path:
    return session_folder(record.project, record.snapshot.id, record.created)


def _parts(
    where: Where, record: RecordResult | None, folder: Path, on_progress: OnProgress | None
) -> Iterator[tuple[str, _Put]]:
    """Yield the parts by name, the most reliable first."""
    yield "settings", lambda archive: archive.add_json("settings.json", _settings(where))
    if record is not None:
        yield from _of_session(where, record)
    yield "log", lambda archive: archive.add_text("hub.log", _log(archive))
    yield "artifacts", lambda archive: _add_artifacts(archive, folder)
    yield "system", lambda archive: _add_system(archive, where, on_progress)


def _of_session(where: Where, record: RecordResult) -> Iterator[tuple[str, _Put]]:
    named_session = Where(where.project, record.snapshot.id)
    yield "configuration", lambda archive: archive.add_json("configuration.json", to_json_value(record.configuration))
    yield "session", lambda archive: archive.add_json("session.json", to_json_value(record))
    yield "transcript", lambda archive: archive.add_text("transcript.md", as_markdown(transcript_from(record)))
    yield "output", lambda archive: archive.add_text("output.txt", record.output)
    yield "wire", lambda archive: _add_wire(archive, named_session, record)


def _add_wire(archive: _Archive, where: Where, record: RecordResult) -> None:
    wire_messages = wire_of(where, leaves=True)
    archive.add_text("wire.jsonl", _lines(wire_messages.records))
    if wire_messages.kept < wire_messages.total:
        archive.left_out.append(
            f"wire: {wire_messages.total - wire_messages.kept} of {wire_messages.total} messages, which are not kept"
        )
    children = record.snapshot.children or []
    for child in children[-limits.REPORT_CHILDREN :]:
        folder = f"children/{child.number}"
        archive.add_json(f"{folder}/session.json", to_json_value(child))
        messages = [row for row in wire_messages.records if row.channel.endswith(f"child {child.number}")]
        archive.add_text(f"{folder}/wire.jsonl", _lines(messages))
    if len(children) > limits.REPORT_CHILDREN:
        archive.left_out.append(f"children: {len(children) - limits.REPORT_CHILDREN} older ones")


def _lines(rows: Sequence[WireRow]) -> str:
    return "".join(f"{json.dumps(to_json_value(row), ensure_ascii=False)}\n" for row in rows)


def _settings(where: Where) -> object:
    settings = Settings.load(Path(where.project))
    return {
        "settings": {row.name: {"value": row.value, "origin": row.origin} for row in settings.rows()},
        "problems": [str(problem) for problem in settings.problems],
    }


def _log(archive: _Archive) -> str:
    lines = last_lines(limits.REPORT_LOG_LINES)
    archive.left_out += [f"log: {problem}" for problem in lines.problems]
    return lines.as_text()


def _add_system(archive: _Archive, where: Where, on_progress: OnProgress | None) -> None:
    facts = system(where, on_progress=on_progress)
    archive.add_text("system.txt", facts.as_text() + "\n")
    archive.add_json("system.json", facts.as_json())


def _add_artifacts(archive: _Archive, folder: Path) -> None:
    """Put the files of a folder in, byte for byte; links are not followed, and earlier reports left out."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):  # a file that is being written
            continue
        if path.name.startswith(_REPORTS) and path.name.endswith(".tar.gz"):
            archive.left_out.append(f"artifacts/{path.name}: an earlier report")
            continue
        if path.is_symlink() or not path.is_file():
            archive.left_out.append(f"artifacts/{path.name}: not a regular file")
            continue
        try:
            archive.add(f"artifacts/{path.name}", read_file(path, limits.REPORT_FILE_BYTES))
        except OSError as error:
            archive.left_out.append(f"artifacts/{path.name}: {error.strerror}")


def _contents(archive: _Archive, record: RecordResult | None, where: Where) -> str:
    about = f"project {where.project}" if record is None else f"session {record.snapshot.id} of {record.project}"
    lines = [f"# Report of {about}", "", "Expected (please fill in):", "", "Seen instead (please fill in):", ""]
    lines += ["Secrets were left out of all texts. Files:", ""]
    lines += [f"* `{name}`" for name in archive.files]
    lines += ["", "Left out:", "", *(f"* {line}" for line in archive.left_out)] if archive.left_out else []
    return "\n".join([*lines, ""])


def _report(on_progress: OnProgress | None, name: str) -> None:
    if on_progress is not None:
        on_progress(f"report: {name}", None)
