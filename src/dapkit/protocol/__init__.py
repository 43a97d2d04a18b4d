"""What can be said: the messages of the Debug Adapter Protocol, their frames and their JSON."""

from dapkit.protocol import generated
from dapkit.protocol.base import Arguments, EventBody, OpenArguments, ProtocolObject, RawJson, changed, wire_name
from dapkit.protocol.codec import (
    decode,
    decode_arguments,
    decode_as,
    decode_body,
    decode_event,
    encode,
    encode_value,
    from_json_value,
    to_json_value,
)
from dapkit.protocol.error_texts import error_message, error_text
from dapkit.protocol.errors import DapkitError, FramingError, InvalidValue, MalformedMessage, ProtocolError
from dapkit.protocol.framing import FrameDecoder, encode_frame
from dapkit.protocol.generated import *  # noqa: F403 - its __all__ is the whole protocol, listed there
from dapkit.protocol.leniency import SchemaViolation, decode_leniently
from dapkit.protocol.messages import AnyMessage, ErrorBody, Event, MessageType, Request, Response
from dapkit.protocol.numbers import Int32, Int53, NonNegativeInt32, Percentage, PositiveInt32, Uint32, Uint53
from dapkit.protocol.specs import CommandSpec, Direction

__all__ = [
    "AnyMessage",
    "Arguments",
    "CommandSpec",
    "DapkitError",
    "Direction",
    "ErrorBody",
    "Event",
    "EventBody",
    "FrameDecoder",
    "FramingError",
    "Int32",
    "Int53",
    "InvalidValue",
    "MalformedMessage",
    "MessageType",
    "NonNegativeInt32",
    "OpenArguments",
    "Percentage",
    "PositiveInt32",
    "ProtocolError",
    "ProtocolObject",
    "RawJson",
    "Request",
    "Response",
    "SchemaViolation",
    "Uint32",
    "Uint53",
    "changed",
    "decode",
    "decode_arguments",
    "decode_as",
    "decode_body",
    "decode_event",
    "decode_leniently",
    "encode",
    "encode_frame",
    "encode_value",
    "error_message",
    "error_text",
    "from_json_value",
    "to_json_value",
    "wire_name",
]
__all__ += generated.__all__
