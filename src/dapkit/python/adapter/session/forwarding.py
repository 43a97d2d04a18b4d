"""Requests about the program's state, passed through to the engine inside it.

Arguments were checked at the client's edge, and bodies go back as the bytes they
came in: an answer with a thousand variables is not read in between.
"""

import math
from functools import partial
from typing import Any

import anyio
import msgspec

from dapkit.adapter import Adapter, RequestFailed, answer_after_the_end, custom_request, not_a_request
from dapkit.protocol import (
    COMMANDS,
    Arguments,
    EvaluateArguments,
    RawJson,
    ReverseContinueArguments,
    SetBreakpointsArguments,
    StepBackArguments,
    VariablesArguments,
    encode_value,
)
from dapkit.protocol.call_traces import CALL_TRACE, TRACE_CALL, CallTraceArguments, TraceCallArguments
from dapkit.protocol.heap import HEAP, HeapArguments
from dapkit.protocol.locks import LOCKS, LocksArguments
from dapkit.protocol.specs import BREAKPOINT_COMMANDS
from dapkit.protocol.time_travel import (
    STEP_BACK_INTO,
    TIMELINE,
    TRAVEL_TO,
    WHY,
    TimelineBody,
    TravelToArguments,
    WhyArguments,
    WhyBody,
)
from dapkit.python import limits
from dapkit.python.adapter.configuration.keys import ANNOUNCED
from dapkit.python.adapter.engine.breakpoint_store import BreakpointStore
from dapkit.python.adapter.engine.debuggee import NOTHING, ProgramGone
from dapkit.python.adapter.launch.replacement import Replacement
from dapkit.python.adapter.session.progress import ProgressStep, with_progress
from dapkit.python.adapter.session.run import DebuggeeRun
from dapkit.python.adapter.time_travel.timeline import TimeTravel


class ForwardingAdapter[Launch: msgspec.Struct, Attach: msgspec.Struct](Adapter[Launch, Attach], partial=True):
    """The part of the adapter that only carries questions and answers.

    Attributes:
        run: the program, from the moment it is asked for.
        remembered: the client's breakpoints.
        replacement: of the program by another, while that is under way.

    """

    announces = ANNOUNCED
    forwards = frozenset(
        {
            *BREAKPOINT_COMMANDS,
            "breakpointLocations",
            "completions",
            "continue",
            "dataBreakpointInfo",
            "disassemble",
            "exceptionInfo",
            "goto",
            "gotoTargets",
            "loadedSources",
            "locations",
            "modules",
            "next",
            "pause",
            "readMemory",
            "restartFrame",
            "scopes",
            "setExpression",
            "setVariable",
            "source",
            "stackTrace",
            "stepIn",
            "stepInTargets",
            "stepOut",
            "terminateThreads",
            "threads",
            "variables",
            "writeMemory",
        }
    )

    def __init__(self) -> None:
        super().__init__()
        self.run: DebuggeeRun | None = None
        self.remembered = BreakpointStore()
        self.replacement: Replacement | None = None

    async def forward(self, arguments: Arguments[Any]) -> RawJson | None:
        """Answer a request by the engine's answer."""
        body = await self.ask(arguments)
        return None if COMMANDS[arguments.command].body is None else body

    @not_a_request
    async def ask(self, arguments: Arguments[Any]) -> RawJson:
        """Put a request of the client to the engine.

        There is no deadline here: the engine limits requests that run code of the program, and the client can cancel.

        Raises:
            RequestFailed: the engine refused, or there is no program.

        """
        is_setting = arguments.command in BREAKPOINT_COMMANDS
        if self.replacement is not None and is_setting:
            return self.remembered.note(arguments, await self.replacement.ask(arguments))
        if self.run is not None and self.run.has_ended:
            return _after_the_end(arguments)
        debuggee = None if self.run is None else self.run.debuggee
        if debuggee is None:
            raise RequestFailed(f"{arguments.command}: there is no program to ask: it has not started")
        if is_setting:
            ask = partial(debuggee.set_breakpoints, arguments, self.remembered)
        else:
            ask = partial(debuggee.ask, arguments)
        title = _title_if_long(arguments)
        try:
            return await (ask() if title is None else with_progress(self, title, ask))
        except ProgramGone as ended:
            if self.replacement is not None and is_setting:
                return self.remembered.note(arguments, await self.replacement.ask(arguments))
            try:
                return _after_the_end(arguments)
            except RequestFailed:
                raise ended from None

    async def step_back(self, args: StepBackArguments) -> None:
        """Go to the line before this one, or to the instruction before."""
        travel = self._time_travel("stepBack")
        await with_progress(self, "Going back", partial(travel.step_back, args))

    async def reverse_continue(self, args: ReverseContinueArguments) -> None:  # noqa: ARG002 - the protocol's signature
        """Go to the last stop before this one."""
        travel = self._time_travel("reverseContinue")
        await with_progress(self, "Going back", travel.reverse_continue)

    @custom_request(STEP_BACK_INTO)
    async def step_back_into(self) -> None:
        """Go to the line that was begun before this one, in whichever function."""
        travel = self._time_travel(STEP_BACK_INTO)
        await with_progress(self, "Going back", travel.step_back_into)

    @custom_request(TRAVEL_TO)
    async def travel_to(self, args: TravelToArguments) -> None:
        """Show the program as it was at a clock, as `dapkit/timeline` counts it."""
        travel = self._time_travel(TRAVEL_TO)
        await with_progress(self, "Going through time", partial(travel.travel_to, args))

    @custom_request(TIMELINE)
    async def timeline(self) -> TimelineBody:
        """Describe the recorded history."""
        return self._time_travel(TIMELINE).timeline()

    @custom_request(WHY)
    async def why(self, args: WhyArguments) -> WhyBody:
        """Find the line that last changed a value, and the value before."""
        travel = self._time_travel(WHY)
        search = await travel.search(args)
        with anyio.move_on_after(math.inf if args.seconds is None else args.seconds):
            return await with_progress(
                self,
                "Looking for the change",
                partial(travel.why, search),
                step=lambda: ProgressStep(f"back to clock {search.reached}", search.percentage),
                result_so_far=search.result_so_far,
            )
        return search.result_so_far()

    @custom_request(HEAP)
    async def heap(self) -> RawJson:
        """Return the contents of the program's heap."""
        return await self.ask(HeapArguments())

    @custom_request(LOCKS)
    async def locks(self) -> RawJson:
        """Return the locks that are taken."""
        return await self.ask(LocksArguments())

    @custom_request(TRACE_CALL)
    async def trace_call(self, args: TraceCallArguments) -> RawJson:
        """Let the next step of a thread go to the end of its call, whose lines are noted."""
        return await self.ask(args)

    @custom_request(CALL_TRACE)
    async def call_trace(self, args: CallTraceArguments) -> RawJson:
        """Return the lines of a traced call."""
        return await self.ask(args)

    def _time_travel(self, command: str) -> TimeTravel:
        if self.run is None or self.run.debuggee is None:
            raise RequestFailed(f"{command}: there is no program")
        if not isinstance(self.run.debuggee, TimeTravel):
            raise RequestFailed(f'{command}: the program was started without "timeTravel": true')
        return self.run.debuggee

    async def evaluate(self, args: EvaluateArguments) -> RawJson:
        """Evaluate in the stopped program; output that this printed precedes the response."""
        body = await self.ask(args)
        if self.run is not None and self.run.debuggee is not None:
            await self.run.debuggee.process.report_output()
        return body


def _after_the_end(arguments: Arguments[Any]) -> RawJson:
    """Answer as the SDK does once the end was reported."""
    body = answer_after_the_end(arguments.command, arguments)
    return NOTHING if body is None else RawJson(encode_value(body))


_TITLES = {
    "evaluate": "Evaluating",
    "goto": "Going back",
    "restartFrame": "Going back",
    "setExpression": "Assigning",
    "setVariable": "Assigning",
    HEAP: "Counting objects",
}
"""The titles of requests that may take long; `goto` and `restartFrame` do so with time travel only."""


def _title_if_long(arguments: Arguments[Any]) -> str | None:
    """Name a request that may take long for its progress; the engine answers all others within a second."""
    match arguments:
        case SetBreakpointsArguments(breakpoints=list(asked)) if len(asked) > limits.LARGE_PAGE:
            return "Setting breakpoints"
        case VariablesArguments(count=int(count)) if count > limits.LARGE_PAGE:
            return "Reading variables"
    return _TITLES.get(arguments.command)
