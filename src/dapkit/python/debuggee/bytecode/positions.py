"""Statements and inline positions of a source text, and the instructions where they begin.

A line may hold several places to stop at: its statements, and within them calls, the
bodies of lambdas and comprehensions, branches and operands that may not be reached. They are
read off the syntax tree. Where one begins in a code object is read off that code
object's own table of positions, so what is bound is what the interpreter runs.

Columns inside are those of CPython: offsets in UTF-8 from 0. Columns outside are DAP's:
UTF-16 code units from 1.
"""

import _ast
from collections.abc import Iterator
from types import CodeType
from typing import Any, Final, NamedTuple

from .. import limits, utf16
from ..errors import RequestRefused
from ..hidden import hide
from ..sources.compilation import with_nested
from ..sources.decoding import decoded
from ..sources.files import Sources, compile_quietly, lines_of_text, lines_of_tree, resume_offset
from ..sources.stamps import Stamp, stamp_of

_CLOSING: Final = frozenset((b")", b"]", b"}"))
_DEFINITIONS: Final = (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)
_COMPOUND: Final = frozenset(b"if elif else for while try except finally with match case async def class".split())


class Span(NamedTuple):
    """A piece of a text: lines from 1, columns in UTF-8 from 0, the end excluded."""

    line: int
    column: int
    end_line: int
    end_column: int

    def holds(self, other: "Span") -> bool:
        """Say whether another piece lies within this one."""
        return self[:2] <= other[:2] and other[2:] <= self[2:]


class Spot(NamedTuple):
    """A place to stop at: where it is shown, and which instructions of which code belong to it."""

    line: int
    column: int
    """In UTF-8 from 0."""
    span: Span
    owner: tuple[str, int]
    """Qualified name and first line of the code object."""
    is_statement: bool


class ProgramText:
    """A source text, with columns in either unit."""

    def __init__(self, data: bytes, listed: CodeType | None = None) -> None:
        self.data = data
        self.listed = listed
        """The code that this is only a listing of; then there are lines, and nothing is known of columns."""
        self.spots: dict[int, list[Spot]] = {}
        """Of lines that were asked for."""
        self._crowded: dict[int, list[Span]] | None = None
        self._coded: list[int] | None = None
        self._extents: dict[int, tuple[int, int]] | None = None
        hide(self)
        self._lines = decoded(data).encode("utf-8", "surrogatepass").splitlines()

    def line(self, number: int) -> str:
        """Return a line, empty if there is none with this number."""
        return self._line(number).decode("utf-8", "replace")

    def lines_with_code(self, where: str) -> list[int]:
        """Return the lines that have code, in order.

        Raises:
            RequestRefused: if the text is not valid Python.

        """
        if self._coded is None:
            self._coded = lines_of_text(self.data, where) if self.listed is None else lines_of_tree(self.listed)
        return self._coded

    def statement_around(self, line: int) -> tuple[int, int] | None:
        """Return the first and last line of the statement, or of the head of one, that goes on in a line."""
        if self.listed is not None:
            return None
        if self._extents is None:
            try:
                self._extents = self._find_extents(compile_quietly(self.data, "this", as_tree=True))
            except RequestRefused:
                self._extents = {}
        return self._extents.get(line)

    def _find_extents(self, tree: _ast.AST) -> dict[int, tuple[int, int]]:
        found: dict[int, tuple[int, int]] = {}
        for node in _statements(tree):
            first, last = node.lineno, node.end_lineno
            body = getattr(node, "body", None)
            if body:  # what begins with a closing bracket ends the head
                inner = range(first + 1, body[0].lineno)
                last = max((at for at in inner if self._line(at).lstrip()[:1] in _CLOSING), default=first)
            if not isinstance(node, _DEFINITIONS):  # whose head leads to the code within, if that is called
                found.update(dict.fromkeys(range(first + 1, last + 1), (first, last)))
        return found

    def shown_column(self, line: int, column: int) -> int:
        """Return the column to show for one in UTF-8."""
        text = self._line(line)[:column].decode("utf-8", "replace")
        return utf16.units(text) + 1

    def inner_column(self, line: int, shown: int) -> int:
        """Return the column in UTF-8 for one that a client named."""
        return len(utf16.upto(self._line(line).decode("utf-8", "replace"), shown - 1).encode("utf-8"))

    def beginning(self, line: int) -> int:
        """Return the column in UTF-8 at which the text of a line begins, behind what it is indented by."""
        text = self._line(line)
        return len(text) - len(text.lstrip())

    def cut(self, span: Span) -> str:
        """Return the text of a piece."""
        lines = [self._line(number) for number in range(span.line, span.end_line + 1)]
        lines[-1] = lines[-1][: span.end_column]
        lines[0] = lines[0][span.column :]
        return b"\n".join(lines).decode("utf-8", "replace")

    def statements(self, line: int) -> list[Span]:
        """Return the statements of a line, if there are several."""
        # For most lines a look at the text is enough; the tree of a long text takes many milliseconds.
        text = self._line(line).strip()
        if b";" not in text:
            is_compound = text.split(b" ", 1)[0].rstrip(b":") in _COMPOUND
            if not is_compound or text.split(b"#", 1)[0].rstrip().endswith(b":"):
                return []
        if self._crowded is None:
            try:
                self._crowded = _crowded_lines(compile_quietly(self.data, "this", as_tree=True))
            except RequestRefused:
                self._crowded = {}
        return self._crowded.get(line, [])

    def _line(self, number: int) -> bytes:
        return self._lines[number - 1] if 0 < number <= len(self._lines) else b""


class ProgramTexts:
    """The texts of files, read again when they change.

    Invariant: the texts that are kept have no more than `limits.TEXT_BYTES` together, or there is only one.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._known: dict[str, tuple[Stamp | None, ProgramText]] = {}

    def of(self, key: str) -> ProgramText:
        """Return the text of a source by its key, as it is now.

        Raises:
            RequestRefused: if there is none.

        """
        stamp = stamp_of(key)
        known = self._known.get(key)
        if known is None or known[0] != stamp or stamp is None:
            self._known.pop(key, None)
            known = self._known[key] = (stamp, ProgramText(*self._sources.read(key)))
            self._make_room()
        return known[1]

    def _make_room(self) -> None:
        """Forget the texts that were read first; a stack goes through many files, and through the same at each stop."""
        kept = list(self._known.items())
        size = sum(len(text.data) for _, (_, text) in kept)
        for key, (_, text) in kept[:-1]:
            if size <= limits.TEXT_BYTES:
                return
            self._known.pop(key, None)
            size -= len(text.data)

    def of_code(self, code: CodeType) -> ProgramText | None:
        """Return the text that a code object comes from, None if it is not known."""
        try:
            text = self.of(self._sources.keys(code)[0])
        except RequestRefused:
            return None
        return text if text.listed is None else None


def spots(text: ProgramText, first: int, last: int, where: str) -> list[Spot]:
    """Return the places to stop at that begin in some lines of a text, in order.

    Lines whose code begins no statement, as within a long call, have one at their first instruction.

    Raises:
        RequestRefused: if the text is not valid Python.

    """
    candidates = list(_candidates(compile_quietly(text.data, where, as_tree=True), first, last))
    end = max([last, *(span.end_line for _, _, span, _ in candidates)])
    codes = with_nested(compile_quietly(text.data, where, as_tree=False))
    tables = [(code, _table(code)) for code in codes if _touches(code, first, end)]
    found: dict[tuple[int, int], Spot] = {}  # by code object and instruction
    for line, column, span, is_statement in candidates:
        beginning = _beginning(tables, span)
        if beginning is not None:
            code, offset = beginning
            spot = Spot(line, column, span, (code.co_qualname, code.co_firstlineno), is_statement)
            # What begins with the same instruction is one place: a statement rather than a call within it.
            rival = found.setdefault((id(code), offset), spot)
            if (is_statement, -line, -column) > (rival.is_statement, -rival.line, -rival.column):
                found[id(code), offset] = spot
    covered = {spot.line for spot in found.values()}
    for code, table in tables:
        for offset, span in table:
            if first <= span.line <= last and span.line not in covered:
                covered.add(span.line)
                owner = code.co_qualname, code.co_firstlineno
                found[id(code), offset] = Spot(span.line, span.column, span, owner, is_statement=True)
    return sorted(found.values())


def spots_of_line(text: ProgramText, line: int, where: str) -> list[Spot]:
    """Return the places to stop at that begin in one line, and remember them.

    Raises:
        RequestRefused: if the text is not valid Python.

    """
    known = text.spots.get(line)
    if known is None:
        known = text.spots[line] = spots(text, line, line, where)
    return known


def entries(code: CodeType, span: Span) -> list[int]:
    """Return the offsets at which a code object begins to execute a piece of its text.

    There are several where the compiler repeats code, as it does with `finally`.
    """
    offsets: list[int] = []
    beginning: Span | None = None
    inside = False
    for offset, here in _table(code):
        was_inside, inside = inside, span.holds(here)
        if inside and not was_inside:
            beginning = beginning or here
            if here == beginning:
                offsets.append(offset)
    return offsets


def first_offset(code: CodeType, line: int) -> int | None:
    """Return the offset of the first instruction of a line in a code object, at which its LINE event comes."""
    resume = resume_offset(code)
    return next((max(start, resume + 2) for start, end, at in code.co_lines() if at == line and end > resume + 2), None)


def line_at(code: CodeType, offset: int) -> int:
    """Return the line of an instruction, 0 if it has none."""
    return next((line or 0 for start, end, line in code.co_lines() if start <= offset < end), 0)


def belongs(code: CodeType, spot: Spot) -> bool:
    """Say whether a code object is the one that a spot was found in."""
    return (code.co_qualname, code.co_firstlineno) == spot.owner


def span_at(code: CodeType, offset: int) -> Span | None:
    """Return the piece of text that an instruction belongs to."""
    return next((span for at, span in _spans(code) if at == offset), None)


def _touches(code: CodeType, first: int, last: int) -> bool:
    """Say whether a code object has code in some lines: a quick look, since a file has thousands."""
    return code.co_firstlineno <= last and any(line and first <= line <= last for _, _, line in code.co_lines())


def _table(code: CodeType) -> list[tuple[int, Span]]:
    """Return where in the text each code unit comes from that can be stopped at."""
    resume = resume_offset(code)
    return [(offset, span) for offset, span in _spans(code) if offset > resume]


def _spans(code: CodeType) -> Iterator[tuple[int, Span]]:
    for at, (line, end_line, column, end_column) in enumerate(code.co_positions()):
        if line and end_line and column is not None and end_column is not None:
            yield at * 2, hide(Span(line, column, end_line, end_column))


def _beginning(tables: list[tuple[CodeType, list[tuple[int, Span]]]], span: Span) -> tuple[CodeType, int] | None:
    """Find the outermost code object that executes a piece of text, and where it first does."""
    for code, table in tables:  # outer ones come first
        for offset, here in table:
            if span.holds(here):
                return code, offset
    return None


def _statements(tree: _ast.AST) -> Iterator[Any]:
    """Return all statements and handlers of exceptions in a tree."""
    todo: list[object] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo.extend(node)
        elif isinstance(node, _ast.stmt | _ast.mod | _ast.excepthandler | _ast.match_case):
            if isinstance(node, _ast.stmt | _ast.excepthandler):
                yield node
            todo.extend(getattr(node, field, None) for field in ("body", "orelse", "finalbody", "handlers", "cases"))


def _crowded_lines(tree: _ast.AST) -> dict[int, list[Span]]:
    """Return the statements of all lines in which several begin."""
    found: dict[int, list[Span]] = {}
    for node in _statements(tree):
        if isinstance(node, _ast.stmt):
            found.setdefault(node.lineno, []).append(_span(_header(node)))
    return {line: spans for line, spans in found.items() if len(spans) > 1}


# Candidates

_HEADERS: Final = {
    _ast.If: "test",
    _ast.While: "test",
    _ast.For: "iter",
    _ast.AsyncFor: "iter",
    _ast.Match: "subject",
}
"""Of statements with a body, the part that is executed at their own line."""
_PARTS: Final = {
    _ast.Lambda: ("body",),
    _ast.IfExp: ("body", "orelse"),
    _ast.ListComp: ("elt",),
    _ast.SetComp: ("elt",),
    _ast.GeneratorExp: ("elt",),
    _ast.DictComp: ("key",),
    _ast.comprehension: ("ifs",),
}
"""Of expressions, the parts that are executed more or less often than the whole."""

type Candidate = tuple[int, int, Span, bool]


def _candidates(tree: _ast.AST, first: int, last: int) -> Iterator[Candidate]:
    todo: list[object] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo.extend(node)
        elif isinstance(node, _ast.AST):
            if getattr(node, "end_lineno", last) < first or _first_line(node) > last:
                continue
            for line, column, span, is_statement in _places_of(node):
                if first <= line <= last:
                    yield line, column, span, is_statement
            todo.extend(getattr(node, field, None) for field in node._fields)


def _first_line(node: _ast.AST) -> int:
    decorators = getattr(node, "decorator_list", None)
    line: int = decorators[0].lineno if decorators else getattr(node, "lineno", 0)
    return line


def _places_of(node: _ast.AST) -> Iterator[Candidate]:
    if isinstance(node, _ast.stmt):
        yield node.lineno, node.col_offset, _span(_header(node)), True
    elif isinstance(node, _ast.Call):
        yield _place_of_call(node)
    elif isinstance(node, _ast.BoolOp):
        for operand in node.values[1:]:
            yield *_span(operand)[:2], _span(operand), False
    elif isinstance(node, _ast.Await | _ast.Yield | _ast.YieldFrom):
        yield *_span(node)[:2], _span(node), False
    for field in _PARTS.get(type(node), ()):
        part = getattr(node, field)
        for expression in part if isinstance(part, list) else [part]:
            yield *_span(expression)[:2], _span(expression), False


def _header(node: _ast.stmt) -> _ast.AST:
    """Return what of a statement is executed at its own line."""
    if isinstance(node, _ast.With | _ast.AsyncWith):
        return node.items[0].context_expr
    header: _ast.AST = getattr(node, _HEADERS.get(type(node), ""), node)
    return header


def _place_of_call(node: _ast.Call) -> Candidate:
    span = _span(node)
    function = node.func
    if not isinstance(function, _ast.Attribute) or not _calls(function.value):
        return span.line, span.column, span, False
    # In a chain of calls each begins at its name: the whole begins where the first does.
    column = (function.end_col_offset or 0) - len(function.attr.encode())
    return function.end_lineno or span.line, column, hide(Span(*_span(function.value)[2:], *span[2:])), False


def _span(node: object) -> Span:
    return hide(Span(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset))  # type: ignore[attr-defined]  # expressions and statements have them


def _calls(node: _ast.expr) -> bool:
    """Say whether what stands before a dot contains a call."""
    while isinstance(node, _ast.Attribute | _ast.Subscript):
        node = node.value
    return isinstance(node, _ast.Call)
