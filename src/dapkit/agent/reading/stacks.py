"""The stacks of all threads at once: the answer to where a deadlocked program stands.

Some adapters (debugpy, our own) report them while the program runs, too.
"""

from collections.abc import Sequence

import anyio

from dapkit.agent import limits
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.reading import conversion
from dapkit.agent.results.values import ThreadStack
from dapkit.protocol import DapkitError, StackTraceArguments, Thread


async def stacks_of(call: ActionCall, threads: Sequence[Thread], *, levels: int) -> list[ThreadStack]:
    """Ask for the stack of each thread, concurrently; the reason stands in place of a stack that cannot be read."""
    stacks: dict[int, ThreadStack] = {}

    async def look(thread: Thread) -> None:
        request = StackTraceArguments(thread_id=thread.id, start_frame=0, levels=levels + 1)
        try:
            stack = await call.session.requests.ask(request, deadline=min(call.left, limits.REPORT_SECONDS))
        except DapkitError as error:
            stacks[thread.id] = ThreadStack(thread_id=thread.id, frames=[], problem=str(error))
            return
        frames = [conversion.frame(frame, index) for index, frame in enumerate(stack.stack_frames[:levels])]
        stacks[thread.id] = ThreadStack(thread_id=thread.id, frames=frames, more=len(stack.stack_frames) > levels)

    async with anyio.create_task_group() as tasks:
        for thread in threads:
            tasks.start_soon(look, thread)
    return [stacks[thread.id] for thread in threads]
