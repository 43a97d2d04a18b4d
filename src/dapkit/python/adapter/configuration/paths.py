"""Paths of files as the client and the program know them, where those differ (`pathMappings`).

Without mappings nothing is read or changed in passing. With mappings, each message that holds a source is read, its
paths are changed, and it is written anew.

A client that is elsewhere cannot open a file that no mapping is about, such as a library's. So its source gets a
`sourceReference`, by which `source` gives the text; unless the client has named the file itself. So does, without any
mapping, a file of a program on another machine that is not on this one.
"""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from dapkit.protocol import EventBody, RawJson, decode_as, encode_value
from dapkit.python.adapter.configuration.arguments import PathMapping

_SOURCES = frozenset({"source", "location", "module"})
"""Names under which an object with a `path` stands."""

_LISTS_OF_SOURCES = frozenset({"sources", "modules"})

_REFERABLE = frozenset({"source", "sources"})
"""The names of those that may have a reference."""

_FIRST_REFERENCE = 1 << 30
"""References of dapkit begin here; the engine counts its own from 1."""

_WITHOUT_SOURCES = frozenset({"variables", "evaluate", "threads", "continue", "readMemory", "completions"})
"""Commands that are asked often, or have large answers, and name no files there."""


class PathTranslation:
    """The mappings of a program; the one with the longest folder counts.

    `elsewhere` says that the program runs on another machine, or in a container.

    Invariant: a file has one reference, and `_named` holds the files that the client has named without one.
    """

    def __init__(self, mappings: Sequence[PathMapping], folder: str, *, elsewhere: bool = False) -> None:
        pairs = [
            (mapping.local_root, str(PurePosixPath(folder, mapping.remote_root)))
            for mapping in mappings
            if mapping.local_root and mapping.remote_root  # editors offer a template with empty ones
        ]
        self._outward = sorted(pairs, key=lambda pair: len(pair[1]), reverse=True)
        self._inward = sorted(pairs, key=lambda pair: len(pair[0]), reverse=True)
        self._is_active = bool(pairs) or elsewhere
        self._references: dict[str, int] = {}
        self._named: set[str] = set()

    def of_program(self, path: str) -> str:
        """Return the program's path of a file of the client."""
        for local, remote in self._inward:
            if (rest := _below(path, local)) is not None:
                return "/".join([remote.rstrip("/"), *rest])
        return path

    def of_client(self, path: str) -> str | None:
        """Return the client's path of a file of the program, None if no mapping applies."""
        for local, remote in self._outward:
            if (rest := _below(path, remote)) is not None:
                separator = "\\" if _is_windows(local) else "/"
                return separator.join([local.rstrip("/\\"), *rest])
        return None

    def arguments(self, arguments: object) -> object:
        """Return the arguments of a request as the program understands them."""
        if not self._is_active:
            return arguments
        changed = self._changed(decode_as(object, encode_value(arguments)), inward=True)
        match changed:
            case {"sourceReference": int(number), **others} if (path := self._referred(number)) is not None:
                return {**others, "source": {"path": path}, "sourceReference": 0}
        return changed

    def body(self, command: str, body: RawJson) -> RawJson:
        """Return the body of a response as the client understands it."""
        if not self._is_active or command in _WITHOUT_SOURCES:
            return body
        return RawJson(encode_value(self._changed(decode_as(object, body), inward=False)))

    def event(self, body: EventBody) -> EventBody:
        """Return an event as the client understands it."""
        if not self._is_active:
            return body
        return decode_as(type(body), encode_value(self._changed(decode_as(object, encode_value(body)), inward=False)))

    def _changed(self, value: object, *, inward: bool) -> object:
        match value:
            case dict():
                for name, member in value.items():
                    if name in _SOURCES:
                        self._change(member, name, inward=inward)
                    elif name in _LISTS_OF_SOURCES and isinstance(member, list):
                        for source in member:
                            self._change(source, name, inward=inward)
                    self._changed(member, inward=inward)
            case list():
                for member in value:
                    self._changed(member, inward=inward)
        return value

    def _change(self, source: object, name: str, *, inward: bool) -> None:
        match source:
            case dict() if isinstance(path := source.get("path"), str):
                if inward:
                    self._change_inward(source, path)
                elif (mapped := self.of_client(path)) is not None:
                    source["path"] = mapped
                elif name in _REFERABLE and not source.get("sourceReference") and self._is_foreign(path):
                    source["sourceReference"] = self._references.setdefault(
                        path, _FIRST_REFERENCE + len(self._references)
                    )

    def _is_foreign(self, path: str) -> bool:
        """Return whether the client, which has not named a file, cannot be expected to open it."""
        return path not in self._named and (bool(self._outward) or path in self._references or not Path(path).exists())

    def _change_inward(self, source: dict[str, object], path: str) -> None:
        number = source.get("sourceReference")
        if isinstance(number, int) and number >= _FIRST_REFERENCE:  # perhaps of the run before this one
            source["path"] = self._referred(number) or path
            del source["sourceReference"]
        elif not number:
            source["path"] = self.of_program(path)
            self._named.add(path)

    def _referred(self, number: int) -> str | None:
        return next((path for path, reference in self._references.items() if reference == number), None)


def _is_windows(path: str) -> bool:
    return "\\" in path or path[1:2] == ":"


def _below(path: str, folder: str) -> list[str] | None:
    """Return the parts of a path behind a folder, or None if it is not in there."""
    kind = PureWindowsPath if _is_windows(folder) else PurePosixPath
    try:
        return list(kind(path).relative_to(kind(folder)).parts)
    except ValueError:
        return None
