"""Files of the program: which names mean the same file, whose code it is, which lines have code.

A code object carries only the name its file was compiled under: relative, through
symbolic links, or no file at all (`<string>`). Everything else compares by `key`.
"""

import _ast
import os
import stat
import sys
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

from ..interpreter.errors import RequestRefused
from ..interpreter.frame_views import virtual_frame_of
from ..interpreter.safe_types import entry_of
from ..system import READ_ONLY, without_prefix
from .archives import archive_member
from .compilation import compiled, with_nested
from .fileless_code import UnfiledTexts
from .imported_modules import names_of
from .own_code_rules import CodeRule
from .staleness import Stamps

type CodeKind = int
OURS: Final = 0
LIBRARY: Final = 1
PROGRAM: Final = 2
EXCLUDED: Final = 3
"""Code that a rule of the client calls a library's: no step ends there, whatever else is to be shown."""

_HERE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
GENERATED: Final = _HERE + "<generated>"
"""File name of code that this package compiles for itself."""

_TYPED_IN: Final = ("<string>", "<stdin>", "<console>", "<ipython-input", "<python-input", "<cell", "<doctest ")
"""Code without a file that is the program's own, by the beginnings of its names."""
_IMPORTS: Final = frozenset(
    ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>", "<frozen zipimport>")
)
_RUNPY: Final = "<frozen runpy>"
_RESUME: Final = (lambda: None).__code__.co_code[0]
_AT_START: Final = 0
_PORTION_BYTES: Final = 1 << 20
"""The argument of the RESUME at which a function starts, of which PY_START tells."""
_CACHE: Final = 0  # in all versions
_OPTIMIZED: Final = 0x3  # CO_OPTIMIZED | CO_NEWLOCALS: a function's code

_PACKAGES = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))
"""Parts of the paths of installed packages."""


class FoundText(NamedTuple):
    """A text, and the code that it is only a listing of, if that was not made from it."""

    data: bytes
    listed: CodeType | None = None


def own_key(name: str, number: int) -> str:
    """Return the key of one text among several of the same file name."""
    return f"{name}\0{number}"


def name_in(key: str) -> str:
    """Return the common key of all code objects of the same file name, from the key of any of their sources."""
    return key.partition("\0")[0]


def working_folder() -> str:
    """Return the folder that the program is in; the root of the file system if it was removed meanwhile."""
    try:
        return os.getcwd()
    except OSError:
        return os.sep


class Sources:
    """The known facts about file names, and about code without a file, whose texts are `unfiled`.

    Invariant: the answers for one file name never change while the program runs.
    """

    def __init__(self, unfiled: UnfiledTexts, folder: str | None = None) -> None:
        """Take the folder that file names are relative to; None for that which the program is in."""
        self.folder: Final = working_folder() if folder is None else folder
        self._keys: dict[str, str | None] = {}
        self._kinds: dict[str, CodeKind] = {}
        self._shown: dict[str, str] = {}
        self._libraries = _library_folders()
        self._subdued: tuple[CodeKind, ...] = (LIBRARY, EXCLUDED)
        self._typed_in: tuple[str, ...] = _TYPED_IN
        self._rules: list[CodeRule] = []  # the client's rules for the program's own code
        self.stamps = Stamps()
        self.unfiled = unfiled

    def obey(self, rules: list[CodeRule], *, just_my_code: bool, without_file: tuple[str, ...] = ()) -> None:
        """Take the client's rules for the program's own code and the frames to show, before the program begins.

        `without_file` are beginnings of file names that stand for no file, but for code of the program's own.
        """
        self._rules = rules
        self._typed_in = (*_TYPED_IN, *without_file)
        self._subdued = (LIBRARY, EXCLUDED) if just_my_code else (EXCLUDED,)

    def subdues(self, kind: CodeKind) -> bool:
        """Return whether clients are to show code of a kind as something that is in the way."""
        return kind in self._subdued

    def key(self, filename: str) -> str | None:
        """Return the common key of all names of one file; None if it is not a file."""
        try:
            return self._keys[filename]
        except KeyError:
            key = None
            if not filename.startswith("<"):
                key = without_prefix(os.path.realpath(os.path.join(self.folder, filename)))
            self._keys[filename] = key
            return key

    def name(self, filename: str) -> str:
        """Return the common key of the code objects of one source: their file's key, or else their file name."""
        return self.key(filename) or filename

    def keys(self, code: CodeType) -> tuple[str, ...]:
        """Return the keys of the sources that a code object is from: its own text, if it has one, and its file."""
        own = self.unfiled.own_key(code)
        name = self.name(code.co_filename)
        return (name,) if own in (None, name) else (own, name)

    def read(self, key: str) -> "FoundText":
        """Return the text of a source, as it is now; for code without a file the one that was found.

        Raises:
            RequestRefused: if the source does not exist.

        """
        text = self.unfiled.with_key(key, self.name)
        if text is not None:
            return FoundText(text.text.encode("utf-8", "replace"), text.listed)
        if not key.startswith("<") and not os.path.isfile(key):
            member = archive_member(key)
            if member is not None:
                return FoundText(member.encode("utf-8", "replace"))
        return FoundText(read_file(key))

    def kind(self, filename: str) -> CodeKind:
        """Say whose code a file is: this package's, a library's or the program's own."""
        try:
            return self._kinds[filename]
        except KeyError:
            kind = self._kinds[filename] = self._find_kind(filename)
            return kind

    def kind_of(self, frame: FrameType) -> CodeKind:
        """Say whose code a frame runs: a text that a library executes, as for a named tuple, is the library's.

        Code that renders a template of the program's own counts as that template.
        """
        view = virtual_frame_of(frame)
        if view is not None:
            return LIBRARY if view.is_machinery else self.kind(view.filename)
        filename = frame.f_code.co_filename
        kind = self.kind(filename)
        if kind != PROGRAM or filename[:1] != "<" or self._rule_for(filename) is not None:
            return kind
        file, name = entry_of(frame.f_globals, "__file__"), entry_of(frame.f_globals, "__name__")
        if type(file) is str:
            return self.kind(file)
        return LIBRARY if type(name) is str and name.startswith("namedtuple_") else PROGRAM

    def hides(self, frame: FrameType) -> bool:
        """Return whether a frame is shown only if the client asks for all; no step and no exception stops there.

        That is the machinery of imports, and the code with which `python -m` runs a program; a program that calls
        `runpy` sees it.
        """
        filename = frame.f_code.co_filename
        return filename in _IMPORTS or (filename == _RUNPY and self._runs_the_program(frame))

    def _runs_the_program(self, frame: FrameType) -> bool:
        older: FrameType | None = frame
        while older is not None and (older.f_code.co_filename == _RUNPY or self.kind(older.f_code.co_filename) == OURS):
            older = older.f_back
        return older is None

    def _find_kind(self, filename: str) -> CodeKind:
        if filename.startswith(_HERE):
            return OURS
        rule = self._rule_for(filename)
        if rule is not None:
            return PROGRAM if rule.include else EXCLUDED
        if filename.startswith("<"):
            return PROGRAM if filename.startswith(self._typed_in) else LIBRARY
        path = os.path.join(self.folder, filename)
        for candidate in (path, self.key(filename) or path):
            if candidate.startswith(self._libraries) or any(folder in candidate for folder in _PACKAGES):
                return LIBRARY
        return PROGRAM

    def _rule_for(self, filename: str) -> CodeRule | None:
        if not self._rules:
            return None
        path = os.path.join(self.folder, filename)
        paths = {path, self.key(filename) or path}
        if filename.startswith("<"):  # in no folder: a rule has to mean it by its name
            path, paths = filename, {f"/{filename}"}
        modules: list[str] = []
        if any(rule.of_modules for rule in self._rules):
            loaded_modules = list(sys.modules.items())
            modules = [
                name for name, module in loaded_modules if type(name) is str and _file_of(module) in (filename, path)
            ]
        for rule in self._rules:
            if any(map(rule.fits, modules if rule.of_modules else paths)):
                return rule
        return None

    def claim_for_program(self, filename: str) -> None:
        """Call a file the program's own wherever it lies, unless a rule says otherwise: the one that was launched."""
        key = self.key(filename)
        if key is not None:
            self.stamps.note(key)
        if self._rule_for(filename) is None:
            self._kinds[filename] = PROGRAM

    def show_as(self, path: str) -> str | None:
        """Remember the client's own spelling of a path, and return the file's key."""
        key = self.key(path)
        if key is not None:
            self._shown[key] = path
        return key

    def path(self, filename: str) -> str | None:
        """Return the path to show for a code object's file name; None if it is not a file."""
        key = self.key(filename)
        if key is None:
            return None
        display_path = self._shown.get(key)
        if display_path is None:
            display_path = self._shown[key] = os.path.normpath(os.path.join(self.folder, filename))
        return display_path


def _file_of(module: object) -> str:
    file = (names_of(module) or {}).get("__file__")
    return file if type(file) is str else ""


def _library_folders() -> tuple[str, ...]:
    standard = os.path.dirname(os.path.abspath(os.__file__))
    return tuple({standard + os.sep, os.path.realpath(standard) + os.sep})


def read_file(path: str) -> bytes:
    """Return the text of a file as it is now.

    Raises:
        RequestRefused: if the file cannot be read.

    """
    try:
        handle = os.open(path, READ_ONLY)  # it may be a pipe with a name
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise RequestRefused(f"{path} cannot be read: it is not a regular file")
            return b"".join(iter(lambda: os.read(handle, _PORTION_BYTES), b""))  # not by `io`, which programs patch
        finally:
            os.close(handle)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise RequestRefused(f"{path} cannot be read: {why}") from error


def compile_quietly(text: str, where: str, *, as_tree: bool, flags: int = 0) -> Any:  # noqa: ANN401 - a code object, or a tree of `_ast`
    """Compile a text to look at it.

    Raises:
        RequestRefused: if it is not valid Python.

    """
    try:
        return compiled(text, flags=flags | (_ast.PyCF_ONLY_AST if as_tree else 0))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        at = f" in line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        what = error.msg if isinstance(error, SyntaxError) else str(error)
        raise RequestRefused(f"{where} is not valid Python{at}: {what}") from error


def lines_of_tree(code: CodeType) -> list[int]:
    """Return the lines of a code object and all inside it, in order."""
    lines: set[int] = set()
    for part in with_nested(code):
        lines.update(lines_of_code(part))
    return sorted(lines)


def lines_of_code(code: CodeType) -> set[int]:
    """Return the lines at which execution of this code object can be observed.

    Instructions before RESUME (making cells, making the generator) cannot be.
    """
    begin = body_offset(code)
    return {line for _, end, line in code.co_lines() if line and end > begin}


def resume_offset(code: CodeType) -> int:
    """Return where the code of a code object really begins: no event comes from before.

    From 3.15 on a generator expression has one more RESUME, before the iterator that it is given is made. That has
    no event either, and differs by its argument.
    """
    instructions = code.co_code
    for offset in range(0, len(instructions), 2):
        if instructions[offset] == _RESUME and instructions[offset + 1] == _AT_START:
            return offset
    return -2


def body_offset(code: CodeType) -> int:
    """Return where the first instruction after RESUME is; from 3.15 on RESUME has an inline cache."""
    instructions = code.co_code
    offset = resume_offset(code) + 2
    while instructions[offset] == _CACHE:
        offset += 2
    return offset


def first_line(code: CodeType) -> int:
    """Return the line at which a function begins to execute."""
    begin = body_offset(code)
    return next((line for _, end, line in code.co_lines() if line and end > begin), code.co_firstlineno)


def starts_on_its_only_line(code: CodeType) -> bool:
    """Return whether the first line to observe is the line of RESUME itself, as in `def f(): return 1`.

    CPython 3.13 and later report no LINE event there unless PY_START is watched as well
    (python/cpython#155992).
    """
    resume, begin = resume_offset(code), body_offset(code)
    return any(start <= resume and end > begin for start, end, _ in code.co_lines())


def is_function(code: CodeType) -> bool:
    """Return whether a code object keeps its local variables apart, as functions do."""
    return code.co_flags & _OPTIMIZED == _OPTIMIZED
