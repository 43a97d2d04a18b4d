"""The client's breakpoints, kept for a program that is started again.

A client sends its breakpoints once. We send them to the engine of a restarted program, which gives them
numbers of its own; the client goes on using those that it knows. So the numbers are translated from the
first restart on:

    engine's number of a breakpoint that was set again   ->  the number that the client knows
    any other number of the engine                       ->  that number + all that were given before

References to sources are good for one program only. A source that has one is found again by its path or its name; the
texts of `exec`, which share one name, are not: their breakpoints are gone with the program.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from dapkit.endpoint import RequestFailed
from dapkit.protocol import (
    Arguments,
    Breakpoint,
    BreakpointEvent,
    DataBreakpoint,
    RawJson,
    SetBreakpointsArguments,
    SetDataBreakpointsArguments,
    SetExceptionBreakpointsBody,
    Source,
    StoppedEvent,
    decode_as,
    encode_value,
)


class PlaceNamed(msgspec.Struct):
    """How a place is named at any time; `place` is for the engine."""

    expression: str
    place: dict[str, Any]
    holder: str | None = None


class PlaceSaid(msgspec.Struct):
    """The parts of a dataId that the adapter uses."""

    named: PlaceNamed | None = None


type Ask = Callable[[Arguments[Any]], Awaitable[RawJson]]
type _Key = tuple[str, str]


class _Set:
    """One successful request, and the adapter's report to the client about each breakpoint."""

    def __init__(self, arguments: Arguments[Any], reported: list[Breakpoint]) -> None:
        self.arguments = arguments
        self.reported = reported


class BreakpointStore:
    """The last request of each kind, and for each source.

    Invariant: no number that was reported to a client ever stands for another breakpoint. `_places` says where
    each of `_sets` is.
    """

    def __init__(self) -> None:
        self._sets: dict[_Key, _Set] = {}
        self._places: dict[int, tuple[_Set, int]] = {}  # of each in its set, by its number
        self._numbers: dict[int, int] = {}
        self._offset = 0
        self._last = 0

    def note(self, arguments: Arguments[Any], body: RawJson) -> RawJson:
        """Record a request that the engine has answered; return the answer for the client."""
        reported = [self._renumbered(breakpoint) for breakpoint in _breakpoints(body)]
        self._last = max([self._last, *(breakpoint.id or 0 for breakpoint in reported)])
        self._keep(_key(arguments), _Set(arguments, reported))
        if not self._offset:
            return body
        return RawJson(encode_value({"breakpoints": reported}))

    def of_client[E: (StoppedEvent, BreakpointEvent)](self, event: E) -> E:
        """Return an event with the numbers that the client knows."""
        match event:
            case StoppedEvent(hit_breakpoint_ids=list(hit)) if self._offset:
                return msgspec.structs.replace(
                    event, hit_breakpoint_ids=[self._number(breakpoint) for breakpoint in hit]
                )
            case BreakpointEvent(breakpoint=breakpoint):
                reported = self._renumbered(breakpoint)
                self._update(reported)
                return msgspec.structs.replace(event, breakpoint=reported)
        return event

    def copy(self, *, for_scan: bool = False) -> "BreakpointStore":
        """Return the same for an engine beside this one, as of a process that shows the past.

        With `for_scan`, breakpoints that would log a message stop there instead, and data breakpoints on places that
        are others at other times are not set.
        """
        store = BreakpointStore()
        store._sets = {
            key: _Set(_for_scan(remembered.arguments), remembered.reported) if for_scan else remembered
            for key, remembered in self._sets.items()
        }
        store._places = dict(self._places)
        store._last = self._last
        return store

    def take_over(self, other: "BreakpointStore") -> None:
        """Be about the engine that a copy is about: its program has taken the place of the one before."""
        vars(self).update(vars(other))

    @property
    def counts_hits(self) -> bool:
        """Whether there is a breakpoint that applies at some of its hits only."""
        return any(
            getattr(request, "hit_condition", None)
            for remembered in self._sets.values()
            for request in getattr(remembered.arguments, "breakpoints", None) or ()
        )

    @property
    def on_places(self) -> list[DataBreakpoint]:
        """The data breakpoints whose place is another at other times: the engine's dataId says how it is named."""
        return [
            request
            for remembered in self._sets.values()
            if isinstance(remembered.arguments, SetDataBreakpointsArguments)
            for request in remembered.arguments.breakpoints
            if named_in(request.data_id) is not None
        ]

    def forget(self) -> None:
        """Forget the breakpoints: a new configuration follows. Numbers are not used again."""
        self._offset, self._numbers = self._last, {}
        self._sets.clear()
        self._places.clear()

    async def set_again(self, ask: Ask) -> list[BreakpointEvent]:
        """Send everything to a new engine; return the changes, for the client."""
        self._offset, self._numbers = self._last, {}
        changes: list[BreakpointEvent] = []
        for key, remembered in list(self._sets.items()):
            try:
                breakpoints = _breakpoints(await ask(_for_another_program(remembered.arguments)))
            except RequestFailed as error:
                breakpoints = [Breakpoint(verified=False, message=error.text)] * len(remembered.reported)
            reported = [self._as_before(new, old) for new, old in zip(breakpoints, remembered.reported, strict=False)]
            changes += [
                BreakpointEvent(reason="changed", breakpoint=new)
                for new, old in zip(reported, remembered.reported, strict=False)
                if new != old and new.id is not None
            ]
            self._keep(key, _Set(remembered.arguments, reported))
        return changes

    def _keep(self, key: _Key, new: _Set) -> None:
        before = self._sets.get(key)
        for breakpoint in before.reported if before is not None else ():
            self._places.pop(breakpoint.id or 0, None)
        self._sets[key] = new
        self._places |= {
            breakpoint.id: (new, at) for at, breakpoint in enumerate(new.reported) if breakpoint.id is not None
        }

    def _as_before(self, new: Breakpoint, old: Breakpoint) -> Breakpoint:
        if new.id is not None and old.id is not None:
            self._numbers[new.id] = old.id
        return msgspec.structs.replace(new, id=old.id)

    def _renumbered(self, breakpoint: Breakpoint) -> Breakpoint:
        if breakpoint.id is None or not self._offset:
            return breakpoint
        return msgspec.structs.replace(breakpoint, id=self._number(breakpoint.id))

    def _number(self, number: int) -> int:
        return self._numbers.get(number, number + self._offset)

    def _update(self, reported: Breakpoint) -> None:
        self._last = max(self._last, reported.id or 0)
        place = self._places.get(reported.id or 0)
        if place is not None:
            remembered, at = place
            remembered.reported[at] = reported


def _key(arguments: Arguments[Any]) -> _Key:
    match arguments:
        case SetBreakpointsArguments(source=source):
            own = f"#{source.source_reference}" if source.source_reference and not _is_found_again(source) else ""
            return arguments.command, f"{source.path or source.name or ''}{own}"
    return arguments.command, ""


def _for_another_program(arguments: Arguments[Any]) -> Arguments[Any]:
    """Return a request as another program than the one that it was meant for understands it.

    Raises:
        RequestFailed: if that cannot be.

    """
    match arguments:
        case SetBreakpointsArguments(source=source) if source.source_reference:
            if not _is_found_again(source):
                raise RequestFailed("this text was one of the program before the restart")
            return msgspec.structs.replace(arguments, source=Source(path=source.path, name=source.name))
    return arguments


def _for_scan(arguments: Arguments[Any]) -> Arguments[Any]:
    match arguments:
        case SetBreakpointsArguments(breakpoints=list(wanted)):
            stopping = [msgspec.structs.replace(each, log_message=None) for each in wanted]
            return msgspec.structs.replace(arguments, breakpoints=stopping)
        case SetDataBreakpointsArguments(breakpoints=asked):
            remaining = [
                msgspec.structs.replace(each, data_id="-") if named_in(each.data_id) else each for each in asked
            ]
            return msgspec.structs.replace(arguments, breakpoints=remaining)
    return arguments


def named_in(data_id: str) -> PlaceNamed | None:
    """Return how a dataId of an engine with time travel names its place; None for another."""
    _, separator, text = data_id.rpartition("at:{")
    return decode_as(PlaceSaid, RawJson(b"{" + text.encode())).named if separator else None


def _is_found_again(source: Source) -> bool:
    return (source.path or source.name or "<string>") not in ("<string>", "<stdin>")


def _breakpoints(body: RawJson) -> list[Breakpoint]:
    # The bodies of all these requests are lists of breakpoints; only this type allows a missing list.
    return list(decode_as(SetExceptionBreakpointsBody, body, "$.body").breakpoints or ())
