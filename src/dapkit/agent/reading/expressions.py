"""Values of expressions: one that an action asks for, or several that a report shows."""

import re
from collections.abc import Sequence
from contextlib import suppress

from dapkit.agent import limits
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.explanations import explain
from dapkit.agent.calls.failures import ActionFailed
from dapkit.agent.reading import conversion
from dapkit.agent.reading.members import reported_items
from dapkit.agent.reading.variable_contents import contents_of_result
from dapkit.agent.results.values import Evaluation, ExpressionValue
from dapkit.endpoint import RequestFailed
from dapkit.protocol import DapkitError, EvaluateArguments, EvaluateBody, changed
from dapkit.redaction.redaction import names_secret

COMMAND_MARK = "`"
"""First characters of a debugger command: LLDB's own mark, and marks with which no expression begins."""

_OPTIMIZED_OUT = re.compile(
    r"DW_OP_|optimized out|optimised out|variable not available|is not available|[Cc]ouldn't materialize|ToExecuteJIT"
)
"""Words of GDB and LLDB about a variable that the compiler has kept nowhere."""

_OF_COMPILER = re.compile(r"error: <user expression \d+>:\d+:\d+: (?P<message>.*)")
"""The message of Clang about an expression under LLDB, among the lines that show the expression again."""

_COMMAND = re.compile(r"\s*(?:bt|backtrace|[a-z][a-z-]*\s+[-\w$*/].*)$", re.DOTALL)
"""A text that may be meant as a command of the debugger: a word and its arguments."""

_CUT = "\u2026"
"""Near the end of a text that our adapter for Python has cut."""


async def evaluated(
    call: ActionCall, expression: str, *, frame: int | None, context: str | None = None, most: int
) -> Evaluation:
    """Evaluate an expression, or run a command of the debugger.

    Args:
        call: the call that needs the value.
        expression: a command begins with `COMMAND_MARK`.
        frame: id of the frame; None if the adapter chooses.
        context: of the request; None for the one that fits.
        most: characters that are kept of the value.

    Raises:
        DapkitError, ActionFailed: there is no value.

    """
    body = await _answer(call, expression, context, frame)
    traits = call.session.traits
    items = body.indexed_variables
    if not traits.python_expressions:  # whose objects choose their own texts
        items = reported_items(body)
    call.remembered.has_children(body.variables_reference, body.named_variables, items, secret=names_secret(expression))
    contents = None
    if call.session.state.stop is not None and not traits.members_run_code:
        contents = await contents_of_result(body, call.requests.ask, unreadable=traits.unreadable_value)
    return conversion.evaluation(
        body, most=most, contents=contents, secret_of=expression if call.settings.redact_enabled else ""
    )


async def expression_values(
    call: ActionCall, expressions: Sequence[str], *, frame: int | None, width: int | None = None
) -> list[ExpressionValue]:
    """Evaluate several expressions, one after another; the reason stands in place of a value that there is not.

    A value of more than `limits.WHOLE_VALUE_CHARACTERS`, or than `width`, is cut.
    """
    return [await _expression_value(call, expression, frame, width) for expression in expressions]


async def _expression_value(call: ActionCall, expression: str, frame: int | None, width: int | None) -> ExpressionValue:
    context = None if expression.startswith(COMMAND_MARK) else "watch"  # a value is wanted, never a statement
    most = width or limits.WHOLE_VALUE_CHARACTERS
    try:
        value = await evaluated(call, expression, frame=frame, context=context, most=most)
    except ActionFailed as failure:
        return ExpressionValue(expression=expression, problem=failure.message)
    except DapkitError as error:
        return ExpressionValue(expression=expression, problem=str(error))
    is_cut = value.length is not None or _CUT in value.result[-limits.CUT_VALUE_CHARACTERS :]
    if is_cut and width is None and len(value.result) > limits.CUT_VALUE_CHARACTERS:
        value = conversion.cut_evaluation(value, limits.CUT_VALUE_CHARACTERS)
    return ExpressionValue(expression=expression, evaluation=value)


async def _answer(call: ActionCall, expression: str, context: str | None, frame: int | None) -> EvaluateBody:
    traits = call.session.traits
    command = expression.removeprefix(COMMAND_MARK)
    if not traits.repl_is_command_line:
        request = EvaluateArguments(expression=expression, frame_id=frame, context=context or "repl")
        try:
            return await call.requests.ask(request)
        except RequestFailed as error:
            if not traits.stopped_call or traits.stopped_call not in error.text:
                raise
            await call.session.read_stop_again()
            failure = explain(error, adapter=call.session.adapter)
            failure.hint = "A breakpoint or a panic has stopped the call: threads shows where. continue ends the call."
            raise failure from error
    if command != expression and context in (None, "repl"):
        return await _command_output(call, command.lstrip(), frame)
    request = EvaluateArguments(expression=expression, frame_id=frame, context=context or "watch")
    try:
        return await call.requests.ask(request)
    except RequestFailed as error:
        failure = explain(error, adapter=call.session.adapter)
        if (words := _OF_COMPILER.search(error.text)) is not None:
            failure = ActionFailed(failure.code, words["message"])
        if _OPTIMIZED_OUT.search(error.text) is not None:
            failure = await _optimized_out(call, request)
        elif request.context != "repl" and _COMMAND.match(expression) is not None:
            failure.hint = f"A command of the debugger begins with a backtick, as {COMMAND_MARK}bt."
        raise failure from error


async def _command_output(call: ActionCall, command: str, frame: int | None) -> EvaluateBody:
    """Run a command of the debugger in a frame; one that ignores the frame of a request has it selected before."""
    traits, stop = call.session.traits, call.session.state.stop

    async def run(text: str) -> EvaluateBody:
        request = EvaluateArguments(expression=f"{traits.command_mark}{text}", frame_id=frame, context="repl")
        return await call.requests.ask(request)

    frames = () if stop is None or stop.frames is None else stop.frames
    index = next((at for at, each in enumerate(frames) if each.id == frame), 0)
    if not traits.frame_command or not index:
        return await run(command)
    await run(traits.frame_command.format(index=index))
    try:
        return await run(command)
    finally:
        with suppress(DapkitError):  # the command may have ended the program, or let it run
            await run(traits.frame_command.format(index=0))


async def _optimized_out(call: ActionCall, request: EvaluateArguments) -> ActionFailed:
    """Say that the compiler has kept no value, and in which calling frame the expression has one."""
    stop = call.session.state.stop
    frames = () if stop is None or stop.frames is None else stop.frames
    following = [at + 1 for at, frame in enumerate(frames) if frame.id == request.frame_id]
    for index, frame in list(enumerate(frames))[following[0] if following else len(frames) :]:
        try:
            body = await call.requests.ask(changed(request, frame_id=frame.id))
        except DapkitError:
            continue
        if _OPTIMIZED_OUT.search(body.result) is None:
            hint = f"It has a value in frame {index} (#{frame.id} {frame.name})."
            break
    else:
        hint = "Build with -O0 to have it."
    return ActionFailed("adapter_failed", f"{request.expression} is optimized out in this frame", hint=hint)
