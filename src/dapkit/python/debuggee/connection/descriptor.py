"""Descriptors of ours in a program that may close any number, and is then given that number for a file of its own.

They lie above those that a program counts on. Where the hard limit allows it, and with the C extension, they lie above
the soft one, up to which programs close "all" descriptors. Each use first checks that the number still stands for the
same file.
"""

import _socket
import os
from typing import Final

from ..interpreter import native
from ..interpreter.gc_tracking import untrack
from ..system import IS_WINDOWS, close, descriptor_limit, duplicate_above

_HIGHEST: Final = 4096
"""Higher numbers would cost the kernel a larger table for each process."""
_KEPT: Final = 32
"""Below the limit, for descriptors of the debugger."""


class OwnDescriptor:
    """A descriptor that no child inherits."""

    def __init__(self, number: int) -> None:
        """Take a descriptor over, under another number."""
        self.number: Final = number if IS_WINDOWS else moved_up(number)
        self._identity = self._file()
        untrack(self)

    def _file(self) -> tuple[int, int]:
        """Return the identity of its file; on Windows it is a socket, whose number nothing takes for a descriptor."""
        return (0, 0) if IS_WINDOWS else native.file_identity(self.number)

    def socket(self) -> _socket.socket:
        """Return a socket of it."""
        return untrack(_socket.socket(fileno=self.number))

    def is_ours(self) -> bool:
        """Return whether the program has left it alone."""
        try:
            return self._file() == self._identity
        except OSError:
            return False

    def close(self) -> None:
        """Close it, once, if it is still ours."""
        if self.is_ours():
            close(self.number)


class HeldFile(OwnDescriptor):
    """A file of ours that stays open and locked, which on Windows has a descriptor as well."""

    def _file(self) -> tuple[int, int]:
        return native.file_identity(self.number)

    def close(self) -> None:
        """Close it, once, if it is still ours."""
        if self.is_ours():
            os.close(self.number)


def moved_up(number: int) -> int:
    """Return another number for a descriptor, where programs do not look for one, in place of its own."""
    try:
        moved = _duplicate_above(number)
    except (OSError, ValueError):  # the table is full
        os.set_inheritable(number, False)  # noqa: FBT003 - its only parameter
        return number
    os.close(number)
    return moved


def _duplicate_above(number: int) -> int:
    above = native.duplicate_above_limit(number, most=_HIGHEST, count=_KEPT)
    if above >= 0:
        return above
    limit = descriptor_limit()
    lowest = _HIGHEST if limit < 0 or limit > _HIGHEST else max(limit - _KEPT, limit // 2)
    return duplicate_above(number, lowest)
