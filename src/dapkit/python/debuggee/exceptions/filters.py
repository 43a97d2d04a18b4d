"""The exception filters that a client can choose from, and the exit codes of `SystemExit` that are exceptions.

    quiet    these codes stop nowhere, all else does: by default 0 and None, which `sys.exit()` means
    chosen   only these codes do: numbers, ranges of numbers, None; and whatever is neither a number nor None,
             as the text of `sys.exit("failed")`

A subclass of SystemExit counts by its code as well. Its own code is never called.
"""

from collections.abc import Iterable
from typing import Final

from ..connection.framing import Json
from ..interpreter.gc_tracking import untrack
from ..interpreter.safe_types import is_a, stored

_CONDITION: Final[Json] = {
    "supportsCondition": True,
    "conditionDescription": "types (ValueError, not KeyError) or an expression (exc.errno == 2)",
}
RAISED_FILTER: Final = "raised"
UNCAUGHT_FILTER: Final = "uncaught"
USER_UNHANDLED_FILTER: Final = "userUnhandled"
FILTERS: Final[list[Json]] = [
    {
        "filter": RAISED_FILTER,
        "label": "Raised Exceptions",
        "default": False,
        "description": "Stop wherever an exception is raised.",
        **_CONDITION,
    },
    {
        "filter": UNCAUGHT_FILTER,
        "label": "Uncaught Exceptions",
        "default": True,
        "description": "Stop where an exception is raised that nothing will catch.",
        **_CONDITION,
    },
    {
        "filter": USER_UNHANDLED_FILTER,
        "label": "User Unhandled Exceptions",
        "default": False,
        "description": "Stop where an exception is raised that will leave the program's own code.",
        **_CONDITION,
    },
]


type ExitCode = int | None
type CodeRange = tuple[int, int]
"""The first and the last code."""

QUIET: Final[tuple[ExitCode, ...]] = (0, None)


class ExitCodes:
    """The exit codes to stop at."""

    def __init__(self, quiet: Iterable[ExitCode] = QUIET, codes: Iterable[ExitCode | CodeRange] | None = None) -> None:
        untrack(self)
        self._quiet = frozenset(quiet)
        self._chosen = None if codes is None else frozenset(codes)

    def pass_over(self, exception: BaseException) -> bool:
        """Return whether an exception ends the program, or a thread, with a code that is not to stop it."""
        if not is_a(exception, SystemExit):
            return False
        code = stored(exception, "code")
        if code is not None and not is_a(code, int):
            return False
        number = None if code is None else int.__add__(code, 0)  # of a subclass that compares in its own way, too
        if self._chosen is None:
            return number in self._quiet
        return number not in self._chosen and not any(
            number is not None and first <= number <= last
            for first, last in (entry for entry in self._chosen if isinstance(entry, tuple))
        )


def read_exit_codes(value: object, quiet: object) -> ExitCodes:
    """Read the codes to stop at, or where there is no list of them those that pass."""
    if isinstance(value, list):
        ranges = [(item.get("from", 0), item.get("to", 0)) if isinstance(item, dict) else item for item in value]
        return ExitCodes(codes=ranges)
    return ExitCodes(quiet if isinstance(quiet, list) else QUIET)
