"""Where all threads of a program stand, such as one that hangs."""

from collections.abc import Sequence
from contextlib import suppress

import anyio
import anyio.to_thread

from dapkit.agent import limits
from dapkit.agent.actions.inspection import stacks_of
from dapkit.agent.actions.launch import attach
from dapkit.agent.actions.whole_program import released
from dapkit.agent.budget import shortened
from dapkit.agent.calls import parameters as p
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.registry import Approval, action
from dapkit.agent.reading.lock_waits import circle, lock_waits
from dapkit.agent.reading.pages import lines_of
from dapkit.agent.reading.snapshots import snapshot
from dapkit.agent.results.stacks import LockWait, StackGroup, StacksResult
from dapkit.agent.results.values import FrameRow, ThreadStack
from dapkit.protocol import DapkitError, Source, Thread
from dapkit.protocol.locks import LocksArguments, LocksBody
from dapkit.sessions.errors import SessionOver
from dapkit.sessions.own_code import AT_A_PLACE, is_own_source
from dapkit.sessions.stops import Stop


@action(
    Approval.EXECUTE,
    topic="inspection",
    example={},
    reads_if=lambda arguments: arguments.get("pid") is None,
)
async def stacks(call: ActionCall, *, pid: p.Pid | None = None, adapter: p.AdapterName | None = None) -> StacksResult:
    """Show where all threads, goroutines and tasks stand, equal stacks once, and who waits for which lock.

    A program that runs is paused for a moment, if it can be, and runs on. With pid a process is attached to for it.
    """
    if pid is None:
        return await _stacks(call)
    call.patient = False  # it need not stop
    await attach(call, pid=pid, adapter=adapter)
    async with released(call):
        return await _stacks(call)


async def _stacks(call: ActionCall) -> StacksResult:
    session = call.session
    if session.state.over:
        raise SessionOver(session.name, session.state.ending)
    runs = session.state.stop is None
    if runs:
        with suppress(DapkitError), anyio.move_on_after(limits.RUN_PAUSE_SECONDS):
            await session.execution.pause(deadline=min(limits.RUN_PAUSE_SECONDS, call.left))
    paused = runs and session.state.stop is not None and _is_pause(session.state.stop)
    try:
        threads = await session.requests.threads()
        first = threads[: limits.THREADS_SHOWN]
        rows = await stacks_of(call, first, levels=limits.STACKS_FRAMES)
        locks = await _locks(call, threads)
    finally:
        if paused:
            with anyio.CancelScope(shield=True):
                await session.execution.let_run(deadline=limits.RUN_PAUSE_SECONDS)
    return StacksResult(
        snapshot=snapshot(session),
        groups=_groups(call, first, rows),
        more=len(threads) - len(first),
        paused=paused,
        locks=locks,
        deadlock=None if locks is None else circle(locks),
    )


def _is_pause(stop: Stop) -> bool:
    """Whether a stop is the one that was asked for, and not one that came at the same time."""
    return not stop.hit_breakpoints and stop.reason not in AT_A_PLACE and stop.reason != "exception"


async def _locks(call: ActionCall, threads: Sequence[Thread]) -> list[LockWait] | None:
    """Return the locks that threads wait for; None if the adapter has no answer."""
    session = call.session
    if not session.traits.locks_request:
        return None
    try:
        body = await session.requests.ask_beyond(LocksArguments(), LocksBody, deadline=limits.REPORT_SECONDS)
    except DapkitError:
        return None
    names = {thread.id: thread.name for thread in threads}
    folders = (session.cwd, session.project)
    return await anyio.to_thread.run_sync(
        lambda: lock_waits(body.locks, names, lines_of, is_own=lambda path: is_own_source(Source(path=path), folders))
    )


def _groups(call: ActionCall, threads: Sequence[Thread], rows: Sequence[ThreadStack]) -> list[StackGroup]:
    """Put threads with the same stack together; those in the user's own code come first, then the larger groups."""
    folders = (call.session.cwd, call.session.project)
    groups: dict[object, list[tuple[Thread, ThreadStack]]] = {}
    for thread, stack in zip(threads, rows, strict=True):
        calls = [frame for frame in stack.frames if frame.presentation_hint != "label"]  # which names a task
        key = (tuple((frame.name, _path(frame), frame.line) for frame in calls), stack.problem)
        groups.setdefault(key, []).append((thread, stack))
    result = []
    for members in groups.values():
        stack = members[0][1]
        names = [shortened(thread.name, limits.NAME_CHARACTERS)[0] for thread, _ in members]
        own = [
            frame.index for frame in stack.frames if frame.source is not None and is_own_source(frame.source, folders)
        ]
        result.append(
            StackGroup(
                threads=names[: limits.RUN_NAMES],
                count=len(members),
                frames=stack.frames,
                own=own,
                more=stack.more,
                problem=stack.problem,
            )
        )
    return sorted(result, key=lambda group: (not group.own, -group.count))


def _path(frame: FrameRow) -> str | None:
    return None if frame.source is None else frame.source.path or frame.source.name
