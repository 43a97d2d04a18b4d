"""A long text in pieces that are compiled one by one.

To compile a text of a hundred thousand lines takes seconds, in which the link's thread can do nothing else, and
hundreds of megabytes, which the program keeps. A piece ends in front of a line in which a statement begins that is
not indented. A line that looks like one may lie within a string or between brackets: then the piece is not valid
Python, and is extended.
"""

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..interpreter.gc_tracking import untrack
from ..sources.compilation import FUTURE
from ..sources.files import compile_quietly

_NEVER_FIRST = (b"elif", b"else", b"except", b"finally", b"from __future__")
"""Words that continue a statement without indentation, and words that only the beginning of a text may have."""


class TextPiece(NamedTuple):
    """Whole statements of a module: lines from 1, the last one included."""

    first: int
    last: int
    flags: int
    """Statements at the beginning of the text that apply to all of it (`from __future__ import`)."""

    def compiled(self, lines: list[bytes], where: str, *, as_tree: bool) -> Any:  # noqa: ANN401 - a code object, or a tree of `_ast`
        """Compile the piece of a text, its lines numbered as in the whole.

        Raises:
            RequestRefused: if it is not valid Python.

        """
        text = b"\n".join((*lines[self.first - 1 : self.last], b"")).decode("utf-8", "replace")
        if self.first > 1:  # a string at its beginning documents nothing
            text = "0" + "\n" * (self.first - 1) + text
        return compile_quietly(text, where, as_tree=as_tree, flags=self.flags)


def split(lines: list[bytes], where: str, note: Callable[[TextPiece, Any], None]) -> Generator[None, None, None]:
    """Find the pieces of a text, give each with its code to `note`, and yield after each attempt.

    Raises:
        RequestRefused: if the text is not valid Python.

    """
    first, length, flags = 1, limits.PIECE_LINES, 0
    while first <= len(lines) or first == 1:
        piece = untrack(TextPiece(first, _end(lines, first + length), flags))
        try:
            code = piece.compiled(lines, where, as_tree=False)
        except RequestRefused:
            if piece.last == len(lines):
                raise
            length *= 2
        else:
            note(piece, code)
            first, length, flags = piece.last + 1, limits.PIECE_LINES, code.co_flags & FUTURE
        yield


def _end(lines: list[bytes], last_line: int) -> int:
    """Return the last line of a piece, given the first line from which on another may begin."""
    for number in range(last_line, len(lines) + 1):
        line = lines[number - 1]
        if (line[:1].isalpha() or line.startswith((b"_", b"@"))) and not line.startswith(_NEVER_FIRST):
            return number - 1
    return len(lines)
