"""Which line wrote a value last, for programs without a recorded history: they run once more, and the value is watched.

The second run is like the first one: the same program, arguments and breakpoint, at addresses that are not randomised.
It is watched from its beginning to the place where the first one is stopped; the last write before that is the answer.
"""

import re
from dataclasses import dataclass, replace

import anyio.to_thread

from dapkit.agent import limits
from dapkit.agent.actions.watchpoints import data_of_expression
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import ActionFailed, Unsupported
from dapkit.agent.calls.session_notes import SessionNotes
from dapkit.agent.reading.expressions import evaluated
from dapkit.agent.reading.snapshots import snapshot
from dapkit.agent.results.history import WhyResult
from dapkit.client import BreakpointSpec, DataLocation
from dapkit.protocol import DapkitError, EvaluateArguments, StackFrame
from dapkit.redaction.redaction import value_of
from dapkit.sessions.own_code import own_frames
from dapkit.sessions.session import DebugSession
from dapkit.sessions.stops import Stop

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_LINE = re.compile(r"^Line (\d+) of |:(\d+)(?::\d+)?\s*$", re.MULTILINE)
"""The number of a line, as gdb and LLDB say where an address belongs."""


@dataclass(frozen=True)
class _Place:
    """Where the first run is stopped: at some hit of a breakpoint, or where it breaks off.

    Attributes:
        hits: how often the breakpoint was hit at least; it may have been set only after some hits.
        value: of the expression there.

    """

    breakpoint: BreakpointSpec | None
    hits: int
    stack: tuple[tuple[str, int], ...]
    value: str


@dataclass
class _Write:
    """The latest write that was seen.

    Attributes:
        frame: the innermost frame of the user's own code.
        line: that it was written by, which is not always where the frame stands by now.

    """

    frame: StackFrame
    line: int
    old: str | None
    new: str | None


async def last_write(call: ActionCall, expression: str, frame: int) -> WhyResult:
    """Find the line that wrote the value of an expression last, by another run.

    Raises:
        Unsupported: the adapter cannot watch data, or its programs have other addresses in each run.
        ActionFailed: the program was not started by us, or cannot be brought to the same place again.

    """
    session = call.session
    if not session.traits.watch_commands:
        call.require("supports_data_breakpoints", "a recorded history, nor data breakpoints")
    if not session.traits.fixed_addresses:
        raise Unsupported("a recorded history", "dapkit/timeline")
    breakpoint_hit, hits = _place_of(session, session.state.stop)
    present, target = await _target(call, expression, frame)
    place = _Place(breakpoint_hit, hits, _stack(session.state.stop), present)
    # Of an adapter that watches addresses, the data id means the same in each run.
    data = await data_of_expression(call, expression, frame) if session.traits.watches_addresses else None
    second = await _second_run(call)
    try:
        call.use(second)
        write, count, is_there = await _watched(call, target, data, place)
    finally:
        call.use(session)
        with anyio.CancelScope(shield=True):
            await second.terminate()

    def displayed(value: str | None) -> str | None:
        return value if value is None or not call.settings.redact_enabled else value_of(expression, value)

    doubts = []
    if not is_there:
        doubts.append("the other run did not come to the same place with the same value")
    if write is not None and write.new is not None and write.new != present:
        doubts.append(f"it left {displayed(write.new)} there, and the value is {displayed(present)} now")
    return WhyResult(
        snapshot=snapshot(session),
        expression=expression,
        path=None if write is None or write.frame.source is None else write.frame.source.path,
        function=None if write is None else write.frame.name,
        line=None if write is None else write.line,
        old=None if write is None else displayed(write.old),
        new=None if write is None else displayed(write.new),
        writes=count,
        doubt="; ".join(doubts) or None,
    )


def _stack(stop: Stop | None) -> tuple[tuple[str, int], ...]:
    return tuple((frame.name, frame.line) for frame in (() if stop is None else stop.frames or ()))


def _place_of(session: DebugSession, stop: Stop | None) -> tuple[BreakpointSpec | None, int]:
    """Return the breakpoint at which the program is stopped, None where it breaks off, and the hits of it."""
    if stop is not None and stop.hit_breakpoints:
        hit = next((each for each in session.breakpoints if each.number in stop.hit_breakpoints), None)
        if hit is not None and not isinstance(hit.spec.location, DataLocation) and not hit.spec.temporary:
            return replace(hit.spec, enabled=True, log_message=None), hit.hits
    if stop is not None and stop.breaks_off:
        return None, 1
    raise ActionFailed(
        "unsupported",
        "A value is followed to its last write from a breakpoint, or from where the program breaks off.",
        hint="Run to this place by a breakpoint: set_breakpoint, then restart.",
    )


async def _target(call: ActionCall, expression: str, frame: int) -> tuple[str, str]:
    """Return the value of an expression, and an expression for its place in memory that means the same anywhere."""
    value = await evaluated(call, expression, frame=frame, context="watch", most=limits.VALUE_CHARACTERS)
    pointer = await evaluated(call, f"&({expression})", frame=frame, context="watch", most=limits.VALUE_CHARACTERS)
    match, kind = _ADDRESS.search(pointer.result), pointer.type or ""
    if match is None or not kind:
        raise ActionFailed(
            "adapter_failed", f"{call.session.adapter} shows no address of {expression}, but {pointer.result}"
        )
    target = f"*({match[0]} as {kind})" if kind.startswith("*") else f"*({kind})({match[0]})"
    return value.result, target


async def _second_run(call: ActionCall) -> DebugSession:
    """Start the program once more, stopped at its beginning, in a session of its own."""
    session, launched = call.session, call.remembered.launched
    if launched is None or session.attached:
        raise ActionFailed("unsupported", "Only a program that was launched can be run again to find a write.")
    again = launched.changed(args=None, env=None, stop_on_entry=True)
    configuration = await anyio.to_thread.run_sync(again.configuration)
    call.progress("running the program again")
    second = await call.sessions.open(
        call.folder,
        replace(session.start, configuration=configuration, breakpoints=()),
        name=f"{session.name}-again",
        deadline=call.left,
        settings=call.settings,
        on_progress=call.report_progress,
    )
    call.memories[second] = SessionNotes(redaction=call.remembered.redaction, is_whole_run=True)
    return second


async def _watched(call: ActionCall, target: str, data: str | None, place: _Place) -> tuple[_Write | None, int, bool]:
    """Let the second run go to the place; return the last write on the way, their number, and whether it came there."""
    session, execution = call.session, call.session.execution
    if session.state.stop is None:
        await execution.wait(deadline=call.left)
    own = await session.breakpoints.set(
        BreakpointSpec(DataLocation(data or await data_of_expression(call, target), "write"))
    )
    if not own.verified and own.message is not None:
        raise ActionFailed("adapter_failed", f"{target} cannot be watched: {own.message}")
    goal = None if place.breakpoint is None else await session.breakpoints.set(place.breakpoint)
    value = await _value(call, target, session.state.stop)
    write: _Write | None = None
    count = 0
    while call.left > 0:
        outcome = await execution.resume(deadline=call.left)
        stop = outcome.stop
        if stop is None:
            return write, count, False
        if own.number in stop.hit_breakpoints or "data" in stop.reason:
            old, value = value, await _value(call, target, stop)
            count += 1
            if (latest := await _write(call, stop, old, value)) is not None:
                write = latest
        if stop.breaks_off or (goal is not None and goal.number in stop.hit_breakpoints and goal.hits >= place.hits):
            is_there = _stack(stop) == place.stack and await _value(call, target, stop) == place.value
            if is_there or stop.breaks_off:
                return write, count, is_there
    return write, count, False


async def _value(call: ActionCall, target: str, stop: Stop | None) -> str | None:
    """Return the value at the place; None before there is memory."""
    frame = None if stop is None else stop.frame_id
    try:
        return (await evaluated(call, target, frame=frame, context="watch", most=limits.VALUE_CHARACTERS)).result
    except (DapkitError, ActionFailed):
        return None


async def _write(call: ActionCall, stop: Stop, old: str | None, new: str | None) -> _Write | None:
    """Return the write at which the second run is stopped, by its line in the user's own code."""
    session, frames = call.session, stop.frames or ()
    own = own_frames(frames, (session.cwd, session.project))
    if not own:
        return None
    frame = frames[own[0]]
    line = frame.line
    if (
        own[0] == 0 and frame.instruction_pointer_reference is not None
    ):  # behind the instruction, perhaps on the next line
        line = await _line_before(call, frame.instruction_pointer_reference) or line
    return _Write(frame, line, old, new)


async def _line_before(call: ActionCall, pointer: str) -> int | None:
    """Return the line of the instruction before an address."""
    traits = call.session.traits
    if not traits.line_command:
        return None
    command = traits.line_command.format(address=hex(int(pointer, 16) - 1))
    try:
        answer = await call.requests.ask(
            EvaluateArguments(expression=f"{traits.command_mark}{command}", context="repl")
        )
    except DapkitError:
        return None
    match = _LINE.search(answer.result)
    return None if match is None else int(match[1] or match[2])
