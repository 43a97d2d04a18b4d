"""JSON as editors write it: with comments, and commas after the last item.

Both become blanks, so that lines and columns in errors match the file.
"""

import json
import re

_PARTS = re.compile(
    r"""
    (?P<text>"(?:\\.|[^"\\\n])*")
    | (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<comma>,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[\]}]))
    """,
    re.VERBOSE | re.DOTALL,
)
_ANY_BUT_LINE_END = re.compile(r"[^\n]")


def read_json(text: str) -> object:
    """Return the value of a JSON text with comments.

    Raises:
        ValueError: it is not JSON; the text names line and column.

    Example:
        >>> read_json('{"a": [1, 2,] /* as in launch.json */ }')
        {'a': [1, 2]}

    """
    plain = _PARTS.sub(_blank, text.removeprefix("\ufeff"))
    try:
        return json.loads(plain)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error


def _blank(match: re.Match[str]) -> str:
    return match[0] if match["text"] is not None else _ANY_BUT_LINE_END.sub(" ", match[0])
