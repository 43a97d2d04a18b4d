"""Watched values: the last value of each, so that a stop can report the change.

Few adapters say so themselves. The expression that names the value is evaluated again at
each stop, in the innermost frame where it still names the same place in memory: a function
that was called meanwhile may have a variable of the same name.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace

from dapkit.protocol import DapkitError

type EvaluateIn = Callable[[str, int | None], Awaitable[str]]
"""Evaluates an expression in a frame; raises DapkitError."""


@dataclass(frozen=True, slots=True)
class WatchedValue:
    """A value that is watched.

    Attributes:
        expression: its name, at the place where it was set.
        address: the displayed address; None if it has no address.
        value: the value at its last read; None if it could not be read.

    """

    expression: str
    address: str | None
    value: str | None

    def became(self, now: "WatchedValue") -> str | None:
        """Describe the change; None if the value cannot be read any more."""
        if now.value is None:
            return None
        if self.value is None or self.value == now.value:
            return f"{self.expression} is {now.value}"
        return f"{self.expression} changed from {self.value} to {now.value}"


async def watch(expression: str, frame: int | None, evaluate: EvaluateIn) -> WatchedValue:
    """Read a value for the first time."""
    address = await _value(f"&({expression})", frame, evaluate)
    return WatchedValue(expression, address, await _value(expression, frame, evaluate))


async def read_again(watched: WatchedValue, frames: Iterable[int], evaluate: EvaluateIn) -> WatchedValue:
    """Read a value anew at a stop, whose frames go from the innermost outwards."""
    for frame in frames:
        if watched.address is None or await _value(f"&({watched.expression})", frame, evaluate) == watched.address:
            value = await _value(watched.expression, frame, evaluate)
            if value is not None:
                return replace(watched, value=value)
    return replace(watched, value=None)


async def _value(expression: str, frame: int | None, evaluate: EvaluateIn) -> str | None:
    try:
        return await evaluate(expression, frame)
    except DapkitError:
        return None
