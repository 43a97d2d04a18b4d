"""The check that tasks of this process are read as asyncio describes them.

Then tasks of a process of the same file are, too.
"""

import asyncio
import gc
import types
from collections.abc import AsyncIterator, Generator
from typing import Any

from .layout import OWN, Layout
from .objects import Frame, Objects
from .process_memory import Unfit, Unreadable
from .tasks import TaskReading, read_tasks

_ATTRIBUTES: dict[type, tuple[str, str]] = {
    types.CoroutineType: ("cr_frame", "cr_await"),
    types.GeneratorType: ("gi_frame", "gi_yieldfrom"),
    types.AsyncGeneratorType: ("ag_frame", "ag_await"),
}


class _Service:
    async def serve(self, duration: float) -> None:
        try:
            await asyncio.sleep(duration)
        finally:
            duration = 0

    async def numbers(self) -> AsyncIterator[int]:
        for number in range(3):
            await self.serve(1000)
            yield number

    def __await__(self) -> Generator[Any]:
        return (yield from self.serve(1000).__await__())


async def _iterate() -> None:
    async for _ in _Service().numbers():
        pass


async def _await_object() -> None:
    await _Service()


async def _gather() -> None:
    await asyncio.gather(
        asyncio.create_task(_iterate(), name="gathered"), asyncio.create_task(_await_object(), name="gathered, too")
    )


async def _wait(task: asyncio.Task[None]) -> None:
    await asyncio.wait([task, asyncio.create_task(_Service().serve(1000), name="wait\u00e9d \U0001f600")])


async def _shield(task: asyncio.Task[None]) -> None:
    await asyncio.shield(task)


async def _join(task: asyncio.Task[None]) -> None:
    await task


_AWAITED_BY = {
    "grouped": {"group"},
    "gathered": {"gather"},
    "gathered, too": {"gather"},
    "wait\u00e9d \U0001f600": {"wait"},
    "all": {"wait", "shield", "join"},
}
"""Tasks that wait for a task, of those that `measure_and_check` starts."""


async def _group() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(_Service().serve(1000), name="grouped")
        await asyncio.sleep(1000)


async def measure_and_check(layout: Layout) -> None:
    """Measure the rest of a layout, and try it with tasks of all kinds. Raises: Unfit."""
    await layout.measure_coroutines()
    first = asyncio.create_task(_Service().serve(1000), name="all")
    started = [
        first,
        asyncio.create_task(_group(), name="group"),
        asyncio.create_task(_gather(), name="gather"),
        asyncio.create_task(_wait(first), name="wait"),
        asyncio.create_task(_shield(first), name="shield"),
        asyncio.create_task(_join(first), name="join"),
        asyncio.create_task(_iterate()),
    ]
    for _ in range(3):
        await asyncio.sleep(0)
    started.append(asyncio.create_task(_iterate(), name="not begun"))
    tasks = {id(task): task for task in asyncio.all_tasks()}
    try:
        readings, missing = read_tasks(Objects(OWN, layout.image, layout))
    except Unreadable as error:
        raise Unfit("its own tasks cannot be read") from error
    if missing or {reading.number for reading in readings} != set(tasks):
        raise Unfit("its own tasks are not all read")
    names = {number: task.get_name() for number, task in tasks.items()}
    for reading in readings:
        _compare(reading, tasks[reading.number], names)
    for task in tasks.values():
        if task is not asyncio.current_task():
            task.cancel()
    await asyncio.gather(*started, return_exceptions=True)


def _compare(reading: TaskReading, task: "asyncio.Task[Any]", names: dict[int, str]) -> None:
    is_current = task is asyncio.current_task()
    stack = reading.stack[-1:] if is_current else reading.stack
    expected = _frames(task.get_coro())[-1:] if is_current else _frames(task.get_coro())
    if is_current:  # its line is the line of our call
        stack, expected = [(file, 0, name) for file, _, name in stack], [(file, 0, name) for file, _, name in expected]
    awaited_by = {names[number] for number in reading.awaited_by}
    actual = (reading.name, reading.running, stack, awaited_by, reading.loop)
    expected_facts = (
        task.get_name(),
        is_current,
        expected,
        _AWAITED_BY.get(task.get_name(), set()),
        id(task.get_loop()),
    )
    if actual != expected_facts:
        raise Unfit(f"its own tasks are read wrongly: {actual} instead of {expected_facts}")


def _frames(awaitable: object) -> list[Frame]:
    """Return the awaited objects of a coroutine as Python knows them, the newest first."""
    frames: list[Frame] = []
    while awaitable is not None:
        frame, awaited = _ATTRIBUTES.get(type(awaitable), ("", ""))
        if frame:
            called: types.FrameType = getattr(awaitable, frame)
            code = called.f_code
            frames.append((code.co_filename, called.f_lineno, code.co_qualname))
            is_suspended = called.f_back is None
            awaitable = getattr(awaitable, awaited) if is_suspended else None
        else:
            referents = gc.get_referents(awaitable) if type(awaitable).__module__ == "builtins" else ()
            awaitable = next((value for value in referents if type(value) in _ATTRIBUTES), None)
    return frames[::-1]
