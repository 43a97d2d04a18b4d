"""The file of a recording: an archive (zip) of a description and of the notes.

    recording.json   `Description`
    notes/00000 ...  the notes, in parts of `PART_BYTES`, without the data of `libraries` and `repeats`
    collections      when the garbage collector ran
    sources/00000 ...  texts of the program's own modules, as they were
    processes/00001.dapkit ...  recordings of the processes that the program has started, each of them a whole file

Every part has a checksum, so that a damaged file is noticed, and where.
"""

import mmap
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from dapkit.python.recording.library_files import (
    LibraryFile,
    find_libraries,
    find_repeats,
    gaps_of,
    put_back,
    repeat,
    without_gaps,
    write_with_gaps,
)
from dapkit.python.recording.notes import head_of

if TYPE_CHECKING:
    import zipfile

SUFFIX = ".dapkit"
FORMAT = 4
FORMATS = (1, FORMAT)
"""The first and the last that can be read: format 1 has no `libraries`, 2 has no `repeats` and no children of forks,
and 3 has zeros where 4 has nothing.
"""
_FIRST_WITH_GAPS = 4
PART_BYTES = 1 << 22
MOST_NOTES_BYTES = 4 << 30
"""Of notes, before they are packed."""
DESCRIPTION = "recording.json"
NOTHING = "nothing was recorded: the program ended before it began"
COLLECTIONS = "collections"
_MOST_BYTES = {DESCRIPTION: 1 << 26, COLLECTIONS: 1 << 28}
"""Size of these, unpacked; any other entry is a part of the notes. A few packed bytes may claim gigabytes."""
_NOTES = "notes/"
_PROCESSES = "processes/"
_SOURCES = "sources/"
MOST_SOURCE_BYTES = 1 << 22
"""Of the texts of the program's own modules, in all."""
OF_COMMAND = "command"
_LEVEL = 6
"""Of the compression: it takes 14 ms for the notes of a program that imports aiohttp, and 3 takes 8 ms for 5 % more."""
_COLLECTION_BYTES = 24
_LISTED = 5


class RecordingProblem(Exception):  # noqa: N818 - the sentence reads right where it is raised
    """A recording cannot be used; the text says why."""


class Description(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The recorded run.

    Attributes:
        format: version of all this.
        dapkit: version of dapkit.
        extension: identity of the C extension that has recorded it; empty if it is not known.
        began: when the program was started, in microseconds since 1970; and `ended`.
        exit_code: of the program; minus the signal that ended it.
        why: the recording ended before the program, for this reason; empty if not.
        executable: the interpreter, with its `options`.
        version: of the interpreter, as `sys.version`.
        interpreter: its files, with their identities: build IDs, or SHA-256.
        kind: `program`, `module` or `code`; its name or text, and its arguments. A `command` is not of Python, and has
            no notes: only the Python processes that it has started are recorded.
        name: of the recording, as the processes that it has started know it; empty without those.
        parent: the name of the recording whose program has started this one; empty for the first.
        cwd: the folder that it ran in.
        environment: of the program; values that are secret have an asterisk for each byte.
        redacted: the names of the variables whose values are.
        hides_seed: whether PYTHONHASHSEED in it was chosen by the recorder.
        streams: its standard streams.
        signals: which signals were ignored and blocked at its start; empty if it is not known.
        zone: name of the time zone of the machine; empty if it is not known.
        files: of the modules that it had imported, with their identities; without the modules whose bytecode is in
            `libraries`.
        sources: files of the program and of its own modules whose texts the archive has, in the order of their numbers.
        libraries: files of the interpreter and of installed packages whose contents the notes lack.
        repeats: data that the notes lack, as they have it before: its place and size, and the place of the first.
            All these places are those in whole notes.
        forked: whether it is the child of a fork, whose notes begin with its parent's.

    """

    format: int
    dapkit: str
    began: int
    ended: int
    exit_code: int
    why: str
    executable: str
    options: tuple[str, ...]
    version: str
    interpreter: dict[str, str]
    kind: str
    what: str
    args: tuple[str, ...]
    cwd: str
    environment: dict[str, str]
    redacted: tuple[str, ...]
    hides_seed: bool
    streams: dict[str, Any]
    zone: str
    files: dict[str, str]
    extension: str = ""
    signals: dict[str, list[int]] = {}
    sources: tuple[str, ...] = ()
    libraries: dict[str, LibraryFile] = {}
    repeats: list[tuple[int, int, int]] = []
    forked: bool = False
    name: str = ""
    parent: str = ""

    @property
    def program(self) -> str:
        """The file of a program, as `files` and `sources` name it; empty for a module, or code."""
        return str(Path(self.cwd, self.what)) if self.kind == "program" else ""


class Notes:
    """The notes that a program has written into a folder.

    Attributes:
        why: they end before the program, for this reason; empty if not.
        libraries: the files whose contents are not packed.
        repeats: the data that is not packed, as it is in them before.

    """

    def __init__(self, folder: Path, secrets: Iterable[bytes] = (), library_files: Iterable[str] = ()) -> None:
        """Look at them, for the contents of library files as well; secret values are made unreadable first.

        Raises:
            RecordingProblem: the program has written none.

        """
        self._folder = folder
        try:
            file = (folder / "notes").open("r+b")
        except FileNotFoundError:
            raise RecordingProblem(NOTHING) from None
        with file, mmap.mmap(file.fileno(), 0) as notes:
            head = head_of(notes)
            self._end = head.end
            self._collected = head.collections * _COLLECTION_BYTES
            self.why = head.why
            for secret in secrets:
                _overwrite(notes, secret, self._end)
            self.libraries = find_libraries(notes, self._end, library_files)
            self.repeats = find_repeats(notes, self._end, self.libraries)

    def parts(self) -> Iterator[tuple[str, bytes]]:
        """Yield the names of the files that the archive has."""
        gaps = gaps_of(self.libraries, self.repeats, self._end)
        with (
            (self._folder / "notes").open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as notes,
        ):
            for number, part in enumerate(without_gaps(notes, self._end, gaps, PART_BYTES)):
                yield f"{_NOTES}{number:05}", part
        with (self._folder / COLLECTIONS).open("rb") as file:
            yield COLLECTIONS, file.read(self._collected)


def _overwrite(notes: mmap.mmap, secret: bytes, end: int) -> None:
    place = notes.find(secret, 0, end)
    while place >= 0:
        notes[place : place + len(secret)] = b"*" * len(secret)
        place = notes.find(secret, place, end)


def write(
    target: Path,
    description: Description,
    notes: Notes | None,
    *,
    sources: Iterable[bytes] = (),
    processes: Iterable[Path] = (),
) -> None:
    """Write a recording that no other user can read: it contains the data that the program has read.

    Args:
        target: the file.
        description: of the run.
        notes: None for a command that is not of Python.
        sources: the contents of `description.sources`.
        processes: the recordings of processes that the program has started.

    Raises:
        OSError: it cannot be written.

    """
    import zipfile

    beginning = target.with_name(f".{target.name}.{os.getpid()}")
    handle = os.open(beginning, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with (
            os.fdopen(handle, "wb") as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive,
        ):
            archive.writestr(DESCRIPTION, _encoded(description))
            for name, content in notes.parts() if notes is not None else ():
                archive.writestr(name, content)
            for number, content in enumerate(sources):
                archive.writestr(f"{_SOURCES}{number:05}", content)
            for number, process in enumerate(processes, start=1):
                archive.write(process, _member(number), zipfile.ZIP_STORED)
        beginning.replace(target)
    except BaseException:
        beginning.unlink(missing_ok=True)
        raise


def _encoded(description: Description) -> bytes:
    try:
        return msgspec.json.format(msgspec.json.encode(description))
    except UnicodeEncodeError:  # a path or an argument is not UTF-8
        import json

        return json.dumps(msgspec.to_builtins(description), indent=2).encode("ascii")


def _decoded(content: bytes) -> object:
    """Decode a description. Raises: ValueError."""
    try:
        return msgspec.json.decode(content)
    except msgspec.MsgspecError:
        import json

        return json.loads(content)


def _member(number: int) -> str:
    return f"{_PROCESSES}{number:05}{SUFFIX}"


def describe(source: Path, process: int = 0) -> Description:
    """Read the recorded command of a file, or of a process in it.

    Raises:
        RecordingProblem: it is not a recording, or damaged, or has no such process.

    """
    with _opened(source, process) as archive:
        return _described(source, archive)


def processes_of(source: Path) -> list[Description]:
    """Read the recorded commands of the processes that the program has started, the first of which has number 1.

    Raises:
        RecordingProblem: it is not a recording, or damaged.

    """
    with _opened(source) as archive:
        count = sum(name.startswith(_PROCESSES) for name in archive.namelist())
    return [describe(source, number) for number in range(1, count + 1)]


def sources_of(source: Path, paths: Iterable[str], process: int = 0) -> dict[str, bytes]:
    """Return the contents of source files as they were recorded, of those that the recording has.

    Raises:
        RecordingProblem: it is not a recording, or damaged.

    """
    contents: dict[str, bytes] = {}
    with _opened(source, process) as archive:
        numbers = {path: number for number, path in enumerate(_described(source, archive).sources)}
        room = MOST_SOURCE_BYTES
        for path in filter(numbers.__contains__, paths):
            content = _content(source, archive, f"{_SOURCES}{numbers[path]:05}")
            room -= len(content)
            if room < 0:
                raise RecordingProblem(f"{source} is damaged: its sources have more than {MOST_SOURCE_BYTES:,} bytes")
            contents[path] = content
    return contents


def unpack(source: Path, folder: Path, process: int = 0) -> Description:
    """Write the files `notes` and `collections` of a recording, or of a process in it, into a folder.

    The notes have zeros for the contents of libraries, and for repeated data; `complete` writes these.

    Raises:
        RecordingProblem: it is not a recording, or damaged.
        OSError: they cannot be written.

    """
    with _opened(source, process) as archive:
        description = _described(source, archive)
        if description.kind == OF_COMMAND:
            raise RecordingProblem(f"{source} is the recording of a command, which has no notes of its own")
        names = sorted(name for name in archive.namelist() if name.startswith(_NOTES))
        if names != [f"{_NOTES}{number:05}" for number in range(len(names))] or not names:
            raise RecordingProblem(f"{source} is damaged: it has the parts {', '.join(names) or 'none'} of the notes")
        parts = (_content(source, archive, name) for name in names)
        has_gaps = description.format >= _FIRST_WITH_GAPS
        try:
            gaps = gaps_of(description.libraries, description.repeats, MOST_NOTES_BYTES) if has_gaps else []
            with (folder / "notes").open("xb") as file:
                write_with_gaps(file, parts, gaps, MOST_NOTES_BYTES)
        except ValueError as error:
            raise RecordingProblem(f"{source} is damaged: {DESCRIPTION}: {error}") from error
        with (folder / COLLECTIONS).open("xb") as collections:
            collections.write(_content(source, archive, COLLECTIONS))
    return description


def complete(source: Path, folder: Path, description: Description) -> None:
    """Put the contents of library files back into the notes of an unpacked recording.

    Raises:
        RecordingProblem: a file is missing or another one, or the recording is damaged.

    """
    with (folder / "notes").open("r+b") as file, mmap.mmap(file.fileno(), 0) as notes:
        try:
            repeat(notes, description.repeats)  # first: such data may have been in front of a library's
            objections = put_back(notes, description.libraries)
        except ValueError as error:
            raise RecordingProblem(f"{source} is damaged: {DESCRIPTION}: {error}") from error
    if objections:
        raise RecordingProblem(
            f"{source} cannot be executed again here: it was recorded with other files of packages:"
            f" {listed(objections)}. Install the versions that it was recorded with;"
            " a recording that is made by `dapkit record --with-packages` needs none of these files"
        )


def listed(objections: list[str]) -> str:
    """Return a list for a sentence, shortened."""
    more = len(objections) - _LISTED
    return ", ".join(objections[:_LISTED]) + (f" and {more} more" if more > 0 else "")


def _opened(source: Path, process: int = 0) -> "zipfile.ZipFile":
    import zipfile

    try:
        archive = zipfile.ZipFile(source)
        if not process:
            return archive
        entry = archive.getinfo(_member(process))
        if entry.compress_type != zipfile.ZIP_STORED:  # it would be unpacked again for each look into it
            raise RecordingProblem(f"{source} is damaged: {entry.filename} is packed twice")
        return zipfile.ZipFile(archive.open(entry))
    except KeyError:
        count = sum(name.startswith(_PROCESSES) for name in archive.namelist())
        raise RecordingProblem(f"{source} has no process {process}: it has {count or 'none'}") from None
    except OSError as error:
        raise RecordingProblem(f"{source} cannot be read: {error.strerror or error}") from error
    except zipfile.BadZipFile as error:
        size = source.stat().st_size
        raise RecordingProblem(
            f"{source} is not a recording, or its end is missing: there is no table of contents before byte {size}"
        ) from error


def _described(source: Path, archive: "zipfile.ZipFile") -> Description:
    content = _content(source, archive, DESCRIPTION)
    try:
        description = _decoded(content)
        number = description.get("format") if isinstance(description, dict) else None
        if not isinstance(number, int) or not FORMATS[0] <= number <= FORMAT:
            raise RecordingProblem(
                f"{source} is a recording of format {number}, this dapkit reads {FORMATS[0]} to {FORMAT}:"
                " use the version that made it"
            )
        return msgspec.convert(description, Description)
    except (msgspec.MsgspecError, ValueError) as error:
        raise RecordingProblem(f"{source} is damaged: {DESCRIPTION}: {error}") from error


def _content(source: Path, archive: "zipfile.ZipFile", name: str) -> bytes:
    import zipfile
    import zlib

    try:
        entry = archive.getinfo(name)
    except KeyError:
        raise RecordingProblem(f"{source} is not a recording: it has no {name}") from None
    place = entry.header_offset
    most = _MOST_BYTES.get(name, PART_BYTES)
    if entry.file_size > most:
        raise RecordingProblem(
            f"{source} is damaged: {name}, which begins at byte {place}, would take {entry.file_size:,} bytes;"
            f" a recording has at most {most:,} there"
        )
    try:
        return archive.read(name)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise RecordingProblem(f"{source} is damaged: {name}, which begins at byte {place}: {error}") from error
