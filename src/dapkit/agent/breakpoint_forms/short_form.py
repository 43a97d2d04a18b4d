"""The short form of a breakpoint: `FILE:LINE`, `FILE:LINE:COLUMN` or a function's name, perhaps with ` if CONDITION`.

A text in none of these forms is refused, with the right spelling: taken as the name of a function, the breakpoint would
be set nowhere, and the user would not notice. Commands import this, so that it imports little.
"""

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_SHORT = re.compile(r"(?P<where>.+?)(?:\s+if\s+(?P<condition>.+))?", re.DOTALL)
_FILE_AND_LINE = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?", re.DOTALL)
_SEVERAL = re.compile(r"[^,]+:\d+\s*(?:,\s*[^,]+)+", re.DOTALL)


class UnreadableBreakpoint(ValueError):  # noqa: N818 - the sentence reads right where it is raised
    """A text that names no place for a breakpoint.

    Attributes:
        hint: how it is written.

    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def breakpoint_of(text: str, folders: "Sequence[str | os.PathLike[str]]") -> dict[str, object]:
    """Read a breakpoint in its short form, with its condition. Raises: UnreadableBreakpoint."""
    match = _SHORT.fullmatch(text.strip())
    if match is None:
        raise UnreadableBreakpoint("one of them is empty", "Expected FILE:LINE or a function's name.")
    place = place_of(match["where"], folders)
    return place if match["condition"] is None else {**place, "condition": match["condition"]}


def place_of(text: str, folders: "Sequence[str | os.PathLike[str]]") -> dict[str, object]:
    """Read where a breakpoint is to be; the folders are where files are looked for.

    Raises:
        UnreadableBreakpoint: it is neither a line of a file nor the name of a function.

    """
    if text.isdecimal():
        raise UnreadableBreakpoint(f"{text!r} names no file", f"A line is given with its file, such as app.py:{text}.")
    if _SEVERAL.fullmatch(text):
        each = " and ".join(part.strip() for part in text.split(","))
        raise UnreadableBreakpoint(
            f"{text!r} is more than one breakpoint", f"Give each by itself, {each}: -b for each on a command line."
        )
    place = _FILE_AND_LINE.fullmatch(text)
    if place is None:
        _check_function(text, folders)
        return {"function": text}
    file = place["file"]
    if not os.path.splitext(file)[1] and os.sep not in file and not _exists(file, folders):
        raise UnreadableBreakpoint(
            f"there is no file {file!r}, which {text!r} names",
            f"Expected FILE:LINE, or the name of a function without a line: {file}.",
        )
    where: dict[str, object] = {"file": file, "line": int(place["line"])}
    return where if place["column"] is None else {**where, "column": int(place["column"])}


def _check_function(text: str, folders: "Sequence[str | os.PathLike[str]]") -> None:
    """Refuse a text that is a file name or begins with one. Raises: UnreadableBreakpoint.

    An executable has no lines: its name is the name of a function, such as `sum` of a program `sum`.
    """
    if _exists(text, folders) and not _is_executable(text, folders):
        raise UnreadableBreakpoint(f"{text!r} is a file and names no line", f"Expected FILE:LINE, such as {text}:12.")
    file, colon, rest = text.partition(":")
    if colon and _exists(file, folders):
        rest = rest.strip()
        raise UnreadableBreakpoint(
            f"{text!r} has no number of a line after {file}",
            f"Expected FILE:LINE, such as {file}:12; or the name of a function alone; or for the text of a line"
            f' the object {{"file": "{file}", "text": "{rest}"}}, which set-breakpoint takes as --file and --text.',
        )


def _is_executable(file: str, folders: "Sequence[str | os.PathLike[str]]") -> bool:
    for folder in folders:
        try:
            with open(os.path.join(folder, file), "rb") as opened:
                return opened.read(4) == b"\x7fELF"
        except OSError:
            continue
    return False


def _exists(file: str, folders: "Sequence[str | os.PathLike[str]]") -> bool:
    return any(os.path.isfile(os.path.join(folder, file)) for folder in folders)
