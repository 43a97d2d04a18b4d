"""Requests about the program's state, passed through to the engine inside it.

Arguments were checked at the client's edge, and bodies go back as the bytes they
came in: an answer with a thousand variables is not read in between.
"""

from functools import partial
from typing import Any

import msgspec

from dapkit.adapter import Adapter, RequestFailed, answer_after_the_end, custom_request, not_a_request
from dapkit.protocol import (
    Arguments,
    BreakpointLocationsArguments,
    CompletionsArguments,
    ConfigurationDoneArguments,
    ContinueArguments,
    DataBreakpointInfoArguments,
    DisassembleArguments,
    EvaluateArguments,
    ExceptionInfoArguments,
    GotoArguments,
    GotoTargetsArguments,
    LoadedSourcesArguments,
    LocationsArguments,
    ModulesArguments,
    NextArguments,
    PauseArguments,
    RawJson,
    ReadMemoryArguments,
    RestartFrameArguments,
    ReverseContinueArguments,
    ScopesArguments,
    SetBreakpointsArguments,
    SetDataBreakpointsArguments,
    SetExceptionBreakpointsArguments,
    SetExpressionArguments,
    SetFunctionBreakpointsArguments,
    SetInstructionBreakpointsArguments,
    SetVariableArguments,
    SourceArguments,
    StackTraceArguments,
    StepBackArguments,
    StepInArguments,
    StepInTargetsArguments,
    StepOutArguments,
    TerminateThreadsArguments,
    ThreadsArguments,
    VariablesArguments,
    WriteMemoryArguments,
    encode_value,
)
from dapkit.protocol.heap import HEAP, HeapArguments
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
from dapkit.python.adapter.engine.breakpoint_store import SET_COMMANDS, BreakpointStore
from dapkit.python.adapter.engine.debuggee import NOTHING, ProgramGone
from dapkit.python.adapter.launch.replacement import Replacement
from dapkit.python.adapter.session.progress import with_progress
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

    def __init__(self) -> None:
        super().__init__()
        self.run: DebuggeeRun | None = None
        self.remembered = BreakpointStore()
        self.replacement: Replacement | None = None

    @not_a_request
    async def ask(self, arguments: Arguments[Any]) -> RawJson:
        """Put a request of the client to the engine.

        There is no deadline here: the engine limits requests that run code of the program, and the client can cancel.

        Raises:
            RequestFailed: the engine refused, or there is no program.

        """
        is_setting = arguments.command in SET_COMMANDS
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

    async def configuration_done(self) -> None:
        """Let the program begin."""
        await self.ask(ConfigurationDoneArguments())

    async def set_breakpoints(self, args: SetBreakpointsArguments) -> RawJson:
        """Replace the breakpoints of one source."""
        return await self.ask(args)

    async def breakpoint_locations(self, args: BreakpointLocationsArguments) -> RawJson:
        """List where in some lines the program can stop."""
        return await self.ask(args)

    async def set_function_breakpoints(self, args: SetFunctionBreakpointsArguments) -> RawJson:
        """Replace the breakpoints at functions."""
        return await self.ask(args)

    async def set_instruction_breakpoints(self, args: SetInstructionBreakpointsArguments) -> RawJson:
        """Replace the breakpoints at instructions."""
        return await self.ask(args)

    async def data_breakpoint_info(self, args: DataBreakpointInfoArguments) -> RawJson:
        """Return whether something can be watched."""
        return await self.ask(args)

    async def set_data_breakpoints(self, args: SetDataBreakpointsArguments) -> RawJson:
        """Replace the data breakpoints."""
        return await self.ask(args)

    async def set_exception_breakpoints(self, args: SetExceptionBreakpointsArguments) -> RawJson:
        """Return which exceptions stop the program."""
        return await self.ask(args)

    async def continue_(self, args: ContinueArguments) -> RawJson:
        """Resume all threads, or one."""
        return await self.ask(args)

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
        return await with_progress(self, "Looking for the change", partial(travel.why, args))

    @custom_request(HEAP)
    async def heap(self) -> RawJson:
        """Return the contents of the program's heap."""
        return await self.ask(HeapArguments())

    def _time_travel(self, command: str) -> TimeTravel:
        if self.run is None or self.run.debuggee is None:
            raise RequestFailed(f"{command}: there is no program")
        if not isinstance(self.run.debuggee, TimeTravel):
            raise RequestFailed(f'{command}: the program was started without "timeTravel": true')
        return self.run.debuggee

    async def next(self, args: NextArguments) -> None:
        """Step over."""
        await self.ask(args)

    async def step_in(self, args: StepInArguments) -> None:
        """Step into a call."""
        await self.ask(args)

    async def step_out(self, args: StepOutArguments) -> None:
        """Step to the caller."""
        await self.ask(args)

    async def step_in_targets(self, args: StepInTargetsArguments) -> RawJson:
        """List the calls that a step can go into."""
        return await self.ask(args)

    async def goto_targets(self, args: GotoTargetsArguments) -> RawJson:
        """List the places in a line to which a thread can go."""
        return await self.ask(args)

    async def goto(self, args: GotoArguments) -> None:
        """Let a thread continue at another line; with time travel, show where it has begun, if it has."""
        await self.ask(args)

    async def restart_frame(self, args: RestartFrameArguments) -> None:
        """Let the newest frame of a thread begin again; with time travel, show any where it began."""
        await self.ask(args)

    async def disassemble(self, args: DisassembleArguments) -> RawJson:
        """Show bytecode."""
        return await self.ask(args)

    async def pause(self, args: PauseArguments) -> None:
        """Stop the program wherever it is."""
        await self.ask(args)

    async def threads(self) -> RawJson:
        """List the threads."""
        return await self.ask(ThreadsArguments())

    async def stack_trace(self, args: StackTraceArguments) -> RawJson:
        """Show frames of a thread, stopped or running."""
        return await self.ask(args)

    async def terminate_threads(self, args: TerminateThreadsArguments) -> None:
        """End threads."""
        await self.ask(args)

    async def modules(self, args: ModulesArguments) -> RawJson:
        """List the modules, or a page of them."""
        return await self.ask(args)

    async def loaded_sources(self) -> RawJson:
        """List the sources of all code that is loaded."""
        return await self.ask(LoadedSourcesArguments())

    async def source(self, args: SourceArguments) -> RawJson:
        """Return the text of a source."""
        return await self.ask(args)

    async def scopes(self, args: ScopesArguments) -> RawJson:
        """List the groups of variables of a frame."""
        return await self.ask(args)

    async def variables(self, args: VariablesArguments) -> RawJson:
        """Show a page of variables."""
        return await self.ask(args)

    async def completions(self, args: CompletionsArguments) -> RawJson:
        """Propose completions."""
        return await self.ask(args)

    async def read_memory(self, args: ReadMemoryArguments) -> RawJson:
        """Show bytes of a buffer."""
        return await self.ask(args)

    async def write_memory(self, args: WriteMemoryArguments) -> RawJson:
        """Change bytes of a buffer."""
        return await self.ask(args)

    async def locations(self, args: LocationsArguments) -> RawJson:
        """Return where a function, class, method or module is defined."""
        return await self.ask(args)

    async def set_variable(self, args: SetVariableArguments) -> RawJson:
        """Give a shown variable a new value."""
        return await self.ask(args)

    async def set_expression(self, args: SetExpressionArguments) -> RawJson:
        """Assign to an expression."""
        return await self.ask(args)

    async def evaluate(self, args: EvaluateArguments) -> RawJson:
        """Evaluate in the stopped program; output that this printed precedes the response."""
        body = await self.ask(args)
        if self.run is not None and self.run.debuggee is not None:
            await self.run.debuggee.process.report_output()
        return body

    async def exception_info(self, args: ExceptionInfoArguments) -> RawJson:
        """Describe the exception that a thread is stopped at."""
        return await self.ask(args)


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
