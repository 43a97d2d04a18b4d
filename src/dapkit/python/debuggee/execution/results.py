"""Results of the functions that a stepped line has called.

CALL events of the stepped code alone show which functions its frame calls, and PY_RETURN of their code alone shows
their results. A frame is looked at where its caller is the stepped one, whatever native code lies between. Both kinds
of event are looked at a few times in each step only: so neither a loop of calls nor a recursion gets slower by it, and
the result of a function that calls itself very often is not known. Python 3.12 has no CALL event for calls with `*` or
`**`.
"""

import sys
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any, Final

from ..interpreter import limits

_GENERATORS: Final = 0x20 | 0x200  # CO_GENERATOR | CO_ASYNC_GENERATOR: a call of these returns before their code runs


class Unknown:
    """Stands for a value that was returned after we had ceased to look."""


UNKNOWN: Final = Unknown()

type Result = tuple[str, object]
"""The qualified name of a function, and its result."""


class Results:
    """The results of the calls of one step so far.

    Invariant: `codes` are those whose PY_RETURN is watched; none once `looks` is used up.
    """

    __slots__ = ("_called", "calls", "codes", "found", "looks")

    def __init__(self) -> None:
        self.found: list[Result] = []
        self.codes: dict[int, CodeType] = {}
        self.calls = limits.STEPPED_CALLS
        """CALL events that may still be looked at."""
        self.looks = limits.STEPPED_RETURNS
        """PY_RETURN events that are of no use and may still be looked at."""
        self._called: CodeType | None = None  # and has not returned yet

    def call(self, function: object, shows: Callable[[CodeType], bool]) -> CodeType | None:
        """Note a call of the stepped frame; return the code of the callee, if it must be watched."""
        code = _code_of(function)
        self._called = None  # it has returned by now, or was left by an exception
        if code is None or code.co_flags & _GENERATORS or not shows(code) or not self.looks:
            return None
        self._called = code
        self.codes[id(code)] = code
        return code

    def leave(self, frame: FrameType, value: object, *, stepped: FrameType | None) -> bool:
        """Record that a frame of watched code returns; return whether no more returns are to be looked at."""
        code = frame.f_code
        if frame.f_back is stepped:
            self._called = None
            self.found.append((code.co_qualname, value))
            return not self.calls
        self.looks -= 1
        if not self.looks and self._called is not None:
            self.found.append((self._called.co_qualname, UNKNOWN))
        return not self.looks


def _code_of(function: Any) -> CodeType | None:  # noqa: ANN401 - whatever is called
    """Return the code that a call runs at once in a frame of its own; None for native code, and for classes."""
    while type(function) is not FunctionType:
        kind = type(function)
        functools = sys.modules.get("functools")  # the program's own
        if kind is MethodType:
            function = function.__func__
        elif kind is getattr(functools, "partial", None):
            function = function.func
        elif kind is getattr(functools, "_lru_cache_wrapper", None):
            function = function.__wrapped__
        else:
            return None
    code: CodeType = function.__code__
    return code
