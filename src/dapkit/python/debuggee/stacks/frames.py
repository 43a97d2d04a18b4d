"""The stacks of threads and suspended tasks, stopped or running, as `stackTrace` shows them.

Frames of this package are never shown: they lie at the bottom of the main thread, and on
top of one that is just being stopped. Frames of the machinery of imports and of `runpy` are left out unless the client
asks for all. Where a coroutine of an asyncio task ends, a label follows, and the frames of the task that awaits it, and
so on to the task that no other awaits. Of each frame, its details are the address and columns of its instruction, and
whether it can be restarted.
"""

from collections.abc import Callable, Iterator
from itertools import islice, repeat
from types import CodeType, FrameType

from ..bytecode.instructions import Addresses
from ..bytecode.positions import span_at
from ..bytecode.texts import ProgramTexts
from ..bytecode.tree_places import Span
from ..connection.framing import Json
from ..execution import jumps
from ..execution.arguments import KnownArguments
from ..execution.parked_thread import FrameLabel, ParkedThread, StackEntry
from ..execution.stops import Stops
from ..interpreter import limits
from ..interpreter.frame_views import virtual_frame_of
from ..interpreter.gc_tracking import untrack
from ..sources.files import OURS, Sources
from ..sources.modules import ModuleTable
from ..sources.source_contents import ShownSources
from ..threads import greenlets, tasks
from ..values.references import ObjectReferences
from ..values.variables import ShownFrame


class FrameDetails:
    """Makes those fields of stack frames."""

    def __init__(self, addresses: Addresses, texts: ProgramTexts, stops: Stops, arguments: KnownArguments) -> None:
        self._addresses = addresses
        self._texts = texts
        self._stops = stops
        self._arguments = arguments
        self._spans: dict[int, Span | None] = {}  # by address, which always belongs to one instruction

    def of(self, frame: FrameType) -> Json:
        """Return the fields of one frame."""
        offset = max(frame.f_lasti, 0)
        address = self._addresses.of(frame.f_code, offset)
        parked = next((candidate for candidate in list(self._stops.parked.values()) if candidate.shown is frame), None)
        fields: Json = {"instructionPointerReference": hex(address), "canRestart": False}
        if self._stops.history is not None:
            fields["canRestart"] = True  # it is shown where it began
        elif parked is not None:
            fields["canRestart"] = not jumps.objection(parked, frame) and not jumps.restart_objection(
                frame, self._arguments
            )
        if parked is not None and parked.columns is not None and parked.columns[0] == frame.f_lasti:
            fields |= parked.columns[1]
        elif parked is None or not parked.at_line:  # at the beginning of a line the whole line is meant
            fields |= self._columns(frame, address, offset)
        return fields

    def _columns(self, frame: FrameType, address: int, offset: int) -> Json:
        """Return where in its line a frame is: at a call, in all but the newest."""
        if address not in self._spans:
            if len(self._spans) >= limits.SPANS:
                self._spans.clear()
            self._spans[address] = span_at(frame.f_code, offset)
        span = self._spans[address]
        text = self._texts.of_code(frame.f_code)
        if span is None or text is None or span.line != frame.f_lineno or span.end_line < span.line:
            return {}
        return {
            "column": text.shown_column(span.line, span.column),
            "endLine": span.end_line,
            "endColumn": text.shown_column(span.end_line, span.end_column),
        }


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
        shown_sources: ShownSources,
        details: FrameDetails,
    ) -> None:
        self._sources = sources
        self._references = references
        self._modules = modules
        self._shown = shown_sources
        self._numbers: dict[tuple[int, int], int] = {}
        self._stop = -1
        self._details = details

    # Which frames there are

    def of_running(self, newest: FrameType | None, *, whole: bool = False) -> "StackEntries":
        """Return the frames of a stack that may be changing."""
        entries: list[StackEntry] = [(frame, 0) for frame in self._walk(newest, whole=whole)]
        return StackEntries.of(_with_awaiters(entries))

    def of_parked(self, parked: ParkedThread, *, whole: bool = False) -> "StackEntries":
        """Return the frames of a thread that is stopped. They are counted once in each stop."""
        stop = self._references.stop
        depth, total = parked.counted.get(whole, (-1, -1))

        def count(total: int) -> None:
            parked.counted[whole] = untrack((stop, total))

        return StackEntries(lambda: self._look(parked, whole=whole), total if depth == stop else -1, count)

    def _look(self, parked: ParkedThread, *, whole: bool) -> Iterator[StackEntry]:
        if parked.trail is None:
            return self._look_from(parked.shown, whole=whole)
        older = parked.trail[-1][0].f_back if parked.trail else parked.shown
        entries: list[StackEntry] = [(frame, 0) for frame in self._walk(older, whole=whole)]
        return iter(_with_awaiters([*parked.trail, *entries]))

    def _look_from(self, newest: FrameType, *, whole: bool) -> Iterator[StackEntry]:
        outermost = [(tasks.outermost_frame(task), task) for task in tasks.current_tasks()]
        frames = self._walk(newest, whole=whole)
        return self._with_labels(frames, outermost) if outermost else zip(frames, repeat(0))

    @staticmethod
    def _with_labels(
        frames: Iterator[FrameType], outermost: list[tuple[FrameType | None, tasks.Task]]
    ) -> Iterator[StackEntry]:
        """Put the tasks that await the running one below its outermost frame."""
        for frame in frames:
            yield frame, 0
            for last, task in outermost:
                if frame is last:
                    yield from _below(task)
                    outermost = []
                    break

    def of_task(self, task: tasks.Task) -> "StackEntries":
        """Return the frames of a suspended task, and of the tasks that await it.

        Or the frames of a suspended greenlet.
        """
        if greenlets.is_greenlet(task):
            return self.of_running(greenlets.newest_frame(task))
        entries: list[StackEntry] = [(frame, 0) for frame in tasks.suspended_frames(task)]
        return StackEntries.of([*entries, *_below(task)])

    def _walk(self, newest: FrameType | None, *, whole: bool) -> Iterator[FrameType]:
        """Go through the program's frames of a stack, from the newest."""
        sources = self._sources
        last: CodeType | None = None
        is_shown = False
        while newest is not None:
            code = newest.f_code
            if code is not last:  # in a deep recursion it mostly is
                last = code
                is_shown = sources.kind(code.co_filename) != OURS and (whole or not sources.hides(newest))
            if is_shown:
                yield newest
            newest = newest.f_back

    # The report about them

    def page(
        self, entries: "StackEntries", ident: int, *, start: int, levels: int, stopped: bool, naming: Naming
    ) -> Json:
        """Return the body of `stackTrace`; 0 levels are all."""
        self._begin_stop()
        self._modules.look()
        self._shown.look()
        rows: list[Json] = []
        for what, at in entries.page(start, levels):
            if isinstance(what, FrameLabel):
                number = self._references.add(what, ident) if stopped else self._references.passing()
                rows.append({"id": number, "name": what.text, "line": 0, "column": 0, "presentationHint": "label"})
                continue
            line = at or what.f_lineno or what.f_code.co_firstlineno
            number = self._number(what, line, ident) if stopped else self._references.passing()
            rows.append(self._describe(what, line, number, naming))
        return {"stackFrames": rows, "totalFrames": entries.count()}

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
        view = virtual_frame_of(frame, line)
        line = line if view is None else view.line
        described: Json = {
            "id": number,
            "name": naming(frame, line),
            "line": line,
            "column": 1,
            "source": self._shown.source_of(frame.f_code, frame, view),
        }
        if view is None:
            described |= self._details.of(frame)
        module = self._modules.number_of(frame) if view is None else None
        if module is not None:
            described["moduleId"] = module
        if self._sources.subdues(self._sources.kind_of(frame)):
            described["presentationHint"] = "subtle"
        return described


class StackEntries:
    """The entries of a stack, looked for when they are asked for: a deep stack has many, of which few are shown."""

    def __init__(
        self,
        look: Callable[[], Iterator[StackEntry]],
        total: int = -1,
        counted: Callable[[int], None] = lambda _total: None,
    ) -> None:
        """Take the function that finds them, their number if it is known, and the function that notes the number."""
        self._look = look
        self._total = total
        self._counted = counted

    @classmethod
    def of(cls, entries: list[StackEntry]) -> "StackEntries":
        """Take entries that were found."""
        return cls(lambda: iter(entries), len(entries))

    def __iter__(self) -> Iterator[StackEntry]:
        return self._look()

    def page(self, start: int, levels: int) -> list[StackEntry]:
        """Return so many entries, 0 for all, from one on."""
        return list(islice(self._look(), start, start + levels if levels else None))

    def count(self) -> int:
        """Return how many there are."""
        if self._total < 0:
            total = 0
            for total, _ in enumerate(self._look(), 1):  # noqa: B007 - which is intended
                pass
            self._total = total
            self._counted(self._total)
        return self._total


def _with_awaiters(entries: list[StackEntry]) -> list[StackEntry]:
    """Put the tasks that await the running one below its outermost frame."""
    for task in tasks.current_tasks():
        outermost = tasks.outermost_frame(task)
        places = [at for at, (frame, _) in enumerate(entries, 1) if frame is outermost]
        if places:  # twice where it raises an exception again
            return [*entries[: places[-1]], *_below(task), *entries[places[-1] :]]
    return entries


def frames_only(entries: StackEntries) -> Iterator[tuple[FrameType, int]]:
    """Leave the labels out, and fill in the lines."""
    for what, line in entries:
        if not isinstance(what, FrameLabel):
            yield what, line or what.f_lineno or what.f_code.co_firstlineno


def _below(task: tasks.Task) -> list[StackEntry]:
    """Return the frames below the outermost frame of a task."""
    entries: list[StackEntry] = []
    identities: set[int] = set()
    while id(task) not in identities and len(identities) < limits.AWAIT_DEPTH:
        identities.add(id(task))
        waiting = tasks.awaiters(task)
        if not waiting:
            entries.append((FrameLabel(f"[{tasks.name(task)}]"), 0))
            break
        more = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
        entries.append((FrameLabel(f"[{tasks.name(task)}, awaited by {tasks.name(waiting[0])}{more}]"), 0))
        task = waiting[0]
        if id(task) not in identities:
            entries += [(frame, 0) for frame in tasks.suspended_frames(task)]
    return entries
