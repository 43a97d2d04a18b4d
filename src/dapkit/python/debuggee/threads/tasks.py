"""Tasks of asyncio: which one a thread runs, which ones await it, and where the suspended ones stand.

Everything is read off the objects that the program has; asyncio is never imported for that,
and none of the program's own code runs. A task is awaited by another one directly, through
`gather`, `wait`, `shield` or a TaskGroup; all of them leave a trace in its callbacks.
"""

import sys
from _weakref import ref
from collections.abc import Iterator
from types import (
    AsyncGeneratorType,
    BuiltinMethodType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
)
from typing import Any, Final

from ..interpreter import limits
from ..interpreter.frame_locals import locals_of
from ..interpreter.safe_types import (
    defined,
    entry_of,
    is_a,
    module_of,
    mro,
    names_in_class,
    namespace,
    plain_text,
    simple_name,
)
from ..interpreter.thread_frames import all_frames

type Task = Any
"""An object of asyncio's class Task, of either implementation."""

_RUNNER: Final = "BaseEventLoop.run_forever"
"""The function in which every event loop of asyncio runs."""

_WRAPPERS: Final = ("async_generator_asend", "async_generator_athrow", "coroutine_wrapper", "anext_awaitable")
"""Types whose objects hold their awaited object where only the garbage collector sees it."""


_ASKED: Final = ("done", "get_loop", "__getattribute__", "__getattr__", "__hash__", "__eq__")
"""The attribute of a task that `all_tasks` reads."""
_ATTRIBUTES: Final = {
    id(kind): (kind, frame, awaited)
    for kind, frame, awaited in (
        (CoroutineType, "cr_frame", "cr_await"),
        (GeneratorType, "gi_frame", "gi_yieldfrom"),
        (AsyncGeneratorType, "ag_frame", "ag_await"),
    )
}
"""By the identity of the type, which is in it: the frame of an awaitable, and its own awaited object."""


def all_tasks() -> list[Task]:
    """Return the tasks that have not ended, of all event loops, in the order of their names."""
    module = sys.modules.get("asyncio.tasks")
    if module is None:
        return []
    tasks_by_id: dict[int, Task] = {}
    for name in ("_scheduled_tasks", "_eager_tasks"):
        for task in _snapshot(namespace(module).get(name, ())):
            tasks_by_id[id(task)] = task
    loops = _loops_of_threads()
    for task in _tasks_of(loops) if loops else ():
        tasks_by_id[id(task)] = task
    living = [task for task in tasks_by_id.values() if is_task(task) and _read(task, "_state") == "PENDING"]
    return sorted(living, key=_order)


def _snapshot(tasks: object) -> list[Task]:
    """Return the contents of a set, or of a weak set, for which Python code of the library would run otherwise."""
    members = namespace(tasks).get("data") if type(tasks) is not set else tasks
    living = [member() if type(member) is ref else member for member in list(members)] if type(members) is set else []
    return [task for task in living if task is not None]


def _order(task: Task) -> tuple[int, str]:
    text = name(task)
    return len(text), text


def current_tasks() -> list[Task]:
    """Return the tasks that are being run, at most one for each event loop."""
    module = sys.modules.get("asyncio.tasks")
    running = namespace(module).get("_current_tasks")
    tasks_now: list[Task] = list(running.values()) if type(running) is dict else []
    tasks_now += [_of_loop("current_task", loop) for loop in _loops_of_threads()]
    return [task for task in {id(task): task for task in tasks_now}.values() if is_task(task)]


def _loops_of_threads() -> list[object]:
    """Return the event loops that run, on versions (3.14) where the tasks written in C are known by their loop alone.

    They are read off the frames in which they run. A loop that is not asyncio's own has no such frame.
    """
    if "all_tasks" not in namespace(sys.modules.get("_asyncio")):
        return []
    loops: dict[int, object] = {}
    for frame in all_frames():
        if frame.f_code.co_qualname == _RUNNER and entry_of(frame.f_globals, "__name__") == "asyncio.base_events":
            loop = locals_of(frame).get("self")
            loops[id(loop)] = loop
    return list(loops.values())


def _of_loop(function: str, loop: object) -> Any:  # noqa: ANN401 - tasks, or one, or None
    try:
        result: Any = namespace(sys.modules["_asyncio"])[function]
        return result(loop)
    except RuntimeError:
        return None  # another thread changed the tasks meanwhile


def _tasks_of(loops: list[object]) -> list[Task]:
    """Return the tasks of some loops that are written in C."""
    if _is_redefined():
        import gc

        return [value for value in gc.get_objects() if is_task(value)]
    return [task for loop in loops for task in _of_loop("all_tasks", loop) or ()]


def _is_redefined() -> bool:
    """Return whether a class of the program has redefined the attribute that `all_tasks` reads."""
    kinds: list[type] = [
        kind for kind in (namespace(sys.modules.get("asyncio.tasks")).get("Task"),) if is_a(kind, type)
    ]
    for kind in kinds:
        kinds += type.__subclasses__(kind)
    return any(defined(kind, name) is not defined(kinds[0], name) for kind in kinds for name in _ASKED)


def is_task(value: object) -> bool:
    """Return whether a value is a task."""
    return _is_of("asyncio.tasks", ("Task", "_PyTask"), value)


def _is_future(value: object) -> bool:
    return _is_of("asyncio.futures", ("Future", "_PyFuture"), value)


def _is_of(module: str, names: tuple[str, ...], value: object) -> bool:
    loaded = namespace(sys.modules.get(module))
    return any(is_a(kind, type) and is_a(value, kind) for kind in map(loaded.get, names))


def _read(future: object, attribute: str) -> Any:  # noqa: ANN401 - as the attribute
    """Read an attribute as asyncio defines it: in C a descriptor, in Python an entry of the dict."""
    of_class: Any = defined(type(future), attribute)
    if type(of_class) is GetSetDescriptorType or type(of_class) is MemberDescriptorType:
        try:
            return of_class.__get__(future)
        except AttributeError:
            return None
    return namespace(future).get(attribute, of_class)


def name(task: Task) -> str:
    """Return the name of a task."""
    for kind in mro(task):
        in_c = names_in_class(kind).get("get_name")
        if type(in_c) is MethodDescriptorType:
            return plain_text(in_c(task)) or "Task"
    return plain_text(_read(task, "_name")) or "Task"


def thread_of(task: Task) -> int:
    """Return the identity of the thread that runs the task's event loop, 0 if none does."""
    ident = namespace(_read(task, "_loop")).get("_thread_id")
    return ident if type(ident) is int else 0


def outermost_frame(task: Task) -> FrameType | None:
    """Return the frame of the coroutine that the task was made for."""
    return _frame_of(_read(task, "_coro"))


def _frame_of(awaitable: Any) -> FrameType | None:  # noqa: ANN401 - whatever is awaited
    _, frame, _ = _ATTRIBUTES.get(id(type(awaitable)), ("", "", ""))
    coroutine_frame: FrameType | None = getattr(awaitable, frame) if frame else None
    return coroutine_frame


def _awaited_by(awaitable: object) -> object:
    """Return the object for which a suspended coroutine waits.

    On 3.12 a running coroutine would give a wrong object.
    """
    kind = type(awaitable)
    if id(kind) in _ATTRIBUTES:
        frame = _frame_of(awaitable)
        is_executed = frame is not None and frame.f_back is not None
        return None if is_executed else getattr(awaitable, _ATTRIBUTES[id(kind)][2])
    if _is_wrapper(kind):
        import gc

        referents = gc.get_referents(awaitable)
        return next(
            (referent for referent in referents if id(type(referent)) in _ATTRIBUTES or _is_wrapper(type(referent))),
            None,
        )
    return None


def _is_wrapper(kind: type) -> bool:
    """Return whether objects of a type wrap an awaitable; `anext(iterator, default)` has one within another."""
    return module_of(kind) == "builtins" and simple_name(kind) in _WRAPPERS


def suspended_frames(task: Task) -> list[FrameType]:
    """Return the frames of a suspended task, from the newest."""
    frames: list[FrameType] = []
    awaitable = _read(task, "_coro")
    while awaitable is not None and len(frames) < limits.AWAIT_DEPTH:
        frame = _frame_of(awaitable)
        if frame is not None:
            frames.append(frame)
        awaitable = _awaited_by(awaitable)
    return frames[::-1]


def awaiters(future: object) -> list[Task]:
    """Return the tasks that wait for a task or another future, directly or through futures that are not tasks."""
    tasks_waiting: dict[int, Task] = {}
    todo, identities = [future], {id(future)}
    while todo and len(identities) < limits.AWAIT_DEPTH:
        for waiting in _waiting_for(todo.pop()):
            if id(waiting) in identities:
                continue
            identities.add(id(waiting))
            if is_task(waiting):
                tasks_waiting[id(waiting)] = waiting
            else:
                todo.append(waiting)
    return list(tasks_waiting.values())


def _waiting_for(future: object) -> Iterator[object]:
    for entry in list(_read(future, "_callbacks") or ()):
        callback = entry[0] if type(entry) is tuple and entry else entry
        kind = type(callback)
        if kind is BuiltinMethodType:
            yield from filter(is_task, (callback.__self__,))
        elif kind is MethodType:
            yield from filter(is_task, (callback.__self__, _read(callback.__self__, "_parent_task")))
        elif kind is FunctionType:
            for cell in callback.__closure__ or ():
                try:
                    content = cell.cell_contents
                except ValueError:
                    continue  # empty
                if _is_future(content):
                    yield content
        else:
            yield from filter(is_task, (_read(callback, "__self__"), _read(callback, "_task")))
