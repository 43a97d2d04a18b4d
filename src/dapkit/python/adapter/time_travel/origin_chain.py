"""The lines that a value has come by: the change of each value is followed to the expression that it was made from."""

from collections.abc import Sequence

import msgspec

from dapkit.adapter import RequestFailed
from dapkit.endpoint import EventReceived
from dapkit.protocol import RawJson, StoppedEvent, decode_as, encode_value
from dapkit.protocol.time_travel import WhyBody, WhyInput, WhyStep
from dapkit.python.adapter.time_travel.change_search import ChangeSearch
from dapkit.python.adapter.time_travel.checkpoints import UNEXPECTED, History, in_time
from dapkit.python.adapter.time_travel.replay_engines import PastEngine, PastEngines
from dapkit.python.adapter.time_travel.replay_messages import ArrivalStop, Origin

MOST_STEPS = 10


class OriginChain:
    """The search for the lines that a value has come by.

    Attributes:
        search: the one for the change that is followed now.

    """

    def __init__(self, history: History, engines: PastEngines, search: ChangeSearch) -> None:
        """Begin at a value whose last change is not known yet."""
        self.search = search
        self._history = history
        self._engines = engines
        self._first = WhyBody()
        self._steps: list[WhyStep] = []

    @property
    def reached(self) -> int:
        """The clock to which the search has come."""
        return self.search.reached

    @property
    def percentage(self) -> float:
        """How much of the history was searched."""
        return self.search.percentage

    def result_so_far(self) -> WhyBody:
        """Return the result of a search that is not done."""
        if not self._steps:
            return self.search.result_so_far()
        ends = (
            f"{self.search.expression} has not changed since clock {self.reached}; that is how far the search has come"
        )
        return self._result(ends, [])

    async def run(self) -> WhyBody:
        """Return the last change, and the lines that its value has come by.

        Raises:
            RequestFailed: the value never existed, or a moment is not reached.

        """
        change = self._first = await self.search.run()
        while change.line is not None:
            origin = await self._origin(change)
            self._steps += [_step(self.search.expression, change, origin.text), *origin.returns]
            if origin.follow is None:
                return self._result(origin.ends, origin.inputs)
            if len(self._steps) >= MOST_STEPS:
                return self._result(f"these are {MOST_STEPS} steps; {origin.follow} could be followed", ())
            place = RawJson(encode_value(origin.place))
            self.search = ChangeSearch(self._history, self.search.after, origin.follow, place)
            try:
                change = await self.search.run()
            except RequestFailed as error:
                return self._result(f"the chain ends: {error}", ())
        if not self._steps:
            return change
        return self._result(f"{self.search.expression} was so when the recorded history began", ())

    def _result(self, ends: str, inputs: Sequence[WhyInput]) -> WhyBody:
        return msgspec.structs.replace(
            self._first, chain=tuple(self._steps[:MOST_STEPS]), ends=ends, inputs=tuple(inputs)
        )

    async def _origin(self, change: WhyBody) -> Origin:
        """Return where the value of a change came from, as an engine says at the moment before."""
        checkpoint = self._history.before(self.search.after)
        if checkpoint is None:
            return Origin(ends="the line began before the recorded history")
        line = {"path": change.path, "function": change.function, "line": change.line, "old": change.old}
        request = {"change": line, "expression": self.search.expression, "place": self.search.place}
        with in_time():
            async with self._engines.begun("replay", checkpoint, self.search.after, ArrivalStop("step")) as past:
                await _until_it_stands(past)
                return decode_as(Origin, await past.debuggee.link.request_custom("dapkit/origin", request))


def _step(expression: str, change: WhyBody, text: str) -> WhyStep:
    return WhyStep(
        expression=expression,
        clock=change.clock,
        path=change.path or "",
        function=change.function or "",
        line=change.line or 0,
        text=text,
        old=change.old,
        new=change.new,
    )


async def _until_it_stands(past: PastEngine) -> None:
    async for happening in past.debuggee.link.incoming():
        if isinstance(happening, EventReceived) and isinstance(happening.event.body, StoppedEvent):
            return
    raise RequestFailed(UNEXPECTED)
