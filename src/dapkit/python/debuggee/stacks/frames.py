"""The stacks of threads and suspended tasks, stopped or running, as `stackTrace` shows them.

Frames of this package are never shown: they lie at the bottom of the main thread, and on
top of one that is just being stopped. Those of the machinery of imports and of `runpy` are left out
unless the client asks for all. Where a coroutine of an asyncio task ends, a label follows, and the
frames of the task that awaits it, and so on to the task that no other awaits.
"""

from collections.abc import Callable, Iterator
from types import FrameType

from .. import limits
from ..connection.wire import Json
from ..execution.parked import FrameLabel, ParkedThread, StackEntry
from ..hidden import hide
from ..sources.files import OURS, Sources
from ..sources.modules import ModuleTable
from ..sources.shown import ShownSources
from ..threads import tasks
from ..values.references import ObjectReferences
from ..values.variables import ShownFrame
from .details import FrameDetails

type Naming = Callable[[FrameType, int], str]
"""Makes the name of a frame, given its line."""


class Stacks:
    """Makes the bodies of `stackTrace`.

    Invariant: within one stop, a frame has the same number in every answer.
    """

    def __init__(
        self,
        sources: Sources,
        references: ObjectReferences,
        modules: ModuleTable,
        shown: ShownSources,
        details: FrameDetails,
    ) -> None:
        self._sources = sources
        self._references = references
        self._modules = modules
        self._shown = shown
        self._numbers: dict[tuple[int, int], int] = {}
        self._stop = -1
        self._details = details

    # Which frames there are

    def of_running(self, newest: FrameType | None, *, whole: bool = False) -> list[StackEntry]:
        """Return the frames of a stack that may be changing."""
        return self._with_awaiters(self._walk(newest, whole=whole))

    def of_parked(self, parked: ParkedThread, *, whole: bool = False) -> list[StackEntry]:
        """Return the frames of a thread that stands still. They are looked for once in each stop."""
        stop = self._references.stop
        known = parked.entries.get(whole)
        if known is None or known[0] != stop:
            entries = self._of_parked(parked, whole=whole)
            known = parked.entries[whole] = hide((stop, hide([hide(entry) for entry in entries])))
        return known[1]

    def _of_parked(self, parked: ParkedThread, *, whole: bool) -> list[StackEntry]:
        if parked.trail is None:
            return self._with_awaiters(self._walk(parked.shown, whole=whole))
        older = parked.trail[-1][0].f_back if parked.trail else parked.shown
        return self._with_awaiters([*parked.trail, *self._walk(older, whole=whole)])

    def of_task(self, task: tasks.Task) -> list[StackEntry]:
        """Return the frames of a suspended task, and of those that await it."""
        shown: list[StackEntry] = [(frame, 0) for frame in tasks.suspended_frames(task)]
        shown += _below(task)
        return shown

    def _walk(self, newest: FrameType | None, *, whole: bool) -> list[StackEntry]:
        """Return the program's frames of a stack, from the newest."""
        found: list[StackEntry] = []
        sources = self._sources
        while newest is not None:
            if sources.kind(newest.f_code.co_filename) != OURS and (whole or not sources.hides(newest)):
                found.append((newest, 0))
            newest = newest.f_back
        return found

    @staticmethod
    def _with_awaiters(found: list[StackEntry]) -> list[StackEntry]:
        """Put the tasks that await the running one below its outermost frame."""
        for task in tasks.current_tasks():
            outermost = tasks.outermost_frame(task)
            places = [at for at, (frame, _) in enumerate(found, 1) if frame is outermost]
            if places:  # twice where it raises an exception again
                return [*found[: places[-1]], *_below(task), *found[places[-1] :]]
        return found

    # What is reported about them

    def page(
        self, entries: list[StackEntry], ident: int, *, start: int, levels: int, stopped: bool, naming: Naming
    ) -> Json:
        """Return the body of `stackTrace`; 0 levels are all."""
        self._begin_stop()
        self._modules.look()
        self._shown.look()
        chosen = entries[start : start + levels] if levels else entries[start:]
        shown: list[Json] = []
        for what, at in chosen:
            if isinstance(what, FrameLabel):
                number = self._references.add(what, ident) if stopped else self._references.passing()
                shown.append({"id": number, "name": what.text, "line": 0, "column": 0, "presentationHint": "label"})
                continue
            line = at or what.f_lineno or what.f_code.co_firstlineno
            number = self._number(what, line, ident) if stopped else self._references.passing()
            shown.append(self._describe(what, line, number, naming))
        return {"stackFrames": shown, "totalFrames": len(entries)}

    def _begin_stop(self) -> None:
        if self._stop != self._references.stop:
            self._stop = self._references.stop
            self._numbers = {}

    def _number(self, frame: FrameType, line: int, ident: int) -> int:
        number = self._numbers.get((id(frame), line))
        if number is None:
            number = self._numbers[(id(frame), line)] = self._references.add(ShownFrame(frame, line, ident), ident)
        return number

    def _describe(self, frame: FrameType, line: int, number: int, naming: Naming) -> Json:
        code = frame.f_code
        described: Json = {
            "id": number,
            "name": naming(frame, line),
            "line": line,
            "column": 1,
            "source": self._shown.source_of(code, frame),
        }
        described |= self._details.of(frame)
        module = self._modules.number_of(frame)
        if module is not None:
            described["moduleId"] = module
        if self._sources.subdues(self._sources.kind_of(frame)):
            described["presentationHint"] = "subtle"
        return described


def frames_only(entries: list[StackEntry]) -> Iterator[tuple[FrameType, int]]:
    """Leave the labels out, and fill in the lines."""
    for what, line in entries:
        if not isinstance(what, FrameLabel):
            yield what, line or what.f_lineno or what.f_code.co_firstlineno


def _below(task: tasks.Task) -> list[StackEntry]:
    """Return what follows below the outermost frame of a task."""
    shown: list[StackEntry] = []
    seen: set[int] = set()
    while id(task) not in seen and len(seen) < limits.AWAIT_DEPTH:
        seen.add(id(task))
        waiting = tasks.awaiters(task)
        if not waiting:
            shown.append((FrameLabel(f"[{tasks.name(task)}]"), 0))
            break
        more = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
        shown.append((FrameLabel(f"[{tasks.name(task)}, awaited by {tasks.name(waiting[0])}{more}]"), 0))
        task = waiting[0]
        if id(task) not in seen:
            shown += [(frame, 0) for frame in tasks.suspended_frames(task)]
    return shown
