"""What a call has returned or raised, as `marshal` can write it, and made again from that."""

import builtins
import sys
from typing import Any, Final

from ...interpreter.hidden_frames import unseen

PLAIN: Final = (type(None), bool, int, float, str, bytes, list, tuple, set, dict)
"""What is written as it is: what calls return in these is of such types, too."""

_AS_IT_IS, _MADE, _RAISED = range(3)

type Written = tuple[int, object, object]


def written(result: Any) -> Written:  # noqa: ANN401 - of any call
    """Return a result as it is noted."""
    kind = type(result)
    if kind in PLAIN:
        return _AS_IT_IS, result, None
    made, parts = result.__reduce__()  # what `os.stat` returns, and the like
    return _MADE, (made.__module__, made.__qualname__), parts


def written_error(error: BaseException, given: tuple[Any, ...]) -> Written:
    """Return an exception as it is noted, and of its arguments those that the call was given."""
    kind = type(error)
    args: tuple[object, ...] = error.args
    if isinstance(error, OSError) and error.filename is not None:
        kind = OSError  # which chooses by the number
        args = (error.errno, error.strerror, error.filename, None, error.filename2)
    known = kind.__name__ if getattr(builtins, kind.__name__, None) is kind else "OSError"
    places = {
        place: next(number for number, other in enumerate(given) if other is arg)
        for place, arg in enumerate(args)
        if type(arg) not in PLAIN and any(other is arg for other in given)
    }
    return _RAISED, (known, places), tuple(arg if type(arg) in PLAIN else str(arg) for arg in args)


@unseen
def made_again(noted: Written, given: tuple[Any, ...]) -> Any:  # noqa: ANN401 - of any call
    """Return what a call with these arguments has returned, or raise what it has raised."""
    how, what, parts = noted
    if how == _AS_IT_IS:
        return what
    args: Any = parts
    name: Any = what
    if how == _RAISED:
        error, places = name
        raise getattr(builtins, error)(*(given[places[at]] if at in places else arg for at, arg in enumerate(args)))
    return getattr(sys.modules["posix" if name[0] == "os" else name[0]], name[1])(*args)


def key_of(args: tuple[object, ...], named: dict[str, object]) -> int:
    """Return a number for what a call was called with, as far as that is the same when it is executed again."""
    parts = [*map(_part, args)]
    for name in sorted(named):
        parts += [name, _part(named[name])]
    return hash(tuple(parts))


def _part(value: object) -> object:
    kind = type(value)
    if kind is str or kind is bytes:
        return _without_address(value)  # type: ignore[arg-type]  # one of these
    return value if kind in (int, float, bool, type(None)) else kind.__name__


_LEAST_DIGITS: Final = 8


def _without_address(text: str | bytes) -> str | bytes:
    """Leave out what the interpreter's import adds to the name of a file that it writes: where an object lies."""
    begin, _, end = text.rpartition("." if isinstance(text, str) else b".")  # type: ignore[arg-type]  # of the same type
    return begin if len(end) >= _LEAST_DIGITS and end.isdigit() else text
