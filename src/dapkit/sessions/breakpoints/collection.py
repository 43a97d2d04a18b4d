"""The breakpoints of a debug session: set before its program runs, and kept through restarts.

This module keeps all that were asked for and sets them in the client session of the
present run, which takes them to its children, under the same numbers. With each new
run all are set again: by text where the text stands now, by line where the line went.
Instruction breakpoints are not, and data breakpoints only if their ids last: the
others were made of addresses that belonged to the old run.
"""

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from dapkit import limits
from dapkit.catalog import Traits
from dapkit.client import (
    Breakpoints,
    BreakpointSpec,
    DataLocation,
    FunctionLocation,
    InstructionLocation,
    Location,
    Session,
    SourceLocation,
    UnknownBreakpoint,
)
from dapkit.protocol import DapkitError, EvaluateArguments, ExceptionFilterOptions
from dapkit.sessions.breakpoints import anchors
from dapkit.sessions.breakpoints.emulation import NOTHING, Emulated, check_hit_condition, split
from dapkit.sessions.breakpoints.kept import KeptBreakpoint
from dapkit.sessions.errors import Misplaced, NoSuchBreakpoint
from dapkit.system.trusted_files import read_file

type Filter = str | ExceptionFilterOptions

_OF_PANICS: Final = 0
"""A number that no requested breakpoint has."""


class KeptBreakpoints:
    """All breakpoints of one session.

    Attributes:
        filters: the exceptions that stop; None while none were chosen.
        lasting: data ids that the adapter said to mean the same in every run.

        panics: stops at panics while the user has chosen no filters of exceptions; it is not listed.

    Invariant: no two are at the same location; each that `is_set` was sent by the
    client session of the present run under its number.
    """

    def __init__(
        self,
        sessions: Callable[[], Sequence[Session]],
        traits: Traits,
        *,
        foreign: Collection[int] = (),
        panic_function: str | None = None,
    ) -> None:
        self.filters: tuple[Filter, ...] | None = None
        self.lasting: set[str] = set()
        self._sessions = sessions
        self._traits = traits
        self._foreign = foreign  # numbers of breakpoints that commands have set; they come and go
        self._root: Session | None = None
        self._suspended: list[BreakpointSpec] = []
        self._numbers = itertools.count(1)
        self._changing = anyio.Lock()
        self._kept: dict[int, KeptBreakpoint] = {}
        self.panics: KeptBreakpoint | None = None
        if panic_function is not None:
            self.panics = KeptBreakpoint(
                _OF_PANICS, BreakpointSpec(FunctionLocation(panic_function)), sessions=sessions
            )

    def __iter__(self) -> Iterator[KeptBreakpoint]:
        """All in the present state, in the order in which they were first set."""
        return iter(tuple(self._kept.values()))

    @property
    def with_panics(self) -> list[KeptBreakpoint]:
        """All that the program may stop at: those that are asked for, and that at panics."""
        return [*self, *([] if self.panics is None else [self.panics])]

    def get(self, number: int) -> KeptBreakpoint:
        """Look one up by its number.

        Raises:
            NoSuchBreakpoint: no breakpoint has this number.

        """
        try:
            return self._kept[number]
        except KeyError:
            raise NoSuchBreakpoint(number, self._kept) from None

    def at(self, location: Location) -> KeptBreakpoint | None:
        """Look one up by its location; a line also finds a breakpoint that was set there by text."""
        for each in self:
            if each.spec.location == location:
                return each
        if isinstance(location, SourceLocation) and location.text is None:
            return self._at_spot((location.file, location.line, location.column))
        return None

    async def set(self, spec: BreakpointSpec) -> KeptBreakpoint:
        """Add a breakpoint, or change the one at that location, which keeps its number.

        Raises:
            Misplaced: its text cannot be found, or not without doubt.
            WrongHitCondition: the hit condition cannot be read.
            CapabilityMissing: the adapter has no breakpoints of this kind, or no modes.

        """
        if spec.hit_condition is not None:
            check_hit_condition(spec.hit_condition)
        async with self._changing:
            added = KeptBreakpoint(0, spec, sessions=self._sessions)
            await self._find_line(added)
            present = self.at(spec.location) or self._at_spot(added.spot)
            if present is not None:
                await self._change(present, added)
                return present
            added.number = next(self._numbers)
            await self._send(added)
            self._kept[added.number] = added
            return added

    async def set_temporary(self, location: Location) -> None:
        """Stop at a location once, whatever else is asked for there; it is taken back with the next stop.

        Raises: as `set`.
        """
        present = self.at(location)
        if present is None:
            await self.set(BreakpointSpec(location, temporary=True))
        elif (
            not present.spec.enabled or present.spec.condition or present.spec.hit_condition or present.spec.log_message
        ):
            self._suspended.append(present.spec)
            await self.set(BreakpointSpec(present.spec.location))

    async def take_back_temporary(self) -> None:
        """Restore the requested breakpoints until further notice."""
        for each in self:
            if each.spec.temporary:
                await self.remove(each.number)
        while self._suspended:
            await self.set(self._suspended.pop())

    async def remove(self, number: int) -> None:
        """Remove a breakpoint. Raises: NoSuchBreakpoint."""
        async with self._changing:
            removed = self.get(number)
            del self._kept[number]
            await self._unset(removed)

    async def clear(self) -> None:
        """Remove all."""
        for each in self:
            await self.remove(each.number)

    async def enable(self, number: int, *, enabled: bool = True) -> None:
        """Set a breakpoint again, or take it out for a while. Raises: NoSuchBreakpoint."""
        async with self._changing:
            breakpoint_ = self.get(number)
            if breakpoint_.spec.enabled != enabled:
                breakpoint_.spec = replace(breakpoint_.spec, enabled=enabled)
                await (self._send if enabled else self._unset)(breakpoint_)

    async def break_on_exceptions(self, filters: Sequence[Filter] | None, *, by_user: bool = True) -> None:
        """Choose the exceptions that stop; None keeps the adapter's own choice, until one was made.

        Filters that come from the user (`by_user`) end the stops at panics.

        Raises:
            UnknownFilter: the adapter has no such filter.

        """
        if self._root is not None and filters is not None:
            await self._root.break_on_exceptions(*filters)
        self.filters = None if filters is None else tuple(filters)
        if by_user and filters is not None and self.panics is not None:
            await self._unset(self.panics)
            self.panics = None

    # Runs

    def for_new_run(self) -> Breakpoints:
        """Make the breakpoints of a client session: none yet, but with numbers that no other one here has."""
        return Breakpoints(self._numbers)

    async def begin(self, root: Session) -> None:
        """Set everything for a new run, before it starts. Raises: UnknownFilter."""
        self._root = root
        for each in self:
            each.is_set, each.hits, each.problem = False, 0, None
            each.forget_report()
            if self._is_of_one_run(each.spec.location):
                each.problem = "its address belonged to an earlier run; set it anew"
                continue
            try:
                await self._follow(each)
                await self._send(each)
            except DapkitError as error:
                each.problem = str(error)
        await self.break_on_exceptions(self.filters, by_user=False)
        if self.panics is not None and root.capabilities.supports_function_breakpoints:
            await self._send(self.panics)

    def finish(self) -> None:
        """Note that the run is over: nothing is set any more, and the last report of each breakpoint stays."""
        self._root = None
        for each in self.with_panics:
            if each.is_set:
                each.keep_report()

    def _is_of_one_run(self, location: Location) -> bool:
        if isinstance(location, DataLocation):
            return location.data_id not in self.lasting
        return isinstance(location, InstructionLocation)

    # Finding lines

    async def _find_line(self, breakpoint_: KeptBreakpoint) -> None:
        location = breakpoint_.spec.location
        if not isinstance(location, SourceLocation):
            return
        breakpoint_.found_line, breakpoint_.text = location.line, await self._text(location.file)
        if location.text is None:
            return
        if breakpoint_.text is None:
            raise Misplaced(f"{location.file} cannot be read, so no line of it can be found by its text.")
        anchor = anchors.find_text(location.text, breakpoint_.text, near=location.line, name=str(location.file))
        breakpoint_.found_line, breakpoint_.remark = anchor.line, anchor.remark

    async def _follow(self, breakpoint_: KeptBreakpoint) -> None:
        """Find the line again, in the present text of its file."""
        location, before, line = breakpoint_.spec.location, breakpoint_.text, breakpoint_.found_line
        if not isinstance(location, SourceLocation) or before is None or line is None:
            return
        after = await self._text(location.file)
        if after is None or after == before:
            return
        anchor = anchors.follow_line(line, before, after)
        if location.text is not None:
            line_found = anchors.find_text(location.text, after, near=anchor.line, name=str(location.file))
            anchor = (
                line_found
                if line_found.line == line
                else replace(line_found, remark=anchors.moved(line, line_found.line))
            )
        else:
            breakpoint_.spec = replace(breakpoint_.spec, location=replace(location, line=anchor.line))
        breakpoint_.found_line, breakpoint_.remark, breakpoint_.text = anchor.line, anchor.remark, after

    async def _text(self, file: Path) -> tuple[str, ...] | None:
        """Read a file; breakpoints in the same state of it share one copy."""
        if not file.is_absolute():  # the adapter finds it by its name
            return None
        try:
            content = await anyio.to_thread.run_sync(read_file, file, limits.SOURCE_BYTES, abandon_on_cancel=True)
        except OSError:
            return None
        lines = tuple(content.decode(errors="replace").splitlines())
        return next((each.text for each in self if each.text == lines), lines)

    def _at_spot(self, spot: tuple[Path, int | None, int | None] | None) -> KeptBreakpoint | None:
        if spot is None or spot[1] is None:
            return None
        return next((each for each in self if each.spot == spot), None)

    # Setting them in the run

    async def _change(self, present: KeptBreakpoint, requested: KeptBreakpoint) -> None:
        """Replace the specification of a breakpoint at its location.

        It stays unchanged if the new one cannot be set.
        """
        before = present.spec, present.found_line, present.text, present.remark
        location = requested.spec.location
        if isinstance(location, SourceLocation) and location.text is None:
            # A line that is asked for anew stays a location by text, so that it still follows the text.
            location = present.spec.location
        await self._unset(present)
        present.spec, present.hits = replace(requested.spec, location=location), 0
        present.found_line, present.text, present.remark = requested.found_line, requested.text, requested.remark
        try:
            await self._send(present)
        except DapkitError:
            present.spec, present.found_line, present.text, present.remark = before
            await self._send(present)
            raise

    async def _send(self, breakpoint_: KeptBreakpoint) -> None:
        """Set a breakpoint in the present run, if there is one."""
        breakpoint_.problem = None
        breakpoint_.forget_report()
        root = self._root
        if root is None or not breakpoint_.spec.enabled:
            return
        if isinstance(breakpoint_.spec.location, DataLocation) and self._traits.watch_commands:
            await self._watch(root, breakpoint_, breakpoint_.spec.location)
            return
        native, breakpoint_.emulated = split(breakpoint_.spec, root.capabilities, self._traits)
        if isinstance(native.location, SourceLocation):
            native = replace(native, location=replace(native.location, line=breakpoint_.found_line, text=None))
        await root.add_breakpoint_spec(native, number=breakpoint_.number)
        breakpoint_.is_set = True

    async def _watch(self, root: Session, breakpoint_: KeptBreakpoint, location: DataLocation) -> None:
        """Set a data breakpoint by a command, which the adapter answers by an event with its number."""
        before = {*self._foreign}
        command = self._traits.watch_commands[location.access or "write"].format(id=location.data_id)
        await root.request(EvaluateArguments(expression=command, context="repl"))
        breakpoint_.console_id = next((number for number in self._foreign if number not in before), None)
        breakpoint_.emulated = Emulated(breakpoint_.spec.condition, breakpoint_.spec.hit_condition)
        breakpoint_.is_set = True

    async def _unset(self, breakpoint_: KeptBreakpoint) -> None:
        was_set, breakpoint_.is_set, breakpoint_.emulated = breakpoint_.is_set, False, NOTHING
        number = breakpoint_.console_id
        breakpoint_.forget_report()
        if self._root is None or not was_set:
            return
        if number is not None:
            command = self._traits.watch_commands["remove"].format(number=number)
            await self._root.request(EvaluateArguments(expression=command, context="repl"))
            return
        try:
            await self._root.remove_breakpoint(breakpoint_.number)
        except UnknownBreakpoint:  # a custom request has replaced it
            return
