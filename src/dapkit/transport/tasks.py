"""Background tasks that end with a block and do not disguise its errors, and tasks that begin at once."""

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from anyio import create_task_group
from anyio.abc import TaskGroup

from dapkit.system.selection import IS_WINDOWS

if TYPE_CHECKING:
    import asyncio


def loop_options() -> "dict[str, Any]":
    """Return options of `anyio.run`: an event loop that can wait for sockets by itself, also on Windows."""
    if not IS_WINDOWS:
        return {}
    import asyncio

    return {"loop_factory": asyncio.SelectorEventLoop}


@asynccontextmanager
async def background_tasks() -> AsyncIterator[TaskGroup]:
    """Task group that is cancelled when the block ends.

    A lone error, of the block or of a task, is raised as it is and not as an
    `ExceptionGroup`, so that `except RequestFailed` around the block works.
    """
    lone: BaseException
    try:
        async with create_task_group() as tasks:
            try:
                yield tasks
            finally:
                tasks.cancel_scope.cancel()
        return
    except BaseExceptionGroup as group:
        if len(group.exceptions) > 1:
            raise
        lone = group.exceptions[0]
    raise lone


class EagerTasks:
    """Tasks that run until their first wait in the call that starts them, where the event loop is asyncio's.

    A task of anyio begins in the next turn of the loop, and to make it takes longer than to handle most requests.
    Their owner cancels them, by scopes of their own, waits for them, and lets them raise nothing.

    Attributes:
        group: has the tasks where the event loop is another.

    Invariant: each task that has not ended is held, since asyncio holds none.

    """

    def __init__(self, group: TaskGroup) -> None:
        self.group = group
        self._loop = asyncio_loop()
        self._running: set[asyncio.Task[None]] = set()

    def start[*Given](self, function: Callable[[*Given], Coroutine[Any, Any, None]], *arguments: *Given) -> None:
        """Run a function in a task of its own."""
        if self._loop is None:
            self.group.start_soon(function, *arguments)
            return
        import asyncio

        task = asyncio.Task(function(*arguments), loop=self._loop, eager_start=True)
        if not task.done():
            self._running.add(task)
            task.add_done_callback(self._running.discard)


def asyncio_loop() -> "asyncio.AbstractEventLoop | None":
    """Return the running event loop, None if it is not one of asyncio."""
    import asyncio  # takes longer than all of this layer, which is imported where no loop will run, too

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
