"""A program debugged from its start to its end in one call.

It is launched with its breakpoints; at each of them its expressions are evaluated and it goes on, until it ends. A stop
at an uncaught exception is shown with source, variables and stack. After as many stops as are to be shown it runs on
without any. One deadline holds for all of it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Unpack, cast

import anyio

from dapkit import limits as shared_limits
from dapkit.agent.actions.breakpoints import breakpoints as change_breakpoints
from dapkit.agent.actions.breakpoints import set_exception_breakpoints
from dapkit.agent.actions.inspection import threads_standing
from dapkit.agent.actions.whole_program import started
from dapkit.agent.breakpoint_forms.rows import function_breakpoints, source_breakpoints
from dapkit.agent.calls import parameters as p
from dapkit.agent.calls.arguments import read
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import ActionFailed, InvalidArguments
from dapkit.agent.calls.program_output import written
from dapkit.agent.calls.registry import ACTIONS, Approval, action
from dapkit.agent.reading.breakpoint_problems import asked_place, problem_of
from dapkit.agent.reading.comparison import compared_runs
from dapkit.agent.reading.expressions import expression_values
from dapkit.agent.reading.report import from_line, is_exit, stop_report
from dapkit.agent.reading.snapshots import snapshot
from dapkit.agent.results.breakpoints import FunctionBreakpointRow, SourceBreakpointRow
from dapkit.agent.results.run import ComparedRuns, RunBreakpoint, RunResult, RunStop
from dapkit.agent.results.session import Started, StopReport
from dapkit.agent.results.values import ExpressionValue
from dapkit.agent.text.run import TRACEBACK
from dapkit.protocol import DapkitError, changed
from dapkit.sessions.stops import Outcome


@action(
    Approval.EXECUTE,
    example={"program": "app.py", "breakpoints": ["app.py:12"], "expressions": ["n"]},
    any_timeout=True,
)
async def run(
    call: ActionCall,
    *,
    breakpoints: p.Breakpoints | None = None,
    exceptions: p.Exceptions | None = None,
    expressions: p.Expressions | None = None,
    stops: p.Stops = shared_limits.RUN_STOPS,
    output_lines: p.OutputLines = shared_limits.RUN_OUTPUT_LINES,
    **target: Unpack[p.ProgramToRun],
) -> RunResult:
    """Debug a program from start to end in one call, and show its state at breakpoints.

    A breakpoint may be an object with the keys `breakpoint` and `expressions`: these are evaluated at this one alone.
    The expressions of the call are evaluated at each breakpoint. A program that still runs when the timeout is over is
    ended, and the answer says where each of its threads stood.
    """
    how = _How(breakpoints or (), exceptions, expressions or (), stops=stops, output_lines=output_lines)
    return await _whole_run(call, how, target)


@action(
    Approval.EXECUTE,
    example={"program": "app.py", "breakpoints": ["app.py:12"], "other": {"env": {"PYTHONHASHSEED": "2"}}},
    any_timeout=True,
)
async def compare_runs(
    call: ActionCall,
    *,
    other: p.OtherRun,
    breakpoints: p.Breakpoints | None = None,
    exceptions: p.Exceptions | None = None,
    expressions: p.Expressions | None = None,
    stops: p.Stops = shared_limits.COMPARED_STOPS,
    **target: Unpack[p.ProgramToRun],
) -> ComparedRuns:
    """Run a program twice, and show only the stops that differ: two seeds, inputs or sets of arguments.

    The keys of `other` are parameters of this action that the second run has other values of: program, args, env,
    cwd, stdin_file, python. Addresses in values are not compared.
    """
    if extra := sorted(other.keys() - _COMPARABLE):
        raise InvalidArguments(
            f"compare_runs: other has {', '.join(extra)}", hint=f"It may have {', '.join(sorted(_COMPARABLE))}."
        )
    second = cast("p.ProgramToRun", read(ACTIONS["run"], other, folder=call.folder))
    how = _How(breakpoints or (), exceptions, expressions or (), stops=stops, output_lines=0)
    results: list[RunResult] = []
    ends, name = call.ends, call.request.session
    call.show = lambda _part: None  # of a single run
    both: list[p.ProgramToRun] = [target, {**target, **second}]
    for each in both:
        call.ends = ends if results else anyio.current_time() + call.left / 2
        call.request = replace(call.request, session=None if name is None else f"{name}-{len(results) + 1}")
        call.used = None
        results.append(await _whole_run(call, how, each))
    return compared_runs(*results)


_COMPARABLE = {"program", "args", "env", "cwd", "stdin_file", "python"}


@dataclass(frozen=True)
class _How:
    """The breakpoints of a run, and how much of it is shown."""

    breakpoints: Sequence[str | dict[str, object]]
    exceptions: list[str] | None
    expressions: Sequence[str]
    stops: int
    output_lines: int


async def _whole_run(call: ActionCall, how: _How, target: p.ProgramToRun) -> RunResult:
    """Launch a program, and pass its stops until it has ended. Raises: as `launch`."""
    if how.stops < 1 or how.output_lines < 0:
        raise InvalidArguments("stops must be 1 or more, and output_lines 0 or more")
    places, expressions_of_places = _split(how.breakpoints)
    async with started(call, target, breakpoints=places, exceptions=how.exceptions) as start:
        whole = _Run(
            call,
            everywhere=how.expressions,
            of_places=expressions_of_places,
            most=how.stops,
            lines=how.output_lines,
            has_filters=bool(how.exceptions),
        )
        return await whole.to_its_end(start)


def _split(
    items: Sequence[str | dict[str, object]],
) -> tuple[list[str | dict[str, object]], list[list[str]]]:
    """Take the expressions of single breakpoints out of them. Raises: InvalidArguments."""
    places: list[str | dict[str, object]] = []
    expressions: list[list[str]] = []
    for item in items:
        own = item.get("expressions", []) if isinstance(item, Mapping) else []
        if not isinstance(own, list) or not all(isinstance(each, str) for each in own):
            raise InvalidArguments(f"breakpoints: expressions must be a list of strings, not {own!r}")
        rest = {key: value for key, value in item.items() if key != "expressions"} if isinstance(item, Mapping) else {}
        text = rest.get("breakpoint", item)
        places.append(text if isinstance(text, str) else rest)
        expressions.append([*own])
    return places, expressions


@dataclass
class _Run:
    """A run that has been launched.

    Attributes:
        everywhere: expressions of every breakpoint.
        of_places: of each breakpoint, in the order in which they were asked for.
        most: stops that are shown.
        lines: of the output that are shown.
        has_filters: whether the exceptions to stop at were chosen.

    """

    call: ActionCall
    everywhere: Sequence[str]
    of_places: Sequence[Sequence[str]]
    most: int
    lines: int
    has_filters: bool
    stops: list[RunStop] = field(default_factory=list)
    _hits: dict[tuple[object, ...], int] = field(default_factory=dict)
    _place: tuple[object, ...] = ()
    _outcomes: list[RunBreakpoint] | None = None

    async def to_its_end(self, started: Started) -> RunResult:
        """Pass each stop until the program has ended, or the time is over."""
        execution = self.call.session.execution
        report = started.stop
        while True:
            if report is not None:
                await self._pass_stop(report)
                outcome = await execution.resume(deadline=self.call.left)
            else:
                outcome = await execution.wait(deadline=self.call.left)
            if outcome.state == "terminated" or self.call.left <= 0:
                return await self._end(outcome, started)
            report = None if outcome.stop is None else await stop_report(self.call, outcome.stop)

    async def _pass_stop(self, report: StopReport) -> None:
        """Show a stop; where the program stops once more than is to be shown, it must not stop again."""
        if self._outcomes is not None:
            return
        if is_exit(report) and not self.has_filters:
            return
        if len(self.stops) < self.most:
            stop = await self._stop(report)
            self.stops.append(stop)
            self.call.show(stop)
            return
        self._outcomes = self._breakpoints(within=self.most)
        await change_breakpoints(self.call, do="disable")
        with suppress(ActionFailed, DapkitError):  # an adapter may have no filters
            await set_exception_breakpoints(self.call, filters=[])

    async def _stop(self, report: StopReport) -> RunStop:
        stop = self.call.session.state.stop
        place = (None, None) if stop is None else (stop.path, stop.line)
        hit = self._hits[place] = self._hits.get(place, 0) + 1
        again, self._place = place == self._place, place
        expressions = self._expressions(report)
        frame = None if stop is None else stop.frame_id
        interpreter: str | None = None
        if report.exception is not None and report.exception.exception_id == "ModuleNotFoundError":
            [value] = await expression_values(self.call, ["__import__('sys').executable"], frame=frame)
            interpreter = None if value.evaluation is None else value.evaluation.result.strip("'")
        values: list[ExpressionValue] | None = None
        if expressions:
            values = await expression_values(self.call, expressions, frame=frame)
        return RunStop(stop=report, hit=hit, again=again, values=values, interpreter=interpreter)

    def _expressions(self, report: StopReport) -> list[str]:
        """Choose the expressions of a stop: elsewhere than at their breakpoints their names mostly mean nothing."""
        placed = sorted(each.number for each in self.call.session.breakpoints if not each.spec.temporary)
        if report.reason == "exception":
            return [] if placed else [*self.everywhere]
        if len(placed) != len(self.of_places) or not report.hit_breakpoints:  # it is not known which one it is
            return [*dict.fromkeys([*self.everywhere, *(each for own in self.of_places for each in own)])]
        own = dict(zip(placed, self.of_places, strict=True))
        numbers = report.hit_breakpoints
        return [*dict.fromkeys([*self.everywhere, *(each for number in numbers for each in own.get(number, ()))])]

    async def _end(self, outcome: Outcome, started: Started) -> RunResult:
        call, session = self.call, self.call.session
        late = outcome.state != "terminated"
        limited = self._outcomes is not None
        threads = await threads_standing(call) if late else None
        output = written(session, "program")
        most = call.settings.text_bytes * 3 // 4
        text = output.text if len(output.text) <= most else from_line(output.text[-most:])
        result = RunResult(
            snapshot=snapshot(session),
            stops=self.stops,
            breakpoints=self._breakpoints() if self._outcomes is None else self._outcomes,
            output=text,
            omitted=output.lost + len(output.text) - len(text),
            traceback_is_known=_ends_with_exception(text, self.stops[-1].stop if self.stops else None),
            output_lines=self.lines,
            console=written(session, "console").text[-most:],
            exit_code=None if late else session.state.exit_code,
            signal=None if late else session.state.exit_signal,
            limited=self.most if limited else None,
            seconds=call.timeout if late else None,
            has_begun=not late or session.state.status in ("running", "stopped"),
            threads=threads,
            failure=outcome.failure,
            unread_input=started.unread_input,
        )
        call.show(changed(result, stops=[]))  # they were shown
        return result

    def _breakpoints(self, within: int | None = None) -> list[RunBreakpoint]:
        breakpoints = [*self.call.session.breakpoints]
        rows: list[SourceBreakpointRow | FunctionBreakpointRow] = [
            *source_breakpoints(breakpoints),
            *function_breakpoints(breakpoints),
        ]
        return [
            RunBreakpoint(
                breakpoint=asked_place(row),
                verified=row.verified,
                hits=row.hits,
                problem=problem_of(row, within=within),
            )
            for row in rows
        ]


def _ends_with_exception(output: str, stop: StopReport | None) -> bool:
    """Whether an output ends with the traceback of a stop's exception, and of no other: a chain of them says more."""
    output = output.replace("\r\n", "\n")
    if stop is None or stop.exception is None or output.count(TRACEBACK) != 1:
        return False
    last_line = output.rstrip().rpartition("\n")[2]
    message = stop.exception.message
    text = f"{stop.exception.exception_id}: {message}" if message else stop.exception.exception_id
    return last_line == text
