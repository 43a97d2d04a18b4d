"""How a program ended: its exit code, and the signal that killed it.

Adapters report a signal in different ways, and all come out as shells have it:
128 and the signal's number. Where one exit code may mean either, the stop before it
decides (see `Traits.signal_exit_codes`).
"""

import signal
from dataclasses import dataclass
from typing import assert_never

from dapkit.catalog import Traits
from dapkit.transport.signals import signal_name

SHELL_BASE = 128
"""The number that shells add to a signal's."""

_LOW_BYTE = 256
_AS_MINUS_ONE = 255
"""The exit code of `exit(-1)`, which is more frequent than a program that SIGHUP kills."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a program ended.

    Attributes:
        exit_code: of a program that a signal has killed, 128 and its number.
        signal: the name of that signal.

    """

    exit_code: int
    signal: str | None = None


def ending_of(exit_code: int, traits: Traits, *, stopped_by: str | None) -> Ending:
    """Read an exit code as an adapter reported it; `stopped_by` is the signal of the last stop, if it was one."""
    number = _killed_by(exit_code, traits, stopped_by)
    name = None if number is None else name_of_signal(number)
    return Ending(exit_code) if number is None or name is None else Ending(SHELL_BASE + number, name)


def name_of_signal(number: int) -> str | None:
    """Return the name of a signal; None if no signal has this number."""
    return signal_name(number) if number in signal.valid_signals() else None


def _killed_by(exit_code: int, traits: Traits, stopped_by: str | None) -> int | None:
    if exit_code < 0:
        return -exit_code
    match traits.signal_exit_codes:
        case "negative":
            return None
        case "low_byte":
            return None if exit_code == _AS_MINUS_ONE else _LOW_BYTE - exit_code
        case "number":
            return exit_code if stopped_by is not None and stopped_by == name_of_signal(exit_code) else None
        case _:
            assert_never(traits.signal_exit_codes)
