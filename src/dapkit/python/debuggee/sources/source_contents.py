"""Texts of the program's code: their description in a Source, and their content for `source`.

Code of a file on disk is named by its path. All other code gets a `sourceReference`, good for the whole session:

    members of zip archives      read from the archive
    frozen modules               read from the standard library's folder
    notebook cells and the like  from `linecache`, where the maker of the code put its text
    examples of doctest          from the example
    `exec`, `eval`, `python -c`  found among the strings of the frames around it: the one that compiles to the
                                 same code; each text is a source of its own
    anything else                a listing of the names and constants of each line, at that line

Only announced texts are served: by reference, or by the path of a source that was reported.
Nothing here runs code of the program.
"""

import os
import sys
from collections.abc import Callable, Iterator
from opcode import opname
from types import CodeType, FrameType

from ..connection.framing import Json
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..interpreter.frame_locals import variables_of
from ..interpreter.frame_views import FrameView
from ..interpreter.safe_types import entries, module_of, namespace, simple_name
from ..interpreter.thread_checks import in_link_thread
from .archives import archive_member
from .compilation import FUTURE, compilations, with_nested
from .decoding import decoded
from .fileless_code import UnfiledText, UnfiledTexts
from .files import OURS, Sources, own_key, read_file
from .imported_modules import loaded, names_of

ALGORITHMS = ["SHA256", "MD5", "timestamp"]

_known: dict[str, tuple[int, int, list[Json]]] = {}


def checksums_of(path: str) -> list[Json]:
    """Return the checksums of a file as it is now; none if it cannot be read.

    `timestamp` is the time of its last change in seconds.
    """
    try:
        status = os.stat(path)
        earlier = _known.get(path)
        if earlier is not None and earlier[:2] == (status.st_mtime_ns, status.st_size):
            return earlier[2]
        with open(path, "rb") as file:
            content = file.read()
    except (OSError, ValueError):
        return []
    # The C modules themselves: `hashlib` would load OpenSSL into the program.
    from _md5 import md5  # type: ignore[import-not-found]  # has no stub
    from _sha2 import sha256  # type: ignore[import-not-found]  # the same

    checksums: list[Json] = [
        {"algorithm": "SHA256", "checksum": sha256(content).hexdigest()},
        {"algorithm": "MD5", "checksum": md5(content).hexdigest()},
        {"algorithm": "timestamp", "checksum": str(int(status.st_mtime))},
    ]
    _known[path] = (status.st_mtime_ns, status.st_size, checksums)
    return checksums


_FROZEN = "<frozen "
_ONE_TEXT_EACH = ("<string>", "<stdin>", "<console>")
"""File names that say nothing: each code compiled under them has a text of its own."""


class ShownSources:
    """All texts that were announced.

    Invariant: the same text of the same file name has one number. Used in the link's thread, or one that it waits for.
    """

    def __init__(self, sources: Sources, unfiled: UnfiledTexts, report: Callable[[str, Json], None]) -> None:
        self._sources = sources
        self._unfiled = unfiled
        self._report = report
        self._by_name: dict[str, UnfiledText] = {}
        self._on_disk: dict[str, bool] = {}
        self._reported: set[str | int] = set()  # keys of files, numbers of texts
        self._listed = False
        self.hints: list[str] = []
        """Texts that code without a file may come from."""
        self.recorded: dict[str, str] = {}
        """Texts of files that have another text by now, by their paths: of a program that is executed again."""

    # The report about a source

    def source_of(self, code: CodeType, frame: FrameType | None = None, view: FrameView | None = None) -> Json:
        """Return the Source of a code object, and report it to the client the first time.

        A frame that runs the code helps to find its text, and `view` is the view of the frame.
        """
        filename = code.co_filename if view is None else view.filename
        path = self._sources.path(filename)
        if path in self.recorded:
            return self._of_text(self._add(filename, self.recorded[path], "recording", shared=True), filename)
        if path is not None and self._is_file(path):
            return self._of_path(path)
        text = None if view is None else view.text()
        if text is not None:
            text_added = self._add(filename, text, "template", shared=False, name=filename)
            return self._of_text(text_added, filename)
        return self._of_text(self._text_of(code, frame), code.co_filename)

    def source_of_definition(self, filename: str, code: CodeType | None) -> Json:
        """Return the Source of a file name in which something is defined, by some code if that is known."""
        path = self._sources.path(filename)
        if path is not None and self._is_file(path):
            return self._of_path(path)
        if code is not None and filename not in _ONE_TEXT_EACH:
            unfiled: UnfiledText | None = self._text_of(code, None)
        else:
            same = (text for text in self._unfiled.texts if text.filename == filename)
            unfiled = next((text for text in same if code is None or text.holds(code)), None)
        if unfiled is None and path is not None and (member := archive_member(path)) is not None:
            unfiled = self._add(filename, member, "zip archive", shared=True)
        return {"name": filename, "presentationHint": "deemphasize"} if unfiled is None else self.describe(unfiled)

    def _of_path(self, path: str, *, announce: bool = True) -> Json:
        source: Json = {"name": os.path.basename(path), "path": path}
        key = self._sources.key(path)
        if announce and key is not None:
            self._announce(key, source)
        return source

    def _of_text(self, text: UnfiledText, filename: str, *, announce: bool = True) -> Json:
        source: Json = {
            "name": text.name or (os.path.basename(filename) if filename[:1] != "<" else filename),
            "sourceReference": text.number,
            "origin": text.origin,
        }
        path = self._sources.path(filename)
        if path is not None:
            source["path"] = path
        if self._sources.subdues(self._sources.kind(filename)):
            source["presentationHint"] = "deemphasize"
        if announce:
            self._announce(text.number, source)
        return source

    def _announce(self, key: str | int, source: Json) -> None:
        if key not in self._reported:
            self._reported.add(key)
            self._report("loadedSource", {"reason": "new", "source": source})

    def _is_file(self, path: str) -> bool:
        is_on_disk = self._on_disk.get(path)
        if is_on_disk is None:
            is_on_disk = self._on_disk[path] = os.path.isfile(path)
        return is_on_disk

    @in_link_thread
    def loaded(self) -> Json:
        """Return the body of `loadedSources`. From now on later ones are reported to the client."""
        self._listed = True
        listed = [self._of_path(path, announce=False) for path in self._files()]
        for source in listed:
            path = str(source["path"])
            source["checksums"] = checksums_of(path)
            self._reported.add(self._sources.key(path) or path)
        return {
            "sources": listed + [self._of_text(text, text.filename, announce=False) for text in self._unfiled.texts]
        }

    def look(self) -> None:
        """Report to the client the files that were loaded since it asked for all of them."""
        if self._listed:
            for path in self._files():
                self._of_path(path)

    def _files(self) -> list[str]:
        """Return the files of all modules, and those that were reported to the client."""
        paths: dict[str, None] = {}
        for _, module in loaded():
            file = (names_of(module) or {}).get("__file__")
            if type(file) is not str or not file.endswith((".py", ".pyw")) or self._sources.kind(file) == OURS:
                continue
            path = self._sources.path(file)
            if path is not None and self._is_file(path):
                paths[path] = None
        paths.update((self._sources.path(key) or key, None) for key in self._reported if isinstance(key, str))
        return list(paths)

    # Served texts

    @in_link_thread
    def content(self, source: object, reference: object) -> Json:
        """Return the body of `source`.

        Raises:
            RequestRefused: if that source was never reported, or cannot be read.

        """
        fields = source if isinstance(source, dict) else {}
        number = fields.get("sourceReference") or reference
        if number:
            text = self.by_number(number)
            return {"content": text.text, **_mime_type(text.name or ".py")}
        path = fields.get("path")
        if not isinstance(path, str) or not path:
            raise RequestRefused(f"source needs a sourceReference or a path; source is {source!r:.200}")
        key = self._sources.key(path)
        if key is None or key not in self._reported:
            raise RequestRefused(f"{path} is not a source that the program has reported")
        return {"content": decoded(read_file(key)), **_mime_type(key)}

    def by_number(self, number: object) -> UnfiledText:
        """Return the text of a `sourceReference`.

        Raises:
            RequestRefused: if the source does not exist.

        """
        if not isinstance(number, int) or not 0 < number <= len(self._unfiled.texts):
            raise RequestRefused(f"there is no source {number!r:.200}; there are {len(self._unfiled.texts)}")
        return self._unfiled.texts[number - 1]

    def describe(self, text: UnfiledText) -> Json:
        """Return the Source of a text, for a breakpoint in it: VS Code names those by their path alone."""
        source = self._of_text(text, text.filename, announce=False)
        return {"path": source["name"], **source}

    # Finding a text

    def _text_of(self, code: CodeType, frame: FrameType | None) -> UnfiledText:
        """Return the text of code that has no file; a frame that runs it helps to find it."""
        unfiled = self._unfiled.of(code)
        if unfiled is None:
            unfiled = self._find(code, frame)
            self._unfiled.remember(code, unfiled)
        return unfiled

    def _find(self, code: CodeType, frame: FrameType | None) -> UnfiledText:
        filename = code.co_filename
        compiled = self._unfiled.compiled(code)
        if compiled is not None:
            text_found = self._add(filename, compiled.text, "template", shared=False, name=compiled.name)
            for part in with_nested(compiled.module):
                self._unfiled.remember(part, text_found)
            return text_found
        shared = filename not in _ONE_TEXT_EACH
        if shared and filename in self._by_name:
            return self._by_name[filename]
        for origin, text in self._candidates(code, frame):
            if text is not None:
                return self._add(filename, text, origin, shared=shared)
        return self._add(filename, _listing(code), "only the bytecode is known", shared=False, listed=code)

    def _candidates(self, code: CodeType, frame: FrameType | None) -> Iterator[tuple[str, str | None]]:
        filename = code.co_filename
        if filename.startswith(_FROZEN):
            yield "frozen module", _of_frozen(filename)
        elif not filename.startswith("<"):
            yield "zip archive", archive_member(self._sources.path(filename) or filename)
        yield "linecache", _of_linecache(code)
        yield "text that was executed", self._of_strings(code, frame)

    def _of_strings(self, code: CodeType, frame: FrameType | None) -> str | None:
        for text in self._strings(frame):
            if _compiles_to(text, code):
                return text
        return None

    def _strings(self, frame: FrameType | None) -> Iterator[str]:
        """Go through the strings that lie around a frame, those nearest first."""
        yield from (text.text for text in self._unfiled.texts if text.filename in _ONE_TEXT_EACH)
        yield from self.hints
        count = 0
        for depth in range(limits.EXEC_DEPTH):
            if frame is None:
                return
            values = [value for _, value in variables_of(frame) or []] if depth else []
            values += (value for _, value in entries(frame.f_globals))
            for value in [*frame.f_code.co_consts, *map(_text_in, values)]:
                if type(value) is str and value and count < limits.NEARBY_TEXTS:
                    count += 1
                    yield value
            frame = frame.f_back

    def _add(
        self, filename: str, text: str, origin: str, *, shared: bool, listed: CodeType | None = None, name: str = ""
    ) -> UnfiledText:
        for each in self._unfiled.texts:
            if each.filename == filename and each.text == text:
                return each
        number, shared_key = len(self._unfiled.texts) + 1, self._sources.name(filename)
        key = shared_key if shared else own_key(shared_key, number)
        new_text = UnfiledText(number, filename, text, origin=origin, key=key, listed=listed, name=name)
        self._unfiled.texts.append(new_text)
        if shared:
            self._by_name[filename] = new_text
        return new_text


def _mime_type(name: str) -> Json:
    """Return the kind of a text, by its name, unless it may be a template."""
    ending = os.path.splitext(name)[1]
    return {"mimeType": "text/x-python"} if ending in ("", ".py", ".pyw") else {}


def _text_in(value: object) -> object:
    """Return the text of an example of doctest, any other value itself."""
    is_example = simple_name(type(value)) == "Example" and module_of(type(value)) == "doctest"
    return namespace(value).get("source") if is_example else value


def _of_frozen(filename: str) -> str | None:
    """Return the text of a frozen module of the standard library."""
    name = filename[len(_FROZEN) : -1]
    folder = os.path.dirname(os.path.abspath(os.__file__))
    place = os.path.join(folder, *name.split("."))
    for path in (place + ".py", os.path.join(place, "__init__.py")):
        if os.path.isfile(path):
            return decoded(read_file(path))
    return None


def _of_linecache(code: CodeType) -> str | None:
    """Return the text that the maker of the code put into `linecache`."""
    linecache = namespace(sys.modules.get("linecache"))
    of_code = (code.co_filename, code.co_qualname, code.co_firstlineno)  # CPython 3.13 and later, for `python -c`
    for table, key in ((linecache.get("cache"), code.co_filename), (linecache.get("_interactive_cache"), of_code)):
        entry = table.get(key) if type(table) is dict else None
        lines = entry[2] if type(entry) is tuple and len(entry) == 4 else None
        if type(lines) is list and all(type(line) is str for line in lines):
            return "".join(lines) or None
    return None


def _compiles_to(text: str, code: CodeType) -> bool:
    """Return whether a code object was made from a text."""
    if text.count("\n") + 1 < code.co_firstlineno or len(text) > limits.EXEC_CHARS:
        return False
    codes = compilations(text, code.co_flags & FUTURE)
    return any(part == code for whole in codes for part in with_nested(whole))


def _listing(code: CodeType) -> str:
    """Replace an unknown text: each line lists the names that the code uses there."""
    lines: dict[int, list[str]] = {}
    for part in with_nested(code):
        for start, end, line in part.co_lines():
            for offset in range(start, end, 2):
                operation = opname[part.co_code[offset]]
                if line and operation not in ("CACHE", "RESUME", "NOP"):
                    lines.setdefault(line, []).append(operation)
    last = max(lines, default=0)
    head = f"# The text of {code.co_qualname} is not known; these are the instructions of each line."
    lines_of_text = ["; ".join(lines.get(line, ())) for line in range(1, last + 1)]
    if not lines_of_text or lines_of_text[0]:
        return "\n".join([*lines_of_text, head, ""])
    return "\n".join([head, *lines_of_text[1:], ""])
