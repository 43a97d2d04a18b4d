"""Where a breakpoint belongs in a text that may have changed since it was set.

Pure functions over lines. A breakpoint by text goes where the text stands, a
breakpoint by line goes with its line: an unchanged line keeps its breakpoint wherever it moved.
"""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from dapkit import limits
from dapkit.sessions.errors import Misplaced


@dataclass(frozen=True, slots=True)
class Anchor:
    """A line that was found, from 1, and a remark about it."""

    line: int
    remark: str | None = None


def find_text(text: str, lines: Sequence[str], *, near: int | None, name: str) -> Anchor:
    """Find the line of a text: whole lines before parts of lines, blanks made equal; of several the nearest.

    Raises:
        Misplaced: it is nowhere, or on several lines without one to be near.

    """
    sought = _squeezed(text)
    if not sought:
        raise Misplaced("The text of a breakpoint is empty: give a part of the line, such as 'return total'.")
    squeezed = [_squeezed(line) for line in lines]
    whole = [number for number, line in enumerate(squeezed, 1) if line == sought]
    numbers = whole or [number for number, line in enumerate(squeezed, 1) if sought in line]
    if not numbers:
        raise Misplaced(f"{name} has no line with {text!r}.{_similar(sought, squeezed)}")
    if len(numbers) == 1:
        return Anchor(numbers[0])
    if near is None:
        more = ", ..." if len(numbers) > limits.PLACES_SHOWN else ""
        places = ", ".join(map(str, numbers[: limits.PLACES_SHOWN])) + more
        raise Misplaced(
            f"{name} has {text!r} on {len(numbers)} lines: {places}."
            " Give more of the line, or `line` to choose the nearest."
        )
    nearest = min(numbers, key=lambda number: (abs(number - near), number))
    others = ", ".join(str(number) for number in numbers if number != nearest)
    return Anchor(nearest, f"the text is on lines {others} too; line {nearest} is the nearest to {near}")


def follow_line(line: int, before: Sequence[str], after: Sequence[str]) -> Anchor:
    """Find where a line of an earlier text stands now."""
    if list(before) == list(after):
        return Anchor(line)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if not old_start <= line - 1 < old_end:
            continue
        if tag == "equal":
            now = new_start + (line - 1 - old_start) + 1
            return Anchor(now, None if now == line else moved(line, now))
        closest = min(new_start + (line - 1 - old_start), max(new_start, new_end - 1)) + 1
        closest = max(1, min(closest, len(after)))
        return Anchor(closest, f"line {line} was edited or removed; the breakpoint is on line {closest} now: check it")
    return Anchor(line, f"line {line} is beyond the end of the file, which has {len(after)} lines")


def moved(line: int, now: int) -> str:
    """Report that a breakpoint has followed its line."""
    return f"moved from line {line} to {now}: the file was edited"


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _similar(sought: str, lines: Sequence[str]) -> str:
    close = difflib.get_close_matches(sought, [line for line in lines if line], n=1, cutoff=0.5)
    return f" The most similar is line {lines.index(close[0]) + 1}: {close[0]!r}." if close else ""
