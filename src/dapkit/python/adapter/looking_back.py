"""Processes of the past that look at each line on their way, and what they report."""

import anyio
import msgspec

from dapkit import limits
from dapkit.protocol import DataBreakpoint, RawJson, decode_as
from dapkit.python.adapter.debuggee import Debuggee
from dapkit.python.adapter.history import Checkpoint, History, PastProcess, problem_of
from dapkit.python.adapter.past_messages import Depth, Watched
from dapkit.python.adapter.remembered import named_in


async def near(history: History, goal: int) -> Checkpoint | None:
    """Return the last checkpoint before a clock; if that is far away, one that is made nearer to it.

    Raises:
        RequestFailed: the checkpoint is gone.

    """
    checkpoint = history.before(goal - 1)
    if checkpoint is not None and goal - checkpoint.clock > limits.DISTANT_LINES:
        async with history.begun("steps", checkpoint, goal) as process:
            await process.line()  # a copy was left near the goal by then
        with anyio.move_on_after(limits.PAST_SECONDS):
            await history.until_nearer(goal, checkpoint)
        checkpoint = history.before(goal - 1)
    return checkpoint


async def watched(process: PastProcess, what: dict[str, object]) -> Watched:
    """Return what a process of the kind `watch` has seen of something on its way.

    Raises:
        RequestFailed: it did not reach its goal.

    """
    await process.say(what)
    words = await process.line()
    if not words[0].startswith("{"):
        raise problem_of(words)
    found = decode_as(Watched, RawJson(" ".join(words).encode()))
    if found.how != "watch":
        raise problem_of(found.how.split(" "))
    return found


async def last_write(history: History, asked: list[DataBreakpoint], checkpoint: Checkpoint, goal: int) -> int:
    """Return when the line began that has last written to what data breakpoints are on; 0 for none.

    Raises:
        RequestFailed: the moment is not reached.

    """
    last = 0
    for breakpoint_ in asked:
        named = named_in(breakpoint_.data_id)
        if named is None:
            continue
        test = {"condition": breakpoint_.condition, "hitCondition": breakpoint_.hit_condition}
        async with history.begun("watch", checkpoint, goal) as process:
            found = await watched(process, {**msgspec.to_builtins(named), "test": test})
        last = max(last, found.change.clock or 0 if found.change is not None else 0)
    return last


async def depth_of(shown: Debuggee, frame_id: int) -> int:
    """Return how many frames there are from the bottom of the stack up to one.

    Raises:
        RequestFailed: there is no such frame.

    """
    answer = await shown.link.request_custom("dapkit/depth", {"frameId": frame_id})
    return decode_as(Depth, answer).depth
