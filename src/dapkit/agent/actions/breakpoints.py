"""Breakpoints on lines, functions and exceptions."""

from collections.abc import Mapping

from dapkit.agent import parameters as p
from dapkit.agent.call import ActionCall
from dapkit.agent.failures import InvalidArguments, Unsupported
from dapkit.agent.placing import (
    Where,
    data_breakpoints,
    foreign_breakpoints,
    function_breakpoints,
    instruction_breakpoints,
    place_of,
    source_breakpoints,
)
from dapkit.agent.registry import Approval, action
from dapkit.agent.results.breakpoints import (
    AllBreakpoints,
    ExceptionBreakpoints,
    ExceptionFilter,
    FunctionBreakpoints,
    SourceBreakpoints,
)
from dapkit.agent.snapshots import snapshot
from dapkit.client import BreakpointSpec, FunctionLocation, SourceLocation
from dapkit.protocol import ExceptionFilterOptions


@action(Approval.EXECUTE, example={"file": "app.py", "line": 12, "condition": "total < 0"})
async def set_breakpoint(
    call: ActionCall,
    *,
    file: p.File | None = None,
    line: p.Line | None = None,
    column: p.Column | None = None,
    text: p.LineText | None = None,
    function: p.Function | None = None,
    condition: p.Condition | None = None,
    hit_condition: p.HitCondition | None = None,
    log_message: p.LogMessage | None = None,
) -> SourceBreakpoints | FunctionBreakpoints:
    """Set or change a breakpoint on a line, given by its number or its text, or on a function."""
    where = Where(file=file, line=line, column=column, text=text, function=function)
    place = place_of("set_breakpoint", where)
    if isinstance(place, FunctionLocation) and not call.session.state.over:
        call.require("supports_function_breakpoints", "function breakpoints")
    spec = BreakpointSpec(place, condition=condition, hit_condition=hit_condition, log_message=log_message)
    await call.session.breakpoints.set(spec)
    return _like(call, place)


@action(Approval.EXECUTE, example={"file": "app.py", "line": 12})
async def remove_breakpoint(
    call: ActionCall,
    *,
    file: p.File | None = None,
    line: p.Line | None = None,
    text: p.LineText | None = None,
    function: p.Function | None = None,
) -> SourceBreakpoints | FunctionBreakpoints:
    """Remove the breakpoint on a line or a function."""
    place = place_of("remove_breakpoint", Where(file=file, line=line, text=text, function=function))
    breakpoints = call.session.breakpoints
    placed = breakpoints.at(place)
    if placed is None:
        raise InvalidArguments(f"There is no breakpoint at {place}.", hint="breakpoints shows them all.")
    await breakpoints.remove(placed.number)
    return _like(call, place)


def _like(call: ActionCall, place: SourceLocation | FunctionLocation) -> SourceBreakpoints | FunctionBreakpoints:
    """Show the breakpoints of the same file, or those on functions."""
    session = call.session
    if isinstance(place, FunctionLocation):
        return FunctionBreakpoints(
            snapshot=snapshot(session), function_breakpoints=function_breakpoints(session.breakpoints)
        )
    return SourceBreakpoints(
        snapshot=snapshot(session),
        path=str(place.file),
        breakpoints=source_breakpoints(session.breakpoints, path=place.file),
    )


@action(
    Approval.EXECUTE,
    example={"filters": ["uncaught"]},
    reads_if=lambda given: given.get("filters") is None and given.get("conditions") is None,
)
async def set_exception_breakpoints(
    call: ActionCall,
    *,
    filters: p.Filters | None = None,
    conditions: p.Conditions | None = None,
) -> ExceptionBreakpoints:
    """Choose the exceptions to stop on; without filters, show which the adapter offers."""
    if filters is not None or conditions:
        chosen = [*(filters or ()), *(name for name in conditions or () if name not in (filters or ()))]
        await _stop_on(call, chosen, conditions or {})
    return ExceptionBreakpoints(snapshot=snapshot(call.session), exception_filters=_filters(call))


async def _stop_on(call: ActionCall, filters: list[str], conditions: Mapping[str, str]) -> None:
    if not call.session.state.over and not call.capabilities.exception_breakpoint_filters:
        raise Unsupported("exception breakpoints", "exceptionBreakpointFilters")
    if conditions:
        call.require("supports_exception_filter_options", "conditions of exception breakpoints")
    await call.session.breakpoints.break_on_exceptions(
        [
            ExceptionFilterOptions(filter_id=name, condition=conditions[name]) if name in conditions else name
            for name in filters
        ]
    )


def _filters(call: ActionCall) -> list[ExceptionFilter]:
    """Show what the adapter offers, and which of it is chosen."""
    session = call.session
    chosen = session.breakpoints.filters
    conditions = {one.filter_id: one.condition for one in chosen or () if isinstance(one, ExceptionFilterOptions)}
    names = {*conditions, *(one for one in chosen or () if isinstance(one, str))}
    offered = [] if session.state.over else call.capabilities.exception_breakpoint_filters or []
    return [
        ExceptionFilter(
            filter=one.filter,
            label=one.label,
            enabled=bool(one.default) if chosen is None else one.filter in names,
            supports_condition=bool(one.supports_condition),
            condition=conditions.get(one.filter),
            description=one.description,
        )
        for one in offered
    ]


@action(
    Approval.EXECUTE,
    example={"do": "disable", "numbers": [1, 3]},
    reads_if=lambda given: given.get("do") in (None, "list"),
)
async def breakpoints(
    call: ActionCall,
    *,
    do: p.BreakpointsTo = "list",
    numbers: p.Numbers | None = None,
) -> AllBreakpoints:
    """Show everything that is to stop the program; clear, enable or disable some or all of it."""
    session = call.session
    chosen = [one.number for one in session.breakpoints] if numbers is None else numbers
    for number in chosen:
        session.breakpoints.get(number)  # all of them, or nothing is done
    for number in chosen:
        match do:
            case "clear":
                await session.breakpoints.remove(number)
            case "enable" | "disable":
                await session.breakpoints.enable(number, enabled=do == "enable")
    left = list(session.breakpoints)
    return AllBreakpoints(
        snapshot=snapshot(session),
        breakpoints=source_breakpoints(left),
        function_breakpoints=function_breakpoints(left),
        instruction_breakpoints=instruction_breakpoints(left),
        data_breakpoints=data_breakpoints(left),
        exception_filters=_filters(call),
        foreign_breakpoints=foreign_breakpoints(session.foreign_breakpoints),
    )
