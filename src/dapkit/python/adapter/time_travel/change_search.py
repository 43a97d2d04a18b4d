"""The line that last changed a value, searched for backwards from a moment."""

from typing import Any

import msgspec

from dapkit.adapter import RequestFailed
from dapkit.protocol import RawJson, decode_as
from dapkit.protocol.time_travel import WhyBody
from dapkit.python.adapter.time_travel.checkpoints import UNEXPECTED, Checkpoint, History
from dapkit.python.adapter.time_travel.history_queries import line_before, near, observation, watched
from dapkit.python.adapter.time_travel.replay_messages import Watched

_SAME_WRITES = 20
"""After so many writes that have left the value as it was, each line is examined."""


class _Place(msgspec.Struct):
    """Where the data of an expression is: in a module, an object, or a call of a function."""

    module: str | None = None
    object: int = 0
    type: int = 0
    expression: str | None = None
    call: dict[str, Any] | None = None
    variable: dict[str, Any] | None = None
    inside: dict[str, Any] | None = None

    @property
    def is_reported(self) -> bool:
        """Whether a process may know of writes to it without a look at each line."""
        return self.module is not None or self.object != 0 or self.variable is not None

    @property
    def at(self) -> tuple[int, int]:
        """The addresses of the object and its type; 0 for names."""
        return self.object, self.type


class ChangeSearch:
    """The search for the last change of a value before a clock.

    Most values are in dicts, whose writes the interpreter reports, or in variables, which some lines bind: a process
    that goes from a checkpoint to the next finds the last write at the program's own speed, and then only the lines
    around it are examined.

    Attributes:
        expression: the value.
        place: the answer of the engine about the expression.
        reached: the clock from which on the value is known not to have changed.
        after: the clock of the line that was begun last before the value was there; 0 until that is known.

    """

    def __init__(self, history: History, now: int, expression: str, place: RawJson | None) -> None:
        """Take the clock to search from."""
        self._history = history
        self._now = self.reached = now
        self.after = 0
        self.expression = expression
        self.place = place
        self._place = _Place() if place is None else decode_as(_Place, place)
        self._target: dict[str, object] = {"expression": self._place.expression or expression, "place": place}
        self._is_doubtful = False  # the object is not found again
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
            RequestFailed: it never had a value, it is not known, or a moment is not reached.

        """
        while (checkpoint := self._history.before(self.reached - 1)) is not None:
            writes = await self._writes_since(checkpoint)
            if writes is not None and writes.is_known and writes.write == 0:
                self._check_value(writes, checkpoint.clock)
                self.reached = checkpoint.clock
                continue
            if writes is not None and writes.is_known:
                begin = writes.write
                observed = await self._looked_from(begin, min(self.reached, begin + 1), self._target)
                self._same_writes += 1
            else:
                begin, observed = await self._observed_since(checkpoint)
            if observed.change is not None:
                return await self._change(observed, observed.change, begin)
            self._check_value(observed, begin)
            self.reached = begin
        return WhyBody()

    async def _writes_since(self, checkpoint: Checkpoint) -> Watched | None:
        """Return the writes since a checkpoint that a process knows of; None if that is of no use."""
        if self._same_writes >= _SAME_WRITES:
            return None
        writes = await self._reported(checkpoint, self._target, self._place)
        if self._place.inside is not None and writes.is_known:
            inside = msgspec.convert(self._place.inside, _Place)
            target: dict[str, object] = {"expression": inside.expression, "place": self._place.inside}
            other = await self._reported(checkpoint, target, inside)
            if not other.is_known or (other.absent and self.reached == self._now):
                return None
            return msgspec.structs.replace(writes, write=max(writes.write, other.write))
        return None if writes.is_known and writes.absent and self._falls_back_to_call() else writes

    async def _reported(self, checkpoint: Checkpoint, target: dict[str, object], place: _Place) -> Watched:
        """Return the writes since a checkpoint to a module's or an object's data, or to a variable."""
        target = {**target, "onlyWrites": True}
        async with self._history.begun("watch", checkpoint, self.reached) as process:
            writes = await watched(process, target)
        if not writes.is_too_early:
            return writes
        birth = await self._birth_since(checkpoint, place)
        if birth == 0:
            return Watched(how="birth", absent=True, is_known=True)
        if birth + 1 >= self.reached:
            return Watched(how="birth", write=birth, is_known=True)
        writes = await self._looked_from(birth + 1, self.reached, target)
        return msgspec.structs.replace(writes, write=max(writes.write, birth))

    async def _birth_since(self, checkpoint: Checkpoint, place: _Place) -> int:
        """Return when the object was made, 0 if it was there at the checkpoint.

        Nothing but the program's own code is executed: work of the debugger could give the object another address.
        """
        async with self._history.begun("birth", checkpoint, self.reached, at=place.at) as process:
            return (await observation(process)).write

    async def _looked_from(self, begin: int, until: int, target: dict[str, object]) -> Watched:
        """Observe the lines between two clocks; the process comes to the first at the program's own speed."""
        checkpoint = self._history.before(begin)
        if checkpoint is None:
            raise RequestFailed(UNEXPECTED)
        async with self._history.begun("look", checkpoint, begin) as process:
            return await watched(process, {**target, "until": until})

    async def _observed_since(self, checkpoint: Checkpoint) -> tuple[int, Watched]:
        """Observe each line since a checkpoint, since one that is nearer, or since the object was made."""
        if self.reached == self._now:  # many changes are a few lines ago
            checkpoint = await near(self._history, self.reached) or checkpoint
        if self._place.call is not None and (birth := await self._birth_since(checkpoint, self._place)) > 0:
            return birth, await self._looked_from(birth, self.reached, self._target)
        async with self._history.begun("watch", checkpoint, self.reached) as process:
            observed = await watched(process, self._target)
        if observed.absent and observed.change is None and self._falls_back_to_call():
            return self.reached, Watched(how=observed.how)  # once more, in the call
        return checkpoint.clock, observed

    def _falls_back_to_call(self) -> bool:
        """Search in the call from now on, if the object has no such value: another address is the likely reason.

        Raises:
            RequestFailed: it had the address at a later moment.

        """
        call = self._place.call
        if call is None:
            return False
        if self.reached != self._now:
            raise self._not_known()
        self._place, self._same_writes = _Place(), _SAME_WRITES
        self._target = {"expression": self.expression, "place": call}
        self._is_doubtful = True
        return True

    async def _change(self, observed: Watched, change: WhyBody, begin: int) -> WhyBody:
        if self._is_doubtful and change.old is None:  # the variable got the object then, which had the value before
            raise self._not_known()
        if observed.doubt:
            reason = f"two threads ran before the change was seen, at {observed.doubt}"
            raise RequestFailed(f"{self.expression}: the line is not known: {reason}")
        self.after = observed.after
        if not observed.frame:
            return change
        began = await line_before(self._history, begin, observed.frame)
        return msgspec.structs.replace(change, clock=began or None)

    def _check_value(self, observed: Watched, begin: int) -> None:
        """Check that there was a value. Raises: RequestFailed."""
        if observed.absent and begin == self._history.beginning:
            raise RequestFailed(f"{self.expression}: it has no value here, and had none before")

    def _not_known(self) -> RequestFailed:
        return RequestFailed(
            f"{self.expression}: the line is not known, as the object has another address when it is executed again"
        )
