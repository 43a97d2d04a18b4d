"""Writes the stacks (3.15) and the asyncio tasks (3.14, 3.15) of a process as JSON; an interpreter runs it as a script.

The interpreter must be of the minor version of the process. `profiling.sampling` and `asyncio.tools` use
`_remote_debugging` too. Neither has JSON for a single reading, and the module is not a documented one: so only versions
that were tested are read, and fields are taken by their names, of which one that is missing is an error.

Usage: `python -I -S unwinder_script.py PID [nonblocking]`. The answer has `tasks`, and of 3.15 `threads`; an unreadable
part is None, with the reason in `reasons`.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

_IS_3_14 = sys.version_info[:2] == (3, 14)
_ATTEMPTS = 10
_BOTH_STATES = 3
"""Mode in which the status of a thread has both the lock of the interpreter and the processor (PROFILING_MODE_ALL)."""


def answer(pid: int, *, blocking: bool) -> dict[str, Any]:
    """Read a process."""
    if sys.version_info[:2] not in ((3, 14), (3, 15)):
        version = ".".join(map(str, sys.version_info[:2]))
        return _refusal(f"the _remote_debugging of Python {version} was not tested")
    try:
        import _remote_debugging as remote  # type: ignore[import-not-found] # not in all versions
    except ImportError as error:
        return _refusal(f"{sys.executable} has no _remote_debugging: {error}")
    options = {} if _IS_3_14 else {"mode": _BOTH_STATES, "skip_non_matching_threads": False}
    reasons: dict[str, str] = {}
    try:
        unwinder = remote.RemoteUnwinder(pid, all_threads=True, **options)
    except (RuntimeError, OSError, TypeError) as error:
        return _refusal(str(error))
    result: dict[str, Any] = {"threads": None, "tasks": None, "reasons": reasons}
    if not _IS_3_14:
        on_processor = _attempt(lambda: _on_processor(unwinder, remote), {}, "") or set()
        blocking = blocking and _attempt(unwinder.pause_threads, {}, "") is True
        read_threads = lambda: [*_threads(unwinder, remote, on_processor)]  # noqa: E731
        result["threads"] = _attempt(read_threads, reasons, "threads")
    result["tasks"] = _attempt(lambda: [*_tasks(unwinder)], reasons, "tasks")
    if not _IS_3_14 and blocking:
        unwinder.resume_threads()  # as would the end of this process
    return result


def _refusal(reason: str) -> dict[str, Any]:
    return {"threads": None, "tasks": None, "reasons": {"threads": reason, "tasks": reason}}


def _attempt[T](read_part: Callable[[], T], reasons: dict[str, str], part: str) -> T | None:
    """Read until it is possible: the process may run, and change the data meanwhile."""
    for _ in range(_ATTEMPTS):
        try:
            result = read_part()
        except (AttributeError, TypeError) as error:
            reasons[part] = f"_remote_debugging answers in another way than in the version that was tested: {error}"
            break
        except (RuntimeError, OSError, MemoryError, UnicodeDecodeError) as error:
            reasons[part] = str(error)
        else:
            reasons.pop(part, None)
            return result
    return None


def _on_processor(unwinder: Any, remote: Any) -> set[int]:  # noqa: ANN401 - their types belong to another version
    """Return the threads that use a processor, which is seen of those that are not paused."""
    return {
        thread.thread_id
        for interpreter in unwinder.get_stack_trace()
        for thread in interpreter.threads
        if thread.status & remote.THREAD_STATUS_ON_CPU
    }


def _threads(unwinder: Any, remote: Any, on_processor: set[int]) -> Any:  # noqa: ANN401 - as above
    for interpreter in unwinder.get_stack_trace():
        for thread in interpreter.threads:
            has_interpreter = bool(thread.status & remote.THREAD_STATUS_HAS_GIL)
            yield {
                "number": thread.thread_id,
                "running": has_interpreter or thread.thread_id in on_processor,
                "has_interpreter": has_interpreter,
                "stack": [_frame(frame) for frame in thread.frame_info if frame.filename != "~"],
            }


def _tasks(unwinder: Any) -> Any:  # noqa: ANN401 - as above
    running = {thread.awaited_by[0].task_id for thread in unwinder.get_async_stack_trace() if thread.awaited_by}
    for thread in unwinder.get_all_awaited_by():
        for task in thread.awaited_by:
            yield {
                "number": task.task_id,
                "name": task.task_name,
                "thread": thread.thread_id,
                "running": task.task_id in running,
                "stack": [_frame(frame) for coroutine in task.coroutine_stack for frame in coroutine.call_stack],
                "awaited_by": [waiting.task_name for waiting in task.awaited_by],
            }


def _frame(frame: Any) -> tuple[str, int, str]:  # noqa: ANN401 - as above
    if _IS_3_14:
        return frame.filename, frame.lineno or 0, frame.funcname
    return frame.filename, 0 if frame.location is None else frame.location.lineno, frame.funcname


if __name__ == "__main__":
    json.dump(answer(int(sys.argv[1]), blocking=len(sys.argv) < 3), sys.stdout)
