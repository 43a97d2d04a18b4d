"""Frames on a byte stream: a header block with Content-Length, a blank line, the payload.

This module decides where a payload begins and ends, and when a stream is not one
of frames at all. It does not look inside payloads.

Read tolerantly: header names in any case and order, unknown headers, line ends
without CR, blank lines between frames (some adapters write CRLF after a body).
Refused at once: a missing, malformed, oversized or contradictory Content-Length,
and whatever looks like HTTP (a web page that posts to a local port).
"""

import re
from typing import NoReturn

from dapkit import limits
from dapkit.protocol.errors import FramingError

_NAME_BYTES = b"!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_HALF_LINE_ENDS = (b"", b"\r")
_USUAL_HEADERS = re.compile(rb"Content-Length: (\d{1,7})\r\n\r\n")
_A_HEADER = "a header such as `Content-Length: 42`"


def encode_frame(payload: bytes) -> bytes:
    """Put the header before a payload."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(payload), payload)


class FrameDecoder:
    r"""Cut a byte stream into payloads.

    >>> frames = FrameDecoder()
    >>> frames.feed(b"Content-Length: 2\r\n\r\n{")
    []
    >>> frames.feed(b"}Content-")
    [b'{}']

    Invariant: `_buffer` holds the bytes from stream offset `_base` on. All before
    `_line`, the start of a line or payload, is done with, and no line end lies
    between `_line` and `_searched`: each byte is looked at once, however the
    stream is split. While a header block is open, `_block` is its start and `_length` the length that it announced;
    `_awaited` is set once the block has ended.
    """

    def __init__(self, limit: int = limits.MESSAGE_BYTES) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._base = 0
        self._line = 0
        self._searched = 0
        self._block: int | None = None
        self._length: int | None = None
        self._awaited: int | None = None
        self._failure: FramingError | None = None

    @property
    def at_boundary(self) -> bool:
        """Whether the stream may end here without cutting a frame."""
        return self._block is None and self._buffer in _HALF_LINE_ENDS

    def feed(self, data: bytes) -> list[bytes]:
        """Take the next bytes, return the payloads that they complete.

        Raises:
            FramingError: the stream cannot be read, now and at every later call.

        """
        if self._failure is not None:
            raise FramingError(found=self._failure.found, expected=self._failure.expected, offset=self._failure.offset)
        self._buffer += data
        payloads: list[bytes] = []
        try:
            while (payload := self._next_payload()) is not None:
                payloads.append(payload)
        except FramingError as error:
            error.payloads = payloads
            error.rest = bytes(memoryview(self._buffer)[self._line if self._block is None else self._block :])
            self._failure = error
            self._buffer.clear()
            raise
        self._drop_done()
        return payloads

    def _next_payload(self) -> bytes | None:
        if self._awaited is None:
            if self._line == len(self._buffer):
                return None
            if not self._read_usual_headers():
                self._read_headers()
        if self._awaited is None or len(self._buffer) < self._line + self._awaited:
            return None
        end = self._line + self._awaited
        payload = bytes(memoryview(self._buffer)[self._line : end])
        self._line = self._searched = end
        self._block = self._length = self._awaited = None
        return payload

    def _read_usual_headers(self) -> bool:
        """Read the one header that nearly every frame has, if it is all that there is."""
        if self._block is not None or (match := _USUAL_HEADERS.match(self._buffer, self._line)) is None:
            return False
        length = int(match[1])
        if length > self._limit:
            return False
        self._block, self._length, self._awaited = self._line, length, length
        self._line = self._searched = match.end()
        return True

    def _read_headers(self) -> None:
        """Read header lines until their block ends, or as far as they have come."""
        while self._awaited is None and (newline := self._buffer.find(b"\n", self._searched)) >= 0:
            self._read_line(bytes(self._buffer[self._line : newline]).removesuffix(b"\r"), newline)
            self._line = self._searched = newline + 1
        if self._awaited is None:
            self._searched = len(self._buffer)
            start = bytes(self._buffer[self._line : self._line + limits.HEADER_NAME_BYTES])
            if start not in _HALF_LINE_ENDS:
                self._open_block(self._searched)
                self._check_name(start)

    def _read_line(self, line: bytes, end: int) -> None:
        if line:
            self._open_block(end)
            self._read_header(line)
        elif self._block is not None:
            if self._length is None:
                self._fail("headers without Content-Length", "a Content-Length header", at=self._block)
            self._awaited = self._length

    def _open_block(self, end: int) -> None:
        """Note that a header block has begun; it must not grow beyond its limit."""
        if self._block is None:
            self._block = self._line
        if end - self._block > limits.HEADER_BYTES:
            self._fail(
                f"more than {limits.HEADER_BYTES} bytes of headers", "a blank line and a payload", at=self._block
            )

    def _read_header(self, line: bytes) -> None:
        self._check_name(line)
        name, colon, value = line.partition(b":")
        if not colon:
            self._fail(_excerpt(line), _A_HEADER)
        match name.lower():
            case b"content-length":
                self._read_length(value.strip(b" \t"))
            case b"host" | b"origin":
                self._fail(f"the HTTP header {_excerpt(line)}", "frames of the Debug Adapter Protocol")
            case _:
                pass

    def _read_length(self, value: bytes) -> None:
        if not value.isdigit():
            self._fail(f"Content-Length {_excerpt(value)}", "a decimal number of bytes")
        digits = value.lstrip(b"0") or b"0"
        if len(digits) > len(str(self._limit)) or int(digits) > self._limit:
            self._fail(f"Content-Length {_excerpt(value)}", f"at most {self._limit} bytes")
        length = int(digits)
        if self._length not in (None, length):
            self._fail(f"Content-Length {length} after Content-Length {self._length}", "one length for one payload")
        self._length = length

    def _check_name(self, start: bytes) -> None:
        """Refuse the start of a line that cannot become a header, before the line end has come."""
        name, colon, _ = start.partition(b":")
        if name.translate(None, _NAME_BYTES) or len(name) >= limits.HEADER_NAME_BYTES or (colon and not name):
            self._fail(_excerpt(start), _A_HEADER)

    def _drop_done(self) -> None:
        del self._buffer[: self._line]
        self._base += self._line
        self._searched -= self._line
        if self._block is not None:
            self._block -= self._line
        self._line = 0

    def _fail(self, found: str, expected: str, *, at: int | None = None) -> NoReturn:
        position = self._line if at is None else at
        raise FramingError(found=found, expected=expected, offset=self._base + position)


def _excerpt(data: bytes) -> str:
    """Show bytes from the wire in an error text."""
    text = data[: limits.EXCERPT_BYTES].decode("ascii", "backslashreplace")
    return repr(text) + ("..." if len(data) > limits.EXCERPT_BYTES else "")
