"""A Python command line as the program that it starts: `python3 -X dev app.py --fast` is a launch of `app.py`.

Which options the interpreter has is decided here; which interpreter is meant, and which adapter debugs its programs,
is left to the catalog.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

_WITH_VALUE = frozenset("WX")
"""Short options of the interpreter that take a value, beside -c and -m."""

_LONG_WITH_VALUE = frozenset({"--check-hash-based-pycs"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramCommand:
    """The program to run: a script, a module or code; a program other than Python counts as a script too.

    Attributes:
        interpreter: of Python, if it was named.
        options: of the interpreter.
        args: of the program.

    """

    interpreter: Path | None = None
    options: tuple[str, ...] = ()
    script: str | None = None
    module: str | None = None
    code: str | None = None
    args: tuple[str, ...] = ()

    @property
    def program(self) -> tuple[Literal["program", "module", "code"], str]:
        """The kind and the name or text of the program: a script is a `program`."""
        if self.module is not None:
            return "module", self.module
        return ("code", self.code) if self.code is not None else ("program", self.script or "")


def python_command(interpreter: Path, words: Sequence[str]) -> ProgramCommand | None:
    """Read the words after the interpreter.

    None if they name no program: then the interpreter itself is the program.
    """
    options: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "-" or (word == "--" and not rest):
            return None
        so_far = ProgramCommand(interpreter=interpreter, options=tuple(options))
        if word == "--" or not word.startswith("-"):
            script = rest.pop(0) if word == "--" else word
            return replace(so_far, script=script, args=tuple(rest))
        if word.startswith("--"):
            options += [word, *([rest.pop(0)] if word in _LONG_WITH_VALUE and rest else [])]
            continue
        flags, letter, value = _taken_apart(word)
        if letter and not value:
            if not rest:
                return None
            value = rest.pop(0)
        if letter in ("c", "m"):
            so_far = replace(so_far, options=(*options, *([f"-{flags}"] if flags else [])), args=tuple(rest))
            return replace(so_far, code=value) if letter == "c" else replace(so_far, module=value)
        options += [*([f"-{flags}"] if flags else []), *([f"-{letter}", value] if letter else [])]
    return None


def _taken_apart(word: str) -> tuple[str, str, str]:
    """Split `-IXdev` into the flags `I`, the option that takes a value, `X`, and the beginning of the value."""
    for place, letter in enumerate(word[1:], 1):
        if letter in _WITH_VALUE or letter in ("c", "m"):
            return word[1:place], letter, word[place + 1 :]
    return word[1:], "", ""
