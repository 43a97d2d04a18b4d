"""Breakpoints on instructions and on data."""

import re
from functools import partial

from dapkit.agent.breakpoint_forms.rows import data_breakpoints, instruction_breakpoints
from dapkit.agent.calls import parameters as p
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import ActionFailed, InvalidArguments
from dapkit.agent.calls.registry import Approval, action
from dapkit.agent.reading.local_variables import scope_of
from dapkit.agent.reading.selection import frame_of
from dapkit.agent.reading.snapshots import snapshot
from dapkit.agent.results.breakpoints import DataBreakpointInfo, DataBreakpoints, DataId, InstructionBreakpoints
from dapkit.client import BreakpointSpec, DataLocation, InstructionLocation
from dapkit.endpoint import RequestFailed
from dapkit.protocol import DataBreakpointInfoArguments, DataBreakpointInfoBody, EvaluateArguments
from dapkit.sessions.breakpoints.watched_values import watch

_BYTES = re.compile(r"(0x)?[0-9A-Fa-f]{1,16}/[1-9][0-9]{0,3}")
"""How adapters that watch addresses name data. lldb-dap 22 does not check it: without a size it stops answering."""


@action(Approval.EXECUTE, example={"instruction_reference": "0x401136"})
async def set_instruction_breakpoint(
    call: ActionCall,
    *,
    instruction_reference: p.InstructionReference,
    offset: p.Offset | None = None,
    condition: p.Condition | None = None,
    hit_condition: p.HitCondition | None = None,
) -> InstructionBreakpoints:
    """Set or change a breakpoint on an instruction."""
    call.require("supports_instruction_breakpoints", "instruction breakpoints")
    location = InstructionLocation(instruction_reference, offset)
    await call.session.breakpoints.set(BreakpointSpec(location, condition=condition, hit_condition=hit_condition))
    return _instructions(call)


@action(Approval.EXECUTE, example={"instruction_reference": "0x401136"})
async def remove_instruction_breakpoint(
    call: ActionCall,
    *,
    instruction_reference: p.InstructionReference,
    offset: p.Offset | None = None,
) -> InstructionBreakpoints:
    """Remove the breakpoint on an instruction."""
    call.require("supports_instruction_breakpoints", "instruction breakpoints")
    await _remove(call, InstructionLocation(instruction_reference, offset))
    return _instructions(call)


@action(Approval.EXECUTE, example={"name": "total"})
async def data_breakpoint_info(
    call: ActionCall,
    *,
    name: p.VariableName,
    variable_ref: p.VariableRef | None = None,
    scope_id: p.ScopeId | None = None,
    frame_id: p.FrameId | None = None,
    frame: p.FrameIndex | None = None,
) -> DataBreakpointInfo:
    """Ask whether a variable or expression can be watched, and under which data id."""
    info = await _info(call, name, variable_ref if variable_ref is not None else scope_id, frame_id, frame)
    return DataBreakpointInfo(
        snapshot=snapshot(call.session),
        data_breakpoint_info=DataId(
            data_id=info.data_id,
            description=info.description,
            access_types=list(info.access_types) if info.access_types is not None else None,
            can_persist=info.can_persist,
        ),
    )


async def _info(
    call: ActionCall, name: str, container: int | None, frame_id: int | None, frame: int | str | None
) -> DataBreakpointInfoBody:
    """Ask about data, and remember the expression, so that its value can be shown."""
    _require_watching(call)
    if container is not None and not call.session.traits.watch_commands:
        return await call.requests.ask(DataBreakpointInfoArguments(name=name, variables_reference=container))
    where = await frame_of(call, frame_id, frame)
    by_command = bool(call.session.traits.watch_commands)
    info = await (_named_by_command if by_command else _info_in_frame)(call, name, where)
    if info.data_id is not None:
        call.remembered.watchable[info.data_id] = (name, where)
    return info


def _require_watching(call: ActionCall) -> None:
    if not call.session.traits.watch_commands:
        call.require("supports_data_breakpoints", "data breakpoints")


async def data_of_expression(call: ActionCall, expression: str, frame_id: int | None = None) -> str:
    """Return the data id of an expression in a frame. Raises: InvalidArguments."""
    return await _data_of(call, expression, None, frame_id, None)


async def _named_by_command(call: ActionCall, name: str, frame_id: int) -> DataBreakpointInfoBody:
    """Give data a name in the debugger that means the same in every frame."""
    commands, number = call.session.traits.watch_commands, len(call.remembered.watchable) + 1
    expression_of_name = commands["name"].format(number=number, expression=name)
    try:
        answer = await call.requests.ask(
            EvaluateArguments(expression=expression_of_name, frame_id=frame_id, context="watch")
        )
    except RequestFailed as refusal:
        return DataBreakpointInfoBody(data_id=None, description=str(refusal))
    return DataBreakpointInfoBody(
        data_id=commands["id"].format(number=number),
        description=f"{name} at {answer.result}",
        access_types=["read", "write", "readWrite"],
        can_persist=False,
    )


async def _info_in_frame(call: ActionCall, name: str, frame_id: int) -> DataBreakpointInfoBody:
    """Ask about a variable of a frame, or about an expression if the frame has no variable of that name."""
    info = None
    scope = await scope_of(call, name, frame_id)
    if scope is not None:
        request = DataBreakpointInfoArguments(name=name, variables_reference=scope.variables_reference)
        info = await call.requests.ask(request)
        if info.data_id is not None:
            return info
    try:
        return await _info_of_expression(call, name, frame_id)
    except RequestFailed:
        if info is None:
            raise
        return info


async def _info_of_expression(call: ActionCall, expression: str, frame_id: int) -> DataBreakpointInfoBody:
    """Ask about the target of an expression, such as an item.

    An expression without a target may still be an address.
    """
    if call.session.traits.watches_addresses:
        info = await call.requests.ask(DataBreakpointInfoArguments(name=f"&({expression})", frame_id=frame_id))
        if info.data_id is not None:
            return info
    return await call.requests.ask(DataBreakpointInfoArguments(name=expression, frame_id=frame_id))


@action(Approval.EXECUTE, example={"name": "total", "access_type": "write"})
async def set_data_breakpoint(
    call: ActionCall,
    *,
    name: p.VariableName | None = None,
    data_id: p.DataId | None = None,
    access_type: p.AccessType | None = None,
    condition: p.Condition | None = None,
    hit_condition: p.HitCondition | None = None,
    frame_id: p.FrameId | None = None,
    frame: p.FrameIndex | None = None,
) -> DataBreakpoints:
    """Stop when data is read or written: the target of a variable or expression, or a data id."""
    _require_watching(call)
    data = await _data_of(call, name, data_id, frame_id, frame)
    if call.session.traits.watches_addresses and not _BYTES.fullmatch(data):
        raise InvalidArguments(
            f"data_id must be ADDRESS/SIZE, such as 7FFE3C10/4, not {data!r:.60}",
            hint="data_breakpoint_info returns it.",
        )
    if (before := _data(call, data)) is not None:
        await call.session.breakpoints.remove(before)
    spec = BreakpointSpec(DataLocation(data, access_type or "write"), condition=condition, hit_condition=hit_condition)
    breakpoint_set = await call.session.breakpoints.set(spec)
    reason = breakpoint_set.message
    if not breakpoint_set.verified and reason is not None:  # no later event makes it verified
        await call.session.breakpoints.remove(breakpoint_set.number)
        raise ActionFailed("adapter_failed", f"{name or data} cannot be watched: {reason}")
    if (expression := call.remembered.watchable.get(data)) is not None:
        breakpoint_set.watched = await watch(*expression, partial(_evaluate, call))
    return _watched(call)


async def _data_of(
    call: ActionCall, name: str | None, data_id: str | None, frame_id: int | None, frame: int | str | None
) -> str:
    """Find the data that is meant. Raises: InvalidArguments."""
    if data_id is not None and name is None:
        return data_id
    if name is None:
        raise InvalidArguments("data_id is required for set_data_breakpoint", hint="Or name, an expression.")
    if data_id is not None:
        raise InvalidArguments("set_data_breakpoint: name and data_id exclude each other")
    if name in call.remembered.watchable:  # a data id that was given by its place
        return name
    info = await _info(call, name, None, frame_id, frame)
    if info.data_id is None:
        raise InvalidArguments(f"{name} cannot be watched: {info.description}")
    return info.data_id


async def _evaluate(call: ActionCall, expression: str, frame: int | None) -> str:
    return (await call.requests.ask(EvaluateArguments(expression=expression, frame_id=frame, context="watch"))).result


@action(Approval.EXECUTE, example={"data_id": "0x7ffe3c/4"})
async def remove_data_breakpoint(call: ActionCall, *, data_id: p.DataId) -> DataBreakpoints:
    """Remove the breakpoint on data, by its id or the expression that named it."""
    _require_watching(call)
    number = _data(call, data_id)
    if number is None:
        raise InvalidArguments(f"There is no breakpoint on data {data_id}.", hint="breakpoints shows them all.")
    await call.session.breakpoints.remove(number)
    return _watched(call)


def _data(call: ActionCall, data_id: str) -> int | None:
    """Find the breakpoint on data, whatever access it stops."""
    for each in call.session.breakpoints:
        has_name = each.watched is not None and each.watched.expression == data_id
        if isinstance(each.spec.location, DataLocation) and (has_name or each.spec.location.data_id == data_id):
            return each.number
    return None


async def _remove(call: ActionCall, location: InstructionLocation) -> None:
    breakpoint_there = call.session.breakpoints.at(location)
    if breakpoint_there is None:
        raise InvalidArguments(f"There is no breakpoint at {location}.", hint="breakpoints shows them all.")
    await call.session.breakpoints.remove(breakpoint_there.number)


def _instructions(call: ActionCall) -> InstructionBreakpoints:
    return InstructionBreakpoints(
        snapshot=snapshot(call.session), instruction_breakpoints=instruction_breakpoints(call.session.breakpoints)
    )


def _watched(call: ActionCall) -> DataBreakpoints:
    return DataBreakpoints(snapshot=snapshot(call.session), data_breakpoints=data_breakpoints(call.session.breakpoints))
