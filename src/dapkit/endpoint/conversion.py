"""Lines, columns and paths between our convention and the client's.

Inside dapkit lines and columns start at 1 and paths are native. A client may
have asked for 0-based positions or for URIs in `initialize` (`linesStartAt1`,
`columnsStartAt1`, `pathFormat`); this module rewrites every position and path
of a message when it crosses the edge, and nowhere else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from dapkit.protocol import (
    CompletionItem,
    InitializeRequestArguments,
    ProtocolObject,
    RunInTerminalRequestArguments,
    Source,
    StackFrame,
)

_LINES = frozenset({"line", "end_line"})
_COLUMNS = frozenset({"column", "end_column"})


@dataclass(frozen=True, slots=True)
class Formats:
    """What `initialize` agreed on; `Formats()` is our own convention."""

    line_offset: int = 0
    column_offset: int = 0
    uris: bool = False

    @classmethod
    def agreed(cls, client: InitializeRequestArguments) -> "Formats":
        """Take what the client asked for; what it left out is 1-based and native."""
        return cls(
            line_offset=1 if client.lines_start_at1 is False else 0,
            column_offset=1 if client.columns_start_at1 is False else 0,
            uris=client.path_format == "uri",
        )

    @property
    def native(self) -> bool:
        """Whether nothing has to be rewritten."""
        return not (self.line_offset or self.column_offset or self.uris)

    def outward[T: ProtocolObject](self, value: T) -> T:
        """Rewrite a value of ours for the peer."""
        return value if self.native else _rewritten(value, -self.line_offset, -self.column_offset, self._to_uri)

    def inward[T: ProtocolObject](self, value: T) -> T:
        """Rewrite a value of the peer's for us."""
        return value if self.native else _rewritten(value, self.line_offset, self.column_offset, self._to_path)

    # Names of files that are not UTF-8 hold lone surrogates; percent signs bring their bytes across.

    def _to_uri(self, path: str) -> str:
        return "file://" + quote(path, errors="surrogateescape") if self.uris and path.startswith("/") else path

    def _to_path(self, path: str) -> str:
        if not (self.uris and path.startswith("file:")):
            return path
        return unquote(urlsplit(path).path, errors="surrogateescape")


def _rewritten[T: ProtocolObject](value: T, lines: int, columns: int, path: Callable[[str], str]) -> T:
    fields = {name: getattr(value, name) for name in value.__struct_fields__}
    news: dict[str, object] = {}
    for name, old in fields.items():
        match old:
            case ProtocolObject():
                news[name] = _rewritten(old, lines, columns, path)
            case [ProtocolObject(), *_]:
                news[name] = [_rewritten(item, lines, columns, path) for item in old]
            case [int(), *_] if name == "lines":
                news[name] = [max(0, line + lines) for line in old]
            case str() if _is_path(value, name):
                news[name] = path(old)
            case int() if (offset := _offset(value, name, lines, columns)) and not isinstance(old, bool):
                news[name] = max(0, old + offset)
    return value.__class__(**(fields | news)) if news else value


def _offset(value: ProtocolObject, name: str, lines: int, columns: int) -> int:
    """Find what to add to the integer field `name` of `value`."""
    if isinstance(value, StackFrame) and value.source is None:
        return 0  # whatever the base, such a frame has line 0 and column 0 (`StackFrame.line`)
    if name in _LINES:
        return lines
    if name in _COLUMNS or (name == "start" and isinstance(value, CompletionItem)):
        return columns
    return 0


def _is_path(value: ProtocolObject, name: str) -> bool:
    return (name == "path" and isinstance(value, Source)) or (
        name == "cwd" and isinstance(value, RunInTerminalRequestArguments)
    )
