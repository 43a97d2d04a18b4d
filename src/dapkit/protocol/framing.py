"""Frames on a byte stream: a header block with Content-Length, a blank line, the payload.

This module decides where a payload begins and ends, and when a stream is not one
of frames at all. It does not look inside payloads.

Read tolerantly: header names in any case and order, unknown headers, line ends
without CR, blank lines between frames (some adapters write CRLF after a body).
Refused at once: a missing, malformed, oversized or contradictory Content-Length,
and whatever looks like HTTP (a web page that posts to a local port).
"""

from dapkit.protocol.errors import FramingError

PAYLOAD_LIMIT = 64 * 1024 * 1024
HEADER_LIMIT = 64 * 1024

_NAME_LIMIT = 256
_NAME_BYTES = b"!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_HALF_LINE_ENDS = (b"", b"\r")
_HTTP_ONLY = (b"host", b"origin")
_EXCERPT = 60


def encode_frame(payload: bytes) -> bytes:
    """Put the header before a payload."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(payload), payload)


class FrameDecoder:
    """Cut a byte stream into payloads.

    Invariant: `_buffer` holds the bytes from stream offset `_base` on; those
    before `_line` are done with, those before `_searched` hold no line end.
    Each byte is looked at once, however the stream is split.
    """

    def __init__(self, limit: int = PAYLOAD_LIMIT) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._base = 0
        self._line = 0
        self._searched = 0
        self._block: int | None = None
        self._length: int | None = None
        self._in_payload = False
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
            self._failure = error
            self._buffer.clear()
            raise
        del self._buffer[: self._line]
        self._base += self._line
        self._searched -= self._line
        if self._block is not None:
            self._block -= self._line
        self._line = 0
        return payloads

    def _next_payload(self) -> bytes | None:
        if not self._in_payload and not self._read_headers():
            return None
        length = self._length or 0
        end = self._line + length
        if len(self._buffer) < end:
            return None
        payload = bytes(memoryview(self._buffer)[self._line : end])
        self._line = self._searched = end
        self._block = self._length = None
        self._in_payload = False
        return payload

    def _read_headers(self) -> bool:
        """Read header lines up to the blank one; false if it has not come yet."""
        while (newline := self._buffer.find(b"\n", self._searched)) >= 0:
            line = bytes(self._buffer[self._line : newline]).removesuffix(b"\r")
            if line and self._block is None:
                self._block = self._line
            self._check_header_size(newline)
            if line:
                self._read_header(line)
            elif self._block is not None:
                if self._length is None:
                    self._fail("a header block without Content-Length", "a Content-Length header", at=self._block)
                self._in_payload = True
            self._line = self._searched = newline + 1
            if self._in_payload:
                return True
        self._searched = len(self._buffer)
        start = bytes(self._buffer[self._line : self._line + _NAME_LIMIT])
        if start not in _HALF_LINE_ENDS:
            if self._block is None:
                self._block = self._line
            self._check_header_size(self._searched)
            self._check_name(start)
        return False

    def _read_header(self, line: bytes) -> None:
        name, colon, value = line.partition(b":")
        self._check_name(line)
        if not colon:
            self._fail(f"the line {_excerpt(line)}", "a header such as `Content-Length: 42`")
        match name.lower():
            case b"content-length":
                self._read_length(value.strip(b" \t"))
            case name if name in _HTTP_ONLY:
                self._fail(f"the HTTP header {_excerpt(line)}", "Debug Adapter Protocol frames")
            case _:
                pass

    def _read_length(self, value: bytes) -> None:
        if not value.isdigit():
            self._fail(f"Content-Length {_excerpt(value)}", "a decimal number of bytes")
        if len(value.lstrip(b"0")) > len(str(self._limit)) or int(value) > self._limit:
            self._fail(f"Content-Length {_excerpt(value)}", f"at most {self._limit} bytes")
        length = int(value)
        if self._length is not None and self._length != length:
            self._fail(f"Content-Length {length} after Content-Length {self._length}", "one length for one payload")
        self._length = length

    def _check_name(self, start: bytes) -> None:
        """Refuse the start of a line that cannot become a header, before the line end has come."""
        name, colon, _ = start.partition(b":")
        if name.translate(None, _NAME_BYTES) or len(name) >= _NAME_LIMIT or (colon and not name):
            self._fail(f"{_excerpt(start)}", "a header such as `Content-Length: 42`")

    def _check_header_size(self, end: int) -> None:
        if self._block is not None and end - self._block > HEADER_LIMIT:
            self._fail(f"more than {HEADER_LIMIT} bytes of header", "a blank line and a payload", at=self._block)

    def _fail(self, found: str, expected: str, *, at: int | None = None) -> None:
        position = self._line if at is None else at
        raise FramingError(found=found, expected=expected, offset=self._base + position)


def _excerpt(data: bytes) -> str:
    """Show bytes from the wire in an error text."""
    text = data[:_EXCERPT].decode("ascii", "backslashreplace")
    return f"{text!r}..." if len(data) > _EXCERPT else f"{text!r}"
