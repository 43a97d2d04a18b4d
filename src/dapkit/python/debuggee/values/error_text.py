"""The text of an error, without running code of the program for it."""

from typing import Final

from ..interpreter.safe_types import ClassSet, defined, stored, type_name

_SAYABLE: Final = ClassSet(str, int, float, bytes, type(None))
_TEXTS_OF_ERRORS: Final[tuple[tuple[type[BaseException], tuple[str, ...]], ...]] = (
    *((kind, ()) for kind in (BaseException, KeyError, AttributeError, NameError)),
    (BaseExceptionGroup, ("message",)),
    (OSError, ("errno", "strerror", "filename", "filename2")),
    (ImportError, ("msg",)),
    (SyntaxError, ("msg", "filename", "lineno")),
    *((kind, ("encoding", "object", "reason")) for kind in (UnicodeDecodeError, UnicodeEncodeError)),
)
"""Classes that write the text of an error, and the attributes that they read for it besides `args`."""
_WITHOUT_ARGUMENTS: Final = ClassSet(BaseExceptionGroup, SyntaxError)
"""Those classes that do not read `args`."""
_MISSING: Final = object()


def say(error: BaseException) -> str:
    """Name an error without running more of the program's code."""
    message = error_text(error)
    return type_name(error) + (f": {message[:200]}" if message else "")


def error_text(error: BaseException) -> str:
    """Return the text of an error as far as none of the program's code must run for it."""
    written_by = defined(type(error), "__str__")
    for kind, attributes in _TEXTS_OF_ERRORS:
        if written_by is kind.__dict__.get("__str__", _MISSING):
            parts = [_stored_in(kind, name, error) for name in attributes]
            parts += () if kind in _WITHOUT_ARGUMENTS else stored(error, "args")
            if not all(type(part) in _SAYABLE for part in parts):
                continue
            if len(parts) == 1 and type(parts[0]) is bytes:
                return repr(parts[0])  # the same; `str` of it warns, or raises, with -b
            try:
                return str(error)
            except (TypeError, ValueError):  # the method of another class; a number with too many digits
                return ""
    return ""


def _stored_in(kind: type[BaseException], name: str, error: BaseException) -> object:
    try:
        value: object = kind.__dict__[name].__get__(error)
    except (AttributeError, TypeError):  # it has no value yet
        return _MISSING
    return value
