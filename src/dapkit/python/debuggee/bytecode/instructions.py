"""Instructions of a code object, their addresses, and its exception table.

They are read as they were compiled: the interpreter rewrites them in place as it runs. `dis` would bring a dozen
modules into the debugged program.

Addresses are numbers that stand for instructions, good for the whole session: the addresses in memory. A code object
that was reported to a client is kept alive, so that no other code ever gets its addresses.
"""

import opcode
from _bisect import bisect_right, insort_right
from opcode import opname
from types import CodeType
from typing import Final

from ..interpreter.errors import RequestRefused

type Instruction = tuple[int, str, int]
"""Offset, name, and argument with the prefixes that extend it."""

_COMMON_CONSTANTS: Final[list[object]] = getattr(opcode, "_common_constants", [])


def constant(code: CodeType, name: str, argument: int) -> object:
    """Return the constant that an instruction loads; None if it loads none."""
    if name == "LOAD_CONST":
        return code.co_consts[argument]
    return _COMMON_CONSTANTS[argument] if name == "LOAD_COMMON_CONSTANT" else None


def instructions(code: CodeType) -> list[Instruction]:
    """Return the instructions in their order, prefixes (EXTENDED_ARG) included, caches left out."""
    decoded: list[Instruction] = []
    argument = 0
    content = code.co_code
    for offset in range(0, len(content), 2):
        name = opname[content[offset]]
        if name == "CACHE":
            continue
        argument = argument << 8 | content[offset + 1]
        decoded.append((offset, name, argument))
        if name != "EXTENDED_ARG":
            argument = 0
    return decoded


def handlers_of(code: CodeType) -> list[tuple[int, int, int]]:
    """Return (start, end, handler) of all ranges of a code object, in bytes (Objects/exception_handling_notes.txt)."""
    numbers: list[int] = []
    value = 0
    for byte in code.co_exceptiontable:
        value = value << 6 | byte & 0x3F
        if not byte & 0x40:
            numbers.append(value)
            value = 0
    handlers: list[tuple[int, int, int]] = []
    for at in range(0, len(numbers) - 3, 4):
        start, length, target = (2 * number for number in numbers[at : at + 3])
        handlers.append((start, start + length, target))
    return handlers


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
