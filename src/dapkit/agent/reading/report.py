"""The report of a stop: the information for which an agent would otherwise make five calls.

It is gathered by concurrent requests within a deadline of its own. Parts that do not arrive in time are left out and
named; the stop is reported in any case.
"""

import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import anyio
import anyio.to_thread

from dapkit import limits as shared_limits
from dapkit.agent import limits
from dapkit.agent.budget import shortened
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.program_output import written
from dapkit.agent.calls.session_notes import Locals, ShownValue, StopNote
from dapkit.agent.reading import conversion
from dapkit.agent.reading.exception_values import thrown_at
from dapkit.agent.reading.expressions import expression_values
from dapkit.agent.reading.local_variables import is_returned, returned_name, variables_of
from dapkit.agent.reading.pages import lines_of, reliable_total
from dapkit.agent.reading.variable_contents import DEFINITIONS, contents_of, is_hidden
from dapkit.agent.results import values
from dapkit.agent.results.session import PassedStep, SourceLine, StopReport
from dapkit.protocol import (
    Arguments,
    DapkitError,
    ExceptionInfoArguments,
    SourceArguments,
    StackFrame,
    StackTraceArguments,
    Variable,
    changed,
)
from dapkit.redaction.redaction import names_secret
from dapkit.sessions.session import DebugSession
from dapkit.sessions.stops import Stop


async def stop_report(call: ActionCall, stop: Stop) -> StopReport:
    """Report where the program is stopped."""
    session = call.session
    since = call.remembered.begin_report(stop.number, session.output.end)
    reader = _StopReader(session, stop)
    await reader.read()
    local_rows, others = await _locals(call, stop, reader)
    call.remembered.keep_stop(_note(call, stop))
    other_names = [shortened(each.name, limits.NAME_CHARACTERS)[0] for each in others[: limits.REPORT_NAMES]]
    exception = reader.exception
    frames = [(index, reader.frames[index]) for index in shown_frames(stop, len(reader.frames))]
    return StopReport(
        number=stop.number,
        reason=stop.reason,
        child=stop.target or None,
        description=_short(stop.description),
        text=_short(stop.text),
        thread_name=stop.thread_name,
        hit_breakpoints=list(stop.hit_breakpoints),
        source_lines=reader.lines,
        locals=local_rows,
        more_locals=len(others),
        frames=[conversion.frame(frame, index) for index, frame in frames],
        frame=stop.frame or None,
        more_frames=_more(reader.known_frames, len(reader.frames), len(frames)),
        exception=None if exception is None else call.remembered.exception_of(stop.number, exception),
        returned=reader.returned or None,
        other_names=other_names or None,
        expressions=await _kept_expressions(call, stop),
        output=last_output(written(session, since=since).text),
        output_since=since,
        incomplete=reader.incomplete,
    )


def _note(call: ActionCall, stop: Stop) -> StopNote:
    of_report = call.remembered.locals
    variables = (
        {} if of_report is None else dict(itertools.islice(of_report.values.items(), limits.STOP_VARIABLES_KEPT))
    )
    return StopNote(
        number=stop.number,
        where=f"{stop.path or '?'}:{stop.line or 0}",
        function=stop.frame_name or "",
        variables={name: _kept(value) for name, value in variables.items()},
        output_end=call.session.output.end,
    )


def _kept(value: ShownValue) -> ShownValue:
    text, contents = value
    return shortened(text, limits.VALUE_CHARACTERS)[0], contents


def passed_step(before: StopReport, after: StopReport | None) -> PassedStep:
    """Return the line that a step has carried out, and the variables that it changed as far as the next stop shows."""
    frame = next((each for each in before.frames if each.index == (before.frame or 0)), None)
    line = 0 if frame is None else frame.line
    text = next((each.text for each in before.source_lines if each.line == line), "")
    changes = [] if after is None else [row for row in after.locals if row.changed]
    return PassedStep(
        path=None if frame is None or frame.source is None else frame.source.path or frame.source.name,
        function="" if frame is None else frame.name,
        line=line,
        text=text,
        changes=changes,
        returned=None if after is None else after.returned,
    )


class _StopReader:
    """The requests of one report, and their responses so far."""

    def __init__(self, session: DebugSession, stop: Stop) -> None:
        self.frames: Sequence[StackFrame] = ()
        self.total_frames: int | None = None
        self.known_frames: int | None = None
        self.variables: list[Variable] = []
        self.returned: list[values.VariableRow] = []
        self.exception: values.ExceptionRow | None = None
        self.lines: list[SourceLine] = []
        self.incomplete = [*stop.remarks, *_about_addresses(session, stop)]
        self._session = session
        self._stop = stop

    async def read(self) -> None:
        """Send all requests concurrently, and wait for them as long as there is time."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._gather, "the stack and the source", self._read_frames)
            tasks.start_soon(self._gather, "the locals", self._read_variables)
            tasks.start_soon(self._gather, "the exception", self._read_exception)

    async def _gather(self, name: str, part: Callable[[], Awaitable[None]]) -> None:
        try:
            with anyio.fail_after(limits.REPORT_SECONDS):
                await part()
        except TimeoutError:
            self.incomplete.append(f"{name} did not come within {limits.REPORT_SECONDS:g} s")
        except DapkitError as error:
            self.incomplete.append(f"{name} could not be had: {error}")

    async def ask[B](self, arguments: Arguments[B], /) -> B:
        """Ask the adapter of the stop. Raises: as `SessionRequests.ask`."""
        return await self._session.requests.ask(arguments, target=self._stop.target, deadline=limits.REPORT_SECONDS)

    async def _read_frames(self) -> None:
        stop = self._stop
        if stop.frames is not None:
            self.frames, self.total_frames = stop.frames, stop.total_frames
        elif stop.thread_id is not None:  # the adapter did not report the stack when the stop was read
            request = StackTraceArguments(thread_id=stop.thread_id, start_frame=0, levels=shared_limits.STOP_FRAMES)
            stack = await self.ask(request)
            self.frames, self.total_frames = stack.stack_frames, stack.total_frames
        else:
            return
        self.known_frames = reliable_total(self._session, self.total_frames)
        if self.known_frames is None and shared_limits.STOP_FRAMES < len(self.frames) < shared_limits.OWN_FRAMES:
            self.known_frames = len(self.frames)  # more were asked for
        await self._read_source(self.frames[stop.frame] if self.frames else None)

    async def _read_source(self, top: StackFrame | None) -> None:
        path, line = self._stop.path, self._stop.line
        if path is None or line is None:
            return
        source = None if top is None else top.source
        if source is not None and source.source_reference:  # the adapter has the text, even if there is such a file
            request = SourceArguments(source_reference=source.source_reference, source=source)
            text: Sequence[str] | None = (await self.ask(request)).content.splitlines()
        else:
            text = await anyio.to_thread.run_sync(lines_of, Path(path))
        self.lines = window(text or (), line)

    async def _read_variables(self) -> None:
        if self._stop.frame_id is not None:
            commands = self._session.traits.scope_commands
            variables = await variables_of(self._stop.frame_id, self.ask, commands=commands)
            self.variables = [variable for variable in variables if not is_returned(variable)]
            self.returned = [_returned(variable) for variable in variables if is_returned(variable)]

    async def _read_exception(self) -> None:
        thrown = await thrown_at(self._stop, self._session.traits, self.ask)
        if thrown is not None:
            self.exception = thrown
            return
        able = self._session.state.targets[self._stop.target].session.capabilities.supports_exception_info_request
        if (
            able
            and self._stop.reason == "exception"
            and not self._stop.at_panic_function
            and self._stop.thread_id is not None
        ):
            body = await self.ask(ExceptionInfoArguments(thread_id=self._stop.thread_id))
            self.exception = conversion.exception(body)


_FAULTS_OF_MEMORY = frozenset({"SIGSEGV", "SIGBUS", "SIGABRT"})


def _about_addresses(session: DebugSession, stop: Stop) -> list[str]:
    """Say that a fault of memory may differ from the one of a plain run."""
    is_placed = session.traits.fixed_addresses and not session.attached and not session.start.post_mortem
    if stop.signal not in _FAULTS_OF_MEMORY or not is_placed:
        return []
    return [f"under {session.adapter} addresses are not randomised: a plain run may fail elsewhere"]


def is_exit(stop: StopReport) -> bool:
    """Whether a stop is at the exception by which a program of Python ends itself."""
    name = "" if stop.exception is None else stop.exception.exception_id
    return name.split(maxsplit=1)[:1] == ["SystemExit"]  # debugpy adds a remark


def shown_frames(stop: Stop, count: int) -> list[int]:
    """Choose the frames to show of so many: the innermost, or those around the user's own code and the last of it."""
    indexes = [0, stop.frame, *([] if stop.outermost is None else [stop.outermost]), stop.frame + 1, 1]
    indexes += range(stop.frame + 2, count)
    if not stop.frame and stop.outermost is None:
        indexes = list(range(count))
    return sorted([*dict.fromkeys(index for index in indexes if index < count)][: limits.REPORT_FRAMES])


def window(lines: Sequence[str], line: int) -> list[SourceLine]:
    """Cut the lines around one out of a text."""
    first = max(1, line - limits.REPORT_SOURCE_LINES)
    last = min(len(lines), line + limits.REPORT_SOURCE_LINES)
    return [
        SourceLine(line=number, text=lines[number - 1][: limits.REPORT_SOURCE_CHARACTERS])
        for number in range(first, last + 1)
    ]


def last_output(text: str) -> str:
    """Keep the end of a text, from the beginning of a line on where that is possible."""
    if len(text) <= limits.REPORT_OUTPUT_CHARACTERS:
        return text
    text_end = from_line(text[-limits.REPORT_OUTPUT_CHARACTERS :])
    return f"(... {len(text) - len(text_end)} characters before)\n{text_end}"


def from_line(text: str) -> str:
    """Drop the first line of a text, which is only the end of one, if more follows."""
    _, newline, whole_lines = text.partition("\n")
    return whole_lines if newline and whole_lines else text


async def _kept_expressions(call: ActionCall, stop: Stop) -> list[values.ExpressionValue] | None:
    expressions = call.remembered.expressions
    return await expression_values(call, expressions, frame=stop.frame_id) if expressions else None


async def _locals(
    call: ActionCall, stop: Stop, reader: _StopReader
) -> tuple[list[values.VariableRow], Sequence[Variable]]:
    """Choose the variables to show: those that changed first, modules and functions last. The rest is returned, too."""
    remembered = call.remembered
    before = remembered.locals_before
    place = (stop.target, stop.thread_id, stop.path, stop.frame_name, reader.total_frames)
    earlier_values = before.values if before is not None and before.place == place else None
    interesting = [variable for variable in reader.variables if not is_hidden(variable)]
    for variable in interesting:
        remembered.has_children(
            variable.variables_reference,
            variable.named_variables,
            variable.indexed_variables,
            secret=names_secret(variable.name),
        )

    def rank(variable: Variable) -> int:
        changed_since = (
            earlier_values is not None and earlier_values.get(variable.name, ("", None))[0] != variable.value
        )
        return 0 if changed_since else 2 if variable.type in DEFINITIONS else 1

    variables = sorted(interesting, key=rank)[: limits.REPORT_LOCALS]
    inside: Sequence[str | None] = [None] * len(variables)
    if not call.session.traits.members_run_code:
        inside = await contents_of(variables, reader.ask, unreadable=call.session.traits.unreadable_value)
    remembered.locals = Locals(
        place,
        {variable.name: (variable.value, None) for variable in interesting}
        | {variable.name: (variable.value, contents) for variable, contents in zip(variables, inside, strict=True)},
    )
    rows = [_row(variable, contents, earlier_values) for variable, contents in zip(variables, inside, strict=True)]
    count = _fitting(rows)
    return rows[:count], [*sorted(interesting, key=rank)[count:]]


def _fitting(rows: Sequence[values.VariableRow]) -> int:
    """Count the rows that fit into a report; the changed ones are in it in any case."""
    room = limits.REPORT_LOCALS_CHARACTERS
    for count, row in enumerate(rows):
        room -= len(row.name) + len(row.value) + len(row.contents or "") + len(row.was or "")
        if room < 0 and count >= limits.REPORT_LOCALS_LEAST and not row.changed:
            return count
    return len(rows)


def _row(
    variable: Variable, contents: str | None, earlier_values: Mapping[str, ShownValue] | None
) -> values.VariableRow:
    """Show a variable with its contents, compared with the last report."""
    has_members = variable.variables_reference > 0 or variable.value.endswith("}")
    fits = has_members and len(variable.value) <= limits.CONTENTS_CHARACTERS
    most = limits.CONTENTS_CHARACTERS if fits else limits.REPORT_VALUE_CHARACTERS
    row = changed(conversion.variable(variable, most=most), contents=contents)
    if earlier_values is None:
        return row
    value, inside = earlier_values.get(variable.name, (None, None))
    if value != variable.value:
        return changed(row, changed=True, was=None if value is None else shortened(value, most)[0])
    if inside is not None and contents not in (None, inside):
        return changed(row, changed=True, was=inside)
    return row


def _returned(variable: Variable) -> values.VariableRow:
    row = conversion.variable(variable, most=limits.REPORT_VALUE_CHARACTERS)
    return changed(row, name=returned_name(variable))


def _short(text: str | None) -> str | None:
    return None if text is None else shortened(text, limits.VALUE_CHARACTERS)[0]


def _more(total: int | None, came: int, row_count: int) -> int:
    """How many further frames there are; -1 for some."""
    if came <= row_count:
        return 0
    return total - row_count if total is not None and total > row_count else -1
