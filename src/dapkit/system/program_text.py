"""The text that a program writes, as bytes come."""

import codecs
import sys
from typing import Protocol


class TextDecoder(Protocol):
    """Makes text of bytes, of which the last ones may be the beginning of a character."""

    def decode(self, data: bytes, final: bool = False) -> str:
        """Return the text of these bytes, and of those that waited for them."""


if sys.platform == "win32":

    class _EitherDecoder:
        """Decodes each line as UTF-8, or by the code page of the system: programs write either into a pipe."""

        def __init__(self) -> None:
            self._begun = b""

        def decode(self, data: bytes, final: bool = False) -> str:
            *lines, rest = (self._begun + data).split(b"\n")
            text, count = _decoded(rest, final=final)
            self._begun = rest[count:]
            return "".join(_decoded(line + b"\n", final=True)[0] for line in lines) + text

    def _decoded(data: bytes, *, final: bool) -> tuple[str, int]:
        """Return the text of a line, and the number of its bytes."""
        try:
            return codecs.utf_8_decode(data, "strict", final)
        except UnicodeDecodeError:
            return data.decode("mbcs", "replace"), len(data)

    def new_decoder() -> TextDecoder:
        """Make a decoder of a program's output."""
        return _EitherDecoder()

else:

    def new_decoder() -> TextDecoder:
        """Make a decoder of a program's output: bytes that are not UTF-8 become escapes."""
        return codecs.getincrementaldecoder("utf-8")("backslashreplace")
