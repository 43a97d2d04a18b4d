"""From the record of a session to its transcript: which of an answer is worth reading, and in which words."""

import json
import os
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

from dapkit.agent.command_words import command_line
from dapkit.agent.results.diagnostics import RecordedAction, RecordResult, WireRecords, WireRow
from dapkit.agent.results.session import StopReport
from dapkit.agent.results.snapshot import Snapshot
from dapkit.agent.results.values import ExceptionRow, FrameRow, VariableRow
from dapkit.diagnostics.sessions import Where, record_of, wire_of
from dapkit.diagnostics.transcript.content import (
    CodeLine,
    ShownStop,
    ShownVariable,
    Transcript,
    TranscriptStep,
    WireMessage,
)
from dapkit.protocol import InvalidValue, from_json_value


def transcript_of(where: Where, *, with_wire: bool = False) -> Transcript:
    """Return the transcript of a session, also of one that has ended lately.

    Args:
        where: whose session.
        with_wire: with the messages between dapkit and the adapter, as far as they are kept.

    Raises:
        DiagnosticsError: there is no such session.

    """
    record = record_of(where)
    wire = wire_of(Where(where.project, record.snapshot.id), leaves=True) if with_wire else None
    return transcript_from(record, wire)


def transcript_from(record: RecordResult, wire: WireRecords | None = None) -> Transcript:
    """Make a transcript of a record that is at hand, and perhaps of messages."""
    *messages, later_wire = _wire_by_step(record.entries, wire)
    steps = [_step(entry, record.project, passed) for entry, passed in zip(record.entries, messages, strict=True)]
    ends = max((entry.time + entry.seconds for entry in record.entries), default=record.created)
    started = min([record.created, *(entry.time for entry in record.entries[:1])])
    program = record.snapshot.program or ""
    return Transcript(
        session=record.snapshot.id,
        project=record.project,
        program=_short(program, record.project) or f"{record.configuration.request} by {record.snapshot.adapter}",
        adapter=record.snapshot.adapter,
        facts=[*_facts(record, program)],
        started=started,
        seconds=max(0.0, ends - started),
        ending=_ending(record),
        over=record.snapshot.status == "terminated",
        steps=steps,
        dropped=record.dropped,
        later_output=record.later_output,
        output_lost=record.output_lost,
        later_wire=later_wire,
        wire_total=None if wire is None else wire.total,
        wire_kept=0 if wire is None else len(wire.records),
    )


def _facts(record: RecordResult, program: str) -> Iterator[tuple[str, str]]:
    if Path(_short(program, record.project)).is_absolute():
        yield "Program", _from_home(program)
    arguments = record.configuration.arguments
    words = arguments.get("args") if isinstance(arguments, dict) else None
    if isinstance(words, list) and words:
        yield "Arguments", " ".join(map(str, words))
    yield "Adapter", record.snapshot.adapter
    yield "Project", _from_home(record.project)


def _ending(record: RecordResult) -> str:
    snapshot = record.snapshot
    if snapshot.status == "terminated":
        ending = record.ending or "It has ended"
        return f"{ending[0].upper()}{ending[1:].rstrip('.')}."
    if snapshot.status == "stopped":
        place = _place(snapshot, record.project)
        return f"It is open, and the program stands{f' at {place}' if place else ''}."
    return f"It is open: {snapshot.status}."


# Actions


def _step(entry: RecordedAction, project: str, wire: Sequence[WireMessage]) -> TranscriptStep:
    arguments = entry.arguments if isinstance(entry.arguments, dict) else {}
    details = entry.details if isinstance(entry.details, dict) else {}
    stop = _stop_in(details)
    value = _value_in(details, arguments)
    outcome = "" if stop is not None or value is not None or not entry.success else _outcome(details, project)
    return TranscriptStep(
        number=entry.number,
        time=entry.time,
        seconds=entry.seconds,
        action=entry.action,
        command=command_line(entry.action, arguments, folder=project),
        success=entry.success,
        output=entry.output,
        outcome=outcome,
        text="" if outcome or stop is not None or value is not None else entry.text,
        value=value,
        stop=None if stop is None else _shown_stop(stop, details, project),
        wire=wire,
    )


def _stop_in(details: Mapping[str, object]) -> StopReport | None:
    if (stop := details.get("stop")) is None:
        return None
    try:
        return from_json_value(StopReport, stop)
    except InvalidValue:  # of a hub of another version: its text is shown
        return None


def _value_in(details: Mapping[str, object], arguments: Mapping[str, object]) -> ShownVariable | None:
    """Find the result of an expression, or the new value of a variable."""
    match details.get("evaluation"):
        case {"result": str(result), **others}:
            name = details.get("name") or arguments.get("expression") or ""
            return ShownVariable(str(name), result, str(others.get("type") or ""))
    return None


def _outcome(details: Mapping[str, object], project: str) -> str:
    """Describe the outcome of letting the program run, or of ending it, in one line.

    Empty if the answer's text has it.
    """
    try:
        snapshot = from_json_value(Snapshot, details.get("snapshot"))
    except InvalidValue:
        return ""
    match details:
        case {"state": "terminated"}:
            return _ended(snapshot)
        case {"state": "running", "timedOut": True, "waited": float() | int() as waited}:
            return f"The program still ran after {waited:g} s."
        case {"ending": "detached" | "terminated" as ending}:
            return "The session had ended already." if details.get("already") else f"The session was {ending}."
        case {"state": "running"} | {"notes": list(), "adapter": str()}:
            return _status(snapshot, project)
    return ""


def _status(snapshot: Snapshot, project: str) -> str:
    if snapshot.status == "terminated":
        return _ended(snapshot)
    place = _place(snapshot, project)
    return f"The program is {snapshot.status}" + (f" at {place}." if place else ".")


def _ended(snapshot: Snapshot) -> str:
    if snapshot.exit_code is None:
        return "The program ended."
    signal = f" ({snapshot.exit_signal})" if snapshot.exit_signal else ""
    return f"The program ended with exit code {snapshot.exit_code}{signal}."


# Stops


def _shown_stop(stop: StopReport, details: Mapping[str, object], project: str) -> ShownStop:
    current = next((frame for frame in stop.frames if frame.index == (stop.frame or 0)), None)
    path = _path_of(current)
    return ShownStop(
        number=stop.number,
        reason=_reason(stop),
        place="" if current is None or not path else f"{_short(path, project)}:{current.line}",
        path=path,
        function="" if current is None else current.name,
        thread=", ".join(filter(None, [stop.thread_name, f"child {stop.child}" if stop.child else ""])),
        raised=[] if stop.exception is None else [*_raised(stop.exception)],
        code=[
            CodeLine(line.line, line.text, current is not None and line.line == current.line)
            for line in stop.source_lines
        ],
        variables=[_variable(row) for row in stop.locals],
        more_variables=stop.more_locals,
        frames=[f"{frame.name}, {_short(_path_of(frame), project) or '?'}:{frame.line}" for frame in stop.frames],
        more_frames=stop.more_frames,
        notes=[*_notes(details), *stop.incomplete],
    )


def _reason(stop: StopReport) -> str:
    if stop.hit_breakpoints:
        several = "s" * (len(stop.hit_breakpoints) > 1)
        return f"breakpoint{several} {', '.join(map(str, stop.hit_breakpoints))}"
    return stop.reason


def _raised(exception: ExceptionRow) -> Iterator[str]:
    name = exception.type_name or exception.exception_id
    text = exception.message if exception.message is not None else exception.description
    yield f"{name}: {text}" if text and text != name else name
    yield from exception.cause or ()


def _variable(row: VariableRow) -> ShownVariable:
    value = row.value
    if row.contents is not None:
        value = row.contents if value in ("", row.type) else f"{value} {row.contents}"
    return ShownVariable(row.name, value, row.type or "", bool(row.changed), row.was)


def _notes(details: Mapping[str, object]) -> Iterator[str]:
    """Yield facts beside the stop: notes of a launch, and the interrupted thread."""
    notes = details.get("notes")
    yield from (str(note) for note in notes if note) if isinstance(notes, list) else ()
    if (thread := details.get("interruptedThreadId")) is not None:
        yield f"Thread {thread} had not done its step before."


def _place(snapshot: Snapshot, project: str) -> str:
    source = snapshot.source
    path = "" if source is None else source.path or source.name or ""
    return f"{_short(path, project)}:{snapshot.line}" if path and snapshot.line is not None else ""


def _path_of(frame: FrameRow | None) -> str:
    source = None if frame is None else frame.source
    return "" if source is None else source.path or source.name or ""


def _from_home(path: str) -> str:
    """Name a file from the user's home, if it is in it: who the user is says nothing about the session."""
    inside = _short(path, str(Path.home()))
    return path if inside == path else f"~{os.sep}{inside}"


def _short(path: str, project: str) -> str:
    """Name a file from the folder of the project, if it is in it."""
    inside = project.rstrip(os.sep) + os.sep
    return path.removeprefix(inside)


# Messages


def _wire_by_step(entries: Sequence[RecordedAction], wire: WireRecords | None) -> list[list[WireMessage]]:
    """Give each action the messages since the one before; the last list has those after all actions."""
    records = [] if wire is None else wire.records
    times = [record.time for record in records]
    ends = accumulate((entry.time + entry.seconds for entry in entries), max)
    cuts = [0, *(bisect_left(times, end) for end in ends), len(records)]
    return [[_message(record) for record in records[first:last]] for first, last in pairwise(cuts)]


def _message(record: WireRow) -> WireMessage:
    number = record.request_seq if record.kind == "response" else record.seq
    parts = [record.channel, record.sender, f"{record.kind} {record.name}".strip() or "unreadable"]
    failed = " failed" if record.success is False else ""
    problem = f": {record.problem}" if record.problem else ""
    title = " ".join(filter(None, parts)) + ("" if number is None else f" {number}") + failed + problem
    return WireMessage(record.number, record.time, title, _laid_out(record.text))


def _laid_out(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
