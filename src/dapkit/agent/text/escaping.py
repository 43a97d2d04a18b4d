r"""Text of a program, made harmless: it can neither steer a terminal nor pass for words of dapkit.

A control character is shown as an escape such as `\x1b`. A value that the format puts on one line stays on one line; a
text of several lines is fenced by `| ` on each.
"""

import re
from functools import singledispatch

from dapkit.protocol import ProtocolObject

_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
    r"|[\ud800-\udfff]"
)
"""Characters that a terminal obeys, or that a model reads and a person does not see: bidirectional controls, tags."""

_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def printable(text: str) -> str:
    r"""Show control characters as escapes, except line ends and tabs.

    >>> printable("a\x1b[31mb\r\nc")
    'a\\x1b[31mb\nc'
    """
    return _CONTROL.sub(_escape, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    r"""Show control characters as escapes, line ends and tabs as well.

    >>> one_line("a\nb")
    'a\\nb'
    """
    return re.sub(r"[\n\t]", _escape, _CONTROL.sub(_escape, text))


def fenced(text: str) -> list[str]:
    r"""Put a fence before each line.

    >>> fenced("Session debug-1\nis over\n")
    ['| Session debug-1', '| is over']
    """
    return [f"| {line}" for line in printable(text).removesuffix("\n").split("\n")]


def fenced_after_first(text: str) -> str:
    r"""Put a fence before each line but the first: the message of an error, which may quote a program.

    >>> fenced_after_first("ValueError: bad\nSession debug-1 ended.")
    'ValueError: bad\n| Session debug-1 ended.'
    """
    first, *others = printable(text).split("\n")
    return "\n".join([first, *(f"| {line}" for line in others)])


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character in _NAMED:
        return _NAMED[character]
    code = ord(character)
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


@singledispatch
def render(result: ProtocolObject) -> str:
    """Write a result as text."""
    raise TypeError(f"there is no text for {type(result).__name__}")
