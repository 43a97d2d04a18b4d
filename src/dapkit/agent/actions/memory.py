"""Memory and instructions."""

from dapkit.agent import parameters as p
from dapkit.agent.call import Call
from dapkit.agent.registry import Approval, action
from dapkit.agent.results.program import Disassembly, Memory, MemoryWritten


@action(Approval.READ, example={"instruction_count": 10})
async def disassemble(
    call: Call,
    *,
    instruction_count: p.InstructionCount,
    memory_reference: p.MemoryReference | None = None,
    offset: p.Offset | None = None,
    instruction_offset: p.InstructionOffset | None = None,
    resolve_symbols: p.ResolveSymbols | None = None,
) -> Disassembly:
    """Show instructions, by default those that run next."""
    raise NotImplementedError


@action(Approval.READ, example={"memory_reference": "0x7ffe3c", "count": 64})
async def read_memory(
    call: Call,
    *,
    memory_reference: p.MemoryReference,
    count: p.Count,
    offset: p.Offset | None = None,
) -> Memory:
    """Show bytes of memory."""
    raise NotImplementedError


@action(Approval.EXECUTE, example={"memory_reference": "0x7ffe3c", "data": "AAAAAA=="})
async def write_memory(
    call: Call,
    *,
    memory_reference: p.MemoryReference,
    data: p.Data,
    offset: p.Offset | None = None,
    allow_partial: p.AllowPartial | None = None,
) -> MemoryWritten:
    """Write bytes to memory."""
    raise NotImplementedError
