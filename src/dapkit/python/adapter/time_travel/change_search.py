"""The line that last changed a value, searched for backwards from a moment."""

from typing import Any

import msgspec

from dapkit.adapter import RequestFailed
from dapkit.protocol import RawJson, decode_as
from dapkit.protocol.time_travel import WhyBody
from dapkit.python.adapter.time_travel.checkpoints import Checkpoint, History
from dapkit.python.adapter.time_travel.history_queries import line_before, near, watched
from dapkit.python.adapter.time_travel.replay_messages import Watched

_SAME_WRITES = 20
"""After so many writes that have left the value as it was, each line is examined."""


class _Place(msgspec.Struct):
    """Where the data of an expression is: in a module, an object, or a call of a function."""

    module: str | None = None
    object: int = 0
    expression: str | None = None
    call: dict[str, Any] | None = None
    variable: dict[str, Any] | None = None

    @property
    def is_reported(self) -> bool:
        """Whether a process may know of writes to it without a look at each line."""
        return self.module is not None or self.object != 0 or self.variable is not None


class ChangeSearch:
    """The search for the last change of a value before a clock.

    Most values are in dicts, whose writes the interpreter reports, or in variables, which some lines bind: a process
    that goes from a checkpoint to the next finds the last write at the program's own speed, and then only the lines
    around it are examined.

    Attributes:
        reached: the clock from which on the value is known not to have changed.

    """

    def __init__(self, history: History, now: int, expression: str, place: RawJson | None) -> None:
        """Take the clock to search from, and the answer of the engine about the expression."""
        self._history = history
        self._now = self.reached = now
        self._expression = expression
        self._place = _Place() if place is None else decode_as(_Place, place)
        self._target: dict[str, object] = {"expression": self._place.expression or expression, "place": place}
        self._same_writes = 0 if self._place.is_reported else _SAME_WRITES

    @property
    def percentage(self) -> float:
        """How much of the history was searched."""
        return 100 * (self._now - self.reached) / max(self._now - self._history.beginning, 1)

    def result_so_far(self) -> WhyBody:
        """Return the result of a search that is not done."""
        return WhyBody(unchanged_since=self.reached)

    async def run(self) -> WhyBody:
        """Return the last change; nothing if the value was always so.

        Raises:
            RequestFailed: it never had a value, or a moment is not reached.

        """
        while (checkpoint := self._history.before(self.reached - 1)) is not None:
            writes = await self._writes_since(checkpoint)
            if writes is not None and writes.is_known and writes.write == 0:
                self._check_value(checkpoint, writes)
                self.reached = checkpoint.clock
                continue
            is_known = writes is not None and writes.is_known
            until = min(self.reached, writes.write + 1) if writes is not None and is_known else self.reached
            is_close = is_known or self.reached == self._now  # many changes are a few lines ago
            nearer = await near(self._history, until) or checkpoint if is_close else checkpoint
            change = await self._change_between(nearer, until)
            if change is not None:
                return change
            self._same_writes += until < self.reached
            self.reached = nearer.clock
        return WhyBody()

    async def _writes_since(self, checkpoint: Checkpoint) -> Watched | None:
        """Return the writes since a checkpoint that a process knows of; None if that is of no use."""
        if self._same_writes >= _SAME_WRITES:
            return None
        writes = await self._observed(checkpoint, self.reached, {**self._target, "onlyWrites": True})
        call = self._place.call
        if writes.absent and self.reached == self._now and call is not None:  # the object has another address there
            self._place, self._same_writes = _Place(), _SAME_WRITES
            self._target = {"expression": self._expression, "place": call}
            return None
        return writes

    async def _change_between(self, checkpoint: Checkpoint, until: int) -> WhyBody | None:
        """Return the last change between two moments, by a look at each line; None if there was none."""
        observation = await self._observed(checkpoint, until, self._target)
        change = observation.change
        if change is None:
            self._check_value(checkpoint, observation)
        elif observation.frame:
            began = await line_before(self._history, checkpoint.clock, observation.frame)
            change = msgspec.structs.replace(change, clock=began or None)
        return change

    async def _observed(self, checkpoint: Checkpoint, until: int, target: dict[str, object]) -> Watched:
        async with self._history.begun("watch", checkpoint, until) as process:
            return await watched(process, target)

    def _check_value(self, checkpoint: Checkpoint, observation: Watched) -> None:
        """Check that there was a value. Raises: RequestFailed."""
        if observation.absent and checkpoint.clock == self._history.beginning:
            raise RequestFailed(f"{self._expression}: it has no value here, and had none before")
