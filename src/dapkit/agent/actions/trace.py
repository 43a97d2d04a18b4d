"""The life of one call: its arguments, the lines that it carries out with the changes of each, its calls, its end.

The program is stepped through the call, within a number of steps and the time of the action. Calls below it are stepped
over, or followed for some levels where they are the user's own code.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

import anyio.to_thread

from dapkit import limits as shared_limits
from dapkit.agent import limits
from dapkit.agent.actions.whole_program import breakpoint_set, started, starts_program
from dapkit.agent.breakpoint_forms.functions import first_line, place_of_test
from dapkit.agent.breakpoint_forms.specs import item_at
from dapkit.agent.calls import parameters as p
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import InvalidArguments
from dapkit.agent.calls.registry import Approval, action
from dapkit.agent.reading.breakpoint_problems import problem_of_kept
from dapkit.agent.reading.call_trace import TracePlace, TraceRows, row_of, traced_place, with_branches
from dapkit.agent.reading.expressions import expression_values
from dapkit.agent.reading.pages import lines_of, reliable_total
from dapkit.agent.reading.report import is_exit, stop_report
from dapkit.agent.reading.snapshots import snapshot
from dapkit.agent.results.session import StopReport
from dapkit.agent.results.trace import TraceResult
from dapkit.agent.results.values import FrameRow, VariableRow
from dapkit.protocol import DapkitError, StackFrame, StackTraceArguments
from dapkit.protocol.call_traces import CallTraceArguments, CallTraceBody, TraceCallArguments, TracedLine
from dapkit.sessions.breakpoints.kept import KeptBreakpoint
from dapkit.sessions.errors import NotStopped
from dapkit.sessions.own_code import is_own
from dapkit.sessions.stops import How, Outcome, Stop


@action(
    Approval.EXECUTE,
    example={"location": "total_price", "program": "app.py"},
    any_timeout=True,
    topic="run",
)
async def trace(
    call: ActionCall,
    *,
    location: p.Location | None = None,
    condition: p.Condition | None = None,
    nth: p.Nth = 1,
    depth: p.Depth = 0,
    steps: p.Steps = shared_limits.TRACE_STEPS,
    **target: Unpack[p.ProgramToRun],
) -> TraceResult:
    """Show the life of one call: arguments, lines with the changes of each, calls, return value or exception.

    With a program it is run until that call; a test is itself the call, unless a location is given. Without a program
    the program of the session runs there, or is followed from where it is stopped.
    """
    if nth < 1 or not 0 <= depth <= limits.TRACE_DEPTH_MOST or not 1 <= steps <= limits.TRACE_STEPS_MOST:
        raise InvalidArguments(
            f"nth must be 1 or more, depth from 0 to {limits.TRACE_DEPTH_MOST},"
            f" steps from 1 to {limits.TRACE_STEPS_MOST}"
        )
    folder = target.get("cwd") or call.folder
    test = target.get("test")
    if location is None and test is not None:
        location = await anyio.to_thread.run_sync(place_of_test, test, folder)
    tracer = _Tracer(call, depth=depth, most=steps)
    if location is None:
        if starts_program(target):
            raise InvalidArguments("trace requires location", hint="FILE:LINE or the name of a function.")
        if (stop := call.session.state.stop) is None:
            raise NotStopped("A trace without a location")
        return await tracer.follow(stop)
    folders = [call.folder, folder]
    item_of_location = item_at(location, folders, condition=condition, hit_condition=None if nth == 1 else str(nth))
    item = await anyio.to_thread.run_sync(first_line, item_of_location, folders)
    if starts_program(target):
        async with started(call, target, breakpoints=[item]):
            return await tracer.from_breakpoint(next(iter(call.session.breakpoints)))
    async with breakpoint_set(call, item, folders) as own:
        await call.session.execution.resume(deadline=call.left)
        return await tracer.from_breakpoint(own)


_RETURNS_NAME = re.compile(r"return\s+(?P<name>[A-Za-z_]\w*)\s*;?")
"""A line that returns the value of a variable."""

type _Signature = tuple[tuple[str, str | None, int], ...]
"""The frames above a call: name, file and line of each."""


@dataclass
class _Tracer:
    """A trace that is being made.

    Attributes:
        depth: levels of calls below it that are followed.
        most: lines that are followed.
        rows: the lines so far; None before the call has begun.
        ending: how the call ended, as far as it is known.
        problem: why not all of it is known.
        returned: the value of the call.
        broken_at: where the program stopped instead of going on.

    """

    call: ActionCall
    depth: int
    most: int
    rows: TraceRows | None = None
    ending: str = "it was not followed to its end"
    problem: str | None = None
    returned: VariableRow | None = None
    broken_at: StopReport | None = None
    _first: StopReport | None = None
    _thread: int | None = None
    _above: _Signature = ()
    _is_recursive: bool = False
    _depth: int | None = None  # frames at the beginning, if that is known

    async def from_breakpoint(self, own: KeptBreakpoint) -> TraceResult:
        """Follow the call once the program has come to its breakpoint, which is then taken back."""
        session = self.call.session
        outcome = Outcome("stopped", stop=session.state.stop)
        while outcome.stop is None and not session.state.over and self.call.left > 0:
            outcome = await session.execution.wait(deadline=self.call.left)
        stop = outcome.stop
        if stop is not None and own.number in stop.hit_breakpoints:
            await session.breakpoints.remove(own.number)
            return await self.follow(stop)
        self.ending = "it was not called"
        report = None if stop is None else await stop_report(self.call, stop)
        if report is not None and is_exit(report):
            await session.execution.resume(deadline=self.call.left)
            self.problem = problem_of_kept(own)
        elif report is not None:
            unset = problem_of_kept(own)
            self.problem = f"The program stopped before it came there{'.' if unset is None else f': {unset}'}"
            self.broken_at = report
        else:
            late = "The time was over before the program came there."
            self.problem = problem_of_kept(own) if session.state.over else late
        return await self._result()

    async def follow(self, stop: Stop) -> TraceResult:
        """Follow the call in which the program is stopped, to its end or to the limit."""
        self._first = report = await stop_report(self.call, stop)
        frames = stop.frames or ()
        self._above, self._thread = _signature(frames[1:]), stop.thread_id
        self._is_recursive = bool(frames) and any(name == frames[0].name for name, _, _ in self._above)
        self._depth = await self._frames_of(stop)
        if (place := await self._place_noted_by_adapter()) is not None:
            await self._go_to_end(stop.thread_id or 0, place)
            return await self._result()
        self.rows = TraceRows(self._place(report, 0))
        while await self._step(self.rows):
            pass
        return await self._result()

    async def _place_noted_by_adapter(self) -> TracePlace | None:
        """Let the adapter note the lines of the call, whose end the next step goes to; None if it does not do that."""
        session = self.call.session
        if not session.traits.call_traces or self._thread is None:
            return None
        request = TraceCallArguments(thread_id=self._thread, depth=self.depth, lines=self.most)
        try:
            return traced_place(await session.requests.ask_beyond(request, TracedLine), {})
        except DapkitError:
            return None  # as for a program with time travel

    async def _go_to_end(self, thread: int, place: TracePlace) -> None:
        """Let a thread go from a place to the end of the call, whose lines the adapter notes."""
        session = self.call.session
        how: How = "step_in" if self.depth else "next"
        outcome = await session.execution.resume(how, thread=thread, deadline=self.call.left)
        rows = self.rows = TraceRows(place)
        body = CallTraceBody(lines=[], is_cut=False)
        request = CallTraceArguments(thread_id=thread)
        with suppress(DapkitError):  # the program has ended at once, and its lines with it
            body = await session.requests.ask_beyond(request, CallTraceBody, deadline=limits.REPORT_SECONDS)
        for each in body.lines:
            rows.go_to(traced_place(each, rows.values_before(each.level)))
        if body.is_cut:
            self._say_limit()
        if (following := await self._stopped_in_call(rows, outcome)) is None:
            return
        if outcome.stop is not None:
            await self._end(rows, outcome.stop, following, is_known=not body.is_cut)

    async def _step(self, rows: TraceRows) -> bool:
        """Carry out the line that comes next, and return whether the call goes on."""
        is_limit = len(rows.rows) >= self.most
        level_before = rows.place.level
        how: How = "step_in" if level_before < self.depth else "next"
        if is_limit or (level_before == 0 and self._returns_here(rows.place)):
            how = "step_out"  # of which adapters report the value
        if is_limit:
            self._say_limit()
        outcome = await self._resume(how)
        following = await self._stopped_in_call(rows, outcome)
        stop = outcome.stop
        if following is None or stop is None:
            return False
        level = await self._level_of(stop)
        if level is None or stop.reason == "exception":
            await self._end(rows, stop, following, is_known=not is_limit)
            return False
        rows.go_to(self._place(following, level))
        return True

    def _say_limit(self) -> None:
        self.problem = f"Only its first {self.most} lines were followed; --steps follows more."

    async def _stopped_in_call(self, rows: TraceRows, outcome: Outcome) -> StopReport | None:
        """Return the report of a stop that belongs to the call, or to its end; None if it does not."""
        stop = outcome.stop
        if stop is None:
            rows.end()
            if outcome.state == "terminated":
                self.ending, self.problem = "the program ended in it", outcome.failure
            else:
                self.problem = "The time was over."
            return None
        following = await stop_report(self.call, stop)
        if stop.thread_id == self._thread and stop.reason in ("step", "exception"):
            return following
        rows.end()
        self.problem, self.broken_at = "The program stopped for another reason.", following
        return None

    async def _resume(self, how: How) -> Outcome:
        """Step; out again where a step into a call has led into code of others, or further than is followed."""
        execution = self.call.session.execution
        outcome = await execution.resume(how, thread=self._thread, deadline=self.call.left)
        while how == "step_in" and outcome.stop is not None and await self._is_beside(outcome.stop):
            outcome = await execution.resume("step_out", thread=self._thread, deadline=self.call.left)
        return outcome

    async def _end(self, rows: TraceRows, stop: Stop, following: StopReport, *, is_known: bool) -> None:
        """Record how the call has ended, and its last line if that `is_known`; the program is stopped behind it."""
        returned = following.returned or []
        if stop.reason == "exception":
            self.ending, self.broken_at = "it raised an exception", following
        elif returned:
            *returned, self.returned = returned
            self.ending = "it returned"
        if is_known:
            rows.end(returned)
        if self.returned is not None or self.broken_at is not None:
            return
        if (value := self._named_value()) is not None:
            self.ending, self.returned = "it returned", value
            return
        raised = await self._raised(stop)
        self.ending = "it was left, by a return or an exception" if raised is None else f"it raised {raised}"

    async def _frames_of(self, stop: Stop) -> int | None:
        """Count the frames of a stack; None if that would take long, and the calls above tell as much."""
        total = reliable_total(self.call.session, stop.total_frames)
        if total is not None or not self._is_recursive or stop.thread_id is None:
            return total
        request = StackTraceArguments(thread_id=stop.thread_id, start_frame=0, levels=limits.FRAMES_MOST)
        return len((await self.call.requests.ask(request)).stack_frames)

    async def _level_of(self, stop: Stop) -> int | None:
        """Count the calls between the traced one and the innermost frame; None if the traced one has been left."""
        depth = None if self._depth is None else await self._frames_of(stop)
        if depth is not None and self._depth is not None:
            return depth - self._depth if depth >= self._depth else None
        frames = stop.frames or ()
        for level in range(min(len(frames), limits.TRACE_DEPTH_MOST + 2)):
            if _signature(frames[level + 1 :]) == self._above:
                return level
        return None

    async def _is_beside(self, stop: Stop) -> bool:
        """Whether a stop is in code of others, or deeper than is followed."""
        level = await self._level_of(stop)
        if stop.reason != "step" or not level or not stop.frames:
            return False
        folders = (self.call.session.cwd, self.call.session.project)
        return level > self.depth or not is_own(stop.frames[0], folders)

    def _named_value(self) -> VariableRow | None:
        """Return the variable that the last line returns, if it names one and cannot have raised an exception."""
        if self.rows is None or not self.rows.rows or self.call.session.traits.python_expressions:
            return None
        match = _RETURNS_NAME.fullmatch(self.rows.rows[-1].text.strip())
        value = None if match is None else self.rows.own_values.get(match["name"])
        return None if value is None else row_of("", value)

    def _returns_here(self, place: TracePlace) -> bool:
        """Whether the line that comes next leaves the call, in a language whose debuggers show values of steps out."""
        text = place.text.strip()
        return not self.call.session.traits.python_expressions and (
            text == "}" or re.match(r"return\b", text) is not None
        )

    async def _raised(self, stop: Stop) -> str | None:
        """Return the exception that a caller is handling, in Python."""
        if not self.call.session.traits.python_expressions:
            return None
        [value] = await expression_values(self.call, ["__import__('sys').exception()"], frame=stop.frame_id)
        text = None if value.evaluation is None else value.evaluation.result
        return None if text == "None" else text

    def _place(self, report: StopReport, level: int) -> TracePlace:
        """Return the place of a report, with the variables that it has read."""
        of_report, frame = self.call.remembered.locals, _frame(report)
        line = 0 if frame is None else frame.line
        return TracePlace(
            level=level,
            line=line,
            text=next((each.text for each in report.source_lines if each.line == line), ""),
            function=None if frame is None else frame.name,
            path=None if frame is None or frame.source is None else frame.source.path,
            values={} if of_report is None else of_report.values,
            arguments=report.locals,
            returned=report.returned or (),
        )

    async def _result(self) -> TraceResult:
        first = self._first
        frame = None if first is None else _frame(first)
        path = None if frame is None or frame.source is None else frame.source.path or frame.source.name
        rows = [] if self.rows is None else self.rows.rows
        calling = [] if first is None or frame is None else [each for each in first.frames if each.index > frame.index]
        return TraceResult(
            snapshot=snapshot(self.call.session),
            ending=self.ending,
            rows=await anyio.to_thread.run_sync(with_branches, rows, path, _lines),
            steps=len(rows),
            arguments=[] if first is None else first.locals,
            function=None if frame is None else frame.name,
            path=path,
            line=None if frame is None else frame.line,
            caller=_text_of(calling[0]) if calling else None,
            returned=self.returned,
            exception=None if self.broken_at is None else self.broken_at.exception,
            problem=self.problem,
            stop=self.broken_at,
        )


def _signature(frames: Sequence[StackFrame]) -> _Signature:
    return tuple(
        (frame.name, None if frame.source is None else frame.source.path, frame.line)
        for frame in frames[: limits.TRACE_CALLERS]
    )


def _frame(report: StopReport) -> FrameRow | None:
    return next((frame for frame in report.frames if frame.index == (report.frame or 0)), None)


def _text_of(frame: FrameRow) -> str:
    source = "?" if frame.source is None else frame.source.path or frame.source.name or "?"
    return f"{source}:{frame.line} in {frame.name}"


def _lines(path: str) -> list[str]:
    return lines_of(Path(path)) or []
