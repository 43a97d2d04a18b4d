"""Arguments and bodies as they cross the edge: strict and in the client's formats.

Outgoing values are checked against their types, since a Python caller can put any value anywhere. Content that arrives
as `RawJson` was checked by the code that made it, and passes as it is unless the client's formats differ from ours.
"""

from typing import Any, cast

from dapkit.endpoint.conversion import Formats
from dapkit.protocol import (
    COMMANDS,
    Arguments,
    CommandSpec,
    EventBody,
    InvalidValue,
    ProtocolObject,
    RawJson,
    decode_as,
    encode_value,
)

_UNDERSTOOD = ("initialize", "continue")
"""Commands whose response the endpoint itself has to understand."""


def written(value: ProtocolObject, at: str) -> RawJson:
    """Encode a value strictly.

    Raises:
        InvalidValue: it does not fit its type; the path starts with `at`.

    """
    raw = RawJson(encode_value(value))
    if value.__struct_fields__:
        decode_as(type(value), raw, at)
    return raw


def written_arguments(arguments: Arguments[Any], formats: Formats) -> RawJson | None:
    """Encode arguments for the peer; empty arguments are left out if the specification allows that.

    Raises:
        InvalidValue: as `written`, with a path that starts at `$.arguments`.

    """
    spec = COMMANDS.get(arguments.command)
    if spec is not None and spec.arguments_optional and not arguments.__struct_fields__:
        return None
    # All others are written even if they say nothing: cmake 4 hangs up at a `disconnect` without arguments.
    return written(formats.outward(arguments), "$.arguments")


def written_event(body: EventBody, formats: Formats) -> RawJson | None:
    """Encode the body of an event for the peer, if it has any fields.

    Raises:
        InvalidValue: as `written`, with a path that starts at `$.body`.

    """
    return written(formats.outward(body), "$.body") if body.__struct_fields__ else None


def written_body(command: str, body: ProtocolObject | RawJson | None, formats: Formats) -> RawJson | None:
    """Encode the body of a successful response for the peer.

    Raises:
        InvalidValue: the body does not have the type of this command's response.

    """
    spec = COMMANDS.get(command)
    kind = None if spec is None else spec.body
    match body:
        case None:
            if kind is not None:
                decode_as(kind, None, "$.body")
            return None
        case RawJson():
            if kind is None or not formats.concern(kind):
                return body
            return written(formats.outward(decode_as(kind, body, "$.body")), "$.body")
        case _:
            if kind is not None and not isinstance(body, kind):
                raise InvalidValue(f"expected {kind.__name__}, got {type(body).__name__}", path="$.body")
            return written(formats.outward(body), "$.body")


def read_arguments(spec: CommandSpec, raw: RawJson | None, formats: Formats) -> Arguments[Any]:
    """Read the arguments of a request, strictly; absent ones are as good as empty ones.

    Raises:
        InvalidValue: with a path that starts at `$.arguments`.
        MalformedMessage: they are nested too deeply.

    """
    return formats.inward(cast("Arguments[Any]", decode_as(spec.arguments, raw, "$.arguments")))


def understood(command: str, body: ProtocolObject | RawJson | None) -> ProtocolObject | RawJson | None:
    """Body of a response, typed if the endpoint itself must read it.

    Raises:
        InvalidValue: the body does not have the type of this command's response.

    """
    spec = COMMANDS.get(command)
    if not isinstance(body, RawJson) or spec is None or spec.body is None or command not in _UNDERSTOOD:
        return body
    return decode_as(spec.body, body, "$.body")
