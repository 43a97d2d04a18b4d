"""Letting the program run, and stopping it."""

from dapkit.agent import parameters as p
from dapkit.agent.call import Call
from dapkit.agent.registry import Approval, action
from dapkit.agent.results.session import Paused, Resumed, Typed


@action(Approval.EXECUTE)
async def continue_(call: Call, *, thread_id: p.ThreadId | None = None, thread: p.ThreadIndex | None = None) -> Resumed:
    """Let the program run until it stops, ends, or the timeout comes."""
    raise NotImplementedError


@action(Approval.EXECUTE)
async def step_over(
    call: Call,
    *,
    thread_id: p.ThreadId | None = None,
    thread: p.ThreadIndex | None = None,
    granularity: p.Granularity | None = None,
) -> Resumed:
    """Run to the next line of this function, or of its caller."""
    raise NotImplementedError


@action(Approval.EXECUTE, example={"target": "parse"})
async def step_in(
    call: Call,
    *,
    thread_id: p.ThreadId | None = None,
    thread: p.ThreadIndex | None = None,
    granularity: p.Granularity | None = None,
    target: p.StepTarget | None = None,
) -> Resumed:
    """Run into the function that the line calls, or to the next line."""
    raise NotImplementedError


@action(Approval.EXECUTE)
async def step_out(
    call: Call,
    *,
    thread_id: p.ThreadId | None = None,
    thread: p.ThreadIndex | None = None,
    granularity: p.Granularity | None = None,
) -> Resumed:
    """Run until this function returns."""
    raise NotImplementedError


@action(Approval.EXECUTE)
async def step_back(
    call: Call,
    *,
    thread_id: p.ThreadId | None = None,
    thread: p.ThreadIndex | None = None,
    granularity: p.Granularity | None = None,
) -> Resumed:
    """Go back to the line before, where the adapter can."""
    raise NotImplementedError


@action(Approval.EXECUTE)
async def reverse_continue(
    call: Call, *, thread_id: p.ThreadId | None = None, thread: p.ThreadIndex | None = None
) -> Resumed:
    """Run backwards until something stops it, where the adapter can."""
    raise NotImplementedError


@action(Approval.EXECUTE, example={"file": "app.py", "line": 30})
async def run_to(
    call: Call,
    *,
    file: p.File,
    line: p.Line | None = None,
    text: p.LineText | None = None,
    thread_id: p.ThreadId | None = None,
    thread: p.ThreadIndex | None = None,
) -> Resumed:
    """Let the program run until it comes to a line, or something else stops it."""
    raise NotImplementedError


@action(Approval.EXECUTE, example={"file": "app.py", "line": 10})
async def goto(
    call: Call,
    *,
    file: p.File,
    line: p.Line | None = None,
    column: p.Column | None = None,
    text: p.LineText | None = None,
    thread_id: p.ThreadId | None = None,
    thread: p.ThreadIndex | None = None,
) -> Resumed:
    """Make a line the next one to run, without running what is between."""
    raise NotImplementedError


@action(Approval.EXECUTE)
async def pause(call: Call, *, thread_id: p.ThreadId | None = None, thread: p.ThreadIndex | None = None) -> Paused:
    """Interrupt the program and show where it is."""
    raise NotImplementedError


@action(Approval.READ, example={"timeout": 60})
async def wait(call: Call) -> Resumed:
    """Wait until the program stops, ends, or the timeout comes."""
    raise NotImplementedError


@action(Approval.EXECUTE, example={"input": "yes\n"})
async def stdin(
    call: Call,
    *,
    input: p.Input | None = None,  # noqa: A002 - what it is
    end: p.EndOfInput = False,
) -> Typed:
    """Type into the program's standard input."""
    raise NotImplementedError
