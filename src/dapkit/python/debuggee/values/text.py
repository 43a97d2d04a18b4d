"""Values as one line of text, in bounded time and space.

Built-in containers and scalars are written by this module, so that a list of a million or
a text of a gigabyte costs only what is shown. Everything else is the program's own
`__repr__`, which may raise, print, recurse or never return: it is called under an `EvaluationGuard`,
and what goes wrong stands in place of the text. Without one (`guard=None`) no
code of the program is run at all.
"""

from itertools import islice
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final

from .. import limits
from ..classes import ClassSet, class_name, defined, namespace, plain_text, stored, type_name
from ..errors import NotBegun, TimeIsUp
from ..evaluation.guard import EvaluationGuard
from ..evaluation.quarantine import ExitRefused

_PLAIN: Final = ClassSet(
    *(float, complex, bool, type(None), type(...), type(NotImplemented), range, BuiltinFunctionType, FunctionType)
)
_BRACKETS: Final = {
    id(list): ("[", "]"),
    id(tuple): ("(", ")"),
    id(set): ("{", "}"),
    id(frozenset): ("frozenset({", "})"),
    id(dict): ("{", "}"),
}


_SAYABLE: Final = ClassSet(str, int, float, bytes, type(None))
_TEXTS_OF_ERRORS: Final[tuple[tuple[type[BaseException], tuple[str, ...]], ...]] = (
    *((kind, ()) for kind in (BaseException, KeyError, AttributeError, NameError)),
    (BaseExceptionGroup, ("message",)),
    (OSError, ("errno", "strerror", "filename", "filename2")),
    (ImportError, ("msg",)),
    (SyntaxError, ("msg", "filename", "lineno")),
    *((kind, ("encoding", "object", "reason")) for kind in (UnicodeDecodeError, UnicodeEncodeError)),
)
"""Classes that write the text of an error, and what they read for it besides `args`."""
_WITHOUT_ARGUMENTS: Final = ClassSet(BaseExceptionGroup, SyntaxError)
"""Those of them that do not read `args`."""
_MISSING: Final = object()


def render(
    value: object, guard: EvaluationGuard | None, chars: int = limits.VALUE_CHARS, *, hexadecimal: bool = False
) -> str:
    """Write a value as its `repr` would, in at most about `chars` characters."""
    text = _render(value, guard, chars, limits.PREVIEW_DEPTH, hexadecimal=hexadecimal)
    return text if len(text) <= chars else text[: chars - 1] + "…"


def _render(  # noqa: PLR0911 - one return per case
    value: object, guard: EvaluationGuard | None, chars: int, depth: int, *, hexadecimal: bool
) -> str:
    kind = type(value)
    if kind is str or kind is bytes or kind is bytearray:
        return _text(value, chars)  # type: ignore[arg-type]  # `kind is` does not narrow
    if kind is int:
        return _integer(value, hexadecimal=hexadecimal)  # type: ignore[arg-type]  # the same
    if id(kind) in _BRACKETS:
        return _container(value, kind, guard, chars, depth, hexadecimal=hexadecimal)
    if kind in _PLAIN:
        return repr(value)
    if kind is type:
        return f"<class '{class_name(value)}'>"  # type: ignore[arg-type]  # the same
    if kind is ModuleType:
        return _module(value)
    return own_text(repr, value, guard)


def own_text(function: type[str] | object, value: object, guard: EvaluationGuard | None) -> str:
    """Call the program's `__repr__` or `__str__`; return what went wrong in its place."""
    what = "str" if function is str else "repr"
    if guard is None:
        return _bare(value)
    try:
        return plain_text(guard.call_quarantined(limits.VALUE_SECONDS, str if function is str else repr, value))
    except NotBegun:
        return f"<{what} of {type_name(value)} was not called: those before it took too long>"
    except TimeIsUp:
        return f"<{what} of {type_name(value)} timed out after {limits.VALUE_SECONDS} s>"
    except ExitRefused as error:
        return f"<{what} of {type_name(value)} tried to end the process: {error}>"
    except BaseException as error:
        return f"<{what} of {type_name(value)} raised {say(error)}>"


def say(error: BaseException) -> str:
    """Name an error without running more of the program's code."""
    said = error_text(error)
    return type_name(error) + (f": {said[:200]}" if said else "")


def error_text(error: BaseException) -> str:
    """Return the text of an error as far as none of the program's code has to run for it."""
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
        held: object = kind.__dict__[name].__get__(error)
    except (AttributeError, TypeError):  # it has no value yet
        return _MISSING
    return held


def _bare(value: object) -> str:
    return f"<{type_name(value)} object at {id(value):#x}>"


def timed_out(value: object) -> str:
    """Return the text for a value whose own code could not even be interrupted."""
    return f"<repr of {type_name(value)} timed out after {limits.VALUE_SECONDS} s>"


def _text(value: str | bytes | bytearray, chars: int) -> str:
    if len(value) <= chars:
        return repr(value)
    cut = repr(value[:chars])
    return f"{cut[: chars - 40]}{cut[0] if cut[0] in '\'"' else cut[-1]}… ({len(value):,} in all)"


def _integer(value: int, *, hexadecimal: bool) -> str:
    if hexadecimal:
        return hex(value)
    if value.bit_length() > limits.INT_BITS:
        return f"<int of {value.bit_length():,} bits>"
    return repr(value)


def _module(value: object) -> str:
    names = namespace(value)
    name, file = names.get("__name__"), names.get("__file__")
    return (
        f"<module {name!r} from {file!r}>"
        if type(file) is str and type(name) is str
        else f"<module {plain_text(name)!s:.80}>"
    )


def _container(
    value: Any,  # noqa: ANN401 - one of several classes with like methods
    kind: type,
    guard: EvaluationGuard | None,
    chars: int,
    depth: int,
    *,
    hexadecimal: bool,
) -> str:
    def inner(part: object) -> str:
        return _render(part, guard, chars - used, depth - 1, hexadecimal=hexadecimal)

    opening, closing = _BRACKETS[id(kind)]
    size = len(value)
    if not size:
        return "set()" if kind is set else "frozenset()" if kind is frozenset else opening + closing
    if depth == 0:
        return f"{opening}…{closing}"
    parts: list[str] = []
    used = len(opening) + len(closing)
    # Each item takes two characters at least, so no more than these can be shown. Only the clipboard gets all.
    most = chars // 2 + 1 if chars > limits.REPL_CHARS else min(chars // 2 + 1, limits.LINE_ITEMS)
    for item in list(islice(value.items() if isinstance(value, dict) else value, most)):
        if kind is dict:
            key, held = item
            part = inner(key) + ": " + inner(held)
        else:
            part = inner(item)
        parts.append(part)
        used += len(part) + 2
        if used >= chars - 40:
            break
    if len(parts) < size:
        parts.append(f"… ({size:,} in all)")
    elif kind is tuple and size == 1:
        closing = ",)"
    return opening + ", ".join(parts) + closing
