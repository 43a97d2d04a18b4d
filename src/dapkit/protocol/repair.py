r"""Text that JSON or UTF-8 does not allow, and its replacement.

Debuggees hold strings that no peer can read: Python has lone surrogates for file
names that are not UTF-8, others send bytes in the wrong encoding. Such a message
survives, if its structure is sound:

* a lone surrogate becomes the six visible characters of its escape, `\udcff`
* a byte that is not UTF-8 becomes U+FFFD
* NaN and the infinities, which JSON does not have, become null, and so does a number too large for Python
* a byte order mark before the message, and control characters in strings, are accepted

This is the slow path: it runs after the fast one has failed.
"""

import msgspec

from dapkit.protocol.errors import MalformedMessage


def repair(payload: bytes) -> bytes:
    """Turn nearly sound JSON into sound JSON.

    Raises:
        MalformedMessage: it is not JSON at all, or nested too deeply.

    """
    import json  # costs start-up time, and most processes never come here

    try:
        text = payload.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        text = payload.decode("utf-8", "replace")
    try:
        value = json.loads(text.removeprefix("\ufeff"), strict=False, parse_constant=lambda _: None, parse_int=_integer)
        return msgspec.json.encode(clean(value))
    except ValueError as error:
        raise MalformedMessage(f"expected JSON, found {text[:60]!r}: {error}") from None
    except RecursionError:
        raise MalformedMessage(f"JSON nested too deeply, in {len(payload)} bytes") from None


def clean(value: object) -> object:
    """Write lone surrogates as visible escapes, in every string and key of a JSON value."""
    match value:
        case str():
            return clean_text(value)
        case dict():
            return {clean_text(str(key)): clean(item) for key, item in value.items()}
        case list() | tuple():
            return [clean(item) for item in value]
        case _:
            return value


def clean_text(text: str) -> str:
    r"""Write lone surrogates as visible escapes: `\udcff` as six characters."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _integer(digits: str) -> int | None:
    try:
        return int(digits)
    except ValueError:  # thousands of digits: Python sets a limit
        return None
