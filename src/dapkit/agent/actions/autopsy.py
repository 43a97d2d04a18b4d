"""Why a program breaks off: its exception or signal, and the frames of the user's own code with their variables."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Unpack, cast

import anyio.to_thread

from dapkit.agent import limits
from dapkit.agent.actions.history import why
from dapkit.agent.actions.inspection import threads_standing
from dapkit.agent.actions.launch import attach
from dapkit.agent.actions.launch import core as open_core
from dapkit.agent.actions.whole_program import released, started
from dapkit.agent.calls import parameters as p
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import ActionFailed, InvalidArguments
from dapkit.agent.calls.program_output import written
from dapkit.agent.calls.registry import Approval, action
from dapkit.agent.reading import conversion
from dapkit.agent.reading.expressions import expression_values
from dapkit.agent.reading.line_members import members_near
from dapkit.agent.reading.local_variables import is_returned, variables_of
from dapkit.agent.reading.pages import lines_of
from dapkit.agent.reading.report import is_exit, last_output, passed_step, stop_report
from dapkit.agent.reading.snapshots import snapshot
from dapkit.agent.reading.suspicion import is_named, is_suspicious, line_assigned
from dapkit.agent.reading.variable_contents import DEFINITIONS, contents_of, is_hidden
from dapkit.agent.results.autopsy import AutopsyFrame, AutopsyResult
from dapkit.agent.results.history import WhyResult
from dapkit.agent.results.session import PassedStep
from dapkit.agent.results.values import VariableRow
from dapkit.protocol import DapkitError, StackFrame, Variable, changed
from dapkit.sessions.own_code import own_frames
from dapkit.sessions.stops import Outcome

_OF_TESTS = {"justMyCode": True}
_FILTERS_OF_TESTS = ["uncaught", "userUnhandled"]
"""A test that fails raises an exception that pytest handles: it leaves the user's own code."""

_TEST_RUNNERS = frozenset({"pytest", "unittest"})

_LONG = 20
"""Characters of a value that is not repeated in a frame further out."""

_DIVISION = re.compile(r"ZeroDivision|division by zero|divide by zero|SIGFPE")


@action(Approval.EXECUTE, example={"program": "app.py", "args": ["--fast"]}, any_timeout=True, topic="run")
async def autopsy(
    call: ActionCall,
    *,
    pid: p.Pid | None = None,
    core: p.CoreFile | None = None,
    exceptions: p.Exceptions | None = None,
    time_travel: p.TimeTravel = False,
    **target: Unpack[p.ProgramToRun],
) -> AutopsyResult:
    """Run a program, test or process to its crash, or open a core file, and show why it breaks off.

    With time_travel, or of a recording, it also shows the last lines and where the suspicious values come from. A
    process is released afterwards.
    """
    target, pid, core = await anyio.to_thread.run_sync(_meant, call, target, pid, core)
    program, adapter, cwd = target.get("program"), target.get("adapter"), target.get("cwd")
    if core is not None:
        if program is None:
            raise InvalidArguments("program is required for a core file")
        await open_core(call, program=program, core=core, adapter=adapter, cwd=cwd, options=target.get("options"))
        async with released(call):
            return await _report(call, Outcome("stopped", stop=call.session.state.stop))
    if pid is not None:
        patient, call.patient = call.patient, False  # it need not stop at once
        await attach(call, pid=pid, adapter=adapter, cwd=cwd, exceptions=exceptions, options=target.get("options"))
        call.patient = patient
        async with released(call):
            return await _report(call, await _broken_off(call))
    if target.get("test") is not None or target.get("module") in _TEST_RUNNERS:
        target = {**target, "options": {**_OF_TESTS, **(target.get("options") or {})}}
        exceptions = _FILTERS_OF_TESTS if exceptions is None else exceptions
    async with started(call, target, exceptions=exceptions, time_travel=time_travel):
        return await _report(call, await _broken_off(call))


def _meant(
    call: ActionCall, target: p.ProgramToRun, pid: int | None, core: Path | None
) -> tuple[p.ProgramToRun, int | None, Path | None]:
    """Read a number as a process, FILE::TEST as a test, and a core file after its program as that."""
    program, args = target.get("program"), target.get("args") or []
    folder = target.get("cwd") or call.folder
    if program is None or (folder / program).exists():
        if program is not None and core is None and len(args) == 1 and _is_core(folder / args[0]):
            return cast("p.ProgramToRun", {**target, "args": []}), pid, folder / args[0]
        return target, pid, core
    rest = {name: value for name, value in target.items() if name != "program"}
    if program.isdecimal() and pid is None:
        if args:
            raise InvalidArguments(f"process {program} takes no arguments", hint="Options of dapkit stand before it.")
        return cast("p.ProgramToRun", rest), int(program), core
    if "::" in program and target.get("test") is None:
        return cast("p.ProgramToRun", {**rest, "test": program}), pid, core
    return target, pid, core


def _is_core(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(18)
    except OSError:
        return False
    return head[:4] == b"\x7fELF" and head[16:18] in (b"\x04\0", b"\0\x04")


async def _broken_off(call: ActionCall) -> Outcome:
    """Let the program run until it breaks off; other stops, such as the one of an attach, do not count."""
    session = call.session
    stop = session.state.stop
    outcome = Outcome("running") if stop is None else Outcome("stopped", stop=stop)
    while not session.state.over and call.left > 0:
        stop = outcome.stop
        if stop is not None and stop.breaks_off and not is_exit(await stop_report(call, stop)):
            return outcome
        outcome = await session.execution.resume(deadline=call.left)
    if session.state.over:
        return Outcome("terminated", exit_code=session.state.exit_code, failure=session.state.failure)
    return outcome


async def _report(call: ActionCall, outcome: Outcome) -> AutopsyResult:
    session = call.session
    stop = outcome.stop
    if stop is None or (call.left <= 0 and not stop.breaks_off):
        ended = outcome.state == "terminated"
        return AutopsyResult(
            snapshot=snapshot(session),
            frames=[],
            more_frames=0,
            output=last_output(written(session, "program").text),
            exit_code=session.state.exit_code if ended else None,
            signal=session.state.exit_signal if ended else None,
            seconds=None if ended else call.timeout,
            threads=None if ended else await threads_standing(call),
            failure=outcome.failure,
        )
    report = await stop_report(call, stop)
    frames = stop.frames or ()
    own = own_frames(frames, (session.cwd, session.project)) or [*range(len(frames))]
    divides = _DIVISION.search(str(report.exception) + str(stop.signal) + str(stop.text)) is not None
    rows = [
        await _frame(call, frames[index], index, divides=divides, is_first=index == own[0])
        for index in own[: limits.AUTOPSY_FRAMES]
    ]
    has_history = session.traits.recorded_history and call.capabilities.supports_step_back
    origins = await _origins(call, rows[0]) if has_history and rows else None
    return AutopsyResult(
        snapshot=snapshot(session),
        stop=report,
        frames=_without_repeats(rows),
        more_frames=len(own) - len(rows),
        origins=origins,
        last_lines=await _last_lines(call) if has_history else None,
        output=last_output(written(session, "program").text),
    )


def _without_repeats(rows: Sequence[AutopsyFrame]) -> list[AutopsyFrame]:
    """Leave out long values that a frame further inside has with the same name."""
    inside: set[tuple[str, str]] = set()
    result = []
    for row in rows:
        variables = [each for each in row.variables if (each.name, _beginning(each)) not in inside]
        inside.update((each.name, _beginning(each)) for each in row.variables if len(each.value) >= _LONG)
        result.append(changed(row, variables=variables))
    return result


def _beginning(row: VariableRow) -> str:
    """Return as much of a value as both frames show."""
    return row.value[: limits.AUTOPSY_OUTER_CHARACTERS - 10] + (row.contents or "")[:_LONG]


async def _members(call: ActionCall, frame: StackFrame, expressions: Sequence[str]) -> list[Variable]:
    """Read members of variables, such as `order.limit`; those that cannot be read are left out."""
    if call.session.attached:
        return []  # an item of a mapping may come to be as it is read, in a program that runs on
    values = await expression_values(call, expressions, frame=frame.id)
    return [
        Variable(name=each.expression, value=value.result, type=value.type, variables_reference=0)
        for each in values
        if (value := each.evaluation) is not None
    ]


async def _frame(
    call: ActionCall, frame: StackFrame, index: int, *, divides: bool, is_first: bool = False
) -> AutopsyFrame:
    """Read the variables of a frame: the suspicious ones first, then those that its line names.

    Among each of these those come first to which the nearest line above assigns.
    """
    path = None if frame.source is None else frame.source.path
    lines = None if path is None else await anyio.to_thread.run_sync(lines_of, Path(path))
    text = lines[frame.line - 1] if lines is not None and 0 < frame.line <= len(lines) else ""
    problem: str | None = None
    variables: Sequence[Variable] = ()
    try:
        variables = await variables_of(frame.id, call.requests.ask, commands=call.session.traits.scope_commands)
    except (DapkitError, ActionFailed) as error:
        problem = str(error)
    interesting = [each for each in variables if not is_hidden(each) and not is_returned(each)]
    members = await _members(call, frame, members_near(lines or [], frame.line)) if is_first else []
    interesting = _ranked(interesting, members, lines or [], frame.line, divides=divides)
    first = interesting[: limits.AUTOPSY_VARIABLES]
    most = limits.AUTOPSY_CHARACTERS if is_first else limits.AUTOPSY_OUTER_CHARACTERS
    inside: Sequence[str | None] = [None] * len(first)
    if not call.session.traits.members_run_code:
        unreadable = call.session.traits.unreadable_value
        inside = await contents_of(first, call.requests.ask, unreadable=unreadable, room=most)
    return AutopsyFrame(
        index=index,
        function=frame.name,
        path=path,
        line=frame.line,
        text=text,
        variables=[
            changed(conversion.variable(variable, most=most), contents=contents)
            for variable, contents in zip(first, inside, strict=True)
        ],
        suspicious=[variable.name for variable in first if is_suspicious(variable, divides=divides)],
        more=len(interesting) - len(first),
        problem=problem,
    )


def _ranked(
    variables: Sequence[Variable], members: Sequence[Variable], lines: Sequence[str], line: int, *, divides: bool
) -> list[Variable]:
    """Put the variables first that tell most. One of which the line reads a member is left out: that says more."""
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    member_names = [each.name for each in members]

    def rank(variable: Variable) -> tuple[int, int]:
        suspicious = is_suspicious(variable, divides=divides)
        in_line = is_named(variable.name, text) or variable.name in member_names
        group = 0 if suspicious and in_line else 1 if in_line else 2 if suspicious else 3
        return group, -line_assigned(variable.name, lines, min(line, len(lines) + 1))

    known_better = [each for each in variables if any(is_named(each.name, member) for member in member_names)]
    plain = [each for each in variables if each not in known_better and each.type not in DEFINITIONS]
    return sorted([*members, *plain], key=rank)


async def _origins(call: ActionCall, frame: AutopsyFrame) -> list[WhyResult]:
    """Ask where the suspicious values of the line come from, or else the values that the line names."""
    names = [row.name for row in frame.variables if is_named(row.name, frame.text)] or [
        row.name
        for row in frame.variables[:1]
        if not row.name.isidentifier()  # a member that the lines above read
    ]
    suspicious = [name for name in names if name in frame.suspicious] or frame.suspicious
    results = []
    for name in (suspicious or names)[: limits.AUTOPSY_ORIGINS]:
        with suppress(DapkitError, ActionFailed):
            results.append(await why(call, expression=name, frame=frame.index, follow=True))
    return results


async def _last_lines(call: ActionCall) -> list[PassedStep]:
    """Step back from the end, and return the lines that led there, the last one last."""
    lines: list[PassedStep] = []
    for _ in range(limits.AUTOPSY_LAST_LINES):
        outcome = await call.session.execution.resume("step_back", deadline=call.left)
        if outcome.stop is None or outcome.stop.reason != "step":
            break
        before = await stop_report(call, outcome.stop)
        lines.insert(0, passed_step(before, None))
    return lines
