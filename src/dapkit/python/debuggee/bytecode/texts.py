"""Source texts of the program, with columns in either unit.

Columns inside follow CPython: offsets in UTF-8 from 0. Columns outside are DAP's:
UTF-16 code units from 1.

A long text is compiled in pieces. To compile a hundred thousand lines takes seconds, in which the link's thread can do
nothing else, and hundreds of megabytes, which the program keeps. A piece ends in front of a line in which a statement
begins that is not indented. A line that looks like one may lie within a string or between brackets: then the piece is
not valid Python, and is extended.
"""

import _ast
from collections.abc import Callable, Generator
from types import CodeType
from typing import Any, Final, NamedTuple

from ..interpreter import limits, utf16
from ..interpreter.errors import RequestRefused
from ..interpreter.gc_tracking import untrack
from ..sources.compilation import FUTURE
from ..sources.decoding import decoded
from ..sources.files import Sources, compile_quietly, lines_of_tree
from ..sources.staleness import Stamp, stamp_of
from .tree_places import Span, Spot, header_of, span_of, statements_in

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


_CLOSING: Final = frozenset((b")", b"]", b"}"))
_DEFINITIONS: Final = (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)
_COMPOUND: Final = frozenset(b"if elif else for while try except finally with match case async def class".split())


class ProgramText:
    """A source text, with columns in either unit."""

    def __init__(self, data: bytes, listed: CodeType | None = None) -> None:
        self.data = data
        self.listed = listed
        """The code that this is only a listing of; then there are lines, and nothing is known of columns."""
        self.spots: dict[int, list[Spot]] = {}
        """Of lines that were asked for."""
        self._coded: list[int] | None = None
        self._pieces: list[TextPiece] = []  # if `_coded` is known
        self._crowded: dict[TextPiece, dict[int, list[Span]]] = {}
        self._extents: dict[TextPiece, dict[int, tuple[int, int]]] = {}
        untrack(self)
        self._lines = decoded(data).encode("utf-8", "surrogatepass").splitlines()

    def line(self, number: int) -> str:
        """Return a line, empty if no line has this number."""
        return self._line(number).decode("utf-8", "replace")

    def read_through(self, where: str) -> Generator[None, None, None]:
        """Find the lines that have code, for `lines_with_code`: for a long text that takes a while; yield meanwhile.

        Raises:
            RequestRefused: if the text is not valid Python.

        """
        if self._coded is not None:
            return
        coded: list[int] = []
        pieces: list[TextPiece] = []

        def note(piece: TextPiece, code: CodeType) -> None:
            pieces.append(piece)
            coded.extend(line for line in lines_of_tree(code) if line >= piece.first)

        if self.listed is None:
            yield from split(self._lines, where, note)
        else:
            coded = lines_of_tree(self.listed)
        self._pieces, self._coded = pieces, coded

    def lines_with_code(self, where: str) -> list[int]:
        """Return the lines that have code, in order.

        Raises:
            RequestRefused: if the text is not valid Python.

        """
        for _ in self.read_through(where):
            pass
        return self._coded or []

    def pieces(self, first: int, last: int, where: str) -> list[TextPiece]:
        """Return the pieces that some lines are in.

        Raises:
            RequestRefused: if the text is not valid Python.

        """
        self.lines_with_code(where)
        return [piece for piece in self._pieces if piece.first <= last and piece.last >= first]

    def compiled(self, piece: TextPiece, where: str, *, as_tree: bool) -> Any:  # noqa: ANN401 - a code object, or a tree of `_ast`
        """Compile a piece."""
        return piece.compiled(self._lines, where, as_tree=as_tree)

    def statement_around(self, line: int) -> tuple[int, int] | None:
        """Return the first and last line of the statement, or of the head of one, that continues in a line."""
        return self._of_piece(line, self._extents, self._find_extents).get(line)

    def _of_piece[T](
        self, line: int, extents: dict[TextPiece, dict[int, T]], find: Callable[[_ast.AST], dict[int, T]]
    ) -> dict[int, T]:
        """Return the facts that the syntax tree has about the lines of the piece around a line, and remember them."""
        try:
            pieces = self.pieces(line, line, "this") if self.listed is None else []
        except RequestRefused:
            pieces = []
        for piece in pieces:
            if piece not in extents:
                extents[piece] = find(self.compiled(piece, "this", as_tree=True))
            return extents[piece]
        return {}

    def _find_extents(self, tree: _ast.AST) -> dict[int, tuple[int, int]]:
        extents: dict[int, tuple[int, int]] = {}
        for node in statements_in(tree):
            first, last = node.lineno, node.end_lineno
            body = getattr(node, "body", None)
            if body:  # a line that begins with a closing bracket ends the head
                inner = range(first + 1, body[0].lineno)
                last = max((at for at in inner if self._line(at).lstrip()[:1] in _CLOSING), default=first)
            if not isinstance(node, _DEFINITIONS):  # whose head leads to the code within, if that is called
                extents.update(dict.fromkeys(range(first + 1, last + 1), (first, last)))
        return extents

    def shown_column(self, line: int, column: int) -> int:
        """Return the column to show for one in UTF-8."""
        text = self._line(line)[:column].decode("utf-8", "replace")
        return utf16.units(text) + 1

    def inner_column(self, line: int, column: int) -> int:
        """Return the column in UTF-8 for one that a client named."""
        return len(utf16.upto(self._line(line).decode("utf-8", "replace"), column - 1).encode("utf-8"))

    def beginning(self, line: int) -> int:
        """Return the column in UTF-8 at which the text of a line begins, after its indentation."""
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
        return self._of_piece(line, self._crowded, _crowded_lines).get(line, [])

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
            RequestRefused: if the source does not exist.

        """
        stamp = stamp_of(key)
        text = self._known.get(key)
        if text is None or text[0] != stamp or stamp is None:
            self._known.pop(key, None)
            text = self._known[key] = (stamp, ProgramText(*self._sources.read(key)))
            self._make_room()
        return text[1]

    def _make_room(self) -> None:
        """Forget the texts that were read first; a stack goes through many files, and through the same at each stop."""
        entries = list(self._known.items())
        size = sum(len(text.data) for _, (_, text) in entries)
        for key, (_, text) in entries[:-1]:
            if size <= limits.TEXT_BYTES:
                return
            self._known.pop(key, None)
            size -= len(text.data)

    def of_code(self, code: CodeType) -> ProgramText | None:
        """Return the text that a code object comes from, None if it is not known."""
        text = self._found(self._sources.keys(code)[0])
        return text if text is not None and text.listed is None else None

    def of_name(self, filename: str) -> ProgramText | None:
        """Return the text of a file name, None if it has no text."""
        return self._found(self._sources.name(filename))

    def _found(self, key: str) -> ProgramText | None:
        try:
            return self.of(key)
        except RequestRefused:
            return None


def _crowded_lines(tree: _ast.AST) -> dict[int, list[Span]]:
    """Return the statements of all lines in which several begin."""
    crowded: dict[int, list[Span]] = {}
    for node in statements_in(tree):
        if isinstance(node, _ast.stmt):
            crowded.setdefault(node.lineno, []).append(span_of(header_of(node)))
    return {line: spans for line, spans in crowded.items() if len(spans) > 1}
