"""Looking at a program that is stopped, and changing its values."""

from dapkit.agent import parameters as p
from dapkit.agent.call import Call
from dapkit.agent.registry import Approval, action
from dapkit.agent.results.values import (
    Assigned,
    Completions,
    Evaluated,
    ExceptionInfo,
    Scopes,
    StackTrace,
    Threads,
    Variables,
)


@action(Approval.EXECUTE, example={"expression": "len(items)", "frame": 1})
async def evaluate(
    call: Call,
    *,
    expression: p.Expression,
    context: p.Context = "repl",
    frame_id: p.FrameId | None = None,
    frame: p.FrameIndex | None = None,
    thread_id: p.ThreadId | None = None,
    thread: p.ThreadIndex | None = None,
) -> Evaluated:
    """Evaluate an expression, or run a command of the debugger, in a frame."""
    raise NotImplementedError


@action(Approval.READ, example={"levels": 10})
async def stack_trace(
    call: Call,
    *,
    thread_id: p.ThreadId | None = None,
    thread: p.ThreadIndex | None = None,
    start: p.Start = 0,
    levels: p.Levels | None = None,
    own_code: p.OwnCode = False,
) -> StackTrace:
    """Show the frames of a thread, innermost first."""
    raise NotImplementedError


@action(Approval.READ)
async def threads(call: Call) -> Threads:
    """Show the threads of the program."""
    raise NotImplementedError


@action(Approval.READ, example={"frame": 1})
async def scopes(
    call: Call,
    *,
    frame_id: p.FrameId | None = None,
    frame: p.FrameIndex | None = None,
    thread_id: p.ThreadId | None = None,
    thread: p.ThreadIndex | None = None,
) -> Scopes:
    """Show the scopes of a frame: locals, arguments, globals, registers."""
    raise NotImplementedError


@action(Approval.READ, example={"variable_ref": 7, "start": 100, "count": 50})
async def variables(
    call: Call,
    *,
    variable_ref: p.VariableRef | None = None,
    scope_id: p.ScopeId | None = None,
    filter: p.VariableFilter | None = None,  # noqa: A002 - the protocol's name
    match: p.Match | None = None,
    start: p.Start = 0,
    count: p.Count | None = None,
) -> Variables:
    """Show the variables of a scope, or the members of a value."""
    raise NotImplementedError


@action(Approval.READ)
async def exception_info(
    call: Call, *, thread_id: p.ThreadId | None = None, thread: p.ThreadIndex | None = None
) -> ExceptionInfo:
    """Show the exception that stopped a thread."""
    raise NotImplementedError


@action(Approval.EXECUTE, example={"name": "total", "value": "0"})
async def set_variable(
    call: Call,
    *,
    name: p.VariableName,
    value: p.Value,
    variable_ref: p.VariableRef | None = None,
    scope_id: p.ScopeId | None = None,
    frame_id: p.FrameId | None = None,
    frame: p.FrameIndex | None = None,
) -> Assigned:
    """Give a variable another value: of a scope or value, or the one of this name in a frame."""
    raise NotImplementedError


@action(Approval.EXECUTE, example={"expression": "items[0].price", "value": "12"})
async def set_expression(
    call: Call,
    *,
    expression: p.Expression,
    value: p.Value,
    frame_id: p.FrameId | None = None,
    frame: p.FrameIndex | None = None,
) -> Assigned:
    """Assign to an expression."""
    raise NotImplementedError


@action(Approval.READ, example={"expression": "items[0].pr"})
async def completions(
    call: Call,
    *,
    expression: p.Expression,
    column: p.Column | None = None,
    frame_id: p.FrameId | None = None,
    frame: p.FrameIndex | None = None,
) -> Completions:
    """Show how an expression can be completed in a frame."""
    raise NotImplementedError
