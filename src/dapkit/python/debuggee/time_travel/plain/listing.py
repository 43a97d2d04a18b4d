"""What is in a folder, as `os.scandir` has it: read at once, and noted."""

from collections.abc import Callable
from os import stat
from typing import Any, Self

from ...interpreter.hidden_frames import unseen
from .notes import NotedCalls

type Entry = tuple[Any, Any, int, bool, list[bool], list[bool]]
"""Its name, path and number; whether it is a link; a folder, a file: without links followed, and with."""


class DirEntry:
    """Stands for `os.DirEntry`, which cannot be made."""

    def __init__(self, entry: Entry, stat: Callable[..., Any]) -> None:
        """Take what there is to know, and how to ask for more."""
        self.name, self.path, *_ = entry
        self._entry = entry
        self._stat = stat

    def inode(self) -> int:
        """Return its number in the file system."""
        return self._entry[2]

    def is_symlink(self) -> bool:
        """Say whether it is a symbolic link."""
        return self._entry[3]

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Say whether it is a folder."""
        return self._entry[4][follow_symlinks]

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Say whether it is a file."""
        return self._entry[5][follow_symlinks]

    def is_junction(self) -> bool:
        """Say that it is nothing of Windows."""
        return False

    def stat(self, *, follow_symlinks: bool = True) -> Any:  # noqa: ANN401 - `os.stat_result`
        """Return what `os.stat` does."""
        return self._stat(self.name, self.path, follow_symlinks)

    def __fspath__(self) -> Any:  # noqa: ANN401 - text or bytes
        """Return its path."""
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"


DirEntry.__module__ = "posix"


class _Entries:
    """What `os.scandir` returns."""

    def __init__(self, entries: list[DirEntry]) -> None:
        self._rest = iter(entries)

    def __iter__(self) -> "_Entries":
        return self

    def __next__(self) -> DirEntry:
        return next(self._rest)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Have no more."""
        self._rest = iter(())


def listing(notes: NotedCalls) -> Callable[..., Any]:
    """Return what stands for `os.scandir`."""

    @unseen
    def scandir(real: Callable[..., Any], /, path: Any = None) -> Any:  # noqa: ANN401 - as in C
        found = notes.call("scandir", lambda where: [_described(entry) for entry in real(where)], (path,))

        @unseen
        def stat_of(name: Any, place: Any, follows: bool) -> Any:  # noqa: ANN401 - as in C
            if type(path) is int:
                return notes.call("stat", stat, (name,), {"dir_fd": path, "follow_symlinks": follows})
            return notes.call("stat", stat, (place,), {"follow_symlinks": follows})

        return _Entries([DirEntry(entry, stat_of) for entry in found])

    return scandir


def _described(entry: Any) -> Entry:  # noqa: ANN401 - a real one
    folder, file = (
        [kind(follow_symlinks=follows) for follows in (False, True)] for kind in (entry.is_dir, entry.is_file)
    )
    return entry.name, entry.path, entry.inode(), entry.is_symlink(), folder, file
