"""Marks on coroutines of an adapter that are not requests of the protocol.

A public coroutine of an adapter is taken for a handler, so that a misspelled
one is found at once. These two decorators say that it is something else.
"""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

type _Function = Callable[..., Any]

_custom: WeakKeyDictionary[_Function, str] = WeakKeyDictionary()
_others: WeakSet[_Function] = WeakSet()


def custom_request[F: _Function](command: str) -> Callable[[F], F]:
    """Mark a coroutine as the handler of a command that is not in the protocol.

    Its parameter, if it has one, is annotated with the Struct that the arguments
    are read into; it returns a Struct, a dict, `RawJson` or None.

    Example:
        >>> class Shelf(Adapter[NoLaunch, NoAttach]):
        ...     @custom_request("shelf/sort")
        ...     async def sort(self, args: SortArguments) -> SortBody: ...

    """

    def mark(function: F) -> F:
        _custom[function] = command
        return function

    return mark


def not_a_request[F: _Function](function: F) -> F:
    """Mark a public coroutine that others of the author's classes call.

    Example:
        >>> class Shelf(Adapter[NoLaunch, NoAttach]):
        ...     @not_a_request
        ...     async def program_stopped(self, line: int) -> None: ...

    """
    _others.add(function)
    return function


def custom_command(function: _Function) -> str | None:
    """Command that a function was marked to answer, if it was."""
    return _custom.get(function)


def is_not_a_request(function: _Function) -> bool:
    """Whether a function was marked as no handler."""
    return function in _others
