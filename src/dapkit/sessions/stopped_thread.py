"""The thread of a stop as it is read when the program has just stopped: its name and the top of its stack.

Some adapters cannot report these, or not yet: delve's thread of a stop on entry has
no stack, and lldb-dap 22 may leave the thread out for a moment. A stop is published
without its place then, so whatever cannot be read stays unknown.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import anyio.to_thread

from dapkit import limits
from dapkit.client import Session, Stopped
from dapkit.protocol import DapkitError, StackFrame
from dapkit.sessions.own_code import own_frames

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoppedThread:
    """The values that could be read; None for each that could not.

    Attributes:
        frames: the top of the stack, at most as many as were asked for.
        total_frames: the depth of the whole stack, if the adapter reported it or it was all read.
        own: places of the frames that are the user's own code, if these were looked for.

    """

    thread_id: int | None = None
    thread_name: str | None = None
    frames: tuple[StackFrame, ...] | None = None
    total_frames: int | None = None
    own: tuple[int, ...] = ()

    @property
    def top(self) -> StackFrame | None:
        """The frame in which the thread stands."""
        return self.frames[0] if self.frames else None


async def read_stopped_thread(
    session: Session, stopped: Stopped, *, folders: Sequence[Path] | None, deadline: float
) -> StoppedThread:
    """Read the thread of a stop, for at most that long.

    This is the one `stackTrace` request of a stop: it asks for as many frames as a report shows, or as many as
    it may take to find the user's own code, whose folders are given then.
    """
    levels = limits.STOP_FRAMES if folders is None else limits.OWN_FRAMES
    thread = StoppedThread(stopped.event.thread_id)
    with anyio.move_on_after(deadline):
        try:
            thread = await _identify(session, thread)
            if thread.thread_id is not None:
                stack = await session.stack_trace(thread.thread_id, start_frame=0, levels=levels, deadline=deadline)
                frames = tuple(stack.stack_frames[:levels])  # an adapter may not know `levels`
                thread = replace(thread, frames=frames, total_frames=stack.total_frames)
                if folders is not None:
                    own = await anyio.to_thread.run_sync(own_frames, frames, folders)
                    thread = replace(thread, own=tuple(own))
        except DapkitError as error:
            log.info("the thread of a stop could not be read: %s", error)
    return thread


async def _identify(session: Session, thread: StoppedThread) -> StoppedThread:
    """Find the thread's id and name, with a `threads` request if they are not known."""
    if thread.thread_id is None or _name(session, thread.thread_id) is None:
        threads = (await session.threads()).threads
        if thread.thread_id is None and threads:
            return StoppedThread(threads[0].id, threads[0].name)
    return replace(thread, thread_name=None if thread.thread_id is None else _name(session, thread.thread_id))


def _name(session: Session, thread_id: int) -> str | None:
    thread = session.known_threads.get(thread_id)
    return None if thread is None else thread.name
