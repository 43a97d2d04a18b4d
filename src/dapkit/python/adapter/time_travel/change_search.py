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
_NOWHERE = 0, 0
"""The addresses of an object that no variable leads to."""


class _Place(msgspec.Struct, omit_defaults=True):
    """Where the data of an expression is: in a module, an object, or a call of a function."""

    module: str | None = None
    object: int = 0
    type: int = 0
    expression: str | None = None
    name: str | None = None
    cell: bool = False
    call: dict[str, Any] | None = None
    variable: dict[str, Any] | None = None
    inside: "_Place | None" = None

    @property
    def is_reported(self) -> bool:
        """Whether a process may know of writes to it without a look at each line."""
        return self.module is not None or self.object != 0 or self.variable is not None

    @property
    def at(self) -> tuple[int, int]:
        """The addresses of the object and its type; 0 for names."""
        return self.object, self.type

    def of_object(self) -> dict[str, Any]:
        """Describe to a process the expression that begins at the object."""
        return {"expression": self.expression, "place": msgspec.to_builtins(self)}


class ChangeSearch:
    """The search for the last change of a value before a clock.

    Most values are in dicts, whose writes the interpreter reports, or in variables, which some lines bind: a process
    that goes from a checkpoint to the next finds the last write at the program's own speed, and then only the lines
    around it are examined.

    An object may have another address in the processes from an earlier checkpoint: the interpreter keeps the memory of
    lists and dicts for the next ones, and the program may have been given memory of the debugger's. So each process
    says at its end to which address the variable leads that is known to lead to the object then.

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
        self._is_named = True  # the variable of the place leads to the object at the clock that is reached
        self._is_verified = False  # the object was found by that name in the last process
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
            if writes is not None and writes.is_known and self._same_writes < _SAME_WRITES:
                begin, observed = writes.write or checkpoint.clock, writes
                if writes.write:
                    observed = await self._looked_from(begin, min(self.reached, begin + 1), self._target)
                    self._same_writes += 1
            else:
                begin, observed = await self._observed_since(checkpoint)
            if observed.change is not None:
                return await self._change(observed, observed.change, begin)
            self._check_value(observed, begin)
            self.reached = begin
            self._is_named = writes is not None and writes.was_named and begin == checkpoint.clock
        return WhyBody()

    async def _writes_since(self, checkpoint: Checkpoint) -> Watched | None:
        """Return the writes since a checkpoint that a process knows of; None if there is no use in asking one.

        Raises:
            RequestFailed: the object has another address there, and it is not known which.

        """
        if not self._place.is_reported:
            return None
        writes = await self._reported(checkpoint, self._place)
        if self._place.inside is not None and writes.is_known:
            other = await self._reported(checkpoint, self._place.inside)
            is_known = other.is_known and not other.absent
            write = max(writes.write, other.write)
            return msgspec.structs.replace(writes, write=write, is_known=is_known, was_named=other.was_named)
        if writes.is_known and writes.absent:
            self._check_object()
        return writes

    async def _reported(self, checkpoint: Checkpoint, place: _Place) -> Watched:
        """Return the writes since a checkpoint to a module's or an object's data, or to a variable."""
        writes = await self._reported_at(checkpoint, place)
        if not place.object:
            return writes
        address = await self._named_at(checkpoint, place) if writes.is_too_early and self._is_named else writes.named_at
        if self._is_named and address not in (place.at, _NOWHERE):
            place.object, place.type = address
            if place is self._place:
                self._target = place.of_object()
            writes = await self._reported_at(checkpoint, place)
        self._is_verified = self._is_named and address != _NOWHERE
        return await self._since_birth(checkpoint, place) if writes.is_too_early else writes

    async def _reported_at(self, checkpoint: Checkpoint, place: _Place) -> Watched:
        target = place.of_object() if place.object else self._target
        async with self._history.begun("watch", checkpoint, self.reached) as process:
            return await watched(process, {**target, "onlyWrites": True})

    async def _named_at(self, checkpoint: Checkpoint, place: _Place) -> tuple[int, int]:
        """Return the addresses of the object and its type in a process that executes the program's own code alone."""
        async with self._history.begun("look", checkpoint, self.reached) as process:
            observed = await watched(process, {**place.of_object(), "onlyWrites": True, "onlyName": True})
        return observed.named_at

    async def _since_birth(self, checkpoint: Checkpoint, place: _Place) -> Watched:
        """Return the writes to an object since it was made, and the line that made it."""
        birth = await self._birth_since(checkpoint, place)
        if birth == 0:
            return Watched(how="birth", absent=True, is_known=True)
        if birth + 1 >= self.reached:
            return Watched(how="birth", write=birth, is_known=True)
        writes = await self._looked_from(birth + 1, self.reached, {**place.of_object(), "onlyWrites": True})
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
        if observed.absent and observed.change is None:
            self._check_object()
        return checkpoint.clock, observed

    def _check_object(self) -> None:
        """Check that an object without the value is the right one. Raises: RequestFailed."""
        if self._place.object and not self._is_verified:
            raise RequestFailed(
                f"{self.expression}: the line is not known, as the object has another address when it is executed again"
            )

    async def _change(self, observed: Watched, change: WhyBody, begin: int) -> WhyBody:
        if observed.doubt:
            raise RequestFailed(f"{self.expression}: the line is not known: {observed.doubt}")
        self.after = observed.after
        if not observed.frame:
            return change
        began = await line_before(self._history, begin, observed.frame)
        return msgspec.structs.replace(change, clock=began or None)

    def _check_value(self, observed: Watched, begin: int) -> None:
        """Check that there was a value. Raises: RequestFailed."""
        if observed.absent and begin == self._history.beginning:
            raise RequestFailed(f"{self.expression}: it has no value here, and had none before")
