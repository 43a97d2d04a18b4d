"""The memory of a process, read while the process runs, and where it has the file of its interpreter."""

import os
import struct
import sys
from typing import NamedTuple

WORD = 8
_PAGE = 4096
_MOST_PAGES_KEPT = 16
"""Of one reading: longer ones, as of a large table, are not kept."""
_MOST_BYTES = 1 << 26


class Unreadable(Exception):  # noqa: N818 - the sentence reads right where it is raised
    """The memory has unexpected contents: it changes meanwhile, or belongs to another object by now."""


class Unfit(Exception):  # noqa: N818 - as above
    """This build of Python lays its objects out in another way than is known here."""


class Memory:
    """The memory of a process.

    Each method raises Unreadable where there is no memory.
    """

    def __init__(self, pid: int, *, keeps: bool) -> None:
        """Open it.

        Args:
            pid: the process.
            keeps: whether a page is read once until `forget`, which is quicker.

        """
        self._keeps = keeps
        self._descriptor = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        self._pages: dict[int, bytes] = {}

    def forget(self) -> None:
        """Read everything anew."""
        self._pages.clear()

    def bytes_at(self, address: int, size: int) -> bytes:
        """Read bytes."""
        if not 0 <= size <= _MOST_BYTES:
            raise Unreadable
        first, last = address // _PAGE, (address + max(size, 1) - 1) // _PAGE
        if not self._keeps:
            return self._read(address, size)
        if first == last:
            content = self._page(first)
        elif last - first < _MOST_PAGES_KEPT:
            content = b"".join(self._page(number) for number in range(first, last + 1))
        else:
            return self._read(address, size)
        start = address - first * _PAGE
        return content[start : start + size]

    def _page(self, number: int) -> bytes:
        content = self._pages.get(number)
        if content is None:
            content = self._pages[number] = self._read(number * _PAGE, _PAGE)
        return content

    def _read(self, address: int, size: int) -> bytes:
        try:
            content = os.pread(self._descriptor, size, address)
        except (OSError, OverflowError, ValueError) as error:
            raise Unreadable from error
        if len(content) != size:
            raise Unreadable
        return content

    def words(self, address: int, count: int) -> tuple[int, ...]:
        """Read addresses, or other numbers of their size."""
        return struct.unpack(f"={count}Q", self.bytes_at(address, count * WORD))

    def word(self, address: int) -> int:
        """Read one of them."""
        return self.words(address, 1)[0]

    def int32(self, address: int) -> int:
        """Read a C int."""
        return int.from_bytes(self.bytes_at(address, 4), sys.byteorder, signed=True)


class _Mapping(NamedTuple):
    start: int
    end: int
    file: tuple[str, str]
    """Device and inode; the inode is 0 where there is no file."""


class Image:
    """Where the file of the interpreter, program or library, is in the memory of a process.

    Attributes:
        file: device and inode.
        start: its first address.
        writable_end: behind its data, with those that the file has no bytes for.

    """

    def __init__(self, pid: int | str, *, within: int = 0, file: tuple[str, str] | None = None) -> None:
        """Find it, by the file or by an address that is in it. Raises: Unfit."""
        mappings = _mappings(pid)
        self.file = file or next((place.file for place in mappings if place.start <= within < place.end), ("", "0"))
        if self.file[1] == "0":
            raise Unfit("the interpreter is not mapped from a file")
        of_file = [place for place in mappings if place.file == self.file]
        if not of_file:
            raise Unfit("the process does not run the file of this interpreter: it was replaced, or is not seen here")
        self.start = min(place.start for place in of_file)
        end = max(place.end for place in of_file)
        for place in mappings:
            if place.start == end and place.file[1] == "0":
                end = place.end
        self.end = end

    def places_of(self, memory: Memory, value: int) -> list[int]:
        """Return the offsets of a word in the image."""
        places: list[int] = []
        for start in range(self.start, self.end, _PAGE):
            try:
                words = memory.words(start, _PAGE // WORD)
            except Unreadable:
                continue  # a gap between two mappings
            if value in words:
                places += [start + WORD * index - self.start for index, word in enumerate(words) if word == value]
        return places


def _mappings(pid: int | str) -> list[_Mapping]:
    with open(f"/proc/{pid}/maps", "rb") as file:  # noqa: PTH123 - pathlib is slow to import
        lines = [line.split(maxsplit=5) for line in file.read().decode(errors="replace").splitlines()]
    mappings: list[_Mapping] = []
    for addresses, _, _, device, inode, *_ in lines:
        start, _, end = addresses.partition("-")
        mappings.append(_Mapping(int(start, 16), int(end, 16), (device, inode)))
    return mappings
