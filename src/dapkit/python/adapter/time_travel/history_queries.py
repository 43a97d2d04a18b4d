"""Targets of a way back: reports of replay processes that examine each line on their way."""

import anyio
import msgspec

from dapkit.protocol import DataBreakpoint, RawJson, decode_as
from dapkit.python import limits
from dapkit.python.adapter.engine.breakpoint_store import named_in
from dapkit.python.adapter.engine.debuggee import Debuggee
from dapkit.python.adapter.time_travel.checkpoints import Checkpoint, History, PastProcess, problem_of
from dapkit.python.adapter.time_travel.replay_messages import FrameIdentity, Watched


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
    """Return the observations of a `watch` process about a value on its way.

    Raises:
        RequestFailed: it did not reach its goal.

    """
    await process.say(what)
    return await observation(process)


async def observation(process: PastProcess) -> Watched:
    """Return the observations of a process about a value, or an object, on its way.

    Raises:
        RequestFailed: it did not reach its goal.

    """
    words = await process.line()
    if not words[0].startswith("{"):
        raise problem_of(words)
    result = decode_as(Watched, RawJson(" ".join(words).encode()))
    if result.how not in ("watch", "birth", "look"):
        raise problem_of(result.how.split(" "))
    return result


async def line_before(history: History, goal: int, frame: int = 0) -> int:
    """Return when the frame that is shown at a clock has begun its line before, or its caller the one with the call.

    Where a library has called the only function of the program on the stack, as the callback of a test runner, it is
    the line that was begun before, in whichever function. 0 if there was none since the beginning. With the identity
    of a frame: when that one has begun its last line.

    Raises:
        RequestFailed: the moment is not reached.

    """
    while (checkpoint := history.before(goal - 1)) is not None:
        async with history.begun("steps", checkpoint, goal, frame) as process:
            words = await process.line()
        if words[0] != "steps":
            raise problem_of(words)
        clock, frame = int(words[1]), int(words[2])
        if clock:
            return clock
        if not frame:
            return goal - 1
        goal = checkpoint.clock
    return 0


async def first_line(history: History, goal: int, frame: int) -> int:
    """Return when a frame began its first line; 0 if that was at the beginning.

    Raises:
        RequestFailed: the moment is not reached.

    """
    while (checkpoint := history.before(goal - 1)) is not None:
        async with history.begun("frame", checkpoint, goal, frame) as process:
            words = await process.line()
        if words[0] != "steps":
            raise problem_of(words)
        if clock := int(words[1]):
            return clock
        goal = checkpoint.clock
    return 0


async def last_time(history: History, goal: int, place: object) -> int | None:
    """Return when a line has begun last before a clock; None if it has not.

    Raises:
        RequestFailed: the moment is not reached.

    """
    while (checkpoint := await near(history, goal)) is not None:
        async with history.begun("watch", checkpoint, goal) as process:
            result = await watched(process, {"line": place})
        if result.change is not None and result.change.clock is not None:
            return result.change.clock
        if result.absent:
            return None
        goal = checkpoint.clock
    return None


async def last_write(history: History, breakpoints: list[DataBreakpoint], checkpoint: Checkpoint, goal: int) -> int:
    """Return when the line began that last wrote to the data of data breakpoints; 0 if no line did.

    Raises:
        RequestFailed: the moment is not reached.

    """
    last = 0
    for breakpoint_ in breakpoints:
        place = named_in(breakpoint_.data_id)
        if place is None:
            continue
        test = {"condition": breakpoint_.condition, "hitCondition": breakpoint_.hit_condition}
        async with history.begun("watch", checkpoint, goal) as process:
            result = await watched(process, {**msgspec.to_builtins(place), "test": test})
        last = max(last, result.change.clock or 0 if result.change is not None else 0)
    return last


async def identity_of(debuggee: Debuggee, frame_id: int) -> int:
    """Return by which number a frame is known in each replay process.

    Raises:
        RequestFailed: there is no such frame.

    """
    answer = await debuggee.link.request_custom("dapkit/identity", {"frameId": frame_id})
    return decode_as(FrameIdentity, answer).identity
