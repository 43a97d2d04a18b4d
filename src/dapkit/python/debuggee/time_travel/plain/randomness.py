"""Generators of random numbers, which take their seed from the system."""

from collections.abc import Callable
from os import urandom
from typing import Any, Final

from ...interpreter.hidden_frames import unseen
from .notes import NotedCalls
from .state import state

_SIZE: Final = 2496
"""Bytes of the state of a generator, all of which are chosen."""


def seeding(notes: NotedCalls, real: Callable[..., None]) -> Callable[..., None]:
    """Return what stands for the method that takes a seed."""

    @unseen
    def seed(generator: Any, value: object = None, /) -> None:  # noqa: ANN401 - `_random.Random`
        if value is None and state.is_of_program:
            value = int.from_bytes(notes.call("seed", urandom, (_SIZE,)))
        real(generator, value)

    return seed
