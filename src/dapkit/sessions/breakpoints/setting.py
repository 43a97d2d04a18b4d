"""The breakpoints of a session: set before its program runs, and kept through restarts.

This module keeps what is wanted under numbers of its own and tells the client
session of the present run, which takes them to its children. With each new run
all are set again: by text where the text stands now, by line where the line went.
Instruction breakpoints are not, and data breakpoints only if their ids last: the
others were made of addresses that belonged to the old run.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import anyio

from dapkit.client import Session, UnknownBreakpoint
from dapkit.protocol import DapkitError, ExceptionFilterOptions
from dapkit.sessions.breakpoints import anchoring
from dapkit.sessions.breakpoints.emulation import NOTHING, Hits, split
from dapkit.sessions.breakpoints.placed import Entry, PlacedBreakpoint
from dapkit.sessions.breakpoints.places import Data, Function, Instruction, Line, Place, Text, Wish
from dapkit.sessions.errors import Misplaced, NoSuchBreakpoint
from dapkit.sessions.targets import Target

type Filter = str | ExceptionFilterOptions


class SessionBreakpoints:
    """All breakpoints of one session.

    Attributes:
        filters: the exceptions that stop; None while nobody has chosen.
        lasting: data ids that the adapter said to mean the same in every run.

    Invariant: no two are at the same place; each that is `known_as` something is
    wanted by the client session of the present run under that number.
    """

    def __init__(self, targets: Callable[[], Sequence[Target]]) -> None:
        self.filters: tuple[Filter, ...] | None = None
        self.lasting: set[str] = set()
        self._targets = targets
        self._root: Session | None = None
        self._suspended: list[Wish] = []
        self._numbers = itertools.count(1)
        self._changing = anyio.Lock()
        self._entries: dict[int, Entry] = {}

    def __iter__(self) -> Iterator[PlacedBreakpoint]:
        """All as they stand now, in the order in which they were first set."""
        sessions = [target.session for target in self._targets()]
        return iter([entry.placed(sessions) for entry in self._entries.values()])

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What is known about each."""
        return tuple(self._entries.values())

    def get(self, number: int) -> PlacedBreakpoint:
        """Look one up by its number.

        Raises:
            NoSuchBreakpoint: there is none.

        """
        return self._entry(number).placed([target.session for target in self._targets()])

    def at(self, place: Place) -> PlacedBreakpoint | None:
        """Look one up by its place; a line finds what was set there by text, too."""
        entry = self._at(place)
        return None if entry is None else self.get(entry.number)

    async def set(self, wish: Wish) -> PlacedBreakpoint:
        """Want one more, or another thing of the one at the same place, which keeps its number.

        Raises:
            Misplaced: its text cannot be found, or not without doubt.
            WrongHitCondition: the adapter cannot count hits, and neither can we with this condition.
            CapabilityMissing: the adapter has no breakpoints of this kind, or no modes.

        """
        async with self._changing:
            entry = Entry(0, wish)
            self._place(entry)
            known = self._at(wish.place) or self._at_line(entry)
            if known is not None:
                await self._change(known, entry)
                return self.get(known.number)
            await self._tell(entry)
            entry.number = next(self._numbers)
            self._entries[entry.number] = entry
            return self.get(entry.number)

    async def set_temporary(self, place: Place) -> None:
        """Stop at a place once, whatever else is wanted there; it is taken back with the next stop.

        Raises: as `set`.
        """
        known = self.at(place)
        if known is None:
            await self.set(Wish(place, temporary=True))
        elif not known.wish.enabled or known.wish.condition or known.wish.hit_condition or known.wish.log_message:
            self._suspended.append(known.wish)
            await self.set(Wish(known.wish.place))

    async def take_back_temporary(self) -> None:
        """Put everything back to what is wanted for good."""
        for entry in self.entries:
            if entry.wish.temporary:
                await self.remove(entry.number)
        while self._suspended:
            await self.set(self._suspended.pop())

    async def remove(self, number: int) -> PlacedBreakpoint:
        """Want one no longer, and return what it was. Raises: NoSuchBreakpoint."""
        async with self._changing:
            removed = self.get(number)
            await self._unset(self._entries.pop(number))
            return removed

    async def clear(self, file: Path | None = None) -> tuple[PlacedBreakpoint, ...]:
        """Remove all, or those of one file, and return what they were."""
        chosen = [
            entry.number for entry in self.entries if file is None or getattr(entry.wish.place, "file", None) == file
        ]
        return tuple([await self.remove(number) for number in chosen])

    async def enable(self, number: int, *, enabled: bool = True) -> PlacedBreakpoint:
        """Set one again, or take it out for a while. Raises: NoSuchBreakpoint."""
        async with self._changing:
            entry = self._entry(number)
            if entry.wish.enabled != enabled:
                entry.wish = replace(entry.wish, enabled=enabled)
                await (self._tell if enabled else self._unset)(entry)
            return self.get(number)

    async def break_on_exceptions(self, filters: Sequence[Filter] | None) -> None:
        """Choose the exceptions that stop; None keeps the adapter's own choice, until one was made.

        Raises:
            UnknownFilter: the adapter has no such filter.

        """
        if self._root is not None and filters is not None:
            await self._root.break_on_exceptions(*filters)
        self.filters = None if filters is None else tuple(filters)

    async def begin(self, root: Session) -> None:
        """Set everything for a new run, before it starts. Raises: UnknownFilter."""
        self._root = root
        for entry in self.entries:
            entry.known_as, entry.hits, entry.problem = None, 0, None
            if self._is_of_one_run(entry.wish.place):
                entry.problem = "its address belonged to an earlier run; set it anew"
                continue
            try:
                self._follow(entry)
                await self._tell(entry)
            except DapkitError as error:
                entry.problem = str(error)
        await self.break_on_exceptions(self.filters)

    def finish(self) -> None:
        """Take note that the run is over: nothing is set any more."""
        self._root = None
        for entry in self.entries:
            entry.known_as = None

    def _is_of_one_run(self, place: Place) -> bool:
        return isinstance(place, Instruction) or (isinstance(place, Data) and place.data_id not in self.lasting)

    # Placing

    def _place(self, entry: Entry) -> None:
        match entry.wish.place:
            case Line() as place:
                entry.line, entry.text = place.line, self._text(place.file)
            case Text() as place:
                entry.text = self._text(place.file)
                if entry.text is None:
                    raise Misplaced(f"{place.file} cannot be read, so no line of it can be found by its text.")
                anchor = anchoring.find_text(place.text, entry.text, near=place.near, name=str(place.file))
                entry.line, entry.remark = anchor.line, anchor.remark
            case Function() | Instruction() | Data():
                pass

    def _follow(self, entry: Entry) -> None:
        """Place one again, in what its file is now."""
        place, before, line = entry.wish.place, entry.text, entry.line
        if not isinstance(place, Line | Text) or before is None or line is None:
            return
        after = self._text(place.file)
        if after is None or after == before:
            return
        anchor = anchoring.follow_line(line, before, after)
        if isinstance(place, Text):
            found = anchoring.find_text(place.text, after, near=anchor.line, name=str(place.file))
            anchor = found if found.line == line else replace(found, remark=anchoring.moved(line, found.line))
        else:
            entry.wish = replace(entry.wish, place=replace(place, line=anchor.line))
        entry.line, entry.remark, entry.text = anchor.line, anchor.remark, after

    def _text(self, file: Path) -> tuple[str, ...] | None:
        """Read a file; breakpoints in the same state of it share one copy."""
        try:
            lines = tuple(file.read_text(encoding="utf-8", errors="replace").splitlines())
        except OSError:
            return None
        return next((entry.text for entry in self.entries if entry.text == lines), lines)

    # Telling the run

    async def _change(self, known: Entry, wanted: Entry) -> None:
        """Make one what is wanted now at its place; it stays what it was if that cannot be set."""
        before = known.wish, known.line, known.text, known.remark
        # A line that is asked for anew stays a place by text, so that it still follows the text.
        place = known.wish.place if isinstance(wanted.wish.place, Line) else wanted.wish.place
        await self._unset(known)
        known.wish, known.hits = replace(wanted.wish, place=place), 0
        known.line, known.text, known.remark = wanted.line, wanted.text, wanted.remark
        try:
            await self._tell(known)
        except DapkitError:
            known.wish, known.line, known.text, known.remark = before
            await self._tell(known)
            raise

    async def _tell(self, entry: Entry) -> None:
        entry.problem = None
        root = self._root
        if root is None or not entry.wish.enabled:
            return
        native, entry.emulated = split(entry.wish, root.capabilities)
        if entry.emulated.hit_condition is not None:
            Hits.read(entry.emulated.hit_condition)
        entry.known_as = await _add(root, native, entry.line)

    async def _unset(self, entry: Entry) -> None:
        number, entry.known_as, entry.emulated = entry.known_as, None, NOTHING
        shared = any(other is not entry and other.known_as == number for other in self.entries)
        if self._root is None or number is None or shared:
            return
        try:
            await self._root.remove_breakpoint(number)
        except UnknownBreakpoint:  # a custom request has replaced it
            return

    # Looking up

    def _entry(self, number: int) -> Entry:
        try:
            return self._entries[number]
        except KeyError:
            raise NoSuchBreakpoint(number, self._entries) from None

    def _at(self, place: Place) -> Entry | None:
        for entry in self.entries:
            if entry.wish.place == place:
                return entry
        return self._at_line(Entry(0, Wish(place), place.line)) if isinstance(place, Line) else None

    def _at_line(self, wanted: Entry) -> Entry | None:
        if wanted.line is None:
            return None
        return next((entry for entry in self.entries if _spot(entry) == _spot(wanted)), None)


async def _add(root: Session, wish: Wish, line: int | None) -> int:
    match wish.place:
        case Line(file=file) | Text(file=file):
            column = wish.place.column if isinstance(wish.place, Line) else None
            known = await root.add_breakpoint(
                file,
                line or 1,
                column=column,
                condition=wish.condition,
                hit_condition=wish.hit_condition,
                log_message=wish.log_message,
                mode=wish.mode,
            )
        case Function(name=name):
            known = await root.add_function_breakpoint(name, condition=wish.condition, hit_condition=wish.hit_condition)
        case Instruction(reference=reference, offset=offset):
            known = await root.add_instruction_breakpoint(
                reference, offset=offset, condition=wish.condition, hit_condition=wish.hit_condition, mode=wish.mode
            )
        case Data(data_id=data_id, access=access):
            known = await root.add_data_breakpoint(
                data_id, access_type=access, condition=wish.condition, hit_condition=wish.hit_condition
            )
    return known.number


def _spot(entry: Entry) -> tuple[Path, int | None, int | None] | None:
    """Say where on which line it is; None if it is not on a line."""
    match entry.wish.place:
        case Line(file=file, column=column):
            return file, entry.line, column
        case Text(file=file):
            return file, entry.line, None
        case _:
            return None
