"""Variables of functions, and reads of global ones: watched at the instructions that name them.

INSTRUCTION events are on in few code objects, and DISABLEd at all other instructions, so that only the watched
name costs anything.
"""

from types import CodeType, FrameType
from typing import Final

from ..execution.monitor import EVENTS
from .name_offsets import reads_of_global, sites_of_variable
from .targets import MISSING, READ, WRITE, Cell, DataAccess, Local, Reads, WatchTarget
from .tool import INSTRUCTION, WatchTool

_OWNER: Final = "names"


class _Spot:
    """The test to make when an instruction is reached."""

    __slots__ = ("kind", "watch")

    def __init__(self, watch: "_Watch", kind: str) -> None:
        self.watch = watch
        self.kind = kind


class _Watch:
    """A place, and the value it had when it was last looked at."""

    __slots__ = ("kept", "place", "seen", "target")

    def __init__(self, target: WatchTarget, place: Local | Cell | Reads) -> None:
        self.target = target
        self.place = place
        self.seen: object = MISSING if isinstance(place, Reads) else place.read()
        self.kept = self.seen

    def look(self, frame: FrameType, kind: str) -> DataAccess | None:
        """Return the change in a frame, None if it is another variable of that name, or was not changed."""
        place = self.place
        if isinstance(place, Reads):
            if frame.f_globals is not place.namespace or _is_hidden(frame, place.name):
                return None
            value = place.namespace.get(place.name, MISSING)
            return None if value is MISSING else DataAccess(self.target, place, READ, value, value)
        if isinstance(place, Local) and place.frame is not frame:
            return None
        value, before = place.read(), self.seen
        if kind == READ:
            return None if value is MISSING else DataAccess(self.target, place, READ, value, value)
        if value is before:
            return None
        self.seen = value
        return DataAccess(self.target, place, WRITE, before, value)


class NameWatches:
    """The watched names.

    Invariant: `spots` has an entry for each code object that INSTRUCTION events are on for our own sake.
    """

    def __init__(self, tool: WatchTool) -> None:
        self._tool = tool
        self._watches: list[_Watch] = []
        self.spots: dict[int, dict[int, list[_Spot]]] = {}
        """By identity of the code object and offset; never replaced by another dict."""
        self._codes: dict[int, CodeType] = {}

    def set(self, targets: list[tuple[WatchTarget, bool, bool]]) -> None:
        """Watch these targets, each with whether to report writes and reads."""
        for code in self._codes.values():
            self._tool.want(code, _OWNER, 0)
        self.spots.clear()
        self._codes.clear()
        self._watches = []
        for target, writes, reads in targets:
            for place in target.places:
                if isinstance(place, Local | Cell):
                    watch = _Watch(target, place)
                    self._watches.append(watch)
                    for code in self._codes_of(place):
                        self._add(watch, code, writes=writes, reads=reads)
            if reads and target.reads is not None:
                self._watches.append(_Watch(target, target.reads))

    @staticmethod
    def _codes_of(place: Local | Cell) -> list[CodeType]:
        if isinstance(place, Cell):
            return place.codes
        return [] if place.frame is None else [place.frame.f_code]

    def _add(self, watch: _Watch, code: CodeType, *, writes: bool, reads: bool) -> None:
        offsets = sites_of_variable(code, watch.place.name)
        spots = [(offset, WRITE) for offset in offsets.writes if writes]
        spots += [(offset, READ) for offset in offsets.reads if reads]
        self._put(watch, code, spots)

    def _put(self, watch: _Watch, code: CodeType, spots: list[tuple[int, str]]) -> None:
        here = self.spots.setdefault(id(code), {})
        self._codes[id(code)] = code
        for offset, kind in spots:
            here.setdefault(offset, []).append(_Spot(watch, kind))
        self._tool.want(code, _OWNER, INSTRUCTION | EVENTS.LINE | EVENTS.PY_RETURN)
        self._tool.settle(code)  # disabled events may be needed now

    @property
    def reads_globals(self) -> bool:
        """Return whether code that starts must be looked at."""
        return any(isinstance(watch.place, Reads) for watch in self._watches)

    @property
    def has_locals(self) -> bool:
        """Return whether calls that end matter."""
        return any(isinstance(watch.place, Local) for watch in self._watches)

    def bind_new_code(self, code: CodeType, names: dict[str, object]) -> None:
        """Watch code that reads a watched global variable."""
        for watch in self._watches:
            place = watch.place
            if isinstance(place, Reads) and place.namespace is names and not self._knows(code, watch):
                offsets = reads_of_global(code, place.name)
                if offsets:
                    self._put(watch, code, [(offset, READ) for offset in offsets])

    def _knows(self, code: CodeType, watch: _Watch) -> bool:
        return any(spot.watch is watch for spots in self.spots.get(id(code), {}).values() for spot in spots)

    def look(self, frame: FrameType, code: CodeType, offset: int, kinds: tuple[str, ...]) -> list[DataAccess]:
        """Return the change at an instruction, if it is of these kinds."""
        spots = [spot for spot in self.spots.get(id(code), {}).get(offset, ()) if spot.kind in kinds]
        # Writes come before the reads of the same instruction: they belong to the instruction before.
        changes = [spot.watch.look(frame, spot.kind) for spot in sorted(spots, key=lambda spot: spot.kind == READ)]
        return [access for access in changes if access is not None]

    def leave(self, frame: FrameType) -> list[WatchTarget]:
        """Return the targets that end with a call, and let go of it."""
        ended: list[WatchTarget] = []
        for watch in self._watches:
            place = watch.place
            if isinstance(place, Local) and place.frame is frame:
                place.frame = None
                watch.seen = MISSING
                ended.append(watch.target)
        return ended

    def keep(self) -> None:
        """Remember the values that are there now, for `refresh`."""
        for watch in self._watches:
            watch.kept = MISSING if isinstance(watch.place, Reads) else watch.place.read()

    def refresh(self) -> None:
        """Accept the changes since `keep` as known."""
        for watch in self._watches:
            if not isinstance(watch.place, Reads):
                value = watch.place.read()
                if value is not watch.kept:
                    watch.seen = value


def _is_hidden(frame: FrameType, name: str) -> bool:
    """Return whether the body of a class has a name of its own."""
    return not frame.f_code.co_flags & 1 and frame.f_locals is not frame.f_globals and name in frame.f_locals
