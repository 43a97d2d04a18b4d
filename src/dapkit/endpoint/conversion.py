"""Lines, columns and paths between our convention and the client's.

Inside dapkit lines and columns start at 1 and paths are native. A client may
have asked for 0-based positions or for URIs in `initialize` (`linesStartAt1`,
`columnsStartAt1`, `pathFormat`); this module rewrites every position and path
of a message when it crosses the edge, and nowhere else. Which fields those are
is read off the types, once for each: most messages have none.

`CompletionItem.start` is passed on as it is, and counts from 0: the specification has it follow `columnsStartAt1`, but
no client does (VS Code, nvim-dap, vimspector and dape say that columns start at 1, and take it as an index from 0).
"""

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, get_args, get_type_hints

from dapkit.protocol import (
    InitializeRequestArguments,
    ProtocolObject,
    RunInTerminalRequestArguments,
    Source,
    StackFrame,
)


@dataclass(frozen=True, slots=True)
class Formats:
    """What `initialize` agreed on; `Formats()` is our own convention."""

    line_offset: int = 0
    """What is added to a line of the client's to make ours, which is counted from 1: 1 if it counts from 0."""

    column_offset: int = 0
    """The same for columns."""

    uris: bool = False
    """Whether the client writes paths as URIs."""

    native: bool = field(init=False)
    """Whether nothing has to be rewritten."""

    def __post_init__(self) -> None:
        """Look once whether anything differs: it is asked about with each message."""
        object.__setattr__(self, "native", not (self.line_offset or self.column_offset or self.uris))

    @classmethod
    def agreed(cls, client: InitializeRequestArguments) -> "Formats":
        """Take what the client asked for; what it left out is 1-based and native."""
        return cls(
            line_offset=1 if client.lines_start_at1 is False else 0,
            column_offset=1 if client.columns_start_at1 is False else 0,
            uris=client.path_format == "uri",
        )

    def concern(self, kind: type[ProtocolObject]) -> bool:
        """Whether a value of this type may have to be rewritten."""
        return not self.native and bool(_places(kind))

    def outward[T: ProtocolObject](self, value: T) -> T:
        """Rewrite a value of ours for the peer."""
        return value if self.native else self._rewritten(value, -1)

    def inward[T: ProtocolObject](self, value: T) -> T:
        """Rewrite a value of the peer's for us."""
        return value if self.native else self._rewritten(value, 1)

    def _rewritten[T: ProtocolObject](self, value: T, way: int) -> T:
        if isinstance(value, StackFrame) and value.source is None:
            return value  # whatever the base, such a frame has line 0 and column 0 (`StackFrame.line`)
        news = {
            name: self._converted(old, place, way)
            for name, place in _places(value.__class__)
            if (old := getattr(value, name)) is not None
        }
        if not news:
            return value
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        return value.__class__(**(fields | news))

    def _converted(self, old: Any, place: "_Place", way: int) -> object:  # noqa: ANN401 - of the type that `place` says
        if isinstance(old, list):
            return [self._converted(item, place, way) for item in old]
        match place:
            case _Place.LINE:
                return max(0, old + way * self.line_offset)
            case _Place.COLUMN:
                return max(0, old + way * self.column_offset)
            case _Place.PATH if self.uris:
                return _path(old) if way > 0 else _uri(old)
            case _Place.PATH:
                return old
            case _Place.INSIDE:
                return self._rewritten(old, way)


class _Place(enum.Enum):
    """What a field has to do with places in sources."""

    LINE = enum.auto()
    COLUMN = enum.auto()
    PATH = enum.auto()
    INSIDE = enum.auto()


@cache
def _places(kind: type[ProtocolObject]) -> tuple[tuple[str, _Place], ...]:
    """Fields of a type that are places or have some inside."""
    return tuple(_find_places(kind, frozenset()))


def _find_places(kind: type[ProtocolObject], above: frozenset[type[ProtocolObject]]) -> Iterator[tuple[str, _Place]]:
    hints = get_type_hints(kind)
    for name in kind.__struct_fields__:
        inside = [found for found in _objects_in(hints[name]) if found not in above | {kind}]
        if (place := _place(kind, name)) is not None and bool not in get_args(hints[name]):
            yield name, place
        elif kind in _objects_in(hints[name]) or any(any(_find_places(found, above | {kind})) for found in inside):
            yield name, _Place.INSIDE


def _place(kind: type[ProtocolObject], name: str) -> _Place | None:
    match name:
        case "line" | "end_line" | "lines":
            return _Place.LINE
        case "column" | "end_column":
            return _Place.COLUMN
        case "path" if kind is Source:
            return _Place.PATH
        case "cwd" if kind is RunInTerminalRequestArguments:
            return _Place.PATH
        case _:
            return None


def _objects_in(hint: object) -> list[type[ProtocolObject]]:
    """Types of the objects that a field may hold, in a list or not."""
    if isinstance(hint, type) and issubclass(hint, ProtocolObject):
        return [hint]
    return [found for argument in get_args(hint) for found in _objects_in(argument)]


# Names of files that are not UTF-8 hold lone surrogates; percent signs bring their bytes across.


def _uri(path: str) -> str:
    from urllib.parse import quote

    return "file://" + quote(path, errors="surrogateescape") if path.startswith("/") else path


def _path(uri: str) -> str:
    from urllib.parse import unquote, urlsplit

    return unquote(urlsplit(uri).path, errors="surrogateescape") if uri.startswith("file:") else uri
