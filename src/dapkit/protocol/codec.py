"""Messages to bytes and back: the only place that reads and writes JSON.

Reading takes two passes: `decode` reads the envelope and leaves arguments and
bodies as they came; `decode_arguments`, `decode_body`, `decode_event` and
`decode_as` read those into typed values when the command or event is known.

Reading is tolerant. null is absent; unknown fields are ignored, unknown commands
and events stay raw; of two equal keys the last one counts; text that JSON does
not allow is repaired (see `repair`). Writing gives strict JSON in UTF-8, with
lone surrogates as visible escapes.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from dapkit.protocol.base import NO_EXTRA, OpenArguments, RawJson
from dapkit.protocol.errors import InvalidValue, MalformedMessage
from dapkit.protocol.generated import COMMANDS, EVENTS
from dapkit.protocol.messages import AnyArguments, AnyBody, AnyEventBody, AnyMessage, Event, Request, Response
from dapkit.protocol.repair import clean, repair
from dapkit.protocol.validation import first_fault, other_members

type _Reader = Callable[[Any], Any]

_NULL = RawJson(b"null")
_EMPTY = RawJson(b"{}")
_UNREAD = (RawJson, type(None))

# Errors of the fast decoder: ValidationError for a wrong value, the others for
# text that `repair` may still make sense of.
_BROKEN_TEXT = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
# The same; KeyError for a command that is unknown or new here, TypeError for a value that is not raw.
_NOT_READ_FAST = (*_BROKEN_TEXT, TypeError, KeyError)

_MISSING = "Object missing required field `"

_write = msgspec.json.Encoder().encode
_read_envelope: Callable[[bytes], Request | Response | Event] = msgspec.json.Decoder(Request | Response | Event).decode
_read_object = msgspec.json.Decoder(dict[str, object]).decode


class _Converters(dict[object, _Reader]):
    """Readers of decoded JSON by type, each made when it is first asked for."""

    def __missing__(self, kind: object) -> _Reader:
        converter: _Reader = partial(msgspec.convert, type=kind)
        if isinstance(kind, type) and issubclass(kind, OpenArguments):
            converter = _open_converter(kind)
        self[kind] = converter
        return converter


class _Readers(dict[object, _Reader]):
    """Readers of JSON text by type, each made when it is first asked for."""

    def __missing__(self, kind: object) -> _Reader:
        reader: _Reader = msgspec.json.Decoder(kind).decode
        if isinstance(kind, type) and issubclass(kind, OpenArguments):
            convert = _converters[kind]

            def reader(raw: bytes | RawJson) -> object:
                return convert(_read_object(raw))

        self[kind] = reader
        return reader


_converters = _Converters()
_readers = _Readers()

# By command. A request is small, so that each look-up on the way to its arguments counts.
_argument_readers: dict[str, Callable[[AnyArguments], AnyArguments]] = {}


def encode(message: AnyMessage) -> bytes:
    """Write a message as JSON, without its frame.

    >>> from dapkit.protocol import StackTraceArguments
    >>> encode(Request(seq=1, command="stackTrace", arguments=StackTraceArguments(thread_id=7)))
    b'{"type":"request","seq":1,"command":"stackTrace","arguments":{"threadId":7}}'

    Raises:
        TypeError: it holds something that has no form in JSON.

    """
    try:
        return _write(message)
    except (UnicodeEncodeError, TypeError):
        return _write(_plain(message))


def encode_value(value: object) -> bytes:
    """Write arguments, a body or any JSON value as JSON.

    Raises:
        TypeError: it holds something that has no form in JSON.

    """
    try:
        return _write(value)
    except (UnicodeEncodeError, TypeError):
        return _write(_plain(value))


def to_json_value(value: object) -> object:
    """Turn arguments, a body or any JSON value into the builtin values that `encode_value` would write.

    No JSON text is made, so that another module can write it, once.

    >>> from dapkit.protocol import Thread
    >>> to_json_value([Thread(id=7, name="main")])
    [{'id': 7, 'name': 'main'}]

    Raises:
        TypeError: it holds something that has no form in JSON.

    """
    return _plain(value)


def from_json_value[T](kind: type[T], value: object, at: str = "$") -> T:
    """Read a value that was decoded from JSON as a given type, strictly, as `decode_as` does with raw JSON.

    Raises:
        InvalidValue: a field is wrong; its path starts with `at`.

    """
    try:
        result: T = _converters[kind](value)
        return result
    except msgspec.ValidationError as error:
        raise _fault(kind, value, at, error) from None


def decode(payload: bytes) -> AnyMessage:
    """Read the envelope of a message; its arguments or body stay raw.

    >>> event = decode(b'{"seq":3,"type":"event","event":"exited","body":{"exitCode":1}}')
    >>> decode_event(event.event, event.body)
    ExitedEvent(exit_code=1)

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


def decode_arguments(command: str, arguments: AnyArguments) -> AnyArguments:
    """Read the raw arguments of a known command; arguments of unknown commands stay raw, typed ones typed.

    Absent arguments are read like `{}`.

    Raises:
        InvalidValue: with a path that starts at `$.arguments`.

    """
    try:
        return _argument_readers[command](arguments)
    except _NOT_READ_FAST:
        spec = COMMANDS.get(command)
        if spec is None or not isinstance(arguments, _UNREAD):
            return arguments
        _argument_readers[command] = _readers[spec.arguments]
        return decode_as(spec.arguments, arguments, "$.arguments")


def decode_body(command: str, body: AnyBody) -> AnyBody:
    """Read the raw body of a successful response; None if the command has no body.

    Raises:
        InvalidValue: with a path that starts at `$.body`.

    """
    spec = COMMANDS.get(command)
    if spec is None or not isinstance(body, _UNREAD):
        return body
    return None if spec.body is None else decode_as(spec.body, body, "$.body")


def decode_event(event: str, body: AnyEventBody) -> AnyEventBody:
    """Read the raw body of a known event; bodies of unknown events stay raw.

    Raises:
        InvalidValue: with a path that starts at `$.body`.

    """
    kind = EVENTS.get(event)
    if kind is None or not isinstance(body, _UNREAD):
        return body
    return decode_as(kind, body, "$.body")


def decode_as[T](kind: type[T], raw: bytes | RawJson | None, at: str = "$") -> T:
    """Read raw JSON as a given type, strictly; null or nothing is read like `{}`.

    >>> from dapkit.protocol import Thread
    >>> decode_as(Thread, b'{"id":"1","name":"main"}', "$.body.threads[0]")
    Traceback (most recent call last):
    dapkit.protocol.errors.InvalidValue: $.body.threads[0].id: expected an integer, got '1'

    Raises:
        InvalidValue: a field is wrong; its path starts with `at`.
        MalformedMessage: it is not JSON.

    """
    if raw is None:
        raw = _EMPTY
    try:
        value: T = _readers[kind](raw)
        return value
    except msgspec.ValidationError as error:
        if raw == _NULL:
            return decode_as(kind, _EMPTY, at)
        if (sound := _sound(raw)) is not raw:
            return decode_as(kind, sound, at)
        raise _fault(kind, _readers[object](raw), at, error) from None
    except _BROKEN_TEXT:
        return decode_as(kind, _repaired(bytes(raw)), at)


def _open_converter(kind: type[OpenArguments[object]]) -> _Reader:
    def convert(value: object) -> object:
        members = msgspec.convert(value, dict[str, object])
        extra = other_members(kind, members)
        fields = {name: member for name, member in members.items() if name not in extra and member is not None}
        return msgspec.convert({**fields, "extra": extra}, kind)

    return convert


def _plain(value: object) -> object:
    """Turn values that the fast encoder refuses into builtin values: lone surrogates, open arguments."""
    match value:
        case Request(arguments=OpenArguments() as arguments):
            envelope = msgspec.to_builtins(msgspec.structs.replace(value, arguments=None))
            return clean({**envelope, "arguments": _plain(arguments)})
        case OpenArguments():
            fields = msgspec.structs.replace(value, extra=NO_EXTRA)
            return clean(msgspec.to_builtins({**value.extra, **msgspec.to_builtins(fields)}, enc_hook=_plain_part))
        case _:
            return clean(msgspec.to_builtins(value, enc_hook=_plain_part))


def _plain_part(value: object) -> object:
    match value:
        case RawJson():
            return decode_as(object, value)
        case Mapping():
            return dict(value)
        case _:
            raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _sound(raw: bytes | RawJson) -> bytes | RawJson:
    """Return JSON that can be read when nothing is expected of it: as it is, or repaired."""
    try:
        _readers[object](raw)
    except _BROKEN_TEXT:
        return _repaired(bytes(raw))
    return raw


def _repaired(payload: bytes) -> bytes:
    repaired = repair(payload)
    if repaired == payload:  # sound as it is, so the fast decoder refused its depth
        raise MalformedMessage(f"JSON nested too deeply, in {len(payload)} bytes")
    return repaired


def _envelope_fault(payload: bytes, error: msgspec.ValidationError) -> MalformedMessage | InvalidValue:
    fault = _fault(object, _readers[object](_sound(payload)), "$", error)
    if fault.path in ("$", "$.type"):
        return MalformedMessage(f"expected a request, response or event; {fault}")
    return fault


def _fault(kind: object, value: object, at: str, error: msgspec.ValidationError) -> InvalidValue:
    """Describe precisely the value that the fast decoder refused; fall back to its own words if there are no others."""
    if fault := first_fault(value, kind, at):
        return fault
    text, _, path = str(error).partition(" - at `")
    where = at + path.removeprefix("$").removesuffix("`")
    if text.startswith(_MISSING):
        return InvalidValue(
            "required field is missing", path=f"{where}.{text.removeprefix(_MISSING).removesuffix('`')}"
        )
    return InvalidValue(text[0].lower() + text[1:], path=where)
