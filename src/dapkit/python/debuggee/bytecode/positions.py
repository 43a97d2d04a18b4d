"""Statements and inline positions of a source text, and the instructions where they begin.

A line may hold several places to stop at: its statements, and within them calls, the
bodies of lambdas and comprehensions, branches and operands that may not be reached. They are
read off the syntax tree. The beginning of a place in a code object is read off that code object's own table of
positions, so the bound place is the one that the interpreter runs.

Columns inside follow CPython: offsets in UTF-8 from 0. Columns outside are DAP's:
UTF-16 code units from 1.
"""

from _bisect import bisect_right
from collections.abc import Container, Iterator
from types import CodeType

from ..interpreter.gc_tracking import untrack
from ..sources.compilation import with_nested
from ..sources.files import body_offset
from .texts import ProgramText
from .tree_places import Span, Spot, candidates


def spots(text: ProgramText, first: int, last: int, where: str) -> Iterator[list[Spot]]:
    """Find the places to stop at that begin in some lines of a text, in order; places of one piece are found together.

    Lines whose code begins no statement, as within a long call, have one at their first instruction.

    Raises:
        RequestRefused: if the text is not valid Python.

    """
    return _spots(text, range(first, last + 1), first, last, where)


def look_up_spots(text: ProgramText, lines: set[int], where: str) -> Iterator[None]:
    """Remember the places to stop at that begin in some lines, so that `spots_of_line` has them at once.

    Raises:
        RequestRefused: if the text is not valid Python.

    """
    unknown = lines - text.spots.keys()
    by_line: dict[int, list[Spot]] = {line: [] for line in unknown}
    for new_spot in _spots(text, unknown, min(unknown), max(unknown), where) if unknown else ():
        for spot in new_spot:
            by_line[spot.line].append(spot)
        yield
    text.spots |= by_line


def spots_of_line(text: ProgramText, line: int, where: str) -> list[Spot]:
    """Return the places to stop at that begin in one line, and remember them.

    Raises:
        RequestRefused: if the text is not valid Python.

    """
    for _ in look_up_spots(text, {line}, where):
        pass
    return text.spots[line]


def _spots(text: ProgramText, lines: Container[int], first: int, last: int, where: str) -> Iterator[list[Spot]]:
    for piece in text.pieces(first, last, where):
        begin, end = max(first, piece.first), min(last, piece.last)
        if any(line in lines for line in range(begin, end + 1)):
            tree = text.compiled(piece, where, as_tree=True)
            spots = list(candidates(tree, lines, begin, end))
            del tree  # which is large
            code = text.compiled(piece, where, as_tree=False)
            yield _spots_in(with_nested(code), spots, lines, begin, end)


def _spots_in(
    codes: list[CodeType],
    candidates: list[tuple[int, int, Span, bool]],
    lines: Container[int],
    first: int,
    last: int,
) -> list[Spot]:
    end = max([last, *(span.end_line for _, _, span, _ in candidates)])
    touched = [code for code in codes if _touches(code, first, end)]
    instructions = _Instructions(touched)
    by_instruction: dict[tuple[int, int], Spot] = {}  # by code object and instruction
    for line, column, span, is_statement in candidates:
        beginning = instructions.first_of(span)
        if beginning is not None:
            code = touched[beginning[0]]
            spot = Spot(line, column, span, (code.co_qualname, code.co_firstlineno), is_statement)
            # Places that begin with the same instruction are one place: a statement rather than a call within it.
            rival = by_instruction.setdefault(beginning, spot)
            if (is_statement, -line, -column) > (rival.is_statement, -rival.line, -rival.column):
                by_instruction[beginning] = spot
    covered = {spot.line for spot in by_instruction.values()}
    for line, here in instructions.by_line.items():
        if first <= line <= last and line in lines and line not in covered:
            number, offset, span = here[0]
            code = touched[number]
            owner = code.co_qualname, code.co_firstlineno
            by_instruction[number, offset] = Spot(line, span.column, span, owner, is_statement=True)
    return sorted(by_instruction.values())


class _Instructions:
    """The instructions of some code objects by their lines, outer code objects first.

    Attributes:
        by_line: number of the code object, offset, and the text that it comes from.

    """

    def __init__(self, codes: list[CodeType]) -> None:
        self.by_line: dict[int, list[tuple[int, int, Span]]] = {}
        for number, code in enumerate(codes):
            for offset, span in _table(code):
                self.by_line.setdefault(span.line, []).append((number, offset, span))

    def first_of(self, span: Span) -> tuple[int, int] | None:
        """Find the outermost code object that executes a piece of text, and where it first does."""
        first: tuple[int, int] | None = None
        for line in range(span.line, span.end_line + 1):
            for number, offset, here in self.by_line.get(line, ()):
                if first is not None and (number, offset) >= first:
                    break
                if span.holds(here):
                    first = number, offset
                    break
        return first


class CodePlaces:
    """Where a code object begins to execute lines and pieces of its text."""

    def __init__(self, code: CodeType) -> None:
        self._spans = _table(code)
        self._by_line: dict[int, list[int]] = {}  # indices of `_spans`
        for at, (_, span) in enumerate(self._spans):
            self._by_line.setdefault(span.line, []).append(at)
        self._starts = line_starts(code)

    def entries(self, span: Span) -> list[int]:
        """Return the offsets at which it begins to execute a piece of text.

        There are several where the compiler repeats code, as it does with `finally`.
        """
        offsets: list[int] = []
        beginning: Span | None = None
        last = -2  # that was inside
        for at in sorted(at for line in range(span.line, span.end_line + 1) for at in self._by_line.get(line, ())):
            offset, here = self._spans[at]
            if not span.holds(here):
                continue
            if at != last + 1:
                beginning = beginning or here
                if here == beginning:
                    offsets.append(offset)
            last = at
        return offsets

    def line_start(self, line: int) -> int | None:
        """Return the offset of the first instruction of a line, at which its LINE event comes."""
        return self._starts.get(line)


def entries(code: CodeType, span: Span) -> list[int]:
    """Return the offsets at which a code object begins to execute a piece of its text."""
    return CodePlaces(code).entries(span)


def line_starts(code: CodeType) -> dict[int, int]:
    """Return the offset of the first instruction of each line of a code object, at which its LINE event comes."""
    begin = body_offset(code)
    starts: dict[int, int] = {}
    for start, end, line in code.co_lines():
        if line and end > begin:
            starts.setdefault(line, max(start, begin))
    return starts


def lines_at(code: CodeType, offsets: list[int]) -> list[int]:
    """Return the lines of instructions, 0 for instructions without a line."""
    ranges = list(code.co_lines())
    starts = [start for start, _, _ in ranges]
    return [ranges[bisect_right(starts, offset) - 1][2] or 0 for offset in offsets]


def span_at(code: CodeType, offset: int) -> Span | None:
    """Return the piece of text that an instruction belongs to."""
    return next((span for at, span in _spans(code) if at == offset), None)


def _touches(code: CodeType, first: int, last: int) -> bool:
    """Return whether a code object has code in some lines: a quick look, since a file has thousands."""
    return code.co_firstlineno <= last and any(line and first <= line <= last for _, _, line in code.co_lines())


def _table(code: CodeType) -> list[tuple[int, Span]]:
    """Return where in the text each code unit comes from that can be stopped at."""
    begin = body_offset(code)
    return [(offset, span) for offset, span in _spans(code) if offset >= begin]


def _spans(code: CodeType) -> Iterator[tuple[int, Span]]:
    for at, (line, end_line, column, end_column) in enumerate(code.co_positions()):
        if line and end_line and column is not None and end_column is not None:
            yield at * 2, untrack(Span(line, column, end_line, end_column))


def repeated_starts(code: CodeType, of_lines: Container[object]) -> dict[int, frozenset[int]]:
    """Return the offsets at which a statement of several lines comes back to its first line, for some lines.

    A call whose arguments are on further lines is such a one: the interpreter reports its first line before the
    arguments are evaluated and once more before the call.
    Empty where the interpreter runs without columns.
    """
    once: set[int] = set()
    again: set[int] = set()
    for _, _, line in code.co_lines():
        if line is not None and line in of_lines:
            (again if line in once else once).add(line)
    if not again:
        return {}
    lines: list[int] = []
    repeats: dict[int, set[int]] = {}
    for unit, (first, end, _, _) in enumerate(code.co_positions()):
        line = first or (lines[-1] if lines else 0)
        lines.append(line)
        before = unit - 1
        if line in again and unit and line < lines[before] <= (end or 0):
            while before > 0 and line < lines[before] <= (end or 0):
                before -= 1
            if lines[before] == line:
                repeats.setdefault(line, set()).add(unit * 2)
    return {line: frozenset(offsets) for line, offsets in repeats.items()}
