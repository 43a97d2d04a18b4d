"""Text of memory, instructions, modules and sources."""

import base64
from collections.abc import Iterator, Sequence

from dapkit.agent.results.program import (
    Disassembly,
    LoadedSourcesResult,
    MemoryResult,
    MemoryWritten,
    ModulesResult,
    SourceText,
)
from dapkit.agent.text.escaping import one_line, printable, render
from dapkit.protocol import DisassembledInstruction

_ROW_BYTES = 16
_HEADINGS = ("ID", "Name", "Path", "Symbols", "Range")


@render.register
def _(result: Disassembly) -> str:
    rows = result.disassembly
    if not rows:
        return "Disassembly:\n(empty)"
    address = max(len(row.address) for row in rows)
    code = max(2, *(len(row.instruction_bytes or "") for row in rows))
    return "\n".join(["Disassembly:", *(_instruction(row, address, code) for row in rows)])


def _instruction(row: DisassembledInstruction, address_width: int, code_width: int) -> str:
    parts = [one_line(row.address).ljust(address_width), one_line(row.instruction_bytes or "").ljust(code_width)]
    parts.append(one_line(row.instruction))
    if row.symbol:
        parts.append(f"<{one_line(row.symbol)}>")
    if place := _place(row):
        parts.append(f"[{one_line(place)}]")
    return "  ".join(part for part in parts if part).rstrip()


def _place(row: DisassembledInstruction) -> str | None:
    name = row.location and (row.location.path or row.location.name)
    if not name:
        return None
    parts = (name, row.line, row.column if row.line is not None else None)
    return ":".join(str(part) for part in parts if part is not None)


@render.register
def _(result: MemoryResult) -> str:
    data = base64.b64decode(result.memory_data)
    lines = [*_rows(result.memory_address, data)] or ["(no readable bytes)"]
    if result.unreadable_bytes:
        lines.append(f"Unreadable bytes: {result.unreadable_bytes}")
    return "\n".join([f"Memory at {one_line(result.memory_address)}:", *lines])


def _rows(address: str, data: bytes) -> Iterator[str]:
    for offset in range(0, len(data), _ROW_BYTES):
        row = data[offset : offset + _ROW_BYTES]
        place = f"+0x{offset:x}" if offset else one_line(address)
        characters = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        yield f"{place:<18} {row.hex(' '):<47} |{characters}|"


@render.register
def _(result: MemoryWritten) -> str:
    lines = ["Memory write completed."]
    if result.bytes_written is not None:
        lines.append(f"Bytes written: {result.bytes_written}")
    if result.offset is not None:
        lines.append(f"Offset: {result.offset}")
    return "\n".join(lines)


@render.register
def _(result: ModulesResult) -> str:
    rows = [
        (str(module.id), module.name, module.path or "", module.symbol_status or "", module.address_range or "")
        for module in result.modules
    ]
    lines = [*_table([tuple(one_line(cell) for cell in row) for row in rows])] if rows else ["(none)"]
    if result.more:
        lines.append(f"(and {result.more} more; start_module and module_count show them)")
    return "\n".join(["Modules:", *lines])


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(_HEADINGS, *rows, strict=True)]
    for row in (_HEADINGS, ["-" * width for width in widths], *rows):
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))


@render.register
def _(result: LoadedSourcesResult) -> str:
    lines = [
        f"- {one_line(source.path or source.name or '<unknown>')}"
        + (f" [ref={source.source_reference}]" if source.source_reference is not None else "")
        for source in result.sources
    ]
    if result.more:
        lines.append(f"(and {result.more} more)")
    return "\n".join(["Loaded sources:", *(lines or ["(none)"])])


@render.register
def _(result: SourceText) -> str:
    lines = result.content.splitlines()
    last = result.first_line + len(lines) - 1
    width = len(str(last))
    shown_lines = [
        f"{'->' if number == result.current_line else '  '} {number:>{width}}  {printable(line)}".rstrip()
        for number, line in enumerate(lines, result.first_line)
    ]
    title = f"{one_line(result.name)}, lines {result.first_line} to {last} of {result.total_lines}:"
    return "\n".join([title, *shown_lines])
