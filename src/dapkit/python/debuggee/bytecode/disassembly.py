"""Bytecode as text: the result of `disassemble`.

Offsets, bytes and names are from the code as it was compiled: the interpreter rewrites instructions in place as it runs
them, and so do breakpoints.
"""

from types import CodeType
from typing import TYPE_CHECKING, Final

from ..connection.framing import Json
from ..interpreter import limits
from ..interpreter.thread_checks import in_link_thread
from ..loader import prepare, standard
from .instructions import Addresses
from .positions import span_at
from .texts import ProgramText

if TYPE_CHECKING:
    import dis

prepare("dis")  # whose classes are seen in the program
_UNIT: Final = 2
"""Bytes of the shortest instruction."""


_known: dict[int, tuple[CodeType, list["dis.Instruction"]]] = {}  # by id; the code object keeps that its own


@in_link_thread
def instructions(code: CodeType) -> list["dis.Instruction"]:
    """Return the instructions of a code object."""
    entry = _known.get(id(code))
    if entry is None:
        if len(_known) >= limits.DISASSEMBLED_CODES:
            del _known[next(iter(_known))]
        entry = _known[id(code)] = (code, list(standard("dis").get_instructions(code)))
    return entry[1]


def offsets_of(code: CodeType) -> list[int]:
    """Return where the instructions of a code object begin."""
    return [instruction.offset for instruction in instructions(code)]


def disassemble(
    addresses: Addresses,
    address: int,
    *,
    first: int,
    count: int,
    symbols: bool,
    source: Json | None,
    text: ProgramText | None,
) -> list[Json]:
    """Return exactly `count` instructions, from the `first` one counted from an address.

    Where there is no bytecode they are marked as invalid, one for each place where one could be.
    """
    place = addresses.find(address)
    if place is None:
        return [_invalid(address + _UNIT * number) for number in range(first, first + count)]
    code, offset = place
    rows = instructions(code)
    index = max(at for at, instruction in enumerate(rows) if instruction.offset <= offset)
    begin, end = addresses.of(code), addresses.of(code, len(code.co_code))
    data = code.co_code
    instructions_shown: list[Json] = []
    for at in range(index + first, index + first + count):
        if at < 0:
            instructions_shown.append(_invalid(begin + _UNIT * at))
        elif at >= len(rows):
            instructions_shown.append(_invalid(end + _UNIT * (at - len(rows))))
        else:
            next_offset = rows[at + 1].offset if at + 1 < len(rows) else len(data)
            instructions_shown.append(
                _valid(code, rows[at], data[rows[at].offset : next_offset], begin, symbols=symbols, text=text)
            )
    first_valid = next((row for row in instructions_shown if "line" in row), None)
    if first_valid is not None and source is not None:
        first_valid["location"] = source
    return instructions_shown


def _invalid(address: int) -> Json:
    return {"address": hex(max(address, 0)), "instruction": "(no bytecode)", "presentationHint": "invalid"}


def _valid(
    code: CodeType, instruction: "dis.Instruction", data: bytes, begin: int, *, symbols: bool, text: ProgramText | None
) -> Json:
    operand = "" if instruction.arg is None else f"{instruction.arg}"
    if symbols and instruction.arg is not None and instruction.argrepr:
        operand = f"{instruction.arg} ({instruction.argrepr})"
    row: Json = {
        "address": hex(begin + instruction.offset),
        "instruction": f"{instruction.opname:<24} {operand}".rstrip(),
        "instructionBytes": data.hex(" "),
    }
    if instruction.offset == 0:
        row["symbol"] = code.co_qualname
    span = span_at(code, instruction.offset)
    if span is not None and span.line > 0 and span.end_line >= span.line:
        row |= {"line": span.line, "endLine": span.end_line}
        if text is not None:
            row["column"] = text.shown_column(span.line, span.column)
            row["endColumn"] = text.shown_column(span.end_line, span.end_column)
    return row
