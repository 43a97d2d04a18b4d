"""Threads of the program, and suspended asyncio tasks: small stable numbers, names, coming and going.

Threads that `threading` starts are reported as they start and end. All others (of `_thread`, of native
code that calls Python) are reported when they are first seen, which is at the first code that no thread has run
before, where starts of code are watched, or when the client looks, and when they are found gone.
While the threads of an event loop stand still, its suspended tasks are listed after the threads, so that
one can see where each waits; they continue with the thread of their loop.

The link's own thread is never among them, nor are threads that carry the mark by which a program says that no debugger
is to stop them: `pydev_do_not_trace`, which Jupyter's kernel gives those through which its client talks to it.
Names are read from `threading` where the program has imported it; this module never imports it, since the thread that
does so first becomes its main thread.
"""

import _thread
import sys
from _weakref import ref
from collections.abc import Callable
from types import FrameType

from ..connection import current_engine
from ..connection.framing import Json
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..interpreter.safe_types import namespace, plain_text
from ..interpreter.thread_frames import newest_frames
from . import greenlets, tasks

EXEMPT_MARK = "pydev_do_not_trace"
"""The attribute of a `threading.Thread`; the name is debugpy's."""
MAIN = 1
ALL_THREADS = -1
"""The id for all threads in a request whose client has named no thread."""

type Report = Callable[[str, Json], None]


class ThreadTable:
    """The program's threads by number.

    Invariant: a number is never given twice; the main thread has number 1. `main` and `link` are
    identities of the operating system, as `threading.get_ident` gives them.
    """

    def __init__(self, main: int, report: Report) -> None:
        self.main = main
        self.link = 0
        self.exempt: frozenset[int] = frozenset()
        """Threads that carry the mark, as of the last look."""
        self._report = report
        self._numbers = {main: MAIN}
        self._ended: set[int] = set()  # reported to have ended, but perhaps not quite gone
        self._last = MAIN
        self._tasks: dict[int, tuple[ref[tasks.Task], int]] = {}  # by id of the task

    def number(self, ident: int) -> int:
        """Return the number of a thread, a new one for a new thread, which is reported."""
        thread_number = self._numbers.get(ident)
        if thread_number is not None:
            return thread_number
        self._last += 1
        new_number = self._numbers.setdefault(ident, self._last)
        if new_number == self._last:
            self._report("thread", {"reason": "started", "threadId": new_number})
        return new_number

    def knows(self, ident: int) -> bool:
        """Return whether a thread has a number."""
        return ident in self._numbers or ident == self.link or ident in self.exempt

    def ident(self, number: object, frames: dict[int, FrameType] | None = None) -> int:
        """Return the identity of a living thread, among those in `frames` if they were read already.

        Raises:
            RequestRefused: if no thread has this number.

        """
        frames = self.frames() if frames is None else frames
        thread_ident = self._with_number(number, frames)
        if thread_ident is None:
            numbers = sorted(map(self.number, frames))  # some are seen for the first time
            thread_ident = self._with_number(number, frames)
            if thread_ident is None:
                raise RequestRefused(f"there is no thread {number!r}; there are {numbers}")
        return thread_ident

    def _with_number(self, number: object, frames: dict[int, FrameType]) -> int | None:
        for ident, thread_number in list(self._numbers.items()):
            if thread_number == number and type(number) is int and ident in frames:
                return ident
        return None

    def task(self, number: object) -> tasks.Task | greenlets.Greenlet | None:
        """Return the suspended task or greenlet of a number, None if it is of none, or of one that has ended."""
        for task_ref, task_number in self._tasks.values():
            if task_number == number and type(number) is int:
                return task_ref()
        return None

    def of_task(self, task: tasks.Task) -> int:
        """Return the identity of the thread that runs a task; requests for a greenlet go to the main one."""
        return self.main if greenlets.is_greenlet(task) else tasks.thread_of(task)

    def began(self, ident: int) -> None:
        """Record that `threading` has started a thread, and report it."""
        self._ended.discard(ident)
        if not self.is_exempt(ident):
            self.number(ident)

    def ended(self, ident: int) -> None:
        """Record that a thread is ending, and report it."""
        self._ended.add(ident)
        self._forget(ident)

    def _forget(self, ident: int) -> None:
        if ident != self.main and ident in self._numbers:
            self._report("thread", {"reason": "exited", "threadId": self._numbers.pop(ident)})

    def frames(self) -> dict[int, FrameType]:
        """Return the newest frame of every thread of the program, by identity."""
        frames = newest_frames()
        for ident in {self.link, *self.exempt} - {self.main}:
            frames.pop(ident, None)
        for ident in list(self._ended):
            frame = frames.get(ident)
            if frame is not None and _oldest(frame).f_code.co_name == "_bootstrap":
                del frames[ident]
            else:
                self._ended.discard(ident)  # gone, or another thread by now
        return frames

    def look_for_marks(self) -> frozenset[int]:
        """Return the threads that no debugger is to stop: marked ones but for the main one, and those that asked."""
        marked = (ident for ident, thread in dict(_known_threads()).items() if _is_marked(thread))
        self.exempt = frozenset(ident for ident in marked if ident != self.main) | current_engine.untraced
        return self.exempt

    def is_exempt(self, ident: int) -> bool:
        """Look whether one thread is among them, which is no more work among many threads."""
        if ident not in current_engine.untraced and (ident == self.main or not _is_marked(_known_threads().get(ident))):
            return False
        self.exempt |= {ident}
        return True

    def alone(self) -> bool:
        """Return whether the program has only one thread."""
        # _count includes the link's thread, and threads that have no frame yet.
        return _thread._count() <= 1 and len(self.frames()) <= 1

    def look(self) -> dict[int, FrameType]:
        """Report threads that started and ended unseen; return the result of `frames`."""
        self.look_for_marks()
        frames = self.frames()
        for ended in [ident for ident in self._numbers if ident not in frames]:
            self._forget(ended)
        for ident in frames:
            self.number(ident)
        return frames

    def listing(self, stands: Callable[[int], bool], shows: Callable[[FrameType], bool]) -> list[Json]:
        """Return the body of the `threads` response.

        `stands` says whether a thread has to stand still, `shows` whether the client wants to see a frame.
        """
        numbered = sorted((self.number(ident), ident) for ident in self.look())
        listed: list[Json] = [{"id": number, "name": self.name(ident)} for number, ident in numbered]
        waiting = greenlets.suspended() if all(stands(ident) for _, ident in numbered) else []
        return listed + self._suspended(stands, [row for one in waiting if (row := _named(one, shows))])

    def _suspended(self, stands: Callable[[int], bool], others: list[tuple[greenlets.Greenlet, str]]) -> list[Json]:
        running = {id(task) for task in tasks.current_tasks()}
        waiting = [task for task in tasks.all_tasks() if id(task) not in running and stands(tasks.thread_of(task))]
        living = {id(task) for task in [*waiting, *(greenlet for greenlet, _ in others)]}
        self._tasks = {key: entry for key, entry in self._tasks.items() if key in living and entry[0]() is not None}
        listed: list[Json] = []
        for task in waiting[: limits.TASKS_LISTED]:
            frame = tasks.outermost_frame(task)
            what = f": {frame.f_code.co_qualname}" if frame is not None else ""
            listed.append({"id": self._task_number(task), "name": f"{tasks.name(task)} (suspended{what})"})
        if len(waiting) > len(listed):
            listed[-1]["name"] = f"{listed[-1]['name']} and {len(waiting) - len(listed):,} more tasks"
        rows = sorted((self._task_number(greenlet), name) for greenlet, name in others)
        listed += [{"id": number, "name": name} for number, name in rows[: limits.TASKS_LISTED]]
        return listed

    def _task_number(self, task: tasks.Task) -> int:
        entry = self._tasks.get(id(task))
        if entry is None or entry[0]() is not task:
            self._last += 1
            entry = self._tasks[id(task)] = (ref(task), self._last)
        return entry[1]

    def name(self, ident: int) -> str:
        """Return the name that `threading` knows, or one made of the number."""
        name = plain_text(
            namespace(_known_threads().get(ident)).get("_name")
        )  # `name` may be overridden by the program
        if name:
            return name
        return "MainThread" if ident == self.main else f"Thread {self.number(ident)}"


def _known_threads() -> dict[int, object]:
    """Return the table of threads of `threading`, by identity: threads come and go in it meanwhile."""
    threads = namespace(sys.modules.get("threading")).get("_active")
    return threads if type(threads) is dict else {}


def _is_marked(thread: object) -> bool:
    return thread is not None and namespace(thread).get(EXEMPT_MARK) is True


def _named(greenlet: greenlets.Greenlet, shows: Callable[[FrameType], bool]) -> tuple[greenlets.Greenlet, str] | None:
    """Return a greenlet and its name, after the oldest function that is shown; None if none of its functions is."""
    name, frame = None, greenlets.newest_frame(greenlet)
    while frame is not None:
        if shows(frame):
            name = frame
        frame = frame.f_back
    return None if name is None else (greenlet, f"greenlet (suspended: {name.f_code.co_qualname})")


def _oldest(frame: FrameType) -> FrameType:
    while frame.f_back is not None:
        frame = frame.f_back
    return frame
