"""Breakpoints on instructions and on data."""

from dapkit.agent import parameters as p
from dapkit.agent.call import Call
from dapkit.agent.registry import Approval, action
from dapkit.agent.results.breakpoints import DataBreakpointInfo, DataBreakpoints, InstructionBreakpoints


@action(Approval.EXECUTE, example={"instruction_reference": "0x401136"})
async def set_instruction_breakpoint(
    call: Call,
    *,
    instruction_reference: p.InstructionReference,
    offset: p.Offset | None = None,
    condition: p.Condition | None = None,
    hit_condition: p.HitCondition | None = None,
) -> InstructionBreakpoints:
    """Set or change a breakpoint on an instruction."""
    raise NotImplementedError


@action(Approval.EXECUTE, example={"instruction_reference": "0x401136"})
async def remove_instruction_breakpoint(
    call: Call,
    *,
    instruction_reference: p.InstructionReference,
    offset: p.Offset | None = None,
) -> InstructionBreakpoints:
    """Remove the breakpoint on an instruction."""
    raise NotImplementedError


@action(Approval.EXECUTE, example={"name": "total"})
async def data_breakpoint_info(
    call: Call,
    *,
    name: p.VariableName,
    variable_ref: p.VariableRef | None = None,
    scope_id: p.ScopeId | None = None,
    frame_id: p.FrameId | None = None,
    frame: p.FrameIndex | None = None,
) -> DataBreakpointInfo:
    """Ask whether a variable or expression can be watched, and under which data id."""
    raise NotImplementedError


@action(Approval.EXECUTE, example={"data_id": "0x7ffe3c/4", "access_type": "write"})
async def set_data_breakpoint(
    call: Call,
    *,
    data_id: p.DataId,
    access_type: p.AccessType | None = None,
    condition: p.Condition | None = None,
    hit_condition: p.HitCondition | None = None,
) -> DataBreakpoints:
    """Stop when data is read or written."""
    raise NotImplementedError


@action(Approval.EXECUTE, example={"data_id": "0x7ffe3c/4"})
async def remove_data_breakpoint(call: Call, *, data_id: p.DataId) -> DataBreakpoints:
    """Remove the breakpoint on data."""
    raise NotImplementedError
