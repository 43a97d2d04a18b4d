"""Looking at a program that has just stopped: which thread it is, and where that stands.

Some adapters cannot tell, or not yet: delve's thread of a stop on entry has no
stack, and lldb-dap 22 may leave the thread out for a moment. A stop is true without
its place, so whatever cannot be had stays unknown.
"""

import logging
from dataclasses import dataclass

import anyio

from dapkit.client import Session, Stopped
from dapkit.protocol import DapkitError, StackFrame

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sight:
    """What could be seen; None for what could not."""

    thread_id: int | None = None
    thread_name: str | None = None
    frame: StackFrame | None = None


async def look(session: Session, stopped: Stopped, *, deadline: float) -> Sight:
    """Look at the thread of a stop, for at most that long."""
    sight = Sight(thread_id=stopped.event.thread_id)
    with anyio.move_on_after(deadline):
        try:
            sight = await _see_thread(session, sight)
            if sight.thread_id is not None:
                stack = await session.stack_trace(sight.thread_id, levels=1, deadline=deadline)
                sight = Sight(sight.thread_id, sight.thread_name, next(iter(stack.stack_frames), None))
        except DapkitError as error:
            log.info("a stopped program could not be looked at: %s", error)
    return sight


async def _see_thread(session: Session, sight: Sight) -> Sight:
    if sight.thread_id is None or _name(session, sight.thread_id) is None:
        threads = (await session.threads()).threads
        if sight.thread_id is None and threads:
            return Sight(threads[0].id, threads[0].name)
    return Sight(sight.thread_id, None if sight.thread_id is None else _name(session, sight.thread_id))


def _name(session: Session, thread_id: int) -> str | None:
    known = session.known_threads.get(thread_id)
    return None if known is None else known.name
