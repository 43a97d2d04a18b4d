"""The tasks of asyncio in another process: where each one is, and which tasks wait for it."""

import functools
import types
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .objects import Frame, Objects
from .process_memory import Unreadable

_ATTEMPTS = 5
_MOST_WAITING = 1000
_CALLBACKS = (
    "gather.<locals>._done_callback",
    "_wait.<locals>._on_completion",
    "shield.<locals>._inner_done_callback",
    "TaskGroup._on_task_done",
)
"""Functions of asyncio that have, in their closure or `self`, the future or the task that is to be woken instead."""


class TaskReading(NamedTuple):
    """A task that has not ended.

    Attributes:
        number: its address.
        loop: address of its event loop.
        running: whether its coroutine is being executed: the stack of its thread shows then where.
        stack: the awaited calls, the newest first.
        awaited_by: addresses of the tasks that wait for it.

    """

    number: int
    name: str
    loop: int
    running: bool
    stack: list[Frame]
    awaited_by: list[int]


class Tasks:
    """The tasks of a process."""

    def __init__(self, objects: Objects) -> None:
        """Find the module of the program, if it has imported that. Raises: Unreadable."""
        self._objects = objects
        modules = objects.modules()
        self._tasks = self._module(modules, "asyncio.tasks")
        self._future_type = self._name_in(self._module(modules, "asyncio.futures"), "Future")
        self._task_type = self._name_in(self._tasks, "Task")

    def _module(self, modules: int, name: str) -> int:
        """Return the dict of a module, 0 if the program has no module of that name."""
        module = self._objects.lookup(modules, name)
        return self._objects.memory.word(module + self._objects.layout.module_dict) if module else 0

    def _name_in(self, namespace: int, name: str) -> int:
        return self._objects.lookup(namespace, name) if namespace else 0

    def read(self) -> tuple[list[TaskReading], str]:
        """Read all tasks that have not ended, and name the missing parts. Raises: Unreadable."""
        readings: list[TaskReading] = []
        unread: list[int] = []
        for number in self._numbers():
            try:
                reading = self._persistent(functools.partial(self._task, number))
            except Unreadable:
                unread.append(number)
            else:
                readings += [] if reading is None else [reading]
        if unread:
            self._objects.memory.forget()
            remaining = self._numbers()
            unread = [number for number in unread if number in remaining]  # the others have ended
        return readings, f"{len(unread)} are of another class than asyncio's, or change too often" if unread else ""

    def _numbers(self) -> dict[int, None]:
        objects = self._objects
        if not self._tasks:
            return {}
        scheduled = self._name_in(self._tasks, "_scheduled_tasks")
        numbers = dict.fromkeys(objects.members(objects.attribute(scheduled, "data")))
        if eager := self._name_in(self._tasks, "_eager_tasks"):
            numbers.update(dict.fromkeys(objects.members(eager)))
        return numbers

    def _persistent[T](self, read_part: Callable[[], T]) -> T:
        """Read the changed parts again. Raises: Unreadable."""
        for _ in range(_ATTEMPTS - 1):
            try:
                return read_part()
            except Unreadable:
                self._objects.memory.forget()
        return read_part()

    def _task(self, number: int) -> TaskReading | None:
        objects, layout = self._objects, self._objects.layout
        if not objects.is_a(number, self._task_type):
            raise Unreadable
        if objects.memory.int32(number + layout.future_state):
            return None  # it has ended
        stack, running = objects.awaits(objects.memory.word(number + layout.task_coroutine))
        loop = objects.memory.word(number + layout.task_loop)
        return TaskReading(number, self._name(number), loop, running, stack, self._awaited_by(number))

    def _name(self, number: int) -> str:
        objects = self._objects
        name = objects.memory.word(number + objects.layout.task_name)
        if objects.type_of(name) == objects.builtin(int):  # 3.13 makes the text when it is asked for
            return f"Task-{objects.number(name)}"
        return objects.text(name)

    def _awaited_by(self, number: int) -> list[int]:
        awaiting: dict[int, None] = {}
        todo, numbers = [number], {number}
        while todo and len(numbers) < _MOST_WAITING:
            for waiting in self._woken_by(todo.pop()):
                if waiting in numbers:
                    continue
                numbers.add(waiting)
                if self._objects.is_a(waiting, self._task_type):
                    awaiting[waiting] = None
                else:
                    todo.append(waiting)
        return list(awaiting)

    def _woken_by(self, future: int) -> Iterator[int]:
        """Yield the tasks, or futures, that continue when a future is done."""
        objects, layout = self._objects, self._objects.layout
        callbacks = [objects.memory.word(future + layout.future_callback)]
        more = objects.memory.word(future + layout.future_callbacks)
        if more and objects.type_of(more) == objects.builtin(list):
            callbacks += [objects.items(entry)[0] for entry in objects.items(more)]
        for callback in filter(None, callbacks):
            kind = objects.type_of(callback)
            if kind == objects.builtin(types.BuiltinMethodType):
                holder = objects.memory.word(callback + layout.builtin_self)
                yield from self._futures_in([holder])
            elif kind == objects.builtin(types.MethodType):
                function = objects.memory.word(callback + layout.method_function)
                if self._is_of_asyncio(function):
                    holder = objects.memory.word(callback + layout.method_self)
                    yield from self._futures_in([objects.attribute(holder, "_parent_task")])
            elif kind == objects.builtin(types.FunctionType) and self._is_of_asyncio(callback):
                cells = objects.memory.word(callback + layout.function_closure)
                contents = [objects.memory.word(cell + layout.cell_content) for cell in objects.items(cells)]
                yield from self._futures_in(contents)

    def _futures_in(self, addresses: list[int]) -> Iterator[int]:
        for address in addresses:
            if self._objects.is_a(address, self._future_type) or self._objects.is_a(address, self._task_type):
                yield address

    def _is_of_asyncio(self, function: int) -> bool:
        objects = self._objects
        if objects.type_of(function) != objects.builtin(types.FunctionType):
            return False
        code = objects.memory.word(function + objects.layout.function_code)
        file, _, name = objects.place_of(code, 0)
        return name in _CALLBACKS and "/asyncio/" in file


def read_tasks(objects: Objects) -> tuple[list[TaskReading], str]:
    """Read the tasks of a process, and say which are missing. Raises: Unreadable."""
    for _ in range(_ATTEMPTS - 1):
        objects.memory.forget()
        try:
            return Tasks(objects).read()
        except Unreadable:
            continue
    return Tasks(objects).read()
