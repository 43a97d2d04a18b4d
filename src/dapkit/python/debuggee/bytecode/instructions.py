"""Instructions of a code object, as they were compiled: the interpreter rewrites them in place as it runs.

`dis` would bring a dozen modules into the debugged program.
"""

import opcode
from opcode import opname
from types import CodeType
from typing import Final

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
