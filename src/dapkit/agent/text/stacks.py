"""Text of the stacks of all threads: one line a group, the user's own code and the place where they stand."""

from collections.abc import Iterator

from dapkit.agent import limits
from dapkit.agent.results.stacks import LockWait, StackGroup, StacksResult
from dapkit.agent.text.escaping import one_line, render
from dapkit.agent.text.values import frame_location


@render.register
def _(result: StacksResult) -> str:
    return "\n".join(_lines(result))


def _lines(result: StacksResult) -> Iterator[str]:
    if result.deadlock:
        names = [*result.deadlock, result.deadlock[0]]
        yield f"Deadlock: {' -> '.join(map(one_line, names))} (each waits for the next)"
    yield from (_lock(lock) for lock in result.locks or ())
    has_own = any(group.own for group in result.groups)
    for group in result.groups:
        yield from _group(group) if group.own or not has_own or group.problem is not None else _beside(group)
    if result.more:
        yield f"(and {result.more} more threads)"
    if not result.paused and result.snapshot.status == "running":
        yield "Note: the program ran meanwhile: it could not be paused."


def _lock(wait: LockWait) -> str:
    lock = f"{wait.kind} {one_line(wait.lock)}"
    if wait.ended_owner is not None:
        owner = f"held by thread {wait.ended_owner}, which has ended"
    else:
        owner = "held by a thread that is not known" if wait.holder is None else f"held by {one_line(wait.holder)}"
    if wait.is_strange:
        owner += (
            " by its identity, though no variable of that leads to it: a thread that has ended may have had the same"
        )
    waiting = ", ".join(map(one_line, wait.waiting))
    return f"{lock}: {owner}" + (f"; awaited by {waiting}" if waiting else "")


def _beside(group: StackGroup) -> Iterator[str]:
    """Yield threads that are in none of the user's own code, as of the language's runtime, on one line."""
    place = f" @ {frame_location(group.frames[0])}" if group.frames else ""
    name = one_line(group.frames[0].name) if group.frames else "(no frames)"
    yield f"- {_names(group)}: {name}{place}"


def _names(group: StackGroup) -> str:
    threads = group.threads if group.count <= len(group.threads) else group.threads[: limits.STACKS_NAMES]
    names = ", ".join(map(one_line, threads))
    count = f"{group.count} threads: " if group.count > 1 else ""
    return f"{count}{names}{', ...' if group.count > len(threads) else ''}"


def _group(group: StackGroup) -> Iterator[str]:
    yield f"- {_names(group)}"
    if group.problem is not None:
        yield f"  ({one_line(group.problem)})"
    visible = (
        [frame for frame in group.frames if frame.index in group.own or frame.index == 0] if group.own else group.frames
    )
    first = visible[: limits.STACKS_LINES]
    for frame in first:
        yield f"  {one_line(frame.name)} @ {frame_location(frame)}"
    left_out = len(group.frames) - len(first)
    if left_out or group.more:
        yield (
            f"  (and {'at least ' if group.more else ''}{left_out} more frames)" if left_out else "  (and more frames)"
        )
