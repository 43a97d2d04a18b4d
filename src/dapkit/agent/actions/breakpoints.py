"""Breakpoints on lines, functions and exceptions."""

from collections.abc import Mapping

from dapkit.agent.breakpoint_forms.rows import (
    data_breakpoints,
    foreign_breakpoints,
    function_breakpoints,
    instruction_breakpoints,
    source_breakpoints,
)
from dapkit.agent.breakpoint_forms.source_files import file_of_stop, found
from dapkit.agent.breakpoint_forms.specs import check_condition, location_of
from dapkit.agent.calls import parameters as p
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import InvalidArguments, Unsupported
from dapkit.agent.calls.registry import Approval, action
from dapkit.agent.reading.snapshots import snapshot
from dapkit.agent.results.breakpoints import (
    AllBreakpoints,
    ExceptionBreakpoints,
    ExceptionFilter,
    FunctionBreakpoints,
    SourceBreakpoints,
)
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
    if file is None and function is None:
        file = file_of_stop(call)
    location = location_of("set_breakpoint", file=file, line=line, column=column, text=text, function=function)
    location = await found(call, location)
    if isinstance(location, FunctionLocation) and not call.session.state.over:
        call.require("supports_function_breakpoints", "function breakpoints")
    check_condition(condition, call.session.traits)
    spec = BreakpointSpec(location, condition=condition, hit_condition=hit_condition, log_message=log_message)
    await call.session.breakpoints.set(spec)
    return _like(call, location)


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
    if file is None and function is None:
        file = file_of_stop(call)
    location = location_of("remove_breakpoint", file=file, line=line, text=text, function=function)
    location = await found(call, location)
    breakpoints = call.session.breakpoints
    breakpoint_there = breakpoints.at(location)
    if breakpoint_there is None:
        raise InvalidArguments(f"There is no breakpoint at {location}.", hint="breakpoints shows them all.")
    await breakpoints.remove(breakpoint_there.number)
    return _like(call, location)


def _like(call: ActionCall, location: SourceLocation | FunctionLocation) -> SourceBreakpoints | FunctionBreakpoints:
    """Show the breakpoints of the same file, or those on functions."""
    session = call.session
    if isinstance(location, FunctionLocation):
        return FunctionBreakpoints(
            snapshot=snapshot(session), function_breakpoints=function_breakpoints(session.breakpoints)
        )
    return SourceBreakpoints(
        snapshot=snapshot(session),
        path=str(location.file),
        breakpoints=source_breakpoints(session.breakpoints, path=location.file),
    )


@action(
    Approval.EXECUTE,
    example={"filters": ["uncaught"]},
    reads_if=lambda arguments: arguments.get("filters") is None and arguments.get("conditions") is None,
)
async def set_exception_breakpoints(
    call: ActionCall,
    *,
    filters: p.Filters | None = None,
    conditions: p.Conditions | None = None,
) -> ExceptionBreakpoints:
    """Choose the exceptions to stop on; without filters, show which the adapter offers."""
    if filters is not None or conditions:
        filter_names = [*(filters or ()), *(name for name in conditions or () if name not in (filters or ()))]
        await _stop_on(call, filter_names, conditions or {})
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
    """Show the exception filters of the adapter, and which of them are set."""
    session = call.session
    exception_choice = session.breakpoints.filters
    conditions = {
        choice.filter_id: choice.condition
        for choice in exception_choice or ()
        if isinstance(choice, ExceptionFilterOptions)
    }
    names = {*conditions, *(choice for choice in exception_choice or () if isinstance(choice, str))}
    offered = [] if session.state.over else call.capabilities.exception_breakpoint_filters or []
    return [
        ExceptionFilter(
            filter=offer.filter,
            label=offer.label,
            enabled=bool(offer.default) if exception_choice is None else offer.filter in names,
            supports_condition=bool(offer.supports_condition),
            condition=conditions.get(offer.filter),
            description=offer.description,
        )
        for offer in offered
    ]


@action(
    Approval.EXECUTE,
    example={"do": "disable", "numbers": [1, 3]},
    reads_if=lambda arguments: arguments.get("do") in (None, "list"),
)
async def breakpoints(
    call: ActionCall,
    *,
    do: p.BreakpointsTo = "list",
    numbers: p.Numbers | None = None,
) -> AllBreakpoints:
    """List all breakpoints and exception filters; clear, enable or disable some or all of it."""
    session = call.session
    chosen_numbers = [each.number for each in session.breakpoints] if numbers is None else numbers
    for number in chosen_numbers:
        session.breakpoints.get(number)  # all of them, or nothing is done
    for number in chosen_numbers:
        match do:
            case "clear":
                await session.breakpoints.remove(number)
            case "enable" | "disable":
                await session.breakpoints.enable(number, enabled=do == "enable")
    remaining = list(session.breakpoints)
    return AllBreakpoints(
        snapshot=snapshot(session),
        breakpoints=source_breakpoints(remaining),
        function_breakpoints=function_breakpoints(remaining),
        instruction_breakpoints=instruction_breakpoints(remaining),
        data_breakpoints=data_breakpoints(remaining),
        exception_filters=_filters(call),
        foreign_breakpoints=foreign_breakpoints(session.foreign_breakpoints),
    )
