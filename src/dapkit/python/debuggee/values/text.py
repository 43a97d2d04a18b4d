"""Values as one line of text, in bounded time and space.

Built-in containers and scalars are written by this module, so that a list of a million or a text of a gigabyte costs
only the shown part. Everything else is the program's own `__repr__`, which may raise, print, recurse or never return:
it is called under an `EvaluationGuard`, and an error is shown in place of the text. Without one (`guard=None`) no code
of the program is run at all.
"""

from itertools import islice
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final

from ..evaluation.guard import EvaluationGuard
from ..evaluation.quarantine import ExitRefused
from ..interpreter import limits
from ..interpreter.errors import NotBegun, TimeIsUp
from ..interpreter.safe_types import (
    FROZENDICT,
    MAPPINGS,
    ClassSet,
    class_name,
    defined,
    is_lazy_import,
    namespace,
    once_per_class,
    plain_text,
    simple_name,
    type_name,
)
from .error_text import say
from .presenters.presenter import Presenter, PresenterFailed, asked
from .presenters.registry import presenter_of

_PLAIN: Final = ClassSet(
    *(float, complex, bool, type(None), type(...), type(NotImplemented), range, BuiltinFunctionType, FunctionType)
)
_BRACKETS: Final[tuple[tuple[type, str, str], ...]] = (
    (list, "[", "]"),
    (tuple, "(", ")"),
    (set, "{", "}"),
    (frozenset, "frozenset({", "})"),
    (dict, "{", "}"),
    *((kind, "frozendict({", "})") for kind in FROZENDICT),
)
"""Containers that are written here, and the brackets around their items."""
_NAMED: Final = ClassSet(set, frozenset, *FROZENDICT)
"""Those that are written with the name of a derived class, or without items with their own."""


def render(
    value: object,
    guard: EvaluationGuard | None,
    chars: int = limits.VALUE_CHARS,
    *,
    depth: int = limits.PREVIEW_DEPTH,
    hexadecimal: bool = False,
    presented: bool = True,
) -> str:
    """Write a value as its presenter would or, without one or if not `presented`, its `repr`.

    The text has at most about `chars` characters, and containers within containers `depth` levels deep.
    """
    text = _render(value, guard, chars, depth, hexadecimal=hexadecimal, presented=presented)
    return text if len(text) <= chars else text[: chars - 1] + "…"


def _render(  # noqa: PLR0911 - one return per case
    value: object, guard: EvaluationGuard | None, chars: int, depth: int, *, hexadecimal: bool, presented: bool
) -> str:
    kind = type(value)
    if kind is str or kind is bytes or kind is bytearray:
        return _text(value, chars)  # type: ignore[arg-type]  # `kind is` does not narrow
    if kind is int:
        return _integer(value, hexadecimal=hexadecimal)  # type: ignore[arg-type]  # the same
    if kind in _PLAIN or is_lazy_import(value):
        return repr(value)
    if kind is type:
        return f"<class '{class_name(value)}'>"  # type: ignore[arg-type]  # the same
    if kind is ModuleType:
        return _module(value)
    if presented and (presenter := presenter_of(value)) is not None:
        return _presented(presenter, value, guard, depth, hexadecimal=hexadecimal)
    if (written_as := _written_as(value)) is not None:
        return _container(value, written_as, guard, chars, depth, hexadecimal=hexadecimal, presented=presented)
    return own_text(repr, value, guard)


@once_per_class
def _written_as(value: object) -> tuple[type, str, str] | None:
    """Return the container that a value is written as: derived classes are as well, if they have no `__repr__`."""
    own = defined(type(value), "__repr__")
    for kind, opening, closing in _BRACKETS:
        if own is kind.__dict__["__repr__"]:
            is_named = kind in _NAMED and type(value) is not kind
            return (kind, f"{simple_name(type(value))}({{", "})") if is_named else (kind, opening, closing)
    return None


def _presented(
    presenter: Presenter, value: object, guard: EvaluationGuard | None, depth: int, *, hexadecimal: bool
) -> str:
    """Return the text of a presenter, or, without a presenter, the value's own `__repr__` if that may run."""
    own_guard = guard if presenter.repr_may_run else None
    if guard is None or not presenter.gives_text(value):
        return own_text(repr, value, own_guard)
    if depth == 0:
        return f"{simple_name(type(value))}(…)"

    def inner(part: object) -> str:
        text = _render(part, guard, limits.PART_CHARS, depth - 1, hexadecimal=hexadecimal, presented=True)
        return text if len(text) <= limits.PART_CHARS else text[: limits.PART_CHARS - 1] + "…"

    try:
        text = asked(presenter, presenter.text, guard, value, inner)
    except PresenterFailed:  # its text is inside the value
        text = None
    return own_text(repr, value, own_guard) if text is None else text


def own_text(function: type[str] | object, value: object, guard: EvaluationGuard | None) -> str:
    """Call the program's `__repr__` or `__str__`; return its error in place of the text."""
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
    written_as: tuple[Any, str, str],
    guard: EvaluationGuard | None,
    chars: int,
    depth: int,
    *,
    hexadecimal: bool,
    presented: bool,
) -> str:
    def inner(part: object) -> str:
        return _render(part, guard, chars - length, depth - 1, hexadecimal=hexadecimal, presented=presented)

    kind, opening, closing = written_as
    size = kind.__len__(value)
    if not size:
        return f"{simple_name(type(value))}()" if kind in _NAMED else opening + closing
    if depth == 0:
        return f"{opening}…{closing}"
    parts: list[str] = []
    length = len(opening) + len(closing)
    # Each item takes two characters at least, so no more than these can be shown. Only the clipboard gets all.
    most = chars // 2 + 1 if chars > limits.REPL_CHARS else min(chars // 2 + 1, limits.LINE_ITEMS)
    is_mapping = kind in MAPPINGS
    for item in list(islice(kind.items(value) if is_mapping else kind.__iter__(value), most)):
        if is_mapping:
            key, member = item
            part = inner(key) + ": " + inner(member)
        else:
            part = inner(item)
        parts.append(part)
        length += len(part) + 2
        if length >= chars - 40:
            break
    if len(parts) < size:
        parts.append(f"… ({size:,} in all)")
    elif kind is tuple and size == 1:
        closing = ",)"
    return opening + ", ".join(parts) + closing
