"""Expectations of a test about the order of messages, in protocol words.

    request("next") >> response("next") >> event("stopped", reason="step")

`>>` is one after the other, with any messages in between; `&` is both, in any order, each with a message of its own;
`|` is whichever comes first; `never` forbids the pattern after it to come before the pattern before it. Python binds
`>>` tighter than `&`, and `&` tighter than `|`. Fields are named as in Python and compared with `==`, so that a matcher
such as `dirty_equals.IsStr` may stand for a value.

A pattern is satisfied by the earliest messages that fit.
"""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import override

from dapkit.protocol import (
    COMMANDS,
    EVENTS,
    Event,
    OpenArguments,
    ProtocolObject,
    Request,
    Response,
    decode_as,
    encode_value,
)
from dapkit.testing.moments import Moment

type Found = tuple[Moment, ...]
"""Messages that satisfy a pattern, in the order of the pattern."""


@dataclass(frozen=True, slots=True)
class Miss:
    """Why a pattern is not satisfied."""

    reason: str


class Pattern(ABC):
    """Something to look for in a timeline; made by `request`, `response`, `failure`, `event` and `never`."""

    @abstractmethod
    def find(self, moments: Sequence[Moment], start: int, used_indexes: frozenset[int]) -> Found | Miss:
        """Look for the earliest messages from `start` on, leaving out the indices in `used_indexes`."""

    def __rshift__(self, later: "Pattern") -> "Pattern":
        return _InOrder((*_parts(self, _InOrder), *_parts(later, _InOrder)))

    def __and__(self, other: "Pattern") -> "Pattern":
        return _AllOf((*_parts(self, _AllOf), *_parts(other, _AllOf)))

    def __or__(self, other: "Pattern") -> "Pattern":
        return _AnyOf((*_parts(self, _AnyOf), *_parts(other, _AnyOf)))


def request(command: str, **arguments: object) -> Pattern:
    """Match a request, from either side, with these arguments among others."""
    spec = COMMANDS.get(command)
    return _Message("request", command, _on_the_wire(None if spec is None else spec.arguments, arguments))


def response(to: str | Request, **body: object) -> Pattern:
    """Match a successful response to a command, or to one request, with these fields among others."""
    command, seq = (to.command, to.seq) if isinstance(to, Request) else (to, None)
    spec = COMMANDS.get(command)
    return _Message("response", command, _on_the_wire(None if spec is None else spec.body, body), request_seq=seq)


def failure(to: str | Request, message: object = None) -> Pattern:
    """Match a failed response to a command, or to one request; `message` is its short text."""
    command, seq = (to.command, to.seq) if isinstance(to, Request) else (to, None)
    return _Message("failure", command, {} if message is None else {"message": message}, request_seq=seq)


def event(name: str, **body: object) -> Pattern:
    """Match an event with these fields among others."""
    return _Message("event", name, _on_the_wire(EVENTS.get(name), body))


def never(pattern: Pattern) -> Pattern:
    """Forbid a pattern: between its neighbours in an order, or anywhere in the messages so far."""
    return _Never(pattern)


@dataclass(frozen=True, slots=True)
class _Message(Pattern):
    kind: str
    name: str
    fields: Mapping[str, object]
    request_seq: int | None = None

    @override
    def find(self, moments: Sequence[Moment], start: int, used_indexes: frozenset[int]) -> Found | Miss:
        for moment in moments[start:]:
            if moment.index not in used_indexes and self._fits(moment):
                return (moment,)
        after = f" after #{start - 1}" if start else ""
        return Miss(f"{self} did not come{after}")

    def _fits(self, moment: Moment) -> bool:
        body: Mapping[str, object]
        match moment.message:
            case Request(command=name):
                kind, body = "request", moment.fields
            case Response(success=True, command=name):
                kind, body = "response", moment.fields
            case Response(command=name, message=message):
                kind, body = "failure", {"message": message}
            case Event(event=name):
                kind, body = "event", moment.fields
            case None:
                return False
        if (kind, name) != (self.kind, self.name):
            return False
        if self.request_seq is not None and moment.request_seq != self.request_seq:
            return False
        return all(field in body and body[field] == value for field, value in self.fields.items())

    def __str__(self) -> str:
        details = "".join(f" {name}={value!r}" for name, value in self.fields.items())
        number = "" if self.request_seq is None else f" to #{self.request_seq}"
        return f"{self.kind} {self.name}{number}{details}"


@dataclass(frozen=True, slots=True)
class _InOrder(Pattern):
    parts: tuple[Pattern, ...]

    @override
    def find(self, moments: Sequence[Moment], start: int, used_indexes: frozenset[int]) -> Found | Miss:
        matches: Found = ()
        forbidden: list[Pattern] = []
        for part in self.parts:
            if isinstance(part, _Never):
                forbidden.append(part.pattern)
                continue
            now = part.find(moments, start, used_indexes)
            if isinstance(now, Miss):
                return now
            end = max((moment.index for moment in now), default=start - 1) + 1
            indexes_now = used_indexes | {moment.index for moment in now}
            if (broken := _broken(forbidden, moments[:end], start, indexes_now)) is not None:
                return broken
            matches, start, forbidden = (*matches, *now), end, []
        return _broken(forbidden, moments, start, used_indexes) or matches

    def __str__(self) -> str:
        return " >> ".join(_grouped(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class _AllOf(Pattern):
    parts: tuple[Pattern, ...]

    @override
    def find(self, moments: Sequence[Moment], start: int, used_indexes: frozenset[int]) -> Found | Miss:
        # A message that fits two parts counts for one of them: try which.
        results = [
            self._in_this_order(order, moments, start, used_indexes) for order in itertools.permutations(self.parts)
        ]
        successes = [result for result in results if not isinstance(result, Miss)]
        return min(successes, key=_end) if successes else results[0]

    @staticmethod
    def _in_this_order(
        order: Sequence[Pattern], moments: Sequence[Moment], start: int, used_indexes: frozenset[int]
    ) -> Found | Miss:
        matches: Found = ()
        for part in order:
            now = part.find(moments, start, used_indexes)
            if isinstance(now, Miss):
                return now
            matches = (*matches, *now)
            used_indexes |= {moment.index for moment in now}
        return matches

    def __str__(self) -> str:
        return " & ".join(_grouped(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class _AnyOf(Pattern):
    parts: tuple[Pattern, ...]

    @override
    def find(self, moments: Sequence[Moment], start: int, used_indexes: frozenset[int]) -> Found | Miss:
        results = [part.find(moments, start, used_indexes) for part in self.parts]
        successes = [result for result in results if not isinstance(result, Miss)]
        misses = [result.reason for result in results if isinstance(result, Miss)]
        return min(successes, key=_end) if successes else Miss(", and ".join(misses))

    def __str__(self) -> str:
        return " | ".join(_grouped(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class _Never(Pattern):
    pattern: Pattern

    @override
    def find(self, moments: Sequence[Moment], start: int, used_indexes: frozenset[int]) -> Found | Miss:
        return _broken([self.pattern], moments, start, used_indexes) or ()

    def __str__(self) -> str:
        return f"never({self.pattern})"


def _broken(
    forbidden: Sequence[Pattern], moments: Sequence[Moment], start: int, used_indexes: frozenset[int]
) -> Miss | None:
    for pattern in forbidden:
        result = pattern.find(moments, start, used_indexes)
        if not isinstance(result, Miss):
            return Miss(f"{pattern} came, as #{_end(result)}, and was never to")
    return None


def _end(matches: Found) -> int:
    return max((moment.index for moment in matches), default=-1)


def _parts(pattern: Pattern, kind: type[_InOrder | _AllOf | _AnyOf]) -> tuple[Pattern, ...]:
    return pattern.parts if isinstance(pattern, kind) else (pattern,)


def _grouped(pattern: Pattern) -> str:
    return f"({pattern})" if isinstance(pattern, (_AllOf, _AnyOf, _InOrder)) else str(pattern)


def _on_the_wire(kind: type[ProtocolObject] | None, fields: Mapping[str, object]) -> dict[str, object]:
    """Name fields as they are in JSON, and turn typed values into JSON values."""
    names: dict[str, str] = {}
    if kind is not None:
        names = dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))
        unknown = sorted(fields.keys() - names.keys())
        if unknown and not issubclass(kind, OpenArguments):
            raise ValueError(f"{kind.__name__} has no field {', '.join(unknown)}; its fields are {', '.join(names)}")
    return {names.get(name, name): _as_json(value) for name, value in fields.items()}


def _as_json(value: object) -> object:
    match value:
        case ProtocolObject():
            return decode_as(dict[str, object], encode_value(value))
        case list():
            return [_as_json(item) for item in value]
        case _:
            return value
