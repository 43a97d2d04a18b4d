"""JSON text as values, without the C scanner of the standard `json`.

That scanner reads its settings from an object whose fields CPython adds to: 3.15 asks for one
that 3.14 did not have. Only `scanstring`, which takes a text, an index and a flag, is used here.
A request of an editor has some hundred characters, which take about 20 us.
"""

from _json import scanstring

_STRICT = False  # control characters may stand in texts
_SPACE = " \t\n\r"
_NUMBER = frozenset("+-.0123456789Ee")
_LITERALS = (
    ("true", True),
    ("false", False),
    ("null", None),
    ("NaN", float("nan")),
    ("Infinity", float("inf")),
    ("-Infinity", float("-inf")),
)


def read_json(text: str) -> object:
    """Read one JSON value, which may have white space around it.

    Raises:
        ValueError: the text is not one JSON value; the message names the index.
        RecursionError: the value is nested deeper than the interpreter's limit.

    """
    text += "\0"  # ends every loop below, and is part of no value
    value, at = _value(text, _skip(text, 0))
    at = _skip(text, at)
    if at != len(text) - 1:
        raise _unexpected(text, at, "the end")
    return value


def _value(text: str, at: int) -> tuple[object, int]:
    match text[at]:
        case '"':
            return scanstring(text, at + 1, _STRICT)
        case "{":
            return _object(text, at + 1)
        case "[":
            return _array(text, at + 1)
    for word, value in _LITERALS:
        if text.startswith(word, at):
            return value, at + len(word)
    return _number(text, at)


def _object(text: str, at: int) -> tuple[dict[str, object], int]:
    members: dict[str, object] = {}
    at = _skip(text, at)
    if text[at] == "}":
        return members, at + 1
    while True:
        if text[at] != '"':
            raise _unexpected(text, at, "a name in quotes")
        name, at = scanstring(text, at + 1, _STRICT)
        at = _skip(text, at)
        if text[at] != ":":
            raise _unexpected(text, at, "':'")
        members[name], at = _value(text, _skip(text, at + 1))
        at = _skip(text, at)
        if text[at] == "}":
            return members, at + 1
        if text[at] != ",":
            raise _unexpected(text, at, "',' or '}'")
        at = _skip(text, at + 1)


def _array(text: str, at: int) -> tuple[list[object], int]:
    items: list[object] = []
    at = _skip(text, at)
    if text[at] == "]":
        return items, at + 1
    while True:
        item, at = _value(text, at)
        items.append(item)
        at = _skip(text, at)
        if text[at] == "]":
            return items, at + 1
        if text[at] != ",":
            raise _unexpected(text, at, "',' or ']'")
        at = _skip(text, at + 1)


def _number(text: str, at: int) -> tuple[int | float, int]:
    end = at
    while text[end] in _NUMBER:
        end += 1
    digits = text[at:end]
    if not digits or digits[0] == "+":
        raise _unexpected(text, at, "a value")
    try:
        return int(digits), end
    except ValueError:
        return float(digits), end


def _skip(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at


def _unexpected(text: str, at: int, expected: str) -> ValueError:
    character = repr(text[at]) if at < len(text) - 1 else "the end"
    return ValueError(f"expected {expected} at index {at}, found {character}")
