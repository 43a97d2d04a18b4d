"""Tasks of asyncio: which one a thread runs, which ones await it, and where the suspended ones stand.

Everything is read off the objects that the program has; asyncio is never imported for that,
and none of the program's own code runs. A task is awaited by another one directly, through
`gather`, `wait`, `shield` or a TaskGroup; all of them leave a trace in its callbacks.
"""

import sys
from collections.abc import Iterator
from types import (
    AsyncGeneratorType,
    BuiltinMethodType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodType,
)
from typing import Any, Final

from .. import limits
from ..classes import is_a

type Task = Any
"""An object of asyncio's class Task, of either implementation."""

_RUNNER: Final = "BaseEventLoop.run_forever"
"""The function in which every event loop of asyncio runs."""

_WRAPPERS: Final = ("async_generator_asend", "async_generator_athrow", "coroutine_wrapper", "anext_awaitable")
"""Types whose objects hold what they await where only the garbage collector sees it."""


def all_tasks() -> list[Task]:
    """Return the tasks that have not ended, of all event loops, in the order of their names."""
    module = sys.modules.get("asyncio.tasks")
    if module is None:
        return []
    found: dict[int, Task] = {}
    for name in ("_scheduled_tasks", "_eager_tasks"):
        for task in _snapshot(getattr(module, name, ())):
            found[id(task)] = task
    for loop in _loops_of_threads():
        for task in _of_loop("all_tasks", loop) or ():
            found[id(task)] = task
    living = [task for task in found.values() if is_task(task) and not _call(task, "done")]
    return sorted(living, key=_order)


def _snapshot(tasks: Any) -> list[Task]:  # noqa: ANN401 - a set or a weak one
    for _ in range(100):
        try:
            return list(tasks)
        except RuntimeError:
            continue  # another thread changed it meanwhile; asyncio does the same
    return []


def _order(task: Task) -> tuple[int, str]:
    text = name(task)
    return len(text), text


def current_tasks() -> list[Task]:
    """Return the tasks that are being run, at most one for each event loop."""
    module = sys.modules.get("asyncio.tasks")
    running = getattr(module, "_current_tasks", None)
    found = list(running.values()) if isinstance(running, dict) else []
    found += [_of_loop("current_task", loop) for loop in _loops_of_threads()]
    return [task for task in {id(task): task for task in found}.values() if is_task(task)]


def _loops_of_threads() -> list[object]:
    """Return the event loops that run, on versions (3.14) where the tasks written in C are known by their loop alone.

    They are read off the frames in which they run. A loop that is not asyncio's own has no such frame.
    """
    if not hasattr(sys.modules.get("_asyncio"), "all_tasks"):
        return []
    found: dict[int, object] = {}
    for newest in sys._current_frames().values():
        frame: FrameType | None = newest
        while frame is not None:
            if frame.f_code.co_qualname == _RUNNER and frame.f_globals.get("__name__") == "asyncio.base_events":
                loop = frame.f_locals.get("self")
                found[id(loop)] = loop
            frame = frame.f_back
    return list(found.values())


def _of_loop(function: str, loop: object) -> Any:  # noqa: ANN401 - tasks, or one, or None
    try:
        return getattr(sys.modules["_asyncio"], function)(loop)
    except RuntimeError:
        return None  # another thread changed the tasks meanwhile


def is_task(value: object) -> bool:
    """Say whether a value is a task."""
    module = sys.modules.get("asyncio.tasks")
    kinds = (getattr(module, "Task", None), getattr(module, "_PyTask", None))
    return is_a(value, *(kind for kind in kinds if isinstance(kind, type)))


def _is_future(value: object) -> bool:
    module = sys.modules.get("asyncio.futures")
    kinds = (getattr(module, "Future", None), getattr(module, "_PyFuture", None))
    return is_a(value, *(kind for kind in kinds if isinstance(kind, type)))


def _call(task: Task, method: str) -> Any:  # noqa: ANN401 - as the method
    """Call a method as asyncio defines it, whatever a class of the program makes of it."""
    for kind in type.__dict__["__mro__"].__get__(type(task)):
        if str(type.__dict__["__module__"].__get__(kind)).partition(".")[0] in ("asyncio", "_asyncio") and method in (
            own := type.__dict__["__dict__"].__get__(kind)
        ):
            return own[method](task)
    raise AttributeError(method)


def _read(future: object, attribute: str) -> Any:  # noqa: ANN401 - as the attribute
    """Read an attribute as asyncio defines it: in C a descriptor, in Python an entry of the dict."""
    for kind in type.__dict__["__mro__"].__get__(type(future)):
        descriptor = type.__dict__["__dict__"].__get__(kind).get(attribute)
        if type(descriptor).__name__ in ("getset_descriptor", "member_descriptor"):
            return descriptor.__get__(future)
    try:
        return object.__getattribute__(future, "__dict__").get(attribute)
    except AttributeError:
        return None


def name(task: Task) -> str:
    """Return the name of a task."""
    given = _call(task, "get_name")
    return given if type(given) is str else "Task"


def thread_of(task: Task) -> int:
    """Return the identity of the thread that runs the task's event loop, 0 if none does."""
    ident = getattr(_call(task, "get_loop"), "__dict__", {}).get("_thread_id")
    return ident if isinstance(ident, int) else 0


def outermost_frame(task: Task) -> FrameType | None:
    """Return the frame of the coroutine that the task was made for."""
    return _frame_of(_call(task, "get_coro"))


def _frame_of(awaitable: object) -> FrameType | None:
    match awaitable:
        case CoroutineType():
            return awaitable.cr_frame
        case GeneratorType():
            return awaitable.gi_frame
        case AsyncGeneratorType():
            return awaitable.ag_frame
    return None


def _awaited_by(awaitable: object) -> object:
    """Return what a suspended coroutine waits for."""
    match awaitable:
        case CoroutineType():
            return awaitable.cr_await
        case GeneratorType():
            return awaitable.gi_yieldfrom
        case AsyncGeneratorType():
            return awaitable.ag_await
    if type(awaitable).__name__ in _WRAPPERS:
        import gc

        for held in gc.get_referents(awaitable):
            if isinstance(held, CoroutineType | GeneratorType | AsyncGeneratorType):
                return held
    return None


def suspended_frames(task: Task) -> list[FrameType]:
    """Return the frames of a suspended task, from the newest."""
    found: list[FrameType] = []
    awaitable = _call(task, "get_coro")
    while awaitable is not None and len(found) < limits.AWAIT_DEPTH:
        frame = _frame_of(awaitable)
        if frame is not None:
            found.append(frame)
        awaitable = _awaited_by(awaitable)
    return found[::-1]


def awaiters(future: object) -> list[Task]:
    """Return the tasks that wait for a task or another future, directly or through futures that are not tasks."""
    found: dict[int, Task] = {}
    todo, seen = [future], {id(future)}
    while todo and len(seen) < limits.AWAIT_DEPTH:
        for waiting in _waiting_for(todo.pop()):
            if id(waiting) in seen:
                continue
            seen.add(id(waiting))
            if is_task(waiting):
                found[id(waiting)] = waiting
            else:
                todo.append(waiting)
    return list(found.values())


def _waiting_for(future: object) -> Iterator[object]:
    for entry in list(_read(future, "_callbacks") or ()):
        callback = entry[0] if isinstance(entry, tuple) and entry else entry
        match callback:
            case BuiltinMethodType():
                yield from filter(is_task, (callback.__self__,))
            case MethodType():
                yield from filter(is_task, (callback.__self__, _attribute(callback.__self__, "_parent_task")))
            case FunctionType():
                for cell in callback.__closure__ or ():
                    try:
                        held = cell.cell_contents
                    except ValueError:
                        continue  # empty
                    if _is_future(held):
                        yield held
            case _:
                held = _attribute(callback, "__self__") or _attribute(callback, "_task")
                yield from filter(is_task, (held,))


def _attribute(value: object, attribute: str) -> object:
    try:
        return object.__getattribute__(value, attribute)
    except Exception:
        return None
