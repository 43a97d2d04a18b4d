"""Showing an answer: plain text for pipes, colours and pages in a terminal, one object with `--json`.

It is imported by every command, and imports click for nothing but the pager.
"""

import json
import os
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

_BOLD, _DIM, _GREEN, _YELLOW, _HERE, _ERROR = "1", "2", "32", "33", "33;1", "31;1"


def show(answer: "Mapping[str, object]", *, as_json: bool) -> None:
    """Print an answer: the result to stdout, an error to stderr."""
    if as_json:
        _write(as_json_text(answer, indent=2 if sys.stdout.isatty() else None), sys.stdout)
    elif answer["success"]:
        page(str(answer["text"]))
    else:
        complain(answer)


def as_json_text(value: object, *, indent: int | None = None) -> str:
    """Make JSON that stdout can take: characters that its encoding lacks, or that are invisible, as escapes."""
    everything = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(value, indent=indent, ensure_ascii=not everything)
    return text if text.isascii() else re.sub(r"[^\x00-\x7e]", _visible, text)


def _visible(character: "re.Match[str]") -> str:
    return character[0] if character[0].isprintable() else json.dumps(character[0])[1:-1]


def complain(answer: "Mapping[str, object]") -> None:
    """Print an error and its hint to stderr."""
    error = answer.get("error")
    details = error if isinstance(error, dict) else {"message": answer.get("text")}
    label = _styled(_ERROR, "Error:") if _in_colours(sys.stderr) else "Error:"
    _write(f"{label} {details.get('message')}", sys.stderr)
    if details.get("hint"):
        _write(str(details["hint"]), sys.stderr)


def page(text: str) -> None:
    """Print a text; one that is longer than the terminal goes through the pager."""
    coloured_text = coloured(text)
    if not sys.stdout.isatty() or text.count("\n") + 1 < _lines():
        _write(coloured_text, sys.stdout)
    else:
        import click

        os.environ.setdefault("LESS", "-FRX")
        click.echo_via_pager(f"{coloured_text}\n")


def coloured(text: str) -> str:
    """Make labels, the current line and states stand out, if stdout is to have colours."""
    if not _in_colours(sys.stdout):
        return text
    for pattern, style in _STYLES:
        text = re.sub(pattern, _styled(style, r"\g<0>"), text, flags=re.MULTILINE)
    return text


def _in_colours(stream: "TextIO") -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR")  # https://no-color.org


def _styled(style: str, text: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m"


def _lines() -> int:
    """Return the height of the terminal."""
    from shutil import get_terminal_size

    return get_terminal_size().lines


def _write(text: str, stream: "TextIO") -> None:
    stream.write(f"{text}\n")
    stream.flush()


_STYLES = (
    (r"^(?:Session|Adapter|Status|CWD|Program|Frame|Location|Stop reason|Instruction pointer|Exit code):", _DIM),
    (r"^[A-Z][A-Za-z ]+:$", _BOLD),
    (r"^[>=-]+>.*$", _HERE),
    (r"\bverified\b", _GREEN),
    (r"\b(?:pending|unverified|moved)\b", _YELLOW),
)
"""Patterns to highlight in the texts of answers."""
