"""Messages as bytes: Content-Length frames around JSON, both ways.

Does not import `json`, which costs milliseconds and would bring `re` and `enum` into the program:
`json_reader` reads, and the C half of `json` writes. Knows nothing of requests and events; `link`
moves the bytes.
"""

from _json import encode_basestring, make_encoder
from collections.abc import Callable

from ..interpreter import limits
from ..interpreter.errors import MalformedFrame
from .json_reader import read_json

type Json = dict[str, object]


def _refuse_value(value: object) -> object:
    raise TypeError(f"{type(value).__name__} in a message; expected text, number, list or dict")


_SETTINGS = (None, _refuse_value, encode_basestring, None, ":", ",", False, False, True)
"""Markers, default, encoder, indent, key and item separators, sort keys, skip keys, allow NaN."""
_encode: Callable[[object, int], tuple[str, ...]] = make_encoder(*_SETTINGS)


def encode(message: Json) -> bytes:
    """Make the frame of a message. Lone surrogates, which UTF-8 has no bytes for, become `?`."""
    body = body_of(message)
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def body_of(message: Json) -> bytes:
    """Make the JSON of a message, which `decode` reads."""
    return "".join(_encode(message, 0)).encode("utf-8", "replace")


def decode(body: bytes) -> Json:
    """Read the body of a frame.

    Raises:
        MalformedFrame: if it is not a JSON object.

    """
    try:
        message = read_json(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise MalformedFrame(f"a message is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise MalformedFrame(f"a message is not one JSON object but {body[:80]!r}")
    return message


class FrameReader:
    """Bytes in any portions in, whole messages out.

    Invariant: `_held` never starts with a whole frame between two calls of `feed`.
    """

    def __init__(self) -> None:
        self._held = bytearray()
        self._length = -1  # of the body that is being read, -1 while a header is

    def feed(self, data: bytes) -> list[Json]:
        """Take bytes, and return the messages that they complete.

        Raises:
            MalformedFrame: if they are not frames; the reader cannot be used afterwards.

        """
        buffered = self._held
        buffered += data
        messages: list[Json] = []
        while True:
            if self._length < 0:
                end = buffered.find(b"\r\n\r\n")
                if end < 0:
                    if len(buffered) > limits.HEADER_BYTES:
                        raise MalformedFrame(f"no end of the header in {len(buffered)} bytes")
                    return messages
                self._length = _length_of(bytes(buffered[:end]))
                del buffered[: end + 4]
            if len(buffered) < self._length:
                return messages
            body = bytes(buffered[: self._length])
            del buffered[: self._length]
            self._length = -1
            messages.append(decode(body))


def _length_of(header: bytes) -> int:
    for line in header.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            digits = value.strip()
            if digits.isdigit() and int(digits) <= limits.FRAME_BYTES:
                return int(digits)
            raise MalformedFrame(f"Content-Length is {digits[:40]!r}, expected 0 to {limits.FRAME_BYTES}")
    raise MalformedFrame(f"a header without Content-Length: {header[:80]!r}")
