"""State that adapters report by events, beside stops and output: progress, modules, sources, memory.

It is kept so that it can be shown without a request: some adapters send events about things for which they do not
answer requests. Everything that is kept is bounded.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from dapkit.client import SessionEvent
from dapkit.protocol import (
    Breakpoint,
    BreakpointEvent,
    InvalidatedEvent,
    LoadedSourceEvent,
    MemoryEvent,
    Module,
    ModuleEvent,
    ProgressEndEvent,
    ProgressStartEvent,
    ProgressUpdateEvent,
    Source,
)
from dapkit.sessions import limits


@dataclass(frozen=True, slots=True)
class ProgressReport:
    """An operation of the adapter that takes long.

    Attributes:
        percentage: from 0 to 100; None if that is not known.
        over: whether it has ended.

    """

    title: str
    message: str | None = None
    percentage: float | None = None
    over: bool = False

    def __str__(self) -> str:
        return f"{self.title}: {self.message}" if self.message else self.title


type ProgressListener = Callable[[ProgressReport], None]
"""Called with each report of progress; it takes note and returns."""


def ignore_progress(_progress: ProgressReport) -> None:
    """Ignore all progress."""


class EventState:
    """The events of the adapters of one run.

    Attributes:
        modules: those that are loaded, as far as events report them, by id.
        sources: the same for sources, by path or name.
        foreign_breakpoints: breakpoints that the adapter has set by itself, such as by a command of gdb, by id.
        memory: how many `memory` events came.
        invalidated: how many `invalidated` events came.

    """

    def __init__(self) -> None:
        self.modules: dict[int | str, Module] = {}
        self.sources: dict[str, Source] = {}
        self.foreign_breakpoints: dict[int, Breakpoint] = {}
        self.memory = 0
        self.invalidated = 0
        self._progress: dict[str, ProgressReport] = {}
        self._listeners: list[ProgressListener] = []

    @property
    def progress(self) -> tuple[ProgressReport, ...]:
        """The running operations, oldest first."""
        return tuple(self._progress.values())

    @contextmanager
    def reporting_to(self, listener: ProgressListener) -> Iterator[None]:
        """Report all progress to a listener while the block runs."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    def forget(self) -> None:
        """Begin a new run: reports of the last one do not apply to it."""
        for collection in (self.modules, self.sources, self.foreign_breakpoints, self._progress):
            collection.clear()

    def add(self, event: SessionEvent) -> None:
        """Record an event."""
        match event:
            case ModuleEvent(reason="removed", module=module):
                self.modules.pop(module.id, None)
            case ModuleEvent(module=module):
                _keep(self.modules, module.id, module)
            case LoadedSourceEvent(reason="removed", source=source):
                self.sources.pop(_name(source), None)
            case LoadedSourceEvent(source=source):
                _keep(self.sources, _name(source), source)
            case BreakpointEvent(breakpoint=Breakpoint(id=int(number)) as reported):
                self._breakpoint(event.reason, number, reported)
            case MemoryEvent():
                self.memory += 1
            case InvalidatedEvent():
                self.invalidated += 1
            case ProgressStartEvent() | ProgressUpdateEvent() | ProgressEndEvent():
                self._progressed(event)
            case _:
                pass

    def _breakpoint(self, reason: str, number: int, reported: Breakpoint) -> None:
        if reason == "removed":
            self.foreign_breakpoints.pop(number, None)
        elif reason == "new" or number in self.foreign_breakpoints:
            _keep(self.foreign_breakpoints, number, reported)

    def _progressed(self, event: ProgressStartEvent | ProgressUpdateEvent | ProgressEndEvent) -> None:
        match event:
            case ProgressStartEvent():
                now = ProgressReport(event.title, event.message, event.percentage)
                _keep(self._progress, event.progress_id, now)
            case ProgressUpdateEvent(progress_id=name) if (before := self._progress.get(name)) is not None:
                message = before.message if event.message is None else event.message
                percentage = before.percentage if event.percentage is None else event.percentage
                now = self._progress[name] = replace(before, message=message, percentage=percentage)
            case ProgressEndEvent(progress_id=name) if (before := self._progress.pop(name, None)) is not None:
                now = replace(before, message=event.message or before.message, over=True)
            case _:
                return
        for listener in self._listeners:
            listener(now)


def _keep[K, V](collection: dict[K, V], key: K, value: V) -> None:
    collection[key] = value
    if len(collection) > limits.EVENT_STATE_KEPT:
        del collection[next(iter(collection))]


def _name(source: Source) -> str:
    return source.path or source.name or f"source {source.source_reference}"
