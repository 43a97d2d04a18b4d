"""What a client does while tests run.

Each mode is a class: what it sets before the program starts, how often it pauses it, and what it does at a stop.
"""

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from dapkit.client import Session, Stopped
from dapkit.endpoint import RequestFailed
from dapkit.protocol import DataBreakpointAccessType, Scope, StoppedEvent, Variable, from_json_value
from dapkit.protocol.time_travel import TIMELINE, TRAVEL_TO, TimelineBody
from dapkit.python import limits
from transparency.subjects import Function, Subject, functions, never_reached

STOPS_AT_EXCEPTIONS = 2000
STOPS_AT_DATA = 600
STEPS = 600
FEW = 6
"""By how much a measurement in CI makes fewer of all these."""
STEPS_FROM_ONE_STOP = 100
JUMPS = 200
JUMPS_FROM_ONE_STOP = 12
REFUSALS_KEPT = 40
SIBLINGS = 60
"""How many variables of a scope are asked for."""


class Nothing:
    """Nothing is set."""

    pause_seconds: float | None = None
    """After how much time it pauses the program, while that runs."""
    children = False
    """Whether processes that the program starts are debugged, too."""
    configuration: Mapping[str, object] = {}
    """What the launch asks for besides."""

    def __init__(self, subject: Subject, names: Sequence[str], chance: random.Random, *, thorough: bool) -> None:
        self.subject = subject
        self.share = 1 if thorough else FEW
        self.names = {name.partition("[")[0].rpartition(".")[2].rpartition("::")[2] for name in names}
        self.chance = chance
        self.is_late = False
        """Whether the time for stops is over: then nothing is to stop the program any more."""
        self.jumps = 0
        """How many requests have asked for another moment."""
        self.refused: Counter[str] = Counter()
        """How many of those were refused, or ended before they were there, by the reason."""
        self.refusals: list[str] = []
        """What some of them said."""

    async def prepare(self, session: Session) -> None:
        """Set what is to be set before the program starts."""
        await session.break_on_exceptions("uncaught")

    async def stopped(self, session: Session, stop: Stopped) -> None:
        """Look at the stopped program, and let it go on."""
        await session.continue_(stop.thread_id)

    async def look(self, session: Session, thread_id: int) -> None:
        """Ask for what an editor shows at a stop: the stack, the variables of two frames, the insides of some."""
        stack = await session.stack_trace(thread_id, start_frame=0, levels=20)
        for frame in [frame for frame in stack.stack_frames if frame.presentation_hint != "label"][:2]:
            for scope in (await session.scopes(frame.id)).scopes:
                variables = await self._variables(session, scope)
                inside = [variable for variable in variables if variable.variables_reference and not lazy(variable)]
                for variable in self.chance.sample(inside, min(2, len(inside))):
                    await session.variables(variable.variables_reference, start=0, count=SIBLINGS)

    async def _variables(self, session: Session, scope: Scope) -> Sequence[Variable]:
        return (await session.variables(scope.variables_reference, start=0, count=SIBLINGS)).variables

    async def _set_in_tests(self, session: Session, count: int) -> None:
        tests = [test for file in self.subject.tests for test in functions(file) if test.name in self.names]
        others = [test for file in self.subject.tests for test in functions(file)]
        for test in self.few(tests or others, count):
            await session.add_breakpoint(str(test.file), test.line)

    def few(self, found: Sequence[Function], count: int) -> list[Function]:
        """Choose some functions by chance."""
        return self.chance.sample(found, min(count, len(found)))


class Breakpoints(Nothing):
    """Breakpoints that never stop: conditions that are false, and one that is never reached."""

    async def prepare(self, session: Session) -> None:
        """Set them in tests, and in what is tested."""
        await super().prepare(session)
        found = [function for file in (*self.subject.tests, *self.subject.code) for function in functions(file)]
        for function in self.few(found, 20):
            await session.add_breakpoint(str(function.file), function.line, condition="False")
        await session.add_breakpoint(str(self.subject.program), never_reached(self.subject.program))


class Steps(Nothing):
    """Random steps from the beginnings of tests."""

    def __init__(self, subject: Subject, names: Sequence[str], chance: random.Random, *, thorough: bool) -> None:
        super().__init__(subject, names, chance, thorough=thorough)
        self._left = 0
        self._steps = 0

    async def prepare(self, session: Session) -> None:
        """Set breakpoints in a few tests."""
        await session.break_on_exceptions()
        await self._set_in_tests(session, 8)

    async def stopped(self, session: Session, stop: Stopped) -> None:
        """Look, then step; after very many steps, go on without a stop."""
        await self.look(session, stop.thread_id)
        if stop.reason == "breakpoint":
            self._left = STEPS_FROM_ONE_STOP // self.share
        if self._steps == STEPS // self.share or self.is_late:
            for known in session.breakpoints:
                await session.remove_breakpoint(known.number)
            self._left = 0
        if self._left == 0:
            await session.continue_(stop.thread_id)
            return
        self._left -= 1
        self._steps += 1
        ways = (session.next, session.next, session.next, session.step_in, session.step_in, session.step_out)
        try:
            await self.chance.choice(ways)(stop.thread_id)
        except RequestFailed:  # a place that nothing can step from
            await session.continue_(stop.thread_id)


class Pauses(Nothing):
    """Pauses, five a second."""

    pause_seconds = 0.2

    async def prepare(self, session: Session) -> None:
        """Set nothing."""
        await session.break_on_exceptions()

    async def stopped(self, session: Session, stop: Stopped) -> None:
        """Look, and let it go on."""
        await self.look(session, stop.thread_id)
        await session.continue_(stop.thread_id)


class Raised(Nothing):
    """Stops at each exception that is raised."""

    def __init__(self, subject: Subject, names: Sequence[str], chance: random.Random, *, thorough: bool) -> None:
        super().__init__(subject, names, chance, thorough=thorough)
        self._stops = 0

    async def prepare(self, session: Session) -> None:
        """Choose the filter."""
        await session.break_on_exceptions("raised")

    async def stopped(self, session: Session, stop: Stopped) -> None:
        """Look, now and then; after very many stops, go on without them."""
        self._stops += 1
        if self._stops % 50 == 1:
            await self.look(session, stop.thread_id)
            if stop.reason == "exception":
                await session.exception_info(stop.thread_id)
        if self._stops == STOPS_AT_EXCEPTIONS // self.share or self.is_late:
            await session.break_on_exceptions()
        await session.continue_(stop.thread_id)


class Data(Nothing):
    """Data breakpoints on what the first test can see."""

    def __init__(self, subject: Subject, names: Sequence[str], chance: random.Random, *, thorough: bool) -> None:
        super().__init__(subject, names, chance, thorough=thorough)
        self._stops = 0

    async def prepare(self, session: Session) -> None:
        """Set breakpoints in many tests, so that the first of them stops."""
        await session.break_on_exceptions()
        await self._set_in_tests(session, 30)

    async def stopped(self, session: Session, stop: Stopped) -> None:
        """Watch, at the first stop; after very many stops, watch no more."""
        self._stops += 1
        if self._stops == 1:
            before = [known.number for known in session.breakpoints]
            await self._watch(session, stop.thread_id)
            for number in before:
                await session.remove_breakpoint(number)
        elif self._stops == STOPS_AT_DATA // self.share or self.is_late:
            for known in session.breakpoints:
                await session.remove_breakpoint(known.number)
        elif self._stops % 20 == 0:
            await self.look(session, stop.thread_id)
        await session.continue_(stop.thread_id)

    async def _watch(self, session: Session, thread_id: int) -> None:
        """Watch some locals, globals, attributes of `self`, and what the whole program uses."""
        [frame] = (await session.stack_trace(thread_id, levels=1)).stack_frames
        named = ("__import__('warnings').filters", "self._outcome", "self._testMethodName", "self.__class__.maxDiff")
        places: list[tuple[str, int | None]] = [(name, None) for name in named]
        for scope in (await session.scopes(frame.id)).scopes[:2]:
            variables = await self._variables(session, scope)
            places += [(variable.name, scope.variables_reference) for variable in self.some(variables)]
            for variable in variables:
                if variable.name == "self" and variable.variables_reference:
                    inside = (await session.variables(variable.variables_reference, start=0, count=SIBLINGS)).variables
                    places += [(child.name, variable.variables_reference) for child in self.some(inside)]
        for name, reference in places:
            try:
                info = await session.data_breakpoint_info(name, variables_reference=reference, frame_id=frame.id)
            except RequestFailed:  # nothing that can be watched
                continue
            if info.data_id is not None:
                access: DataBreakpointAccessType = "write"
                await session.add_data_breakpoint(info.data_id, access_type=access)

    def some(self, variables: Sequence[Variable]) -> list[Variable]:
        """Choose some variables by chance."""
        named = [variable for variable in variables if not lazy(variable)]
        return self.chance.sample(named, min(4, len(named)))


def lazy(variable: Variable) -> bool:
    """Say whether a variable costs something to look at."""
    return variable.presentation_hint is not None and bool(variable.presentation_hint.lazy)


class Children(Nothing):
    """Processes that the program starts have sessions of their own; nothing stops them, or the program."""

    children = True

    async def prepare(self, session: Session) -> None:
        """Set nothing: nobody would let a child go on."""
        await session.break_on_exceptions()


class Travel(Nothing):
    """Time travel: random jumps back and forth at some stops, then on with the live program."""

    configuration: Mapping[str, object] = {"timeTravel": True}
    pause_seconds: float | None = 1.0

    def __init__(self, subject: Subject, names: Sequence[str], chance: random.Random, *, thorough: bool) -> None:
        super().__init__(subject, names, chance, thorough=thorough)
        self._left = 0
        self._is_away = False
        self._shown: int | None = None
        self._heard = 0

    async def prepare(self, session: Session) -> None:
        """Set breakpoints in a few tests."""
        await session.break_on_exceptions()
        await self._set_in_tests(session, 8)

    async def stopped(self, session: Session, stop: Stopped) -> None:
        """Look, then jump; after some jumps, go on where the live program stands."""
        self._hear(session)
        thread_id = stop.thread_id if self._shown is None else self._shown
        self._shown = None
        try:
            await self.look(session, thread_id)
        except RequestFailed as error:  # a process of the past has gone: the client is shown the live program then
            if not self._is_away:
                raise
            self._note(str(error))
            return
        if not self._is_away:
            self._left = JUMPS_FROM_ONE_STOP
        is_over = self.jumps >= JUMPS // self.share or self.is_late
        if is_over and self.pause_seconds is not None:
            self.pause_seconds = None
            for known in session.breakpoints:
                await session.remove_breakpoint(known.number)
        if not is_over and self._left > 0 and await self._jump(session, thread_id):
            return
        self._left = 0
        timeline = from_json_value(TimelineBody, await session.request_custom(TIMELINE))
        self._is_away = timeline.now < timeline.live
        await session.continue_(thread_id)

    async def _jump(self, session: Session, thread_id: int) -> bool:
        """Make a jump; false if there is no moment to go to."""
        timeline = from_json_value(TimelineBody, await session.request_custom(TIMELINE))
        if timeline.beginning in {0, timeline.live}:
            return False
        moments = (timeline.beginning, timeline.live)
        while self._left > 0 and self.jumps < JUMPS // self.share and not self.is_late:
            self._left -= 1
            self.jumps += 1
            try:
                await self._go(session, thread_id, moments, is_past=timeline.now < timeline.live)
            except RequestFailed as error:
                self._note(str(error))
                continue
            self._is_away = True
            return True
        return False

    async def _go(self, session: Session, thread_id: int, moments: tuple[int, int], *, is_past: bool) -> None:
        """Go back, or to any moment, or from one in the past forwards."""
        ways = ["line", "line", "instruction", "breakpoint", "moment", "moment", "moment"]
        way = self.chance.choice([*ways, "next", "in", "out"] if is_past else ways)
        before, seconds = session.position, limits.REPLAY_SECONDS
        match way:
            case "line":
                await session.step_back(thread_id, deadline=seconds)
            case "instruction":
                await session.step_back(thread_id, granularity="instruction", deadline=seconds)
            case "breakpoint":
                await session.reverse_continue(thread_id, deadline=seconds)
            case "moment":
                await session.request_custom(TRAVEL_TO, {"clock": self.chance.randint(*moments)}, deadline=seconds)
                self._shown = (await session.wait_for(StoppedEvent, since=before)).thread_id
            case "next":
                await session.next(thread_id)
            case "in":
                await session.step_in(thread_id)
            case _:
                await session.step_out(thread_id)

    def _note(self, problem: str) -> None:
        self.refused[reason_of(problem)] += 1
        if len(self.refusals) < REFUSALS_KEPT:
            self.refusals.append(problem)

    def _hear(self, session: Session) -> None:
        """Count the ways forwards that have ended before they were there: the client is shown the live program then."""
        heard = session.output.read("important", since=self._heard)
        self._heard = heard.end
        for line in heard.text.splitlines():
            self._note(line)


def reason_of(problem: str) -> str:
    """Return why a jump was refused, without what is of this one alone."""
    problem = re.sub(r"^(?:stepBack|reverseContinue|dapkit/travelTo): ", "", problem)
    found = re.match(r"diverged: (?:at clock \d+ the program called )?(\S+) where it had called (\S+)", problem)
    if found is not None:
        return f"diverged: {found[1]} where it had called {found[2]}"
    return re.sub(r"\d+", "N", problem)[:100]


MODES: dict[str, type[Nothing]] = {
    "nothing": Nothing,
    "breakpoints": Breakpoints,
    "steps": Steps,
    "pauses": Pauses,
    "raised": Raised,
    "data": Data,
    "travel": Travel,
    "children": Children,
}
USUAL = [name for name, mode in MODES.items() if not mode.children]
"""Those that are measured unless others are asked for."""
