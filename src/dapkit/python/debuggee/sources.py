"""Files of the program: which names mean the same file, whose code it is, which lines have code.

A code object carries only the name its file was compiled under: relative, through
symbolic links, or no file at all (`<string>`). Everything else compares by `key`.
"""

import _warnings
import os
import sys
from types import CodeType
from typing import Final

from .errors import RequestRefused

type Kind = int
OURS: Final = 0
LIBRARY: Final = 1
PROGRAM: Final = 2

_HERE: Final = os.path.dirname(os.path.abspath(__file__)) + os.sep
GENERATED: Final = _HERE + "<generated>"
"""File name of code that this package compiles for itself."""

_COMPILED_FOR_LINES: Final = "<dapkit: lines>"
_RESUME: Final = (lambda: None).__code__.co_code[0]
_OPTIMIZED: Final = 0x3  # CO_OPTIMIZED | CO_NEWLOCALS: a function's code


class Sources:
    """What is known of file names.

    Invariant: the answers for one file name never change while the program runs.
    """

    def __init__(self) -> None:
        self._directory = os.getcwd()  # names are relative to where the program started
        self._keys: dict[str, str | None] = {}
        self._kinds: dict[str, Kind] = {}
        self._shown: dict[str, str] = {}
        self._libraries = _library_folders()

    def key(self, filename: str) -> str | None:
        """Return what all names of one file have in common; None if it is no file."""
        try:
            return self._keys[filename]
        except KeyError:
            key = None
            if not filename.startswith("<"):
                key = os.path.realpath(os.path.join(self._directory, filename))
            self._keys[filename] = key
            return key

    def kind(self, filename: str) -> Kind:
        """Say whose code a file is: this package's, a library's or the program's own."""
        try:
            return self._kinds[filename]
        except KeyError:
            kind = self._kinds[filename] = self._find_kind(filename)
            return kind

    def _find_kind(self, filename: str) -> Kind:
        if filename.startswith(_HERE):
            return OURS
        if filename.startswith("<"):
            return PROGRAM if filename in ("<string>", "<stdin>") else LIBRARY
        path = os.path.join(self._directory, filename)
        for candidate in (path, self.key(filename) or path):
            if (
                candidate.startswith(self._libraries)
                or "/site-packages/" in candidate
                or "/dist-packages/" in candidate
            ):
                return LIBRARY
        return PROGRAM

    def claim_for_program(self, filename: str) -> None:
        """Call a file the program's own wherever it lies: the one that was launched."""
        self._kinds[filename] = PROGRAM

    def show_as(self, path: str) -> str | None:
        """Remember the client's own spelling of a path, and return the file's key."""
        key = self.key(path)
        if key is not None:
            self._shown[key] = path
        return key

    def path(self, filename: str) -> str | None:
        """Return the path to show for a code object's file name; None if it is no file."""
        key = self.key(filename)
        if key is None:
            return None
        shown = self._shown.get(key)
        if shown is None:
            shown = self._shown[key] = os.path.normpath(os.path.join(self._directory, filename))
        return shown


def _library_folders() -> tuple[str, ...]:
    standard = os.path.dirname(os.path.abspath(os.__file__))
    return tuple({standard + os.sep, os.path.realpath(standard) + os.sep})


def lines_of_file(path: str) -> list[int]:
    """Return the lines of a file that have code, in order.

    Raises:
        RequestRefused: if the file cannot be read or is no Python.

    """
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError as error:
        raise RequestRefused(f"{path} cannot be read: {error.strerror}") from error
    # The program's own compilation warns about its text; ours must not repeat that.
    filters = getattr(sys.modules.get("warnings", _warnings), "filters")  # noqa: B009 - a module found at run time
    silence = ("ignore", None, SyntaxWarning, _COMPILED_FOR_LINES, 0)
    filters.insert(0, silence)
    try:
        code = compile(text, _COMPILED_FOR_LINES, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        at = f" in line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        what = error.msg if isinstance(error, SyntaxError) else str(error)
        raise RequestRefused(f"{path} is not valid Python{at}: {what}") from error
    finally:
        filters.remove(silence)
    lines: set[int] = set()
    for part in with_nested(code):
        lines.update(lines_of_code(part))
    return sorted(lines)


def with_nested(code: CodeType) -> list[CodeType]:
    """Return a code object and all that are defined inside it."""
    found = [code]
    for part in found:
        found.extend(const for const in part.co_consts if isinstance(const, CodeType))
    return found


def lines_of_code(code: CodeType) -> set[int]:
    """Return the lines at which execution of this code object can be observed.

    What precedes RESUME (making cells, making the generator) cannot be.
    """
    resume = _resume_offset(code)
    return {line for _, end, line in code.co_lines() if line and end > resume + 2}


def _resume_offset(code: CodeType) -> int:
    instructions = code.co_code
    for offset in range(0, len(instructions), 2):
        if instructions[offset] == _RESUME:
            return offset
    return -2


def starts_on_its_only_line(code: CodeType) -> bool:
    """Say whether the first line to observe is that of RESUME itself, as in `def f(): return 1`.

    CPython 3.13 and later report no LINE event there unless PY_START is watched as well
    (python/cpython#155992).
    """
    resume = _resume_offset(code)
    return any(start <= resume and end > resume + 2 for start, end, _ in code.co_lines())


def is_function(code: CodeType) -> bool:
    """Say whether a code object keeps its local variables apart, as functions do."""
    return code.co_flags & _OPTIMIZED == _OPTIMIZED
