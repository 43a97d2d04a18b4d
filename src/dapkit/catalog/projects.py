"""Projects: where their roots are, and the folders that belong to them."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from dapkit.catalog import limits
from dapkit.catalog.definition import AdapterDefinition
from dapkit.system.trusted_files import is_trusted, read_start


def root_of(program: Path, definition: AdapterDefinition) -> Path | None:
    """Return the nearest folder at or above a program that is the root of a project of the adapter's."""
    start = program if program.is_dir() else program.parent
    for folder in (start, *start.parents):
        markers = list(matching(folder, definition.root_markers))
        if any(_contains(marker, definition.root_contains) for marker in markers):
            return folder
    return None


def matching(folder: Path, markers: Iterable[str]) -> Iterator[Path]:
    """Yield the entries of a folder with one of these names, which may contain `*`.

    Entries of other users are left out.
    """
    for marker in markers:
        if "*" in marker:
            yield from (file for file in listed(folder) if fnmatchcase(file.name, marker) and is_trusted(file))
        elif is_trusted(folder / marker):
            yield folder / marker


def listed(folder: Path) -> list[Path]:
    """Return the entries of a folder; an unreadable folder has no entries."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def up_to_repository(start: Path) -> list[Path]:
    """Return a folder and those above it up to the top of its repository; the folder alone if it is in none."""
    chain = [start, *start.parents]
    for depth, folder in enumerate(chain):
        if is_trusted(folder / ".git"):  # a stranger's, as in /tmp, is not the top of anything of the user's
            return chain[: depth + 1]
    return [start]


def _contains(marker: Path, text: str) -> bool:
    if not text:
        return True
    try:
        return text.encode() in read_start(marker, limits.MARKER_BYTES)
    except OSError:
        return False
