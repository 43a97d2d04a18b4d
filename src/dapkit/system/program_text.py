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
        """Decodes UTF-8, or the code page of the system: programs write one or the other into a pipe."""

        def __init__(self) -> None:
            self._begun = b""

        def decode(self, data: bytes, final: bool = False) -> str:
            data, self._begun = self._begun + data, b""
            try:
                text, count = codecs.utf_8_decode(data, "strict", final)
            except UnicodeDecodeError:
                return data.decode("mbcs", "replace")
            self._begun = data[count:]
            return text

    def new_decoder() -> TextDecoder:
        """Make a decoder of a program's output."""
        return _EitherDecoder()

else:

    def new_decoder() -> TextDecoder:
        """Make a decoder of a program's output: bytes that are not UTF-8 become escapes."""
        return codecs.getincrementaldecoder("utf-8")("backslashreplace")
