"""Addresses of bytecode: numbers that stand for instructions, good for the whole session.

They are the addresses of the instructions in memory. A code object that was reported to a client is kept alive,
so that no other code ever gets its addresses.
"""

from _bisect import bisect_right, insort_right
from types import CodeType
from typing import Final

from ..interpreter.errors import RequestRefused

_HEAD: Final = CodeType.__basicsize__
"""Where the instructions begin within a code object."""


class Addresses:
    """The code objects that a client knows addresses of."""

    def __init__(self) -> None:
        self._codes: dict[int, CodeType] = {}  # by address of the first instruction
        self._starts: list[int] = []

    def of(self, code: CodeType, offset: int = 0) -> int:
        """Return the address of an instruction, and remember its code object."""
        start = id(code) + _HEAD
        if start not in self._codes:
            self._codes[start] = code
            insort_right(self._starts, start)
        return start + offset

    def find(self, address: int) -> tuple[CodeType, int] | None:
        """Return the code object and the offset that an address lies at, None if it is in no known code."""
        at = bisect_right(self._starts, address) - 1
        if at < 0:
            return None
        code = self._codes[self._starts[at]]
        offset = address - self._starts[at]
        return (code, offset) if offset < len(code.co_code) else None


def parse(reference: object, name: str) -> int:
    """Read an address that a client sends.

    Raises:
        RequestRefused: if it is not an address of an instruction.

    """
    try:
        return int(reference, 0) if isinstance(reference, str) else int("")
    except ValueError:
        raise RequestRefused(f"{name} is {reference!r:.80}, expected an address as in 0x7f10") from None
