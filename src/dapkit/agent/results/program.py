"""The program itself: memory, instructions, modules and sources."""

from dapkit.agent.results.snapshot import OfSession
from dapkit.protocol import DisassembledInstruction, ProtocolObject, Source


class ModuleRow(ProtocolObject, frozen=True, kw_only=True):
    """A module that the program has loaded."""

    id: int | str
    name: str
    path: str | None = None
    symbol_status: str | None = None
    address_range: str | None = None
    version: str | None = None


class ModulesResult(OfSession, frozen=True, kw_only=True):
    """Modules that the program has loaded.

    Attributes:
        more: how many further ones there are.

    """

    modules: list[ModuleRow]
    more: int


class LoadedSourcesResult(OfSession, frozen=True, kw_only=True):
    """Sources that the program has loaded.

    Attributes:
        more: how many further ones there are.

    """

    sources: list[Source]
    more: int


class SourceText(OfSession, frozen=True, kw_only=True):
    """Lines of a source.

    Attributes:
        first_line: number of the first line of `content`.
        total_lines: how many lines the whole source has.

    """

    name: str
    content: str
    first_line: int
    total_lines: int
    current_line: int | None = None


class Disassembly(OfSession, frozen=True, kw_only=True):
    """Instructions."""

    disassembly: list[DisassembledInstruction]


class MemoryResult(OfSession, frozen=True, kw_only=True):
    """Bytes of the program's memory.

    Attributes:
        memory_data: in base64.

    """

    memory_address: str
    memory_data: str
    unreadable_bytes: int | None = None


class MemoryWritten(OfSession, frozen=True, kw_only=True):
    """Bytes that were written to the program's memory."""

    bytes_written: int | None = None
    offset: int | None = None
