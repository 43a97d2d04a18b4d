"""Samples of every message, made from the message classes themselves.

For each class of the protocol: the smallest JSON object that it accepts, the
fullest one, one with null in every optional place, and objects that each hold
one fault, with its path. The test decides their use: send them to an adapter, encode them, check them against the
schema.

    >>> from dapkit.protocol import StackTraceArguments
    >>> smallest(StackTraceArguments)
    {'threadId': 1}
    >>> [fault.path for fault in faulty(StackTraceArguments, "$.arguments")][:2]
    ['$.arguments.threadId', '$.arguments.threadId']
    >>> next(every_message(smallest))
    Request(seq=1, command='cancel', arguments=CancelArguments(request_id=None, progress_id=None))
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Literal, TypeAliasType, Union, get_args, get_origin, get_type_hints

from dapkit.protocol import (
    COMMANDS,
    EVENTS,
    AnyMessage,
    ErrorBody,
    Event,
    Message,
    OpenArguments,
    ProtocolObject,
    Request,
    Response,
    decode_as,
    encode_value,
    wire_name,
)

type JsonObject = dict[str, object]
type ObjectType = type[ProtocolObject]

__all__ = ["Fault", "Shape", "every_message", "faulty", "fullest", "shapes", "smallest", "with_nulls"]


@dataclass(frozen=True)
class Shape:
    """The values that one field of a message class admits. `kinds` are its alternatives, without null."""

    name: str
    wire: str
    required: bool
    nullable: bool
    kinds: tuple[object, ...]


@dataclass(frozen=True)
class Fault:
    """A JSON object with one fault, and the place that an error must name."""

    path: str
    value: JsonObject
    why: str


def shapes(kind: ObjectType) -> list[Shape]:
    """Describe the fields of a message class, `extra` of open arguments left out.

    A kind is a class (`str`, `int`, `bool`, `float`, `object`, a message class),
    `Literal[...]`, `list[...]`, `dict[str, ...]`, or `Annotated[...]` with a range.
    """
    parameters = inspect.signature(kind).parameters
    field_shapes = []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if name not in parameters or (name == "extra" and issubclass(kind, OpenArguments)):
            continue
        kinds = tuple(_alternatives(hint))
        field_shapes.append(
            Shape(
                name=name,
                wire=wire_name(kind, name),
                required=parameters[name].default is inspect.Parameter.empty,
                nullable=NoneType in kinds,
                kinds=tuple(choice for choice in kinds if choice is not NoneType),
            )
        )
    return field_shapes


def smallest(kind: ObjectType) -> JsonObject:
    """Make an object with the required fields only."""
    return {shape.wire: _value(shape.kinds[0], smallest) for shape in shapes(kind) if shape.required}


def fullest(kind: ObjectType) -> JsonObject:
    """Make an object with every field set; where a class holds itself, the inner one is the smallest."""

    def fill(inner: ObjectType) -> JsonObject:
        return smallest(inner) if inner is kind else fullest(inner)

    values = {shape.wire: _value(shape.kinds[-1], fill) for shape in shapes(kind)}
    return {**values, "sample of a further key": [1, {"a": None}]} if issubclass(kind, OpenArguments) else values


def with_nulls(kind: ObjectType) -> JsonObject:
    """Make an object with null in every field that may be left out."""
    return {shape.wire: None for shape in shapes(kind) if not shape.required} | smallest(kind)


def every_message(fill: Callable[[ObjectType], JsonObject]) -> Iterator[AnyMessage]:
    """Make a request and a response of each command, a failure, and each event, filled by `smallest` or `fullest`."""
    for command, spec in COMMANDS.items():
        arguments = decode_as(spec.arguments, encode_value(fill(spec.arguments)))
        yield Request(seq=1, command=command, arguments=arguments)
        body = None if spec.body is None else decode_as(spec.body, encode_value(fill(spec.body)))
        yield Response(seq=2, request_seq=1, success=True, command=command, body=body)
        error = ErrorBody(error=decode_as(Message, encode_value(fill(Message))))
        yield Response(seq=2, request_seq=1, success=False, command=command, message="cancelled", body=error)
    for event, content in EVENTS.items():
        yield Event(seq=1, event=event, body=decode_as(content, encode_value(fill(content))))


def faulty(kind: ObjectType, at: str = "$") -> Iterator[Fault]:
    """Make objects with one fault each: every required field missing, every field of a wrong type or out of range.

    Faults of an inner object are made in the fullest outer one.
    """
    whole = fullest(kind)
    for shape in shapes(kind):
        place = f"{at}.{shape.wire}"
        if shape.required:
            without = {name: value for name, value in whole.items() if name != shape.wire}
            yield Fault(place, without, "required field is missing")
            if not shape.nullable:
                yield Fault(place, {**whole, shape.wire: None}, "null in a required field")
        for path, value, why in _wrong_values(shape.kinds, place, kind):
            yield Fault(path, {**whole, shape.wire: value}, why)


def _alternatives(hint: object) -> Iterator[object]:
    """Take aliases and unions apart. An open enumeration is `Literal[...]` and then `str`."""
    if isinstance(hint, TypeAliasType):
        yield from _alternatives(hint.__value__)
    elif get_origin(hint) in (Union, UnionType):
        for part in get_args(hint):
            yield from _alternatives(part)
    else:
        yield hint


_PLAIN: Mapping[object, object] = {str: "some text", int: 1, bool: True, float: 1.5, object: {"any": ["JSON", 1, None]}}


def _value(kind: object, fill: Callable[[ObjectType], JsonObject]) -> object:
    if kind in _PLAIN:
        return _PLAIN[kind]
    if isinstance(kind, type) and issubclass(kind, ProtocolObject):
        return fill(kind)
    arguments = get_args(kind)
    match get_origin(kind):
        case origin if origin is Literal:
            return arguments[0]
        case origin if origin is Annotated:
            return 1
        case origin if origin is list:
            return [_value(next(_alternatives(arguments[0])), fill)]
        case _:
            return {"key": _value(next(_alternatives(arguments[1])), fill)}


def _wrong_values(kinds: Iterable[object], place: str, within: ObjectType) -> Iterator[tuple[str, object, str]]:
    """Make values that none of the kinds admits, with the place of the fault in each."""
    kinds = tuple(kinds)
    if object in kinds:
        return
    origins = {get_origin(kind) for kind in kinds}
    if list not in origins:
        yield place, ["wrong"], "an array in place of something else"
    if str not in kinds and Literal not in origins:
        yield place, "wrong", "text in place of something else"
    if bool not in kinds:
        yield place, True, "true in place of something else"
    if Literal in origins and str not in kinds:
        yield place, "no such value", "an unknown value of a closed enumeration"
    for kind in kinds:
        yield from _wrong_inside(kind, place, within)


def _wrong_inside(kind: object, place: str, within: ObjectType) -> Iterator[tuple[str, object, str]]:
    arguments = get_args(kind)
    match get_origin(kind):
        case None if isinstance(kind, type) and issubclass(kind, ProtocolObject) and kind is not within:
            for fault in faulty(kind, place):
                yield fault.path, fault.value, fault.why
        case origin if origin is Annotated:
            base, limits = arguments
            yield place, limits.ge - 1, "a number below the range"
            yield place, limits.le + 1, "a number above the range"
            if base is int:
                yield place, 1.5, "a fraction in place of an integer"
        case origin if origin is list:
            for path, value, why in _wrong_values(_alternatives(arguments[0]), f"{place}[0]", within):
                yield path, [value], why
        case origin if origin is dict:
            for path, value, why in _wrong_values(_alternatives(arguments[1]), f'{place}["key"]', within):
                yield path, {"key": value}, why
        case _:
            return
