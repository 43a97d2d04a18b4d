"""Looking at a program that is stopped, and changing its values."""

from collections.abc import Sequence

import anyio

from dapkit.agent import limits
from dapkit.agent.budget import shortened
from dapkit.agent.calls import parameters as p
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import ActionFailed, InvalidArguments
from dapkit.agent.calls.registry import Approval, action
from dapkit.agent.reading import conversion
from dapkit.agent.reading.expressions import COMMAND_MARK, evaluated, expression_values
from dapkit.agent.reading.local_variables import local_scopes, scope_of
from dapkit.agent.reading.pages import at_most, page_of_frames, page_of_variables
from dapkit.agent.reading.report import last_output
from dapkit.agent.reading.selection import frame_of, thread_of
from dapkit.agent.reading.snapshots import snapshot
from dapkit.agent.reading.stop_diff import stop_diff
from dapkit.agent.results.run import RunThread
from dapkit.agent.results.session import StopDiff
from dapkit.agent.results.values import (
    Assigned,
    Completion,
    CompletionsResult,
    Evaluated,
    Evaluation,
    ExceptionInfo,
    ExpressionValue,
    KeptExpressions,
    ScopeRow,
    ScopesResult,
    StackTraceResult,
    ThreadsResult,
    ThreadStack,
    VariableRow,
    VariablesResult,
)
from dapkit.protocol import (
    CompletionsArguments,
    DapkitError,
    ExceptionInfoArguments,
    ScopesArguments,
    SetExpressionArguments,
    SetExpressionBody,
    SetVariableArguments,
    SetVariableBody,
    StackTraceArguments,
    Thread,
    changed,
)
from dapkit.redaction.redaction import names_secret, secret_value
from dapkit.sessions.errors import NoFrame, NoThreads, NotStopped

# The stacks of all threads at once: the answer to where a deadlocked program stands.
#
# Some adapters (debugpy, our own) report them while the program runs, too.


async def stacks_of(
    call: ActionCall, threads: Sequence[Thread], *, levels: int, deadline: float | None = None
) -> list[ThreadStack]:
    """Ask for the stack of each thread, concurrently; the reason stands in place of a stack that cannot be read.

    They have the time that is left of the call, unless a `deadline` says otherwise, in seconds from now.
    """
    seconds = min(call.left, limits.REPORT_SECONDS) if deadline is None else deadline
    stacks: dict[int, ThreadStack] = {}

    async def look(thread: Thread) -> None:
        request = StackTraceArguments(thread_id=thread.id, start_frame=0, levels=levels + 1)
        try:
            stack = await call.session.requests.ask(request, deadline=seconds)
        except DapkitError as error:
            stacks[thread.id] = ThreadStack(thread_id=thread.id, frames=[], problem=str(error))
            return
        frames = [conversion.frame(frame, index) for index, frame in enumerate(stack.stack_frames[:levels])]
        stacks[thread.id] = ThreadStack(thread_id=thread.id, frames=frames, more=len(stack.stack_frames) > levels)

    async with anyio.create_task_group() as tasks:
        for thread in threads:
            tasks.start_soon(look, thread)
    return [stacks[thread.id] for thread in threads]


async def threads_standing(call: ActionCall) -> list[RunThread] | None:
    """Pause a program that runs, and return where each of its threads stands; None if that cannot be seen."""
    session = call.session
    try:
        with anyio.move_on_after(limits.RUN_PAUSE_SECONDS):
            if session.state.stop is None:
                await session.execution.pause(deadline=limits.RUN_PAUSE_SECONDS)
        requests = session.requests.within(lambda: limits.RUN_PAUSE_SECONDS)
        threads = (await requests.threads())[: limits.THREADS_SHOWN]
        stacks = await stacks_of(call, threads, levels=limits.RUN_FRAMES, deadline=limits.RUN_PAUSE_SECONDS)
    except (DapkitError, ActionFailed):
        return None
    return [RunThread(name=thread.name, frames=stack.frames) for thread, stack in zip(threads, stacks, strict=True)]


@action(Approval.EXECUTE, example={"expression": "len(items)", "frame": 1})
async def evaluate(
    call: ActionCall,
    *,
    expression: p.Expression,
    expressions: p.Expressions | None = None,
    context: p.Context | None = None,
    width: p.Width | None = None,
    frame_id: p.FrameId | None = None,
    frame: p.FrameIndex | None = None,
    thread_id: p.ThreadId | None = None,
    thread: p.ThreadIndex | None = None,
) -> Evaluated:
    """Evaluate an expression, or several, or run a command of the debugger, in a frame.

    Where the debugger has a command line, as GDB and LLDB have, a command of it begins with a backtick: `` `bt ``. A
    text without such a mark is an expression, never a command, even if it cannot be evaluated; so `d` is a variable,
    and does not delete the breakpoints. The context `repl` sends the text to the command line as it is. It is not the
    default where there is a command line, on purpose, unlike in other tools.
    """
    if width is not None and width < 1:
        raise InvalidArguments(f"width must be 1 or more, not {width}")
    chosen_frame: int | None
    try:
        chosen_frame = await frame_of(call, frame_id, frame, thread_id, thread)
    except NoFrame:
        if frame is not None or context not in (None, "repl"):
            raise
        chosen_frame = None  # commands of a debugger need none
    except NotStopped:
        choices = (frame_id, frame, thread_id, thread)
        if any(choice is not None for choice in choices) or not call.session.traits.evaluates_running:
            raise
        chosen_frame = None  # the adapter chooses the thread
    stood = call.session.state.stop is not None
    values = None
    evaluation = Evaluation(result="", variables_reference=0)
    if expressions:
        values = await expression_values(call, [expression, *expressions], frame=chosen_frame, width=width)
    else:
        is_command = expression.startswith(COMMAND_MARK) or context is not None
        most = width or (call.settings.text_bytes // 2 if is_command else limits.WHOLE_VALUE_CHARACTERS)
        evaluation = await evaluated(call, expression, frame=chosen_frame, context=context, most=most)
    output, since = call.take_output_beside()
    return Evaluated(
        snapshot=snapshot(call.session),
        evaluation=evaluation,
        values=values,
        resumed=stood and call.session.state.status == "running",
        output=last_output(output),
        output_since=since,
    )


@action(Approval.EXECUTE, example={"expressions": ["total", "len(items)"]})
async def watch(
    call: ActionCall, *, expressions: p.Expressions | None = None, clear: p.Clear = False
) -> KeptExpressions:
    """Keep expressions, whose values each report of a stop shows; without any, show their values."""
    before = [] if clear else call.remembered.expressions
    call.remembered.expressions = list(dict.fromkeys([*before, *(expressions or ())]))
    stop = call.session.state.stop
    values = [ExpressionValue(expression=each) for each in call.remembered.expressions]
    if stop is not None:
        values = await expression_values(call, call.remembered.expressions, frame=stop.frame_id)
    return KeptExpressions(snapshot=snapshot(call.session), expressions=values)


@action(Approval.READ, example={"levels": 10})
async def stack_trace(
    call: ActionCall,
    *,
    thread_id: p.ThreadId | None = None,
    thread: p.ThreadIndex | None = None,
    start: p.Start = 0,
    levels: p.Levels | None = None,
    own_code: p.OwnCode = False,
) -> StackTraceResult:
    """Show the frames of a thread, innermost first."""
    named_thread = await thread_of(call, thread_id, thread)
    chosen_thread = await call.session.requests.thread() if named_thread is None else named_thread
    page = await page_of_frames(call, chosen_thread, start=start, levels=levels, own_code=own_code)
    return StackTraceResult(
        snapshot=snapshot(call.session),
        thread_id=chosen_thread,
        stack_frames=page.frames,
        more=page.more,
        total_frames=page.total,
        next_start=page.next_start,
    )


@action(Approval.READ)
async def threads(call: ActionCall, *, levels: p.Levels | None = None) -> ThreadsResult:
    """Show the threads of the program; with levels, the stack of each."""
    all_threads = await call.session.requests.threads()
    if not all_threads:
        raise NoThreads
    first_threads = all_threads[: limits.THREADS_SHOWN]
    stacks: list[ThreadStack] | None = None
    if levels is not None:
        most = max(1, limits.FRAMES_MOST // len(first_threads))
        stacks = await stacks_of(call, first_threads, levels=at_most("levels", levels, otherwise=most, most=most))
    return ThreadsResult(
        snapshot=snapshot(call.session),
        threads=[
            Thread(id=thread.id, name=shortened(thread.name, limits.NAME_CHARACTERS)[0]) for thread in first_threads
        ],
        more=len(all_threads) - len(first_threads),
        stacks=stacks,
    )


@action(Approval.READ, example={"frame": 1})
async def scopes(
    call: ActionCall,
    *,
    frame_id: p.FrameId | None = None,
    frame: p.FrameIndex | None = None,
    thread_id: p.ThreadId | None = None,
    thread: p.ThreadIndex | None = None,
) -> ScopesResult:
    """Show the scopes of a frame: locals, arguments, globals, registers."""
    chosen_frame = await frame_of(call, frame_id, frame, thread_id, thread)
    body = await call.requests.ask(ScopesArguments(frame_id=chosen_frame))
    for scope in body.scopes:
        call.remembered.has_children(scope.variables_reference, scope.named_variables, scope.indexed_variables)
    return ScopesResult(
        snapshot=snapshot(call.session),
        scopes=[
            ScopeRow(
                name=scope.name,
                variables_reference=scope.variables_reference,
                expensive=scope.expensive,
                presentation_hint=scope.presentation_hint,
                named_variables=scope.named_variables,
                indexed_variables=scope.indexed_variables,
            )
            for scope in body.scopes
        ],
    )


@action(Approval.READ, example={"variable_ref": 7, "start": 100, "count": 50})
async def variables(
    call: ActionCall,
    *,
    variable_ref: p.VariableRef | None = None,
    scope_id: p.ScopeId | None = None,
    filter: p.VariableFilter | None = None,  # noqa: A002 - the protocol's name
    frame: p.FrameIndex | None = None,
    match: p.Match | None = None,
    start: p.Start = 0,
    count: p.Count | None = None,
) -> VariablesResult:
    """Show the variables of a scope, or the members of a value; without either, the locals of a frame."""
    reference = variable_ref if variable_ref is not None else scope_id
    if reference is not None and frame is not None:
        raise InvalidArguments("variables: frame excludes variable_ref and scope_id")
    references = await _local_scopes(call, frame) if reference is None else [reference]
    rows: list[VariableRow] = []
    more = 0
    searched: int | None = None
    for reference in references:
        page = await page_of_variables(call, reference, kind=filter, match=match, start=start, count=count)
        secret = reference in call.remembered.secrets
        for row in page.variables:
            call.remembered.has_children(
                row.variables_reference,
                row.named_variables,
                row.indexed_variables,
                secret=secret or names_secret(row.name),
            )
        hides = secret and call.settings.redact_enabled
        rows += [changed(row, value=secret_value(row.value)) if hides else row for row in page.variables]
        more = -1 if -1 in (more, page.more) else more + page.more
        searched = page.searched if searched is None else searched
    return VariablesResult(snapshot=snapshot(call.session), variables=rows, start=start, more=more, searched=searched)


async def _local_scopes(call: ActionCall, frame: int | str | None) -> list[int]:
    """Return the references of the scopes that hold the locals of a frame; gdb has two."""
    chosen_frame = await frame_of(call, None, frame)
    scopes = local_scopes((await call.requests.ask(ScopesArguments(frame_id=chosen_frame))).scopes)
    if not scopes:
        raise InvalidArguments("The frame has no scope of local variables: name one of scopes with scope_id")
    for scope in scopes:
        call.remembered.has_children(scope.variables_reference, scope.named_variables, scope.indexed_variables)
    return [scope.variables_reference for scope in scopes]


@action(Approval.READ)
async def exception_info(
    call: ActionCall, *, thread_id: p.ThreadId | None = None, thread: p.ThreadIndex | None = None
) -> ExceptionInfo:
    """Show the exception that stopped a thread."""
    call.require("supports_exception_info_request", "exception details")
    named_thread = await thread_of(call, thread_id, thread)
    chosen_thread = await call.session.requests.thread() if named_thread is None else named_thread
    exception = conversion.exception(await call.requests.ask(ExceptionInfoArguments(thread_id=chosen_thread)))
    stop = call.session.state.stop
    if stop is not None and stop.thread_id == chosen_thread:
        exception = call.remembered.exception_of(stop.number, exception)
    return ExceptionInfo(snapshot=snapshot(call.session), thread_id=chosen_thread, exception=exception)


@action(Approval.EXECUTE, example={"name": "total", "value": "0"})
async def set_variable(
    call: ActionCall,
    *,
    name: p.VariableName,
    value: p.Value,
    variable_ref: p.VariableRef | None = None,
    scope_id: p.ScopeId | None = None,
    frame_id: p.FrameId | None = None,
    frame: p.FrameIndex | None = None,
) -> Assigned:
    """Give a variable another value: of a scope or value, or the one of this name in a frame."""
    call.require("supports_set_variable", "setting variables")
    container = variable_ref if variable_ref is not None else scope_id
    if container is None:
        scope = await scope_of(call, name, await frame_of(call, frame_id, frame))
        if scope is None:
            assigns = call.capabilities.supports_set_expression
            hint = "set_expression assigns to expressions." if assigns else ""
            raise InvalidArguments(f"There is no variable {name!r} in this frame.", hint=hint)
        container = scope.variables_reference
    body = await call.requests.ask(SetVariableArguments(variables_reference=container, name=name, value=value))
    return _assigned(call, name, body)


@action(Approval.EXECUTE, example={"expression": "items[0].price", "value": "12"})
async def set_expression(
    call: ActionCall,
    *,
    expression: p.Expression,
    value: p.Value,
    frame_id: p.FrameId | None = None,
    frame: p.FrameIndex | None = None,
) -> Assigned:
    """Assign to an expression."""
    call.require("supports_set_expression", "assigning to expressions")
    chosen_frame = await frame_of(call, frame_id, frame)
    body = await call.requests.ask(SetExpressionArguments(expression=expression, value=value, frame_id=chosen_frame))
    return _assigned(call, expression, body)


def _assigned(call: ActionCall, name: str, body: SetVariableBody | SetExpressionBody) -> Assigned:
    evaluation = conversion.assigned(
        body, most=call.settings.text_bytes // 2, secret_of=name if call.settings.redact_enabled else ""
    )
    return Assigned(snapshot=snapshot(call.session), name=name, evaluation=evaluation)


@action(Approval.READ, example={"first": 1, "second": 3})
async def diff(call: ActionCall, *, first: p.FirstStop | None = None, second: p.SecondStop | None = None) -> StopDiff:
    """Compare two stops: the variables that differ, and the output between; by default the last two stops.

    The texts of values are compared, which adapters cut: a change deep inside a value may not show.
    """
    return stop_diff(call, first, second)


@action(Approval.READ, example={"expression": "items[0].pr"})
async def completions(
    call: ActionCall,
    *,
    expression: p.Expression,
    column: p.Column | None = None,
    frame_id: p.FrameId | None = None,
    frame: p.FrameIndex | None = None,
) -> CompletionsResult:
    """Show how an expression can be completed in a frame."""
    call.require("supports_completions_request", "completions")
    chosen_frame = await frame_of(call, frame_id, frame)
    prefix = call.session.traits.completion_prefix
    position = len(prefix) + (column or len(expression) + 1)
    request = CompletionsArguments(text=f"{prefix}{expression}", column=position, frame_id=chosen_frame)
    targets = (await call.requests.ask(request)).targets
    first_targets = targets[: limits.COMPLETIONS_SHOWN]
    return CompletionsResult(
        snapshot=snapshot(call.session),
        completions=[
            Completion(
                label=item.label.removeprefix(prefix),
                text=(item.text or item.label).removeprefix(prefix),
                type=item.type,
            )
            for item in first_targets
        ],
        more=len(targets) - len(first_targets),
    )
