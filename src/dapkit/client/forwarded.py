"""Methods of a session that one of its parts has, under the session's name for them."""

import functools
from collections.abc import Callable
from typing import Any, Concatenate


def forwarded[T, **P, R](part: str, method: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Make a method that calls the method of the same name on a part of the object."""

    @functools.wraps(method)
    def call(self: object, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return method(getattr(self, part), *args, **kwargs)

    return call
