"""Text that comes in pieces, by category: the last of it is kept, and read by position.

A position counts all characters of all categories that ever came. A reader asks for the output since a position, and
learns whether all of it is still kept.
"""

import heapq
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from dapkit import limits


@dataclass(frozen=True, slots=True)
class OutputText:
    """The result of a read."""

    text: str
    """The pieces in the order in which they came."""

    end: int
    """The position to read on from."""

    lost: int = 0
    """At most so many characters of the requested output had to be dropped; exact for a single category."""

    @property
    def complete(self) -> bool:
        """Whether nothing that was asked for had to be dropped."""
        return self.lost == 0


@dataclass(slots=True)
class _Category:
    """The latest pieces of one category with their positions; before `kept_from` so many characters were dropped."""

    pieces: deque[tuple[int, str]] = field(default_factory=deque)
    size: int = 0
    kept_from: int = 0
    dropped: int = 0


class TextLog:
    """Text by category.

    Invariant: the pieces of each category together have at most `limit` characters.
    """

    def __init__(self, limit: int = limits.OUTPUT_KEPT_CHARACTERS) -> None:
        self.end = 0
        self._limit = limit
        self._categories: dict[str, _Category] = {}

    @property
    def categories(self) -> tuple[str, ...]:
        """Every category that anything came in, in order of appearance."""
        return tuple(self._categories)

    def append(self, text: str, category: str) -> None:
        """Add a piece; the oldest of its category go if there are too many."""
        of_category = self._categories.setdefault(category, _Category())
        of_category.pieces.append((self.end, text))
        of_category.size += len(text)
        self.end += len(text)
        while of_category.size > self._limit:
            position, oldest = of_category.pieces.popleft()
            cut = min(len(oldest), of_category.size - self._limit)
            of_category.size -= cut
            of_category.kept_from = position + cut
            of_category.dropped += cut
            if cut < len(oldest):
                of_category.pieces.appendleft((position + cut, oldest[cut:]))

    def read(self, *categories: str, since: int = 0) -> OutputText:
        """Read the output in these categories (all if none is named) since a position."""
        categories_read = [each for name, each in self._categories.items() if not categories or name in categories]
        text = "".join(piece[max(0, since - position) :] for position, piece in self.pieces(*categories))
        return OutputText(
            text, self.end, sum(min(each.dropped, max(0, each.kept_from - since)) for each in categories_read)
        )

    def pieces(self, *categories: str) -> Iterator[tuple[int, str]]:
        """Yield the kept output of these categories (all if none is named) in order, each piece with its position."""
        piece_lists = (each.pieces for name, each in self._categories.items() if not categories or name in categories)
        yield from heapq.merge(*piece_lists, key=lambda piece: piece[0])
