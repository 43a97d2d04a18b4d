"""Where code reads and writes a name, by the offsets of its instructions.

A write is reported at the instruction after it, a read at the instruction that reads. The variables of a comprehension
that was compiled into its function differ from the function's own, though they may have the same names.
"""

from types import CodeType
from typing import Final

from ..bytecode.instructions import Instruction, instructions

_LOOP_BEGINS: Final = ("FOR_ITER", "GET_ANEXT")
_LOOP_ENDS: Final = ("END_FOR", "END_ASYNC_FOR")


class NameOffsets:
    """Offsets at which a name was just written, and at which it is about to be read."""

    __slots__ = ("reads", "writes")

    def __init__(self) -> None:
        self.writes: set[int] = set()
        self.reads: set[int] = set()


def sites_of_variable(code: CodeType, name: str) -> NameOffsets:
    """Find a local variable of a function, or a cell."""
    offsets = NameOffsets()
    rows = [row for row in instructions(code) if row[1] != "EXTENDED_ARG"]
    inner = _in_comprehensions(code, name, rows)
    for at, (offset, operation, argument) in enumerate(rows[:-1]):
        after = rows[at + 1][0]
        uses = _uses(code, operation, argument)
        if at in inner or name not in [other_name for _, other_name in uses]:
            continue
        stores = any(other_name == name and stored for stored, other_name in uses)
        if stores:
            offsets.writes.add(after)
        if any(other_name == name and not stored for stored, other_name in uses):
            offsets.reads.add(after if operation.startswith("STORE") else offset)
    return offsets


def reads_of_global(code: CodeType, name: str) -> set[int]:
    """Find where a global variable is read."""
    if name not in code.co_names:
        return set()
    offsets: set[int] = set()
    for offset, operation, argument in instructions(code):
        # The lowest bit of the argument of LOAD_GLOBAL belongs to the call that follows.
        index = argument >> 1 if operation == "LOAD_GLOBAL" else argument
        if operation in ("LOAD_GLOBAL", "LOAD_NAME") and code.co_names[index] == name:
            offsets.add(offset)
    return offsets


def loops_on_one_line(code: CodeType) -> bool:
    """Return whether a loop jumps back without changing the line: the interpreter reports no LINE then."""
    line_at: dict[int, int | None] = {}
    for start, end, line in code.co_lines():
        line_at.update(dict.fromkeys(range(start, end, 2), line))
    for offset, operation, argument in instructions(code):
        if operation.startswith("JUMP_BACKWARD"):
            begin = offset + 2 - 2 * argument  # but for the caches of the jump, which are on its line
            lines = {line_at.get(at) for at in range(max(0, begin), offset + 2, 2)}
            if len(lines - {None}) == 1:
                return True
    return False


def line_before(code: CodeType, offset: int) -> int | None:
    """Return the line of the instruction before an offset: the one that wrote."""
    for start, end, line in code.co_lines():
        if start <= offset - 2 < end:
            return line
    return None


def is_return(code: CodeType, offset: int) -> bool:
    """Return whether an instruction leaves the frame, for good or until it is resumed."""
    return any(
        at == offset and operation in ("RETURN_VALUE", "RETURN_CONST", "YIELD_VALUE", "RETURN_GENERATOR")
        for at, operation, _ in instructions(code)
    )


def _uses(code: CodeType, operation: str, argument: int) -> list[tuple[bool, str]]:
    """Return the variables that an instruction uses: whether it is stored or deleted, and its name."""
    parts = operation.replace("_BORROW", "").replace("_CHECK", "").split("_")
    kinds = parts[0::2]
    places = set(parts[1::2])
    if not places or not places <= {"FAST", "DEREF"} or len(parts) % 2 or not set(kinds) <= {"LOAD", "STORE", "DELETE"}:
        return []  # LOAD_FAST_AND_CLEAR is one of these: it makes room for the variable of a comprehension
    indexes = (argument,) if len(kinds) == 1 else (argument >> 4, argument & 15)
    return [
        (kind != "LOAD", code._varname_from_oparg(index))  # type: ignore[attr-defined]  # as `dis` does
        for kind, index in zip(kinds, indexes, strict=True)
    ]


def _in_comprehensions(code: CodeType, name: str, rows: list[Instruction]) -> set[int]:
    """Return the instructions in which the name is a comprehension's own variable."""
    inner: set[int] = set()
    for begin, (_, operation, argument) in enumerate(rows):
        if operation != "LOAD_FAST_AND_CLEAR" or code._varname_from_oparg(argument) != name:  # type: ignore[attr-defined]
            continue
        depth = 0
        for at in range(begin, len(rows)):
            depth += (rows[at][1] in _LOOP_BEGINS) - (rows[at][1] in _LOOP_ENDS)
            inner.add(at)
            if not depth and rows[at][1] in _LOOP_ENDS:
                break
    return inner
