"""The breakpoints of a session: the specifications, and the adapter's responses.

The protocol sets breakpoints a file or a kind at a time, and each request
replaces all that were there. This module keeps them all, so that a second
breakpoint never replaces the first, and so that a restarted adapter or a child
session can be sent everything again. It knows no connection: it makes the
requests and takes in the responses and events.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from dapkit.client.breakpoint_spec import (
    BreakpointSpec,
    DataLocation,
    FunctionLocation,
    InstructionLocation,
    Location,
    SourceLocation,
    WireBreakpoint,
    source_location,
    spec_of,
    wire_form,
)
from dapkit.protocol import (
    Breakpoint,
    BreakpointEvent,
    Capabilities,
    DataBreakpoint,
    FunctionBreakpoint,
    InstructionBreakpoint,
    ProtocolObject,
    SetBreakpointsArguments,
    SetBreakpointsBody,
    SetDataBreakpointsArguments,
    SetDataBreakpointsBody,
    SetExceptionBreakpointsArguments,
    SetExceptionBreakpointsBody,
    SetFunctionBreakpointsArguments,
    SetFunctionBreakpointsBody,
    SetInstructionBreakpointsArguments,
    SetInstructionBreakpointsBody,
    Source,
    SourceBreakpoint,
)

type SetRequest = (
    SetBreakpointsArguments
    | SetFunctionBreakpointsArguments
    | SetDataBreakpointsArguments
    | SetInstructionBreakpointsArguments
    | SetExceptionBreakpointsArguments
)


@dataclass(frozen=True, slots=True)
class SessionBreakpoint:
    """One breakpoint in the present state."""

    number: int
    """Our number of it; the same through moves and restarts, and in all sessions of a tree."""

    spec: BreakpointSpec
    """The specification."""

    answer: Breakpoint | None = None
    """The adapter's last report about it; None before the first report."""

    @property
    def wanted(self) -> WireBreakpoint:
        """The specifications, in the form of the protocol's requests."""
        return wire_form(self.spec)

    @property
    def source(self) -> Source | None:
        """The file that it is in; None if it was not asked for by a line."""
        return self.spec.location.source if isinstance(self.spec.location, SourceLocation) else None

    @property
    def verified(self) -> bool:
        """Whether the adapter could set it, though perhaps elsewhere."""
        return self.answer is not None and self.answer.verified

    @property
    def message(self) -> str | None:
        """The adapter's message about it, such as why it could not be set."""
        return None if self.answer is None else self.answer.message

    @property
    def line(self) -> int | None:
        """The line on which it stands, or should; None if it is not on a line."""
        if self.answer is not None and self.answer.line is not None:
            return self.answer.line
        return self.spec.location.line if isinstance(self.spec.location, SourceLocation) else None

    @property
    def moved(self) -> bool:
        """Whether the adapter put it on another line than was asked for."""
        return isinstance(self.spec.location, SourceLocation) and self.line != self.spec.location.line


class Breakpoints:
    """All breakpoints that are to be set in a session.

    Invariant: the breakpoints of one file or kind keep the order in which they were added, which is the order of
    requests and responses; equal ones are sent once.

    Attributes:
        exceptions: the last request for exceptions that stop.
        exception_ids: the adapter's numbers for the exception breakpoints in this set, if it reported them.

    """

    def __init__(self, numbers: Iterator[int] | None = None) -> None:
        self.exceptions: SetExceptionBreakpointsArguments | None = None
        self.exception_ids: frozenset[int] = frozenset()
        self._numbers = itertools.count(1) if numbers is None else numbers
        self._all: dict[int, SessionBreakpoint] = {}

    @classmethod
    def none(cls) -> Self:
        """Make a set without any stop, exceptions included."""
        empty = cls()
        empty.exceptions = SetExceptionBreakpointsArguments(filters=[])
        return empty

    def __iter__(self) -> Iterator[SessionBreakpoint]:
        return iter(tuple(self._all.values()))

    def get(self, number: int) -> SessionBreakpoint | None:
        """Look up a breakpoint in the present state."""
        return self._all.get(number)

    def add(self, spec: BreakpointSpec, *, number: int | None = None) -> SessionBreakpoint:
        """Add a breakpoint, under a number if there is one for it; without, an equal one is left as it is."""
        if number is None:
            for each in self._all.values():
                if _key(each.spec) == _key(spec):
                    return each
            number = next(self._numbers)
        return self._put(SessionBreakpoint(number, spec))

    def remove(self, number: int) -> SessionBreakpoint | None:
        """Remove a breakpoint."""
        return self._all.pop(number, None)

    def for_another(self) -> "Breakpoints":
        """Copy all for a child or a restarted adapter, not yet answered.

        Data and instruction breakpoints stay behind: their addresses mean nothing in another process.
        """
        copy = Breakpoints(self._numbers)
        copy.exceptions = self.exceptions
        for each in self._all.values():
            if isinstance(each.spec.location, SourceLocation | FunctionLocation):
                copy.add(each.spec, number=each.number)
        return copy

    # Requests

    def request_with(self, spec: BreakpointSpec) -> SetRequest:
        """Make the request that sets the breakpoints of the same file or kind."""
        match spec.location:
            case SourceLocation() as location:
                return SetBreakpointsArguments(
                    source=location.source, breakpoints=_sent(self._in_file(location), SourceBreakpoint)
                )
            case FunctionLocation():
                return SetFunctionBreakpointsArguments(
                    breakpoints=_sent(self._of_kind(FunctionLocation), FunctionBreakpoint)
                )
            case DataLocation():
                return SetDataBreakpointsArguments(breakpoints=_sent(self._of_kind(DataLocation), DataBreakpoint))
            case InstructionLocation():
                return SetInstructionBreakpointsArguments(
                    breakpoints=_sent(self._of_kind(InstructionLocation), InstructionBreakpoint)
                )

    def configuration(self, capabilities: Capabilities) -> list[SetRequest]:
        """Make the requests for everything, in the order that the specification asks for.

        DAP, "Initialized Event": files, functions if the adapter knows these, then exceptions
        if it has filters, or if nothing else says that the configuration ends.
        """
        files: dict[str, SetRequest] = {}
        for each in self._all.values():
            if isinstance(each.spec.location, SourceLocation):
                files.setdefault(each.spec.location.same_file_key, self.request_with(each.spec))
        listed: list[SetRequest] = list(files.values())
        functions = self._of_kind(FunctionLocation)
        if functions or capabilities.supports_function_breakpoints:
            listed.append(SetFunctionBreakpointsArguments(breakpoints=_sent(functions, FunctionBreakpoint)))
        addressed = (self._of_kind(DataLocation), self._of_kind(InstructionLocation))
        listed.extend(self.request_with(each[0].spec) for each in addressed if each)
        if capabilities.exception_breakpoint_filters or not capabilities.supports_configuration_done_request:
            listed.append(self._exceptions_for(capabilities))
        return listed

    def _exceptions_for(self, capabilities: Capabilities) -> SetExceptionBreakpointsArguments:
        offered = capabilities.exception_breakpoint_filters or []
        if self.exceptions is None:
            return SetExceptionBreakpointsArguments(filters=[choice.filter for choice in offered if choice.default])
        return self.exceptions

    # Responses

    def note_request(self, request: ProtocolObject) -> Callable[[], None]:
        """Take over the specifications of a request that is about to be sent.

        Return a function that takes them back.
        """
        before = self._all.copy(), self.exceptions
        match request:
            case SetBreakpointsArguments():
                lines = [SourceBreakpoint(line=line) for line in request.lines or []]
                self._replace(self._set_by(request), _listed(request) or lines, request.source)
            case (
                SetFunctionBreakpointsArguments() | SetDataBreakpointsArguments() | SetInstructionBreakpointsArguments()
            ):
                self._replace(self._set_by(request), _listed(request))
            case SetExceptionBreakpointsArguments():
                self.exceptions = request

        def take_back() -> None:
            self._all, self.exceptions = before

        return take_back

    def note_response(self, request: object, body: object) -> None:
        """Take in the response to a request; its answers stand in the order of the breakpoints there."""
        if isinstance(body, SetExceptionBreakpointsBody):
            self.exception_ids = frozenset(answer.id for answer in body.breakpoints or () if answer.id is not None)
        if not isinstance(body, _BODIES):
            return
        # Fewer answers than breakpoints break the protocol: the rest stays unanswered.
        for wire, answer in zip(_listed(request), body.breakpoints, strict=False):
            for each in self._set_by(request):
                if each.wanted == wire:
                    self._put(replace(each, answer=answer))

    def note_refusal(self, request: object, why: str) -> None:
        """Record that the adapter rejected the specifications of a request."""
        for each in self._set_by(request):
            self._put(replace(each, answer=Breakpoint(verified=False, message=why)))

    def note_event(self, event: BreakpointEvent) -> None:
        """Process the adapter's later report about a breakpoint (event `breakpoint`)."""
        news = event.breakpoint
        for each in self:
            if news.id is None or each.answer is None or each.answer.id != news.id:
                continue
            if event.reason == "removed":
                news = Breakpoint(id=news.id, verified=False, message=news.message or "the adapter removed it")
            self._put(replace(each, answer=news))

    def _replace(
        self, present: list[SessionBreakpoint], requested: Sequence[WireBreakpoint], source: Source | None = None
    ) -> None:
        for each in present:
            if each.wanted not in requested:
                del self._all[each.number]
        for wire in requested:
            self.add(spec_of(wire, source))

    # Looking up

    def _put(self, breakpoint_to_put: SessionBreakpoint) -> SessionBreakpoint:
        self._all[breakpoint_to_put.number] = breakpoint_to_put
        return breakpoint_to_put

    def _set_by(self, request: object) -> list[SessionBreakpoint]:
        """Find the breakpoints of the file or kind that a request sets."""
        match request:
            case SetBreakpointsArguments():
                return self._in_file(source_location(request.source))
            case SetFunctionBreakpointsArguments():
                return self._of_kind(FunctionLocation)
            case SetDataBreakpointsArguments():
                return self._of_kind(DataLocation)
            case SetInstructionBreakpointsArguments():
                return self._of_kind(InstructionLocation)
            case _:
                return []

    def _in_file(self, location: SourceLocation) -> list[SessionBreakpoint]:
        key = location.same_file_key
        return [
            each
            for each in self._all.values()
            if isinstance(each.spec.location, SourceLocation) and each.spec.location.same_file_key == key
        ]

    def _of_kind(self, kind: type[Location]) -> list[SessionBreakpoint]:
        return [each for each in self._all.values() if isinstance(each.spec.location, kind)]


_BODIES = (SetBreakpointsBody, SetFunctionBreakpointsBody, SetDataBreakpointsBody, SetInstructionBreakpointsBody)


def _listed(request: object) -> Sequence[WireBreakpoint]:
    """Return the breakpoints of a request."""
    match request:
        case SetBreakpointsArguments():
            return request.breakpoints or []
        case SetFunctionBreakpointsArguments() | SetDataBreakpointsArguments() | SetInstructionBreakpointsArguments():
            return request.breakpoints
        case _:
            return []


def _sent[W: (SourceBreakpoint, FunctionBreakpoint, DataBreakpoint, InstructionBreakpoint)](
    breakpoints: Sequence[SessionBreakpoint], kind: type[W]
) -> list[W]:
    """List breakpoints as a request does: each once, without those that are disabled."""
    wire_breakpoints = [item.wanted for item in breakpoints if item.spec.enabled]
    return [wire for wire in dict.fromkeys(wire_breakpoints) if isinstance(wire, kind)]


def _key(spec: BreakpointSpec) -> tuple[WireBreakpoint, str]:
    """Return the identity of a spec: specs with the same identity are the same breakpoint."""
    return wire_form(spec), spec.location.same_file_key if isinstance(spec.location, SourceLocation) else ""
