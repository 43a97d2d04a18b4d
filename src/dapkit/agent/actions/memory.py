"""Memory and instructions."""

import base64
import binascii
import re
from collections.abc import Awaitable, Callable

from dapkit.agent import limits
from dapkit.agent.calls import parameters as p
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import ActionFailed, InvalidArguments
from dapkit.agent.calls.registry import Approval, action
from dapkit.agent.reading.snapshots import snapshot
from dapkit.agent.results.program import Disassembly, MemoryResult, MemoryWritten
from dapkit.endpoint import RequestFailed
from dapkit.protocol import (
    DapkitError,
    DisassembleArguments,
    EvaluateArguments,
    ReadMemoryArguments,
    WriteMemoryArguments,
)

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|\d+")
"""An address, which is not evaluated."""

_POINTER = re.compile(r"0[xX][0-9a-fA-F]+(?=\s|$)")
"""The forms in which debuggers write the value of a pointer; the value that it points at may follow."""


@action(Approval.READ, example={"instruction_count": 10})
async def disassemble(
    call: ActionCall,
    *,
    instruction_count: p.InstructionCount,
    memory_reference: p.MemoryReference | None = None,
    offset: p.Offset | None = None,
    instruction_offset: p.InstructionOffset | None = None,
    resolve_symbols: p.ResolveSymbols | None = None,
) -> Disassembly:
    """Show instructions, by default those that run next."""
    _at_most("instruction_count", instruction_count, limits.INSTRUCTIONS_SHOWN)
    call.require("supports_disassemble_request", "disassembly")
    body = await _at_address(
        call,
        memory_reference or _instruction_pointer(call),
        lambda address: call.requests.ask(
            DisassembleArguments(
                memory_reference=address,
                offset=offset,
                instruction_offset=instruction_offset,
                instruction_count=instruction_count,
                resolve_symbols=resolve_symbols,
            )
        ),
    )
    return Disassembly(snapshot=snapshot(call.session), disassembly=body.instructions[:instruction_count])


def _instruction_pointer(call: ActionCall) -> str:
    stop = call.session.state.stop
    if stop is None or stop.instruction_pointer is None:
        raise InvalidArguments(
            "disassemble requires memory_reference unless the current stop location"
            " has an instruction pointer reference"
        )
    return stop.instruction_pointer


@action(Approval.READ, example={"memory_reference": "0x7ffe3c", "count": 64})
async def read_memory(
    call: ActionCall,
    *,
    memory_reference: p.MemoryReference,
    count: p.Count,
    offset: p.Offset | None = None,
) -> MemoryResult:
    """Show bytes of memory."""
    _at_most("count", count, limits.MEMORY_BYTES_READ)
    call.require("supports_read_memory_request", "memory reads")
    body = await _at_address(
        call,
        memory_reference,
        lambda address: call.requests.ask(ReadMemoryArguments(memory_reference=address, offset=offset, count=count)),
    )
    try:
        base64.b64decode(body.data or "", validate=True)
    except ValueError as error:
        raise ActionFailed("adapter_failed", f"the data of readMemory is not base64: {error}") from error
    return MemoryResult(
        snapshot=snapshot(call.session),
        memory_address=body.address,
        memory_data=body.data or "",
        unreadable_bytes=body.unreadable_bytes,
    )


@action(Approval.EXECUTE, example={"memory_reference": "0x7ffe3c", "data": "AAAAAA=="})
async def write_memory(
    call: ActionCall,
    *,
    memory_reference: p.MemoryReference,
    data: p.Data,
    offset: p.Offset | None = None,
    allow_partial: p.AllowPartial | None = None,
) -> MemoryWritten:
    """Write bytes to memory."""
    try:
        base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise InvalidArguments(f"data must be bytes in base64: {error}") from None
    call.require("supports_write_memory_request", "memory writes")
    body = await _at_address(
        call,
        memory_reference,
        lambda address: call.requests.ask(
            WriteMemoryArguments(memory_reference=address, offset=offset, data=data, allow_partial=allow_partial)
        ),
    )
    return MemoryWritten(
        snapshot=snapshot(call.session),
        bytes_written=body.bytes_written,
        offset=body.offset,
    )


async def _at_address[B](call: ActionCall, reference: str, ask: Callable[[str], Awaitable[B]]) -> B:
    """Ask about a memory reference; a text that the adapter does not accept as one is evaluated, and its value is used.

    Raises:
        InvalidArguments: it is neither a memory reference nor an expression whose value has one.
        RequestFailed: the adapter refused, and it is an address.

    """
    try:
        return await ask(reference)
    except RequestFailed as refusal:
        if _NUMBER.fullmatch(reference):
            raise
        try:
            frame = await call.session.requests.frame()
            request = EvaluateArguments(expression=reference, frame_id=frame, context="watch")
            value = await call.requests.ask(request)
        except DapkitError as error:
            raise _no_address(reference, str(error)) from refusal
        pointer = _POINTER.match(value.result)
        address = value.memory_reference or (pointer[0] if pointer else None)
        if address is None:
            raise _no_address(reference, "its value has no address") from refusal
        return await ask(address)


def _no_address(reference: str, why: str) -> InvalidArguments:
    return InvalidArguments(
        f"memory_reference: {reference!r} is neither an address nor an expression for one: {why}",
        hint="Give an address such as 0x7ffe3c, or an expression whose value is a pointer, such as &total in C.",
    )


def _at_most(name: str, number: int, most: int) -> None:
    if not 0 <= number <= most:
        raise InvalidArguments(f"{name} must be from 0 to {most}, not {number}")
