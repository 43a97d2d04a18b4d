"""Which exceptions an exception breakpoint means.

A condition is a list of types or an expression:

    ValueError, json.JSONDecodeError      of one of these types, or of one derived from it
    LookupError, not KeyError             the same, without the types after `not`
    not StopIteration, not OSError        any but these
    exc.errno == 2 and path               an expression: `exc` or `exception` is the exception, all other names belong
    to the frame that raised it

Types are compared by name, so that they need not be imported yet: the class's name alone, or
with its module. The types that a name alone can mean. An expression that raises is false.
"""

from collections.abc import Callable, Iterable
from types import FrameType

from ..connection.framing import Json
from ..expressions.in_frame import FrameExpression
from ..interpreter.errors import RequestRefused
from ..interpreter.gc_tracking import untrack
from ..interpreter.safe_types import class_name, mro, simple_name, type_name
from ..values.error_text import error_text

CATEGORY = "Python Exceptions"
"""The first segment of a path of `exceptionOptions`, by convention a group shown to the user."""

_EXCEPTION_NAMES = ("exc", "exception")
_CONSTANTS = ("True", "False", "None")

type Report = Callable[[str], None]
"""Says something to the user, once."""


class ExceptionTypes:
    """Types by name: exceptions of one of them, or with `negate` of none of them."""

    __slots__ = ("_names", "_negate")

    def __init__(self, names: Iterable[str], *, negate: bool = False) -> None:
        self._names = [name.rpartition(".") for name in names]
        self._negate = negate

    def take(self, exception: BaseException) -> bool:
        """Return whether an exception is meant."""
        is_match = any(_is_named(kind, package, name) for kind in mro(exception) for package, _, name in self._names)
        return is_match is not self._negate


def _is_named(kind: type, package: str, name: str) -> bool:
    """Compare a class with a name; `json.JSONDecodeError` is one of `json.decoder` as well."""
    if simple_name(kind) != name:
        return False
    return not package or f"{class_name(kind)}.".startswith(f"{package}.")


class ExceptionCondition:
    """The exceptions of one exception breakpoint: of fitting types, for which the expression holds."""

    __slots__ = ("_expression", "_text", "types")

    def __init__(self, types: list[ExceptionTypes], expression: str = "") -> None:
        self.types = types
        self._text = expression
        self._expression = FrameExpression(expression, "condition") if expression else None
        untrack(self)

    def takes_type(self, exception: BaseException) -> bool:
        """Return whether an exception of this type can be meant at all."""
        return all(names.take(exception) for names in self.types)

    def takes(self, exception: BaseException, frame: FrameType, report: Report) -> bool:
        """Return whether an exception is meant that was raised in a frame. Runs the user's expression."""
        if not self.takes_type(exception):
            return False
        if self._expression is None:
            return True
        try:
            return bool(self._expression.value(frame, dict.fromkeys(_EXCEPTION_NAMES, exception)))
        except Exception as error:
            message = error_text(error)
            report(
                f"The condition {self._text!r} of an exception breakpoint raised {type_name(error)}"
                f"{f': {message}' if message else ''} for {type_name(exception)}; it counts as false there."
            )
            return False


def wanted_by_condition(condition: object) -> ExceptionCondition:
    """Read the condition of a filter.

    Raises:
        RequestRefused: if it is neither a list of types nor an expression.

    """
    if condition is None:
        return ExceptionCondition([])
    if not isinstance(condition, str):
        raise RequestRefused(f"condition is {condition!r:.200}, expected a text")
    if not condition.strip():
        return ExceptionCondition([])
    names: list[str] = []
    excluded: list[str] = []
    for part in condition.split(","):
        name = part.strip()
        negated = name.startswith(("not ", "!"))
        if negated:
            name = name.removeprefix("not ").removeprefix("!").strip()
        if name in _CONSTANTS or not all(piece.isidentifier() for piece in name.split(".")):
            return ExceptionCondition([], condition.strip())
        (excluded if negated else names).append(name)
    types = [ExceptionTypes(names)] if names else []
    return ExceptionCondition([*types, ExceptionTypes(excluded, negate=True)] if excluded else types)


def wanted_by_path(path: object) -> ExceptionCondition:
    """Read the path of an exception option: each segment narrows the meaning of the ones before it.

    Raises:
        RequestRefused: if it is not a path.

    """
    if path is None:
        return ExceptionCondition([])
    if not isinstance(path, list):
        raise RequestRefused(f"path is {path!r:.200}, expected a list of segments")
    types: list[ExceptionTypes] = []
    for at, segment in enumerate(path):
        names, negate = _segment(segment)
        if at == 0 and CATEGORY in names:
            continue
        types.append(ExceptionTypes(names, negate=negate))
    return ExceptionCondition(types)


def _segment(segment: Json | object) -> tuple[list[str], bool]:
    names = segment.get("names") if isinstance(segment, dict) else None
    negate = segment.get("negate", False) if isinstance(segment, dict) else None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise RequestRefused(f"a segment of the path is {segment!r:.200}, expected names, a list of texts")
    if negate is not None and not isinstance(negate, bool):
        raise RequestRefused(f"negate is {negate!r:.200}, expected true or false")
    return names, bool(negate)
