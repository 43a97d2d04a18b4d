"""Files of the interpreter and of installed packages: a recording names them by their hashes instead of packing them.

Most of the data that a program reads are modules that it imports, and an index brings packages to each machine. The
notes of a recording are packed without their contents, and without data that was read before; both are put back when
the recording is opened. The first bytes of a file of bytecode, which have the time of its source, stay in the notes.
"""

import collections
import itertools
import mmap
import os
import stat
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import msgspec

from dapkit.python.recording.notes import FIRST_NOTE, data_of_calls, head_of

_PACKAGES = ("/site-packages/", "/dist-packages/")
_MOST_READS = 50_000
"""So many calls of `read` are looked at: programs import most of their modules at their beginning."""
_MOST_FOLDERS = 20_000
"""So many are searched for the modules of a program that was killed, the outer ones first."""
_LEAST_BYTES = 1_000
_HASH_DIGITS = 32
_OF_BYTECODE = ".pyc"
_HEADER_BYTES = 16


class LibraryFile(msgspec.Struct, frozen=True):
    """A file whose contents are not in the recording.

    Attributes:
        hash: the first half of the SHA-256 of its contents, of bytecode without the header.
        size: of them, in bytes.
        places: where the notes have them, in bytes from their beginning.

    """

    hash: str
    size: int
    places: list[int]


def hash_of(path: str) -> str:
    """Return the SHA-256 of a file; empty if it is not a file, or cannot be read."""
    import hashlib

    try:
        if not Path(path).is_file():  # a device may never end
            return ""
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def are_of_libraries(paths: Iterable[str], standard_library: str) -> list[str]:
    """Return the paths that belong to the interpreter or to an installed package."""
    return [
        path for path in paths if path.startswith(f"{standard_library}/") or any(part in path for part in _PACKAGES)
    ]


def find_libraries(notes: mmap.mmap, end: int, paths: Iterable[str]) -> dict[str, LibraryFile]:
    """Find the contents of files in the notes, where a program has read a file at once."""
    by_size: dict[int, list[str]] = {}
    for path in dict.fromkeys(paths):
        size = _size_of(path)
        if size >= _LEAST_BYTES:
            by_size.setdefault(size, []).append(path)
    files: dict[str, LibraryFile] = {}
    contents: dict[str, bytes] = {}
    for place, size in _reads(notes, end):
        for path in by_size.get(size, ()):
            content = contents.get(path) or contents.setdefault(path, _content_of(path))
            if notes[place : place + size] == content:
                first = _first_of(path)
                file = files.setdefault(path, LibraryFile(_hash_of_bytes(content[first:]), size - first, []))
                file.places.append(place + first)
                break
    return files


def modules_read(folder: Path, places: Iterable[str]) -> dict[str, str]:
    """Return the modules in some places that the notes in a folder have the contents of, each with its bytecode's file.

    For a program that was killed, and so has not listed its modules. None if there are no notes.
    """
    modules: dict[str, str] = {}
    try:
        file = (folder / "notes").open("rb")
    except FileNotFoundError:
        return modules
    with file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as notes:
        by_size: dict[int, list[int]] = {}
        for place, size in _reads(notes, head_of(notes).end):
            by_size.setdefault(size, []).append(place)
        for path, size in _python_files(tuple(dict.fromkeys(places))):
            content = _content_of(path) if size in by_size else b""
            if not content or all(notes[place : place + size] != content for place in by_size[size]):
                continue
            if path.endswith(_OF_BYTECODE):
                modules[_source_of(path)] = path
            else:
                modules.setdefault(path, "")
    return modules


@lru_cache(maxsize=4)
def _python_files(folders: tuple[str, ...]) -> list[tuple[str, int]]:
    """Return the paths and sizes of sources and of bytecode in folders, and in those that are in them.

    They are searched once for all processes of a recording, such as the workers of a server.
    """
    files: list[tuple[str, int]] = []
    waiting = collections.deque(folders)
    for _ in range(_MOST_FOLDERS):
        if not waiting:
            break
        try:
            with os.scandir(waiting.popleft()) as entries:
                for entry in entries:
                    if entry.name.endswith((".py", _OF_BYTECODE)) and entry.is_file():
                        files.append((entry.path, entry.stat().st_size))
                    elif entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                        waiting.append(entry.path)
        except OSError:
            continue  # it is not there, or not ours to read
    return files


def _source_of(bytecode: str) -> str:
    from importlib.util import source_from_cache

    try:
        return source_from_cache(bytecode)
    except ValueError:
        return bytecode


def find_repeats(notes: mmap.mmap, end: int, libraries: dict[str, LibraryFile]) -> list[tuple[int, int, int]]:
    """Return the places and sizes of data that was read before, each with the place of the first.

    The contents of `libraries` do not count.
    """
    elsewhere = {place for file in libraries.values() for place in file.places}
    first: dict[int, int] = {}
    repeats: list[tuple[int, int, int]] = []
    for place, size in _reads(notes, end):
        if size < _LEAST_BYTES or place in elsewhere or place + _HEADER_BYTES in elsewhere:
            continue
        content = notes[place : place + size]
        before = first.setdefault(hash(content), place)
        if before != place and notes[before : before + size] == content:
            repeats.append((place, size, before))
    return repeats


def gaps_of(files: dict[str, LibraryFile], repeats: Iterable[tuple[int, int, int]], most: int) -> list[tuple[int, int]]:
    """Return the places and sizes of all that packed notes lack, in their order.

    Raises:
        ValueError: they overlap, or are outside of notes of `most` bytes.

    """
    gaps = sorted(
        [
            *((place, file.size) for file in files.values() for place in file.places),
            *((place, size) for place, size, _ in repeats),
        ]
    )
    end = 0
    for place, size in gaps:
        if place < end or size < 0 or place + size > most:
            raise ValueError(f"{size} bytes at {place} would be outside of the notes, or there twice")
        end = place + size
    return gaps


def without_gaps(notes: mmap.mmap, end: int, gaps: Iterable[tuple[int, int]], most: int) -> Iterator[bytes]:
    """Yield the bytes of notes outside of gaps, in parts of at most `most` bytes."""
    part = bytearray()
    place = 0
    for gap, size in (*gaps, (end, 0)):
        while place < gap:
            piece = notes[place : min(gap, place + most - len(part))]
            part += piece
            place += len(piece)
            if len(part) == most:
                yield bytes(part)
                part.clear()
        place = gap + size
    if part:
        yield bytes(part)


def write_with_gaps(file: BinaryIO, parts: Iterable[bytes], gaps: list[tuple[int, int]], most: int) -> None:
    """Write notes that `without_gaps` has yielded, with zeros in their gaps.

    Raises:
        ValueError: a gap is outside of the notes, or they have more than `most` bytes.

    """
    ahead = list(reversed(gaps))
    place = 0
    for part in parts:
        rest = memoryview(part)
        while rest:
            place = _skip(file, place, ahead)
            room = ahead[-1][0] - place if ahead else len(rest)
            place += file.write(rest[:room])
            rest = rest[room:]
            if place > most:
                raise ValueError(f"the notes have more than {most:,} bytes")
    place = _skip(file, place, ahead)
    if ahead:
        raise ValueError(f"{ahead[-1][1]} bytes at {ahead[-1][0]} would be outside of the notes")
    file.truncate(place)


def _skip(file: BinaryIO, place: int, ahead: list[tuple[int, int]]) -> int:
    """Go over the gaps that begin at a place; return where the next bytes belong."""
    while ahead and ahead[-1][0] == place:
        place += ahead.pop()[1]
        file.seek(place)
    return place


def repeat(notes: mmap.mmap, repeats: Iterable[tuple[int, int, int]]) -> None:
    """Write the data that was found by `find_repeats`.

    Raises:
        ValueError: a place is not in the notes.

    """
    for place, size, before in repeats:
        if min(place, size, before) < 0 or max(place, before) + size > len(notes):
            raise ValueError(f"{size} bytes would be copied from {before} to {place}, outside of the notes")
        notes[place : place + size] = notes[before : before + size]


def put_back(notes: mmap.mmap, files: dict[str, LibraryFile]) -> list[str]:
    """Write the contents of files into the notes; return which files are not as they were, each with the reason.

    Raises:
        ValueError: a place is not in the notes.

    """
    objections: list[str] = []
    for path, file in files.items():
        if any(place < 0 or place + file.size > len(notes) for place in (0, *file.places)):
            raise ValueError(f"{path} would be put outside of the notes")
        first = _first_of(path)
        content = _content_of(path)[first:] if _size_of(path) == file.size + first else b""
        if _hash_of_bytes(content) != file.hash[:_HASH_DIGITS]:
            objections.append(f"{path} ({'changed' if Path(path).is_file() else 'missing'})")
            continue
        for place in file.places:
            notes[place : place + file.size] = content
    return objections


def _reads(notes: mmap.mmap, end: int) -> Iterator[tuple[int, int]]:
    """Yield the place and the size of the data that one call has read."""
    reads = data_of_calls(notes, "read", FIRST_NOTE, end)
    for result, place, size in itertools.islice(reads, _MOST_READS):
        if size == result:
            yield place, size


def _first_of(path: str) -> int:
    return _HEADER_BYTES if path.endswith(_OF_BYTECODE) else 0


def _size_of(path: str) -> int:
    """Return the size of a regular file, 0 if there is no such file."""
    try:
        state = Path(path).stat()
    except OSError:
        return 0
    return state.st_size if stat.S_ISREG(state.st_mode) else 0


def _content_of(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def _hash_of_bytes(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()[:_HASH_DIGITS]
