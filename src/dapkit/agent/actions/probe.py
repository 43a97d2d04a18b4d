"""The values of expressions at each hit of a place: no source is edited for it, and no session has to be looked after.

A program is stopped at each hit, unless its adapter writes log messages as Python's f-strings: of a line of a program
that the action has started only the first hit is a stop then. The others are log messages: its threads run as usual.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Unpack

import anyio

from dapkit import limits as shared_limits
from dapkit.agent import limits
from dapkit.agent.actions.whole_program import breakpoint_set, started, starts_program
from dapkit.agent.breakpoint_forms.specs import item_at
from dapkit.agent.budget import shortened
from dapkit.agent.calls import parameters as p
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import InvalidArguments
from dapkit.agent.calls.program_output import written
from dapkit.agent.calls.registry import Approval, action
from dapkit.agent.reading.breakpoint_problems import problem_of_kept
from dapkit.agent.reading.expressions import expression_values
from dapkit.agent.reading.report import is_exit, stop_report
from dapkit.agent.reading.snapshots import snapshot
from dapkit.agent.results.probe import ProbeResult, ProbeRow, ProbesOfTag, ProbeTable
from dapkit.agent.results.session import StopReport
from dapkit.agent.results.values import Evaluation, ExpressionValue
from dapkit.client import SourceLocation
from dapkit.endpoint import LocalProtocolError
from dapkit.redaction.redaction import value_of
from dapkit.sessions.breakpoints.kept import KeptBreakpoint
from dapkit.sessions.stops import Outcome, Stop

_MARK, _BETWEEN, _VALUE = "\x1e", "\x1f", "\x1d"
"""Characters around the parts of a hit in a log message, between them, and before a value that there is."""

_THREAD = '__import__("threading").current_thread().name'
_TIME = '__import__("time").perf_counter()'

_ROW = re.compile(f"{_MARK}([^{_MARK}]*){_MARK}")

_UNREADABLE = "its text has a character that ends a value here"


@action(
    Approval.EXECUTE,
    example={"location": "app.py:12", "expressions": ["total", "len(items)"], "program": "app.py"},
    any_timeout=True,
    topic="run",
)
async def probe(
    call: ActionCall,
    *,
    location: p.Location | None = None,
    expressions: p.Expressions | None = None,
    condition: p.Condition | None = None,
    hits: p.Hits = shared_limits.PROBE_HITS,
    every: p.Every = 1,
    tag: p.Tag | None = None,
    **target: Unpack[p.ProgramToRun],
) -> ProbeResult | ProbesOfTag:
    """Show the values of expressions at each hit of a line or function, as one table.

    With a program, it is run to its end. Without one, the program of the session runs until there are so many hits,
    and is stopped there. A hit counts if its condition is met.
    """
    if location is None:
        if tag is None:
            raise InvalidArguments("probe requires location", hint="FILE:LINE or a function; or tag alone.")
        return ProbesOfTag(tag=tag, tables=[*_kept(call, tag)])
    if not 1 <= hits <= limits.PROBE_HITS_MOST or every < 1:
        raise InvalidArguments(f"hits must be from 1 to {limits.PROBE_HITS_MOST}, and every 1 or more")
    if tag is not None and not tag.strip():
        raise InvalidArguments("tag must not be empty")
    folders = [call.folder, target.get("cwd") or call.folder]
    every_text = f"% {every}" if every > 1 else None
    item = item_at(location, folders, condition=condition, hit_condition=every_text)
    title = f"{location.strip()} if {condition}" if condition is not None else location.strip()
    request = _Request(title, expressions or [], hits, every, tag)
    if starts_program(target):
        async with started(call, target, breakpoints=[item]) as start:
            of_program = _Probe(call, request, next(iter(call.session.breakpoints)), to_its_end=True)
            return await of_program.result(stopped=start.stop is not None)
    async with breakpoint_set(call, item, folders) as own:
        return await _Probe(call, request, own, to_its_end=False).result(stopped=False)


def _kept(call: ActionCall, tag: str) -> list[ProbeTable]:
    """Collect the probes of a project that have a tag."""
    return [
        table
        for session in call.sessions.of(call.folder)
        if (notes := call.memories.get(session)) is not None
        for table in notes.probes
        if table.tag == tag
    ]


@dataclass(frozen=True)
class _Request:
    """The request: the values of each hit, and how many hits."""

    title: str
    expressions: Sequence[str]
    hits: int
    every: int
    tag: str | None


@dataclass
class _Probe:
    """A probe that is set.

    Attributes:
        own: its breakpoint.
        to_its_end: whether the program runs on after the last hit.

    """

    call: ActionCall
    request: _Request
    own: KeptBreakpoint
    to_its_end: bool
    rows: list[ProbeRow] = field(default_factory=list)
    _began: float = 0.0
    _logged_from: int | None = None
    _logged_began: float = 0.0

    async def result(self, *, stopped: bool) -> ProbeResult:
        """Collect the hits until there are enough, or the program has stopped elsewhere or ended."""
        call, session = self.call, self.call.session
        broken_at: StopReport | None = None
        outcome = Outcome("stopped", stop=session.state.stop) if stopped else await self._resume()
        while outcome.stop is not None and call.left > 0:
            stop = outcome.stop
            if self.own.number in stop.hit_breakpoints:
                await self._add_row(stop)
                if self._is_full:
                    if not self.to_its_end:
                        break
                    await session.breakpoints.remove(self.own.number)
                elif self._can_log:
                    await self._log_the_others(stop)
            else:
                report = await stop_report(call, stop)
                if not is_exit(report) and (not self.to_its_end or stop.reason == "exception"):
                    broken_at = report
                if not self.to_its_end and broken_at is not None:
                    break
            outcome = await self._resume()
        self._read_logged()
        late = outcome.state == "running" or (outcome.state == "stopped" and call.left <= 0)
        table = ProbeTable(
            location=self.request.title,
            expressions=[*self.request.expressions],
            rows=self.rows[: self.request.hits],
            problem=None if self.rows else problem_of_kept(self.own),
            tag=self.request.tag,
        )
        if self.request.tag is not None:
            call.remembered.probes.append(table)
        return ProbeResult(
            snapshot=snapshot(session),
            table=table,
            limited=self._is_full,
            state=outcome.state,
            stop=broken_at,
            exit_code=outcome.exit_code,
            seconds=call.timeout if late else None,
            failure=outcome.failure,
        )

    @property
    def _can_log(self) -> bool:
        """Whether the hits that follow can be logged; breakpoints on functions have no log messages in the protocol."""
        is_on_line = isinstance(self.own.spec.location, SourceLocation)
        traits = self.call.session.traits
        return self._logged_from is None and self.to_its_end and is_on_line and traits.f_string_log_messages

    @property
    def _is_full(self) -> bool:
        return len(self.rows) >= self.request.hits

    async def _resume(self) -> Outcome:
        """Let the program run to its next stop; hits that it logs are counted meanwhile."""
        execution = self.call.session.execution
        outcome = await execution.resume(deadline=self._patience())
        while outcome.timed_out and self.call.left > 0:
            self._read_logged()
            if self._is_full and self._logged_from is not None:
                self._logged_from = None
                with suppress(LocalProtocolError):  # the program runs, and may have ended by now: nothing was sent
                    await self.call.session.breakpoints.remove(self.own.number)
            outcome = await execution.wait(deadline=self._patience())
        return outcome

    def _patience(self) -> float:
        return self.call.left if self._logged_from is None else min(limits.PROBE_LOOK_SECONDS, self.call.left)

    async def _add_row(self, stop: Stop) -> None:
        now = anyio.current_time()
        self._began = self._began if self.rows else now
        values = await expression_values(self.call, self.request.expressions, frame=stop.frame_id)
        self._append(now - self._began, stop.thread_name, values)

    def _append(self, seconds: float, thread: str | None, values: list[ExpressionValue]) -> None:
        hit = (len(self.rows) + 1) * self.request.every
        self.rows.append(ProbeRow(hit=hit, seconds=seconds, thread=thread, values=values))

    async def _log_the_others(self, stop: Stop) -> None:
        """Set a log message for the hits that follow: the program does not stop at them."""
        fields = [f"{{{_TIME}!r}}", f"{{{_THREAD}}}", *map(_field, self.request.expressions)]
        spec = self.own.spec
        hit_condition = f"<= {self.request.hits - 1}" if self.request.every == 1 else spec.hit_condition
        message = _MARK + _BETWEEN.join(fields) + _MARK
        [moment] = await expression_values(self.call, [_TIME], frame=stop.frame_id)
        if moment.evaluation is None:
            return
        await self.call.session.breakpoints.set(replace(spec, hit_condition=hit_condition, log_message=message))
        self._logged_began = float(moment.evaluation.result)
        self._logged_from = self.call.session.output.end

    def _read_logged(self) -> None:
        """Make rows of the messages that have come."""
        if self._logged_from is None:
            return
        text = written(self.call.session, "console", since=self._logged_from).text
        for match in [*_ROW.finditer(text)][len(self.rows) - 1 :]:
            moment, thread, *values = match[1].split(_BETWEEN)
            expressions = self.request.expressions
            if len(values) != len(expressions):  # the text of one has such a character
                values = [_UNREADABLE] * len(expressions)
            self._append(float(moment) - self._logged_began, thread, [*map(_logged_value, expressions, values)])


def _field(expression: str) -> str:
    """Return the field of a log message that shows an expression; its error stands in place of all of the field."""
    return f'{{f"{_VALUE}{{({expression})!r}}"}}'


def _logged_value(expression: str, text: str) -> ExpressionValue:
    if not text.startswith(_VALUE):
        return ExpressionValue(expression=expression, problem=text.removeprefix("<").removesuffix(">"))
    text = text.removeprefix(_VALUE)
    beginning, length = shortened(text, limits.CUT_VALUE_CHARACTERS)
    evaluation = Evaluation(result=value_of(expression, beginning), variables_reference=0, length=length)
    return ExpressionValue(expression=expression, evaluation=evaluation)
