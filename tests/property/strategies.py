"""Hypothesis strategies for messages, made from the message classes."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAliasType, get_args, get_origin

from hypothesis import strategies as st

from dapkit.protocol import (
    COMMANDS,
    EVENTS,
    AnyMessage,
    ErrorBody,
    Event,
    OpenArguments,
    ProtocolObject,
    Request,
    Response,
)
from dapkit.testing.samples import Shape, shapes

ARGUMENTS = [spec.arguments for spec in COMMANDS.values()]
BODIES = [spec.body for spec in COMMANDS.values() if spec.body is not None]
EVENT_BODIES = list(EVENTS.values())

texts = st.text(st.characters(codec="utf-8"), max_size=20)
"""Text that UTF-8 can hold: without lone surrogates."""

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=10,
)

seqs = st.integers(1, 2**31 - 1)

_PLAIN: Mapping[object, st.SearchStrategy[Any]] = {
    str: texts,
    int: st.integers(-(2**53), 2**53),
    bool: st.booleans(),
    object: json_values,
    type(None): st.none(),
}


def instances(kind: type[ProtocolObject], depth: int = 2) -> st.SearchStrategy[ProtocolObject]:
    """Make instances of a message class; below the depth, optional fields are left out."""
    fields = {shape.name: _field(shape, depth) for shape in shapes(kind) if shape.required or depth > 0}
    if issubclass(kind, OpenArguments):
        taken = {shape.wire for shape in shapes(kind)}
        fields["extra"] = st.dictionaries(texts.filter(lambda key: key not in taken), json_values, max_size=3)
    return st.builds(kind, **fields)


def _field(shape: Shape, depth: int) -> st.SearchStrategy[Any]:
    values = st.one_of([_value(kind, depth) for kind in shape.kinds])
    return values if shape.required and not shape.nullable else st.none() | values


def _value(kind: object, depth: int) -> st.SearchStrategy[Any]:
    if isinstance(kind, TypeAliasType):
        return _value(kind.__value__, depth)
    if isinstance(kind, type) and issubclass(kind, ProtocolObject):
        return st.deferred(lambda: instances(kind, depth - 1))
    return _PLAIN[kind] if kind in _PLAIN else _composed(get_origin(kind), get_args(kind), depth)


def _composed(origin: object, arguments: tuple[Any, ...], depth: int) -> st.SearchStrategy[Any]:
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is Annotated:
        numbers = st.floats if arguments[0] is float else st.integers
        return numbers(arguments[1].ge, arguments[1].le)
    if origin is list:
        return st.lists(_value(arguments[0], depth), max_size=2)
    if origin is dict:
        return st.dictionaries(texts, _value(arguments[1], depth), max_size=2)
    return st.one_of([_value(alternative, depth) for alternative in arguments])


requests = st.sampled_from(ARGUMENTS).flatmap(
    lambda kind: st.builds(Request, seq=seqs, command=st.just(kind.command), arguments=instances(kind))
)

responses = st.sampled_from(list(COMMANDS.values())).flatmap(
    lambda spec: st.builds(
        Response,
        seq=seqs,
        request_seq=seqs,
        success=st.just(True),  # noqa: FBT003 - hypothesis has no keyword for it
        command=st.just(spec.command),
        message=st.none() | texts,
        body=st.none() if spec.body is None else instances(spec.body),
    )
)

failures = st.builds(
    Response,
    seq=seqs,
    request_seq=seqs,
    success=st.just(False),  # noqa: FBT003 - the same
    command=texts,
    message=st.none() | texts,
    body=st.none() | instances(ErrorBody),
)

events = st.sampled_from(EVENT_BODIES).flatmap(
    lambda kind: st.builds(Event, seq=seqs, event=st.just(kind.event), body=instances(kind))
)

messages: st.SearchStrategy[AnyMessage] = st.one_of(requests, responses, failures, events)
