"""The interface of a class's own display of its values.

A presenter never imports a library: there can only be such values where the program has. It may call code of the
library or of the program, so it is called by `variables` and `text` alone, under a guard; an exception of it, or the
time it took, is shown in place of its result.
"""

from collections.abc import Callable
from typing import Any, Final

from ...evaluation.guard import EvaluationGuard
from ...evaluation.quarantine import ExitRefused
from ...interpreter import limits
from ...interpreter.errors import NotBegun, TimeIsUp
from ...interpreter.gc_tracking import untrack
from ...interpreter.safe_types import defined
from ..error_text import say
from ..row_types import UnreadProperty, ValueRow

_SECONDS: Final = limits.VALUE_SECONDS * 2

type Inner = Callable[[object], str]
"""Writes a part of a value as a part of its text."""


class Presenter:
    """How values of a class and of those derived from it are shown.

    Attributes:
        base: the class that it was found for.
        has_items: whether `size` and `page` give the contents, instead of the container's own items.
        counts_ahead: whether `size` is asked before a client opens a value.
        keeps_text: whether the text is ours also where a derived class has a `__repr__` of its own.
        repr_may_run: whether that may be called at all to look at a value.

    """

    has_items = False
    counts_ahead = True
    keeps_text = False
    repr_may_run = True

    def __init__(self, base: type) -> None:
        untrack(self)
        self.base = base

    def text(self, value: Any, inner: Inner) -> str | None:  # noqa: ANN401, ARG002 - any value
        """Return the value in one line, None for its own `__repr__`."""
        return None

    def rows(self, value: Any, path: str) -> list[ValueRow] | None:  # noqa: ANN401, ARG002 - any value
        """Return the named parts; None for the same as any object."""
        return None

    def count(self, value: Any) -> int:  # noqa: ANN401, ARG002 - any value
        """Return how many rows there are, about; runs nothing of the program."""
        return 1

    def size(self, value: Any) -> int | None:  # noqa: ANN401, ARG002 - any value
        """Return the number of items; None for the same as any container."""
        return None

    def page(self, value: Any, start: int, end: int, path: str) -> list[ValueRow] | None:  # noqa: ANN401, ARG002 - any value
        """Return the items from `start` to before `end`; None for the same as any container."""
        return None

    def runs_code(self, value: Any) -> bool:  # noqa: ANN401, ARG002 - any value
        """Return whether anything but code in C of the library runs for it."""
        return True

    def gives_text(self, value: object) -> bool:
        """Return whether the presenter gives the text of a value, and not the `__repr__` of a derived class."""
        return self.keeps_text or defined(type(value), "__repr__") is defined(self.base, "__repr__")

    @property
    def name(self) -> str:
        """Its name in errors."""
        return "presenter"


def more_row(count: int, what: str) -> ValueRow:
    """Return the row that says how many others there are."""
    return ValueRow(f"more {what}", UnreadProperty(f"are not shown: {count:,}"))


class PresenterFailed(Exception):
    """A presenter did not answer; the text says why."""

    def row(self, presenter: Presenter) -> ValueRow:
        """Return the row that says so."""
        return ValueRow(presenter.name, UnreadProperty(self.args[0]))


def asked[T](
    presenter: Presenter, function: Callable[..., T], guard: EvaluationGuard | None, value: object, *arguments: object
) -> T:
    """Ask a presenter for something.

    Raises:
        PresenterFailed: it raised something, took too long, or may not be asked now.

    """
    try:
        if guard is not None:
            return guard.call_quarantined(_SECONDS, function, value, *arguments)
        if not presenter.runs_code(value):
            return function(value, *arguments)
        why = "was not asked: the thread is busy"
    except NotBegun:
        why = "was not read: earlier reads took too long"
    except TimeIsUp:
        why = f"timed out after {_SECONDS:g} s"
    except ExitRefused as error:
        why = f"tried to end the process: {error}"
    except BaseException as error:
        why = f"raised {say(error)}"
    raise PresenterFailed(why)
