"""Lines, columns, paths and optional fields between our convention and the client's.

Inside dapkit lines and columns start at 1 and paths are native. A client may
have asked for 0-based positions or for URIs in `initialize` (`linesStartAt1`,
`columnsStartAt1`, `pathFormat`); this module rewrites every position and path
of a message when it crosses the edge, and nowhere else. So it does with fields that
an adapter may send only to clients which announced that they understand them (`supportsVariableType`,
`supportsMemoryReferences`): they are left out. The types determine those fields, once for each type: most messages have
no such field.

`CompletionItem.start` is passed on as it is, and counts from 0: the specification has it follow `columnsStartAt1`, but
no client does (VS Code, nvim-dap, vimspector and dape say that columns start at 1, and take it as an index from 0).
"""

import enum
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, get_args, get_type_hints

from dapkit.protocol import (
    EvaluateBody,
    InitializeRequestArguments,
    ProtocolObject,
    RunInTerminalRequestArguments,
    SetExpressionBody,
    SetVariableBody,
    Source,
    StackFrame,
    Variable,
)
from dapkit.system.selection import IS_WINDOWS

_VALUES = (EvaluateBody, SetExpressionBody, SetVariableBody, Variable)
"""A type that describes a value, by a type name and a reference to its memory among other fields."""


class _FieldMeaning(enum.Enum):
    """The relation of a field to the client."""

    LINE = enum.auto()
    COLUMN = enum.auto()
    PATH = enum.auto()
    TYPE = enum.auto()
    MEMORY = enum.auto()
    INSIDE = enum.auto()


_IN_ANY: Mapping[str, _FieldMeaning] = {
    "line": _FieldMeaning.LINE,
    "end_line": _FieldMeaning.LINE,
    "lines": _FieldMeaning.LINE,
    "column": _FieldMeaning.COLUMN,
    "end_column": _FieldMeaning.COLUMN,
}
"""Fields of these names, in whatever type."""

_IN_ONE: Mapping[tuple[type[ProtocolObject], str], _FieldMeaning] = {
    (Source, "path"): _FieldMeaning.PATH,
    (RunInTerminalRequestArguments, "cwd"): _FieldMeaning.PATH,
    **{(kind, "type"): _FieldMeaning.TYPE for kind in _VALUES},
    **{(kind, "memory_reference"): _FieldMeaning.MEMORY for kind in _VALUES},
}
"""Fields that are such in these types alone."""


@dataclass(frozen=True, slots=True)
class Formats:
    """The formats that `initialize` agreed on.

    `Formats()` is dapkit's own convention, for a client that understands everything.
    """

    line_offset: int = 0
    """The number to add to a client's line to get dapkit's line, which counts from 1.

    It is 1 if the client counts from 0.
    """

    column_offset: int = 0
    """The same for columns."""

    uris: bool = False
    """Whether the client writes paths as URIs."""

    types: bool = True
    """Whether the client shows types of values."""

    memory_references: bool = True
    """Whether the client can ask for memory."""

    differing: frozenset[_FieldMeaning] = field(init=False)
    """Types to rewrite."""

    def __post_init__(self) -> None:
        """Look once whether anything differs: it is asked about with each message."""
        differs = {
            _FieldMeaning.LINE: self.line_offset != 0,
            _FieldMeaning.COLUMN: self.column_offset != 0,
            _FieldMeaning.PATH: self.uris,
            _FieldMeaning.TYPE: not self.types,
            _FieldMeaning.MEMORY: not self.memory_references,
        }
        object.__setattr__(self, "differing", frozenset(place for place, does in differs.items() if does))

    @classmethod
    def agreed(cls, client: InitializeRequestArguments) -> "Formats":
        """Read the client's arguments.

        A missing field means 1-based lines and columns, native paths, and no ability.
        """
        return cls(
            line_offset=1 if client.lines_start_at1 is False else 0,
            column_offset=1 if client.columns_start_at1 is False else 0,
            uris=client.path_format == "uri",
            types=client.supports_variable_type is True,
            memory_references=client.supports_memory_references is True,
        )

    def concern(self, kind: type[ProtocolObject]) -> bool:
        """Whether a value of this type may have to be rewritten."""
        return bool(self.differing) and bool(_places(kind, self.differing))

    def outward[T: ProtocolObject](self, value: T) -> T:
        """Rewrite an outgoing value for the peer."""
        return value if not self.differing else self._rewritten(value, -1)

    def inward[T: ProtocolObject](self, value: T) -> T:
        """Rewrite an incoming value."""
        return value if not self.differing else self._rewritten(value, 1)

    def _rewritten[T: ProtocolObject](self, value: T, way: int) -> T:
        if isinstance(value, StackFrame) and value.source is None:
            return value  # whatever the base, such a frame has line 0 and column 0 (`StackFrame.line`)
        news = {
            name: self._converted(old, place, way)
            for name, place in _places(value.__class__, self.differing)
            if (old := getattr(value, name)) is not None
        }
        if not news:
            return value
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        return value.__class__(**(fields | news))

    def _converted(self, old: Any, place: "_FieldMeaning", way: int) -> object:  # noqa: ANN401 - of the type that `place` says
        if isinstance(old, list):
            return [self._converted(item, place, way) for item in old]
        match place:
            case _FieldMeaning.LINE:
                return max(0, old + way * self.line_offset)
            case _FieldMeaning.COLUMN:
                return max(0, old + way * self.column_offset)
            case _FieldMeaning.PATH:
                return _path(old) if way > 0 else _uri(old)
            case _FieldMeaning.TYPE | _FieldMeaning.MEMORY:
                return old if way > 0 else None
            case _FieldMeaning.INSIDE:
                return self._rewritten(old, way)


@cache
def _places(kind: type[ProtocolObject], differing: frozenset[_FieldMeaning]) -> tuple[tuple[str, _FieldMeaning], ...]:
    """Fields of a type that must be rewritten, or have something inside that must be."""
    return tuple(_find_places(kind, differing, frozenset()))


def _find_places(
    kind: type[ProtocolObject], differing: frozenset[_FieldMeaning], above: frozenset[type[ProtocolObject]]
) -> Iterator[tuple[str, _FieldMeaning]]:
    hints = get_type_hints(kind)
    within = above | {kind}
    for name in kind.__struct_fields__:
        place = _place(kind, name)
        inside = _objects_in(hints[name])
        if place is not None and bool not in get_args(hints[name]):
            if place in differing:
                yield name, place
        elif kind in inside:  # a tree: a node may differ although its siblings are equal
            if any(_place(kind, other) in differing for other in kind.__struct_fields__):
                yield name, _FieldMeaning.INSIDE
        elif any(any(_find_places(inner, differing, within)) for inner in inside if inner not in within):
            yield name, _FieldMeaning.INSIDE


def _place(kind: type[ProtocolObject], name: str) -> _FieldMeaning | None:
    return _IN_ANY.get(name) or _IN_ONE.get((kind, name))


def _objects_in(hint: object) -> list[type[ProtocolObject]]:
    """Types of the objects that a field may hold, in a list or not."""
    if isinstance(hint, type) and issubclass(hint, ProtocolObject):
        return [hint]
    return [inner for argument in get_args(hint) for inner in _objects_in(argument)]


# Names of files that are not UTF-8 hold lone surrogates; percent signs bring their bytes across.


def _uri(path: str) -> str:
    from urllib.parse import quote

    if IS_WINDOWS:
        place = _from_windows(path)
        return "file:" + quote(place, safe="/:", errors="surrogatepass") if place else path
    return "file://" + quote(path, errors="surrogateescape") if path.startswith("/") else path


def _path(uri: str) -> str:
    from urllib.parse import unquote, urlsplit

    if not uri.startswith("file:"):
        return uri
    parts = urlsplit(uri)
    if IS_WINDOWS:
        return _to_windows(parts.netloc, unquote(parts.path, errors="surrogatepass"))
    return unquote(parts.path, errors="surrogateescape")


def _from_windows(path: str) -> str:
    r"""Return `C:\a` as `///C:/a`, and `\\server\share` as `//server/share`; "" for a relative path."""
    if path.startswith("\\\\?\\UNC\\"):
        path = "\\\\" + path[8:]
    place = path.removeprefix("\\\\?\\").replace("\\", "/")
    if _DRIVE.match(place):
        return f"///{place}"
    return place if place.startswith("//") else ""


def _to_windows(host: str, path: str) -> str:
    if host not in ("", "localhost"):
        path = f"//{host}{path}"
    elif _DRIVE.match(path[1:]):
        path = path[1:]
    return path.replace("/", "\\")


_DRIVE = re.compile("[A-Za-z]:/")
