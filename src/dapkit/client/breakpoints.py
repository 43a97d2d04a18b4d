"""The breakpoints of a session: what is wanted, whole, and what the adapter made of it.

The protocol sets breakpoints a file or a kind at a time, and each request
replaces all that were there. This module keeps the whole truth, so that a second
breakpoint never replaces the first, and so that a restarted adapter or a child
session can be told everything again. It knows no connection: it makes the
requests and takes in the responses and events.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

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
    SetFunctionBreakpointsArguments,
    SetFunctionBreakpointsBody,
    SetInstructionBreakpointsArguments,
    SetInstructionBreakpointsBody,
    Source,
    SourceBreakpoint,
)

type Wanted = SourceBreakpoint | FunctionBreakpoint | DataBreakpoint | InstructionBreakpoint
type SetRequest = (
    SetBreakpointsArguments
    | SetFunctionBreakpointsArguments
    | SetDataBreakpointsArguments
    | SetInstructionBreakpointsArguments
    | SetExceptionBreakpointsArguments
)

SET_COMMANDS = frozenset(
    {
        "setBreakpoints",
        "setFunctionBreakpoints",
        "setDataBreakpoints",
        "setInstructionBreakpoints",
        "setExceptionBreakpoints",
    }
)
"""Requests that replace what was wanted before."""


@dataclass(frozen=True, slots=True)
class SessionBreakpoint:
    """One breakpoint as it stands now.

    Attributes:
        number: ours; the same through moves and restarts, and in all sessions of a tree.
        wanted: what was asked for.
        source: the file of a `SourceBreakpoint`.
        answer: what the adapter last said about it; None before it was told.

    """

    number: int
    wanted: Wanted
    source: Source | None = None
    answer: Breakpoint | None = None

    @property
    def verified(self) -> bool:
        """Whether the adapter could set it, though perhaps elsewhere."""
        return self.answer is not None and self.answer.verified

    @property
    def message(self) -> str | None:
        """What the adapter says about it, such as why it could not be set."""
        return None if self.answer is None else self.answer.message

    @property
    def line(self) -> int | None:
        """The line on which it stands, or should; None if it is not on a line."""
        if self.answer is not None and self.answer.line is not None:
            return self.answer.line
        return self.wanted.line if isinstance(self.wanted, SourceBreakpoint) else None

    @property
    def moved(self) -> bool:
        """Whether the adapter put it on another line than was asked for."""
        return isinstance(self.wanted, SourceBreakpoint) and self.line != self.wanted.line


class Breakpoints:
    """All breakpoints that a session wants.

    Invariant: no two are equal in source and wish; those of one file or kind keep
    the order in which they were added, which is the order of requests and answers.
    """

    def __init__(self, numbers: Iterator[int] | None = None) -> None:
        self.exceptions: SetExceptionBreakpointsArguments | None = None
        self._numbers = itertools.count(1) if numbers is None else numbers
        self._all: dict[int, SessionBreakpoint] = {}

    @classmethod
    def none(cls) -> Self:
        """Want no stop at all, exceptions included."""
        wishes = cls()
        wishes.exceptions = SetExceptionBreakpointsArguments(filters=[])
        return wishes

    def __iter__(self) -> Iterator[SessionBreakpoint]:
        return iter(tuple(self._all.values()))

    def get(self, number: int) -> SessionBreakpoint | None:
        """Look up a breakpoint as it stands now."""
        return self._all.get(number)

    def add(self, wanted: Wanted, source: Source | None = None) -> SessionBreakpoint:
        """Want one more; the one that is there already if it is equal."""
        for known in self._all.values():
            if known.wanted == wanted and _key(known.source) == _key(source):
                return known
        return self._put(SessionBreakpoint(next(self._numbers), wanted, source))

    def adopt(self, other: SessionBreakpoint) -> None:
        """Want what another session of the tree wants, under the same number."""
        self._put(replace(other, answer=None))

    def remove(self, number: int) -> SessionBreakpoint | None:
        """Want one no longer."""
        return self._all.pop(number, None)

    def for_another(self) -> "Breakpoints":
        """Copy the wishes for a child or a restarted adapter, not yet answered.

        Data and instruction breakpoints stay behind: their addresses mean nothing in another process.
        """
        copy = Breakpoints(self._numbers)
        copy.exceptions = self.exceptions
        for known in self._all.values():
            if isinstance(known.wanted, SourceBreakpoint | FunctionBreakpoint):
                copy.adopt(known)
        return copy

    # Requests

    def request_with(self, known: SessionBreakpoint) -> SetRequest:
        """Make the request that tells the adapter about one breakpoint, and all others of its file or kind."""
        match known.wanted:
            case SourceBreakpoint():
                source = Source() if known.source is None else known.source
                wanted = [other.wanted for other in self._in_file(source)]
                return SetBreakpointsArguments(
                    source=source, breakpoints=[item for item in wanted if isinstance(item, SourceBreakpoint)]
                )
            case FunctionBreakpoint():
                return SetFunctionBreakpointsArguments(breakpoints=self._of_kind(FunctionBreakpoint))
            case DataBreakpoint():
                return SetDataBreakpointsArguments(breakpoints=self._of_kind(DataBreakpoint))
            case InstructionBreakpoint():
                return SetInstructionBreakpointsArguments(breakpoints=self._of_kind(InstructionBreakpoint))

    def configuration(self, capabilities: Capabilities) -> list[SetRequest]:
        """Everything that is wanted, in the order that the specification asks for.

        DAP, "Initialized Event": files, functions if the adapter knows these, then exceptions
        if it has filters, or if it would not hear of the end of the configuration otherwise.
        """
        requests: dict[str, SetRequest] = {}
        for known in self._all.values():
            if isinstance(known.wanted, SourceBreakpoint):
                requests.setdefault(_key(known.source), self.request_with(known))
        listed: list[SetRequest] = list(requests.values())
        functions = self._of_kind(FunctionBreakpoint)
        if functions or capabilities.supports_function_breakpoints:
            listed.append(SetFunctionBreakpointsArguments(breakpoints=functions))
        if data := self._of_kind(DataBreakpoint):
            listed.append(SetDataBreakpointsArguments(breakpoints=data))
        if instructions := self._of_kind(InstructionBreakpoint):
            listed.append(SetInstructionBreakpointsArguments(breakpoints=instructions))
        if capabilities.exception_breakpoint_filters or not capabilities.supports_configuration_done_request:
            listed.append(self._exceptions_for(capabilities))
        return listed

    def _exceptions_for(self, capabilities: Capabilities) -> SetExceptionBreakpointsArguments:
        offered = capabilities.exception_breakpoint_filters or []
        if self.exceptions is None:
            return SetExceptionBreakpointsArguments(filters=[one.filter for one in offered if one.default])
        return self.exceptions

    # What comes back

    def asked(self, request: ProtocolObject) -> Callable[[], None]:
        """Take a request that is about to leave for the truth, whoever made it; return how to take that back."""
        before = self._all.copy(), self.exceptions
        match request:
            case SetBreakpointsArguments():
                kept = self._in_file(request.source)
                lines = [SourceBreakpoint(line=line) for line in request.lines or []]
                self._replace(kept, request.breakpoints or lines, request.source)
            case SetFunctionBreakpointsArguments():
                self._replace(self._kind(FunctionBreakpoint), request.breakpoints)
            case SetDataBreakpointsArguments():
                self._replace(self._kind(DataBreakpoint), request.breakpoints)
            case SetInstructionBreakpointsArguments():
                self._replace(self._kind(InstructionBreakpoint), request.breakpoints)
            case SetExceptionBreakpointsArguments():
                self.exceptions = request

        def take_back() -> None:
            self._all, self.exceptions = before

        return take_back

    def answered(self, request: object, body: object) -> None:
        """Take in the response to a request; its answers stand in the order of the wishes."""
        match request, body:
            case SetBreakpointsArguments(), SetBreakpointsBody():
                self._answer(request.breakpoints or [], self._in_file(request.source), body.breakpoints)
            case SetFunctionBreakpointsArguments(), SetFunctionBreakpointsBody():
                self._answer(request.breakpoints, self._kind(FunctionBreakpoint), body.breakpoints)
            case SetDataBreakpointsArguments(), SetDataBreakpointsBody():
                self._answer(request.breakpoints, self._kind(DataBreakpoint), body.breakpoints)
            case SetInstructionBreakpointsArguments(), SetInstructionBreakpointsBody():
                self._answer(request.breakpoints, self._kind(InstructionBreakpoint), body.breakpoints)

    def refused(self, request: object, why: str) -> None:
        """Take note that the adapter would not set what a request asked for."""
        known: list[SessionBreakpoint] = []
        match request:
            case SetBreakpointsArguments():
                known = self._in_file(request.source)
            case SetFunctionBreakpointsArguments():
                known = self._kind(FunctionBreakpoint)
            case SetDataBreakpointsArguments():
                known = self._kind(DataBreakpoint)
            case SetInstructionBreakpointsArguments():
                known = self._kind(InstructionBreakpoint)
        for one in known:
            self._put(replace(one, answer=Breakpoint(verified=False, message=why)))

    def told(self, event: BreakpointEvent) -> None:
        """Take in what the adapter says about one breakpoint afterwards (event `breakpoint`)."""
        news = event.breakpoint
        for known in self:
            if news.id is None or known.answer is None or known.answer.id != news.id:
                continue
            if event.reason == "removed":
                news = Breakpoint(id=news.id, verified=False, message=news.message or "the adapter removed it")
            self._put(replace(known, answer=news))

    def _answer(self, asked: Sequence[Wanted], known: list[SessionBreakpoint], answers: list[Breakpoint]) -> None:
        # Fewer answers than wishes break the protocol: the rest stays unanswered.
        for wanted, answer in zip(asked, answers, strict=False):
            for one in known:
                if one.wanted == wanted:
                    self._put(replace(one, answer=answer))

    def _replace(self, kept: list[SessionBreakpoint], wanted: Sequence[Wanted], source: Source | None = None) -> None:
        for known in kept:
            if known.wanted not in wanted:
                del self._all[known.number]
        for one in wanted:
            self.add(one, source)

    # Looking up

    def _put(self, known: SessionBreakpoint) -> SessionBreakpoint:
        self._all[known.number] = known
        return known

    def _in_file(self, source: Source) -> list[SessionBreakpoint]:
        return [known for known in self._kind(SourceBreakpoint) if _key(known.source) == _key(source)]

    def _kind(self, kind: type[Wanted]) -> list[SessionBreakpoint]:
        return [known for known in self._all.values() if isinstance(known.wanted, kind)]

    def _of_kind[W: (FunctionBreakpoint, DataBreakpoint, InstructionBreakpoint)](self, kind: type[W]) -> list[W]:
        return [known.wanted for known in self._all.values() if isinstance(known.wanted, kind)]


def _key(source: Source | None) -> str:
    """Say what makes two sources the same file."""
    if source is None:
        return ""
    return source.path or f"#{source.source_reference or 0} {source.name or ''}"
