"""Breakpoints on lines, functions and exceptions."""

from dapkit.agent import parameters as p
from dapkit.agent.call import Call
from dapkit.agent.registry import Approval, action
from dapkit.agent.results.breakpoints import (
    AllBreakpoints,
    ExceptionBreakpoints,
    FunctionBreakpoints,
    SourceBreakpoints,
)


@action(Approval.EXECUTE, example={"file": "app.py", "line": 12, "condition": "total < 0"})
async def set_breakpoint(
    call: Call,
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
    raise NotImplementedError


@action(Approval.EXECUTE, example={"file": "app.py", "line": 12})
async def remove_breakpoint(
    call: Call,
    *,
    file: p.File | None = None,
    line: p.Line | None = None,
    text: p.LineText | None = None,
    function: p.Function | None = None,
) -> SourceBreakpoints | FunctionBreakpoints:
    """Remove the breakpoint on a line or a function."""
    raise NotImplementedError


@action(Approval.EXECUTE, example={"filters": ["uncaught"]})
async def set_exception_breakpoints(
    call: Call,
    *,
    filters: p.Filters | None = None,
    conditions: p.Conditions | None = None,
) -> ExceptionBreakpoints:
    """Choose the exceptions to stop on; without filters, show which the adapter offers."""
    raise NotImplementedError


@action(Approval.EXECUTE, example={"do": "disable", "numbers": [1, 3]})
async def breakpoints(
    call: Call,
    *,
    do: p.BreakpointsTo = "list",
    numbers: p.Numbers | None = None,
) -> AllBreakpoints:
    """Show everything that is to stop the program; clear, enable or disable some or all of it."""
    raise NotImplementedError
