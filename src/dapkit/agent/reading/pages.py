"""Pages of frames, of variables and of source files, whatever the adapter does about paging.

An adapter that pages is asked for the page; of one that does not, everything is
taken, and the page is cut out here. Either way the answer is bounded.
"""

from dataclasses import dataclass
from pathlib import Path

from dapkit import limits as shared_limits
from dapkit.agent import limits
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import InvalidArguments
from dapkit.agent.reading import conversion
from dapkit.agent.reading.members import MemberKind, MembersOfValue
from dapkit.agent.results.values import FrameRow, VariableRow
from dapkit.agent.text.values import variable as line_of
from dapkit.protocol import StackFrame, StackTraceArguments, Variable
from dapkit.sessions.own_code import is_own
from dapkit.sessions.session import DebugSession
from dapkit.system.trusted_files import read_file


@dataclass(frozen=True, slots=True)
class Frames:
    """A page of a stack.

    Attributes:
        more: whether there are further frames.
        total: how many there are, if the adapter reports it.
        next_start: where the next page begins.

    """

    frames: list[FrameRow]
    more: bool
    total: int | None
    next_start: int


async def page_of_frames(call: ActionCall, thread: int, *, start: int, levels: int | None, own_code: bool) -> Frames:
    """Get the frames of a thread from one on, or only those among them that are the user's own code."""
    _not_negative("start", start)
    frame_count = at_most("levels", levels, otherwise=limits.FRAMES_SHOWN, most=limits.FRAMES_MOST)
    if call.capabilities.supports_delayed_stack_trace_loading:
        request = StackTraceArguments(thread_id=thread, start_frame=start, levels=frame_count + 1)
        stack = await call.requests.ask(request)
        came = stack.stack_frames
    else:
        stack = await call.requests.ask(StackTraceArguments(thread_id=thread))
        came = stack.stack_frames[start:]
    total = reliable_total(call.session, stack.total_frames)
    more = len(came) > frame_count or (total or 0) > start + max(len(came), 1)
    numbered = list(enumerate(came[:frame_count], start))
    page = [conversion.frame(frame, index) for index, frame in numbered if not own_code or _is_own(call, frame)]
    return Frames(page, more, total, start + len(numbered))


def reliable_total(session: DebugSession, total: int | None) -> int | None:
    """Return the stack depth that an adapter reported, unless it is a guess beyond the frames read so far."""
    return None if session.traits.total_frames_is_guess else total


def _is_own(call: ActionCall, frame: StackFrame) -> bool:
    return is_own(frame, (call.session.cwd, call.session.project))


@dataclass(frozen=True, slots=True)
class Members:
    """A page of variables.

    Attributes:
        more: how many there are after it, -1 if that is not known.
        searched: only so many of all members were searched; None if all were.

    """

    variables: list[VariableRow]
    more: int
    searched: int | None = None


async def page_of_variables(
    call: ActionCall,
    reference: int,
    *,
    kind: MemberKind | None,
    match: str | None,
    start: int,
    count: int | None,
) -> Members:
    """Get variables from one on, as many as the budget of an answer allows."""
    _not_negative("start", start)
    variable_count = at_most("count", count, otherwise=limits.VARIABLES_SHOWN, most=limits.VARIABLES_MOST)
    members, items = call.remembered.children.get(reference, (0, 0))
    if items > limits.PLAUSIBLE_ITEMS and not call.session.traits.python_expressions:  # a range of Python has them
        raise InvalidArguments(
            f"The value reports {items:,} items, more than memory can hold: it is uninitialized or damaged. "
            "read_memory shows its bytes"
        )
    value = MembersOfValue(call.requests.ask, reference, kind, members, items)
    searched = None
    if match is None:
        page, total = await value.part(start, variable_count)
    else:
        came, of_all = await value.part(0, limits.VARIABLES_SEARCHED)
        searched = None if len(came) == of_all else len(came)
        matches = [member for member in came if match in member.name]
        page, total = matches[start : start + variable_count], len(matches)
    rows = _within_budget(page, call.settings.text_bytes)
    more = -1 if total is None else max(0, total - start - len(rows))
    return Members(rows, more, searched)


def _within_budget(came: list[Variable], budget: int) -> list[VariableRow]:
    """Show as many as fit, at least one."""
    rows: list[VariableRow] = []
    size = 0
    for member in came:
        converted = conversion.variable(member)
        size += len(line_of(converted).encode(errors="replace")) + 3
        if rows and size > budget * 3 // 4:
            break
        rows.append(converted)
    return rows


def _not_negative(name: str, value: int) -> None:
    if value < 0:
        raise InvalidArguments(f"{name} must be 0 or more, not {value}")


def at_most(name: str, number: int | None, *, otherwise: int, most: int) -> int:
    """Return the number of frames to ask for, never more than `most`: the rest is another page.

    Raises:
        InvalidArguments: fewer than one.

    """
    if number is not None and number < 1:
        raise InvalidArguments(f"{name} must be 1 or more, not {number}")
    return min(otherwise if number is None else number, most)


def lines_of(file: Path) -> list[str] | None:
    """Read the lines of a file; None if it is not a file, or cannot be read."""
    try:
        return read_file(file, shared_limits.SOURCE_BYTES).decode(errors="replace").splitlines()
    except OSError:
        return None
