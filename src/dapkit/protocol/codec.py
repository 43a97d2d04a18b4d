"""Messages to bytes and back: the only place that reads and writes JSON.

Reading takes two passes: `decode` reads the envelope and leaves arguments and
bodies as they came; `decode_arguments`, `decode_body`, `decode_event` and
`decode_as` read those into typed values when the command or event is known.

Reading is tolerant. null is absent; unknown fields are ignored, unknown commands
and events stay raw; of two equal keys the last one counts; text that JSON does
not allow is repaired (see `repair`). Writing is strict JSON in UTF-8.
"""

from collections.abc import Callable
from typing import Any, cast

import msgspec

from dapkit.protocol.base import Arguments, EventBody, OpenArguments, ProtocolObject, RawJson
from dapkit.protocol.errors import InvalidValue, MalformedMessage
from dapkit.protocol.generated import COMMANDS, EVENTS
from dapkit.protocol.messages import AnyMessage, Event, Request, Response
from dapkit.protocol.repair import clean, repair

_NULL = RawJson(b"null")
_EMPTY = RawJson(b"{}")

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Request | Response | Event).decode
_decoders: dict[object, Callable[[bytes | RawJson], Any]] = {}


def encode(message: AnyMessage) -> bytes:
    """Write a message as JSON, without frame."""
    return encode_value(message)


def encode_value(value: object) -> bytes:
    """Write any message, typed value or JSON value as JSON."""
    try:
        match value:
            case Request(arguments=OpenArguments() as arguments):
                return _encode(msgspec.structs.replace(value, arguments=RawJson(encode_value(arguments))))
            case OpenArguments():
                return _encode({**value.extra, **_without_extra(value)})
            case _:
                return _encode(value)
    except UnicodeEncodeError:
        return _encode(clean(msgspec.to_builtins(value)))


def decode(payload: bytes) -> AnyMessage:
    """Read the envelope of a message; its arguments or body stay raw.

    Raises:
        MalformedMessage: it is not JSON, not an object, or no request, response or event.

    """
    try:
        message: AnyMessage = _decode(payload)
    except msgspec.ValidationError as error:
        raise _malformed(payload, str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return decode(_repaired(payload))
    if isinstance(message, Request):
        return msgspec.structs.replace(message, arguments=None) if message.arguments == _NULL else message
    return msgspec.structs.replace(message, body=None) if message.body == _NULL else message


def decode_arguments(command: str, raw: RawJson | None) -> Arguments[object] | RawJson | None:
    """Read the arguments of a known command; those of others stay raw.

    Absent arguments are read like `{}`.

    Raises:
        InvalidValue: with a path that starts at `$.arguments`.

    """
    spec = COMMANDS.get(command)
    return raw if spec is None else decode_as(spec.arguments, raw, "$.arguments")


def decode_body(command: str, raw: RawJson | None) -> ProtocolObject | RawJson | None:
    """Read the body of a successful response; None if the command has none.

    Raises:
        InvalidValue: with a path that starts at `$.body`.

    """
    spec = COMMANDS.get(command)
    if spec is None:
        return raw
    return None if spec.body is None else decode_as(spec.body, raw, "$.body")


def decode_event(event: str, raw: RawJson | None) -> EventBody | RawJson | None:
    """Read the body of a known event; those of others stay raw.

    Raises:
        InvalidValue: with a path that starts at `$.body`.

    """
    body = EVENTS.get(event)
    return raw if body is None else decode_as(body, raw, "$.body")


def decode_as[T](kind: type[T], raw: bytes | RawJson | None, at: str = "$") -> T:
    """Read raw JSON as a given type, strictly; nothing is read like `{}`.

    Raises:
        InvalidValue: a field is wrong; its path starts with `at`.
        MalformedMessage: it is not JSON.

    """
    read = _decoders.get(kind) or _new_decoder(kind)
    try:
        return cast("T", read(_EMPTY if raw is None or raw == _NULL else raw))
    except msgspec.ValidationError as error:
        raise _invalid(str(error), at) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return decode_as(kind, _repaired(bytes(cast("bytes", raw))), at)


def _new_decoder(kind: type[object]) -> Callable[[bytes | RawJson], Any]:
    read: Callable[[bytes | RawJson], Any] = msgspec.json.Decoder(kind).decode
    if isinstance(kind, type(OpenArguments)) and issubclass(kind, OpenArguments):
        read = _open_decoder(kind)
    _decoders[kind] = read
    return read


def _open_decoder(kind: type[OpenArguments[object]]) -> Callable[[bytes | RawJson], Any]:
    known = {field.encode_name for field in msgspec.structs.fields(kind)} - {"extra"}
    to_object = msgspec.json.Decoder(dict[str, object]).decode

    def read(raw: bytes | RawJson) -> object:
        members = to_object(raw)
        fields: dict[str, object] = {name: members.pop(name) for name in known & members.keys()}
        return msgspec.convert({**fields, "extra": members}, kind)

    return read


def _without_extra(value: OpenArguments[Any]) -> dict[str, object]:
    members = msgspec.to_builtins(value)
    members.pop("extra", None)
    return cast("dict[str, object]", members)


def _repaired(payload: bytes) -> bytes:
    repaired = repair(payload)
    if repaired == payload:
        raise MalformedMessage(f"JSON nested too deeply, in {len(payload)} bytes")
    return repaired


def _malformed(payload: bytes, problem: str) -> MalformedMessage:
    """Say what is wrong with an envelope, and which request could be answered."""
    text, _, path = problem.partition(" - at ")
    where = path.strip("`") or "$"
    problem = f"{where}: {text[0].lower()}{text[1:]}"
    try:
        members: object = msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        members = msgspec.json.decode(_repaired(payload))
    match members:
        case {"type": "request", "seq": int(seq), **others}:
            command = others.get("command")
            return MalformedMessage(problem, request_seq=seq, command=command if isinstance(command, str) else "")
        case _:
            return MalformedMessage(problem)


def _invalid(problem: str, at: str) -> InvalidValue:
    """Turn the decoder's text into ours, with the whole path."""
    text, _, path = problem.partition(" - at `")
    path = at + path.rstrip("`").removeprefix("$")
    text = text[0].lower() + text[1:]
    missing = text.removeprefix("object missing required field `")
    if missing != text:
        return InvalidValue(f"{path}.{missing.rstrip('`')}", "required field is missing")
    return InvalidValue(path, text)
