"""Entries of dicts, by watchers of the native part: unrelated code runs at full speed.

A watcher only takes notes, and switches INSTRUCTION events on in the code object that is writing
(`native/watch.c`). So the notes are read at the next instruction of the frame that wrote. Notes of other
threads wait until those get there, and their code keeps its events until then.
"""

from collections.abc import Container
from types import CodeType
from typing import Final

from ..execution.monitor import EVENTS
from ..interpreter import native
from ..interpreter.thread_checks import under_lock
from ..interpreter.thread_frames import newest_frames
from .targets import MISSING, WRITE, DataAccess, Entry, ObjectEntry, WatchTarget
from .tool import INSTRUCTION, WatchTool

_ARMED: Final = INSTRUCTION | EVENTS.LINE | EVENTS.JUMP | EVENTS.PY_RETURN | EVENTS.PY_YIELD
"""Instructions, and all that the code may have been watched for anyway."""


class _Watch:
    """An entry, and the dict that it is watched in, by its identity: a watch does not keep it alive."""

    __slots__ = ("entry", "holder", "target")

    def __init__(self, target: WatchTarget, entry: Entry, holder: int) -> None:
        self.target = target
        self.entry = entry
        self.holder = holder


class EntryWatches:
    """The watched entries.

    Invariant: while a note is not read, the code object that made it is in `armed`, and has INSTRUCTION events
    on. The watcher adds to `armed`.
    """

    def __init__(self, tool: WatchTool) -> None:
        self._tool = tool
        self._watches: dict[int, _Watch] = {}  # by number
        self._unread: dict[int, dict[int, tuple[object, object]]] = {}  # (old, new) by thread and number of the watch
        self.armed: list[CodeType] = []
        """Code objects that are about to reach an instruction after a write; never replaced by another list."""

    @under_lock
    def set(self, targets: list[tuple[WatchTarget, Entry]]) -> list[tuple[WatchTarget, Entry]]:
        """Watch these entries; return those that must be polled instead.

        Writes of other threads to entries that were watched before are kept.
        """
        if not native.CAN_WATCH:
            return targets
        self.read_notes()
        for number, watch in list(self._watches.items()):
            if (watch.target, watch.entry) not in targets:
                del self._watches[number]
                native.unwatch(number)
        present = [(watch.target, watch.entry) for watch in self._watches.values()]
        polled = [pair for pair in targets if pair not in present and not self._watch(*pair)]
        if self._watches:
            native.arm_writers(self._tool.number, _ARMED, self.armed)
        else:
            self.clear()
        return polled

    @property
    def are_watched(self) -> bool:
        """Return whether there are any."""
        return bool(self._watches)

    def _watch(self, target: WatchTarget, entry: Entry) -> bool:
        # The new `__dict__` that instances need on 3.13.0 would not be the one that the program already has.
        if native.INLINE_VALUES_ARE_SILENT and isinstance(entry, ObjectEntry) and entry.is_shared():
            return False
        holder = entry.holder()
        numbers = [number for number, watch in self._watches.items() if watch.holder == id(holder)]
        if not any(map(native.is_alive, numbers)):
            holder = entry.watched_holder()
        if holder is None:
            return False
        try:
            number = native.watch(holder, entry.key)
        except TypeError:
            return False
        self._watches[number] = _Watch(target, entry, id(holder))
        return True

    def clear(self) -> None:
        """Watch nothing, and forget the notes."""
        if native.CAN_WATCH:
            native.unwatch_all()
        self._watches.clear()
        self._unread.clear()
        for code in self.armed:
            self._tool.settle(code)
        self.armed.clear()

    @under_lock
    def arrive(self, ident: int) -> tuple[list[DataAccess], list[WatchTarget]]:
        """Return the writes of a thread, and the ended targets, at the next instruction of the writing frame."""
        self.read_notes()
        writes = self._unread.pop(ident, {})
        alive = newest_frames() if self._unread else {}
        for other in [other for other in self._unread if other not in alive]:
            del self._unread[other]
        self._disarm()
        return self._accesses(writes)

    def _disarm(self) -> None:
        """Set the events of the code that wrote back, once all that it wrote has been seen."""
        while not self._unread and not native.disarm_writers(self._tool.local):
            self.read_notes()

    @under_lock
    def read_notes(self, *, but_of: Container[int] = ()) -> None:
        """Take the notes from the watcher, and put them in order, except the notes of some threads."""
        if not self._watches:
            return
        notes, dropped = native.drain()
        for number, ident, old, new in notes:
            if ident in but_of:
                continue
            mine = self._unread.setdefault(ident, {})
            mine[number] = (mine[number][0] if number in mine else old, new)
        if dropped:  # one call wrote very often; its last write can be seen
            for writes in self._unread.values():
                for number, (old, _) in list(writes.items()):
                    if number in self._watches:
                        writes[number] = (old, self._watches[number].entry.read())

    def _accesses(self, writes: dict[int, tuple[object, object]]) -> tuple[list[DataAccess], list[WatchTarget]]:
        accesses: list[DataAccess] = []
        ended: list[WatchTarget] = []
        for number, (old, new) in writes.items():
            watch = self._watches.get(number)
            if watch is None:
                continue
            value = new
            if not native.is_alive(number):
                again = self._watch_again(number, watch)
                if again is MISSING:
                    ended.append(watch.target)
                    continue
                value = watch.entry.read()
            if value is not old:
                accesses.append(DataAccess(watch.target, watch.entry, WRITE, old, value))
        return accesses, ended

    def _watch_again(self, number: int, watch: _Watch) -> object:
        """Watch the dict that an object has now; return MISSING if the object is gone."""
        del self._watches[number]
        native.unwatch(number)
        return None if self._watch(watch.target, watch.entry) else MISSING

    @under_lock
    def refresh(self, standing: Container[int]) -> list[WatchTarget]:
        """Forget the writes of stopped threads since `read_notes`; return the targets that are gone."""
        if self._watches:
            self.read_notes(but_of=standing)
            self._disarm()
        gone_targets: list[WatchTarget] = []
        for number, watch in list(self._watches.items()):
            holder = watch.entry.holder()
            replaced = holder is None or id(holder) != watch.holder or not native.is_alive(number)
            if replaced and self._watch_again(number, watch) is MISSING:
                gone_targets.append(watch.target)
        return gone_targets
