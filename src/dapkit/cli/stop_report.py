"""How `dapkit run` shows a stop: the place first, and nothing of the session, which ends with the command."""

from collections.abc import Mapping
from typing import Any


def is_exit(stop: Mapping[str, Any]) -> bool:
    """Return whether a stop is at the exception by which a program of Python ends itself."""
    exception = stop.get("exception")
    name = str(exception.get("exceptionId", "")) if isinstance(exception, dict) else ""
    return name.split(maxsplit=1)[:1] == ["SystemExit"]  # debugpy adds a remark


def is_failed_import(stop: Mapping[str, Any]) -> bool:
    """Return whether a module was not found, which depends on the interpreter."""
    exception = stop.get("exception")
    return isinstance(exception, dict) and exception.get("exceptionId") == "ModuleNotFoundError"


def place_of(stop: Mapping[str, Any]) -> str:
    """Return the file and line of a stop, its function, and the place that has called it, if it is known."""
    frames = stop.get("frames") or []
    frames = [frame for frame in frames if not _path(frame).startswith("<")] or frames  # an import has some of these
    if not frames:
        return "?"
    path = _path(frames[0])
    place = f"{path}:{frames[0].get('line')} in {frames[0].get('name')}"
    if len(frames) == 1:
        return place
    caller = _path(frames[1])
    return f"{place}, called from {'line ' if caller == path else f'{caller}:'}{frames[1].get('line')}"


_AFTER_REPORT = ("Output since ", "Breakpoints:", "Session ")
"""First words of the lines that come after a report; a text of the program is one line, or fenced."""


def body_of(text: str) -> str:
    """Return the report of a stop from its exception on, without the program's output, which comes at the end."""
    lines = text.splitlines()
    begin = next((number for number, line in enumerate(lines) if line.startswith("Stop ")), -1) + 1
    heads = [number for number, line in enumerate(lines) if line.startswith(_AFTER_REPORT)]
    end = heads[0] if heads else len(lines)
    return "\n".join(lines[begin:end])


def last_lines(text: str, most: int) -> tuple[str, int]:
    """Return the last lines of a text, and how many before them are left out; all of them if `most` is 0."""
    lines = text.splitlines(keepends=True)
    left_out = max(len(lines) - most, 0) if most else 0
    return "".join(lines[left_out:]), left_out


def _path(frame: Mapping[str, Any]) -> str:
    source = frame.get("source")
    path = source.get("path") or source.get("name") if isinstance(source, dict) else None
    return str(path or "?")
