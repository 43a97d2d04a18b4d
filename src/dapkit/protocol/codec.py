"""Messages to bytes and back: the only place that reads and writes JSON.

Reading takes two passes: `decode` reads the envelope and leaves arguments and
bodies as they came; `decode_arguments`, `decode_body`, `decode_event` and
`decode_as` read those into typed values when the command or event is known.

Reading is tolerant. null is absent; unknown fields are ignored, unknown commands
and events stay raw; of two equal keys the last one counts; text that JSON does
not allow is repaired (see `repair`). Writing gives strict JSON in UTF-8, with
lone surrogates as visible escapes.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from dapkit.protocol.base import Arguments, EventBody, OpenArguments, ProtocolObject, RawJson
from dapkit.protocol.errors import InvalidValue, MalformedMessage
from dapkit.protocol.fitting import first_fault, other_members
from dapkit.protocol.generated import COMMANDS, EVENTS
from dapkit.protocol.messages import AnyMessage, Event, Request, Response
from dapkit.protocol.repair import clean, repair

type _Reader = Callable[[bytes | RawJson], Any]

_NULL = RawJson(b"null")
_EMPTY = RawJson(b"{}")

# What the fast decoder raises on text that `repair` may still make sense of.
_BROKEN_TEXT = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_MISSING = "Object missing required field `"

_write = msgspec.json.Encoder().encode
_read_envelope: Callable[[bytes], Request | Response | Event] = msgspec.json.Decoder(Request | Response | Event).decode
_read_object = msgspec.json.Decoder(dict[str, object]).decode
_readers: dict[object, _Reader] = {}


def encode(message: AnyMessage) -> bytes:
    """Write a message as JSON, without its frame."""
    try:
        if isinstance(message, Request) and isinstance(message.arguments, OpenArguments):
            message = msgspec.structs.replace(message, arguments=RawJson(encode_value(message.arguments)))
        return _write(message)
    except UnicodeEncodeError:
        return _write(clean(_plain(message)))


def encode_value(value: object) -> bytes:
    """Write arguments, a body or any JSON value as JSON."""
    if isinstance(value, OpenArguments):
        value = {**value.extra, **_plain(msgspec.structs.replace(value, extra={}))}
    try:
        return _write(value)
    except UnicodeEncodeError:
        return _write(clean(_plain(value)))


def decode(payload: bytes) -> AnyMessage:
    """Read the envelope of a message; its arguments or body stay raw.

    Raises:
        MalformedMessage: it is not JSON, not an object, or no request, response or event.
        InvalidValue: a field of the envelope is missing or wrong.

    """
    try:
        message = _read_envelope(payload)
    except msgspec.ValidationError as error:
        raise _envelope_fault(payload, error) from None
    except _BROKEN_TEXT:
        return decode(_repaired(payload))
    if isinstance(message, Request):
        return message if message.arguments != _NULL else msgspec.structs.replace(message, arguments=None)
    return message if message.body != _NULL else msgspec.structs.replace(message, body=None)


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
    kind = EVENTS.get(event)
    return raw if kind is None else decode_as(kind, raw, "$.body")


def decode_as[T](kind: type[T], raw: bytes | RawJson | None, at: str = "$") -> T:
    """Read raw JSON as a given type, strictly; nothing is read like `{}`.

    Raises:
        InvalidValue: a field is wrong; its path starts with `at`.
        MalformedMessage: it is not JSON.

    """
    if raw is None or raw == _NULL:
        raw = _EMPTY
    try:
        value: T = (_readers.get(kind) or _new_reader(kind))(raw)
        return value
    except msgspec.ValidationError as error:
        raise _fault(kind, raw, at, error) from None
    except _BROKEN_TEXT:
        return decode_as(kind, _repaired(bytes(raw)), at)


def _new_reader(kind: object) -> _Reader:
    reader: _Reader = msgspec.json.Decoder(kind).decode
    if isinstance(kind, type) and issubclass(kind, OpenArguments):
        reader = _open_reader(kind)
    _readers[kind] = reader
    return reader


def _open_reader(kind: type[OpenArguments[object]]) -> _Reader:
    def read(raw: bytes | RawJson) -> object:
        members = _read_object(raw)
        extra = other_members(kind, members)
        fields = {name: member for name, member in members.items() if name not in extra}
        return msgspec.convert({**fields, "extra": extra}, kind)

    return read


def _plain(value: object) -> Any:  # noqa: ANN401 - the same JSON, made of builtin types
    return msgspec.to_builtins(value, enc_hook=_read_raw)


def _read_raw(value: object) -> object:
    if isinstance(value, RawJson):
        return decode_as(object, value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _repaired(payload: bytes) -> bytes:
    repaired = repair(payload)
    if repaired == payload:  # sound as it is, so depth was what the fast decoder refused
        raise MalformedMessage(f"JSON nested too deeply, in {len(payload)} bytes")
    return repaired


def _envelope_fault(payload: bytes, error: msgspec.ValidationError) -> MalformedMessage | InvalidValue:
    fault = _fault(object, payload, "$", error)
    if fault.path in ("$", "$.type"):
        return MalformedMessage(f"expected a request, response or event; {fault}")
    return fault


def _fault(kind: object, raw: bytes | RawJson, at: str, error: msgspec.ValidationError) -> InvalidValue:
    """Say precisely what the fast decoder refused; fall back to its own words where they are all there is."""
    if fault := first_fault(decode_as(object, raw), kind, at):
        return fault
    text, _, path = str(error).partition(" - at `")
    where = at + path.removeprefix("$").removesuffix("`")
    if text.startswith(_MISSING):
        return InvalidValue(
            "required field is missing", path=f"{where}.{text.removeprefix(_MISSING).removesuffix('`')}"
        )
    return InvalidValue(text[0].lower() + text[1:], path=where)
