"""Descriptors of the program in the past: their numbers are in use as they were, and lead nowhere."""

import os
from typing import Any

from ...connection.descriptor import moved_up


class Descriptors:
    """What makes them, in a process of the past."""

    def __init__(self) -> None:
        """Make none yet."""
        self._nothing = -1

    def have(self, numbers: Any) -> Any:  # noqa: ANN401 - what a call returns
        """Have what a call had opened, one or two; return it."""
        if self._nothing < 0:
            self._nothing = moved_up(os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC))
        for number in numbers if isinstance(numbers, tuple) else (numbers,):
            os.dup2(self._nothing, number, inheritable=False)
        return numbers

    @staticmethod
    def drop(number: int) -> None:
        """Have one no more."""
        try:
            os.close(number)
        except OSError:
            return  # another call has closed it
