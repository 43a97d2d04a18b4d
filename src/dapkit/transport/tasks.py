"""Background tasks that end with a block and do not disguise its errors."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio import create_task_group
from anyio.abc import TaskGroup


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
