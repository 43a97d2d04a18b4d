"""The history of a session since its start: the source of transcripts and reports.

Secrets are taken out of it whatever the settings say, since both leave the machine.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

import anyio.to_thread

from dapkit import limits
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.program_output import written, written_lines
from dapkit.agent.calls.registry import Approval, query
from dapkit.agent.reading.snapshots import snapshot
from dapkit.agent.results.diagnostics import LiveSession, LiveSessions, RecordedAction, RecordResult
from dapkit.agent.results.diagnostics import SessionConfiguration as Configuration
from dapkit.client.routes import Listening, Route, Spawned
from dapkit.protocol import changed
from dapkit.redaction.redaction import Redaction, TextKind
from dapkit.sessions.session import DebugSession


@query(Approval.READ)
async def session_record(call: ActionCall) -> RecordResult:
    """Return the actions of a session with their answers, and how it was started."""
    session, remembered = call.session, call.remembered
    redaction = remembered.redaction.with_code()
    kept_entries = remembered.record.with_output()
    came = written_lines(session)
    lines = latest(came, limits.OUTPUT_KEPT_CHARACTERS)
    dropped_characters = (
        written(session).lost + sum(len(text) for _, text in came) - sum(len(text) for _, text in lines)
    )
    output = await anyio.to_thread.run_sync(_shown_output, "".join(text for _, text in lines), redaction)
    *outputs, later = output_between([end for _, end in kept_entries], [begin for begin, _ in lines], output)
    entries = await anyio.to_thread.run_sync(_without_secrets, [entry for entry, _ in kept_entries], redaction)
    return RecordResult(
        snapshot=redaction.result(snapshot(session)),
        project=str(session.project),
        created=session.created,
        ending=redaction.text(session.state.ending),
        configuration=_configuration(session, redaction),
        entries=[changed(entry, output=piece) for entry, piece in zip(entries, outputs, strict=True)],
        dropped=remembered.record.dropped,
        output=output,
        later_output=later,
        output_lost=dropped_characters,
    )


@query(Approval.READ)
async def live_sessions(call: ActionCall) -> LiveSessions:
    """Return the sessions of all projects that live."""
    return LiveSessions(
        sessions=[
            LiveSession(project=str(session.project), session=session.name, created=session.created)
            for session in call.sessions.live
        ]
    )


def latest(lines: Sequence[tuple[int, str]], most: int) -> Sequence[tuple[int, str]]:
    """Keep the last lines that have at most so many characters together."""
    size = 0
    for number in range(len(lines), 0, -1):
        size += len(lines[number - 1][1])
        if size > most:
            return lines[number:]
    return lines


def output_between(ends: Sequence[int], starts: Sequence[int], text: str) -> list[str]:
    """Cut the parts of an output that are shown after each action, and after the last.

    A line goes to where it began, so that no secret is cut in two. If the shown text has different line breaks, since a
    secret spanned several lines, all of it counts as written after the last action.

    Args:
        ends: the position that the output had come to at the end of each action.
        starts: the positions where its lines begin.
        text: the lines, without secrets.

    """
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    if len(lines) != len(starts):
        return [*("" for _ in ends), text]
    cuts = [0, *(bisect_left(starts, end) for end in ends), len(lines)]
    return ["".join(lines[first:last]) for first, last in pairwise(cuts)]


def _shown_output(whole: str, redaction: Redaction) -> str:
    """Remove secrets from an output, including those in its first lines that only its last lines reveal."""
    return str(redaction.without_found(redaction.text(whole, TextKind.OUTPUT)))


def _without_secrets(entries: Sequence[RecordedAction], redaction: Redaction) -> list[RecordedAction]:
    """Remove values that were found to be secret after an action was recorded."""
    return [
        changed(
            entry,
            arguments=redaction.without_found(entry.arguments),
            text=redaction.without_found(entry.text),
            details=redaction.without_found(entry.details),
        )
        for entry in entries
    ]


def _configuration(session: DebugSession, redaction: Redaction) -> Configuration:
    return Configuration(
        adapter=session.adapter,
        command=[redaction.text(word, TextKind.OUTPUT) for word in _command(session.start.route)],
        request=session.start.request,
        arguments=redaction.json(dict(session.start.configuration), TextKind.OUTPUT),
        adapter_pid=next((target.session.adapter_pid for target in session.state.live_targets), None),
    )


def _command(route: Route) -> list[str]:
    """Return the command that started the adapter, or the way it was reached."""
    match route:
        case Spawned() | Listening():
            return [*route.argv]
    return [type(route).__name__]
