"""Pages of frames and of variables, whatever the adapter does about paging.

An adapter that pages is asked for the page; of one that does not, everything is
taken, and the page is cut out here. Either way the answer is bounded.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dapkit import limits
from dapkit.agent import converting
from dapkit.agent.call import Call
from dapkit.agent.failures import InvalidArguments
from dapkit.agent.results.values import Frame, Variable
from dapkit.agent.text.values import variable as line_of
from dapkit.protocol import StackFrame, StackTraceArguments, VariablesArguments
from dapkit.protocol import Variable as ProtocolVariable


@dataclass(frozen=True, slots=True)
class Frames:
    """A page of a stack.

    Attributes:
        more: whether there are further frames.
        total: how many there are, if the adapter tells it.
        next_start: where the next page begins.

    """

    frames: list[Frame]
    more: bool
    total: int | None
    next_start: int


async def page_of_frames(call: Call, thread: int, *, start: int, levels: int | None, own_code: bool) -> Frames:
    """Get the frames of a thread from one on, or only those among them that are the user's own code."""
    _not_negative("start", start)
    wanted = limits.FRAMES_SHOWN if levels is None else levels
    if wanted < 1:
        raise InvalidArguments(f"levels must be 1 or more, not {levels}")
    if call.capabilities.supports_delayed_stack_trace_loading:
        asked = StackTraceArguments(thread_id=thread, start_frame=start, levels=wanted + 1)
        stack = await call.ask(asked)
        came = stack.stack_frames
    else:
        stack = await call.ask(StackTraceArguments(thread_id=thread))
        came = stack.stack_frames[start:]
    more = len(came) > wanted or (stack.total_frames or 0) > start + max(len(came), 1)
    numbered = list(enumerate(came[:wanted], start))
    shown = [converting.frame(one, index) for index, one in numbered if not own_code or _is_own(call, one)]
    return Frames(shown, more, stack.total_frames, start + len(numbered))


def _is_own(call: Call, frame: StackFrame) -> bool:
    source = frame.source
    if frame.presentation_hint == "subtle" or source is None or source.path is None:
        return False
    if source.presentation_hint == "deemphasize":
        return False
    folders = {call.session.cwd.resolve(), call.session.project}
    return any(Path(source.path).resolve().is_relative_to(folder) for folder in folders)


@dataclass(frozen=True, slots=True)
class Members:
    """A page of variables; `more` counts those after it, -1 if that is not known."""

    variables: list[Variable]
    more: int


async def page_of_variables(
    call: Call,
    reference: int,
    *,
    kind: Literal["indexed", "named"] | None,
    match: str | None,
    start: int,
    count: int | None,
) -> Members:
    """Get variables from one on, as many as the budget of an answer allows."""
    _not_negative("start", start)
    wanted = limits.VARIABLES_SHOWN if count is None else count
    if wanted < 1:
        raise InvalidArguments(f"count must be 1 or more, not {count}")
    named, indexed = call.remembered.children.get(reference, (0, 0))
    pages = match is None and kind != "named" and indexed > wanted
    if pages:  # of a value with so many items, only what is shown is asked for
        before = named if kind is None else 0
        came = await _named(call, reference, start, wanted) if start < before else []
        if len(came) < wanted:
            asked = VariablesArguments(
                variables_reference=reference,
                filter="indexed",
                start=max(0, start - before),
                count=wanted - len(came),
            )
            came += (await call.ask(asked)).variables[: wanted - len(came)]
        total = before + indexed
    else:
        body = await call.ask(VariablesArguments(variables_reference=reference, filter=kind))
        found = [one for one in body.variables if match is None or match in one.name]
        came, total = found[start : start + wanted], len(found)
    shown = _within_budget(came, call.settings.text_bytes)
    return Members(shown, max(0, total - start - len(shown)))


async def _named(call: Call, reference: int, start: int, wanted: int) -> list[ProtocolVariable]:
    body = await call.ask(VariablesArguments(variables_reference=reference, filter="named"))
    return body.variables[start : start + wanted]


def _within_budget(came: list[ProtocolVariable], budget: int) -> list[Variable]:
    """Show as many as fit, at least one."""
    shown: list[Variable] = []
    size = 0
    for one in came:
        converted = converting.variable(one)
        size += len(line_of(converted).encode(errors="replace")) + 3
        if shown and size > budget * 3 // 4:
            break
        shown.append(converted)
    return shown


def _not_negative(name: str, value: int) -> None:
    if value < 0:
        raise InvalidArguments(f"{name} must be 0 or more, not {value}")
