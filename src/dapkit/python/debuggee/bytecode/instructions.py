"""Instructions of a code object, as they were compiled: the interpreter rewrites them in place as it runs.

`dis` would bring a dozen modules into the debugged program.
"""

from opcode import opname
from types import CodeType

type Instruction = tuple[int, str, int]
"""Offset, name, and argument with the prefixes that extend it."""


def instructions(code: CodeType) -> list[Instruction]:
    """Return the instructions in their order, prefixes (EXTENDED_ARG) included, caches left out."""
    found: list[Instruction] = []
    argument = 0
    content = code.co_code
    for offset in range(0, len(content), 2):
        name = opname[content[offset]]
        if name == "CACHE":
            continue
        argument = argument << 8 | content[offset + 1]
        found.append((offset, name, argument))
        if name != "EXTENDED_ARG":
            argument = 0
    return found
