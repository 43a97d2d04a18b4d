"""Compiling texts to look at them, without the warnings that the program's own compilation gives already."""

import _ast
import _warnings
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any, Final

PLACE: Final = "<dapkit: text>"
"""File name of code that is only looked at."""
FUTURE: Final = 0x1000000
"""CO_FUTURE_ANNOTATIONS, the flag of code that changes the compiled result of a text."""


def compiled(text: str | bytes | _ast.AST, mode: str = "exec", flags: int = 0, *, place: str = PLACE) -> Any:  # noqa: ANN401 - a code object, or with the flag for it a tree of `_ast`
    """Compile a text, under a file name.

    Raises:
        SyntaxError: if it is not valid Python; or ValueError, RecursionError or MemoryError.

    """
    filters = warning_filters()
    module = place.removesuffix(".py")  # as `warnings` makes it up before 3.15
    silence = ("ignore", None, SyntaxWarning, module, 0)
    filters.insert(0, silence)
    try:
        return compile(text, place, mode, flags, dont_inherit=True, **_module(module))  # type: ignore[call-overload]  # a tree that can be compiled
    finally:
        filters.remove(silence)


def _module(name: str) -> dict[str, str]:
    """Return the argument of `compile` that gives warnings of 3.15 and later their module."""
    return {"module": name} if sys.version_info >= (3, 15) else {}


def warning_filters() -> list[tuple[str, None, type[Warning], str | None, int]]:
    """Return the filters of warnings of the program, which are in C until it has imported `warnings` to its end."""
    filters: Any = getattr(sys.modules.get("warnings"), "filters", _warnings.filters)
    return filters  # type: ignore[no-any-return]  # as in `warnings`


def compilations(text: str, flags: int) -> Iterator[CodeType]:
    """Compile a text in each way in which that can be done."""
    for mode in ("exec", "eval", "single"):
        try:
            yield compiled(text, mode, flags)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue


def with_nested(code: CodeType) -> list[CodeType]:
    """Return a code object and all that are defined inside it."""
    codes = [code]
    for part in codes:
        codes.extend(const for const in part.co_consts if isinstance(const, CodeType))
    return codes
