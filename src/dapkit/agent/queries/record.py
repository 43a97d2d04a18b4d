"""What was done in a session, from its start on: what transcripts and reports are made of."""

from dapkit import limits
from dapkit.agent.call import ActionCall
from dapkit.agent.program_output import written
from dapkit.agent.redaction import Kind
from dapkit.agent.registry import Approval, query
from dapkit.agent.results.diagnostics import LiveSession, LiveSessions, RecordResult, SessionConfiguration
from dapkit.agent.snapshots import snapshot
from dapkit.client.routes import Listening, Route, Spawned


@query(Approval.READ)
async def session_record(call: ActionCall) -> RecordResult:
    """Return the actions of a session with their answers, and how it was started."""
    session, remembered = call.session, call.remembered
    redaction = remembered.redaction.with_code() if call.settings.redact_enabled else None
    arguments: object = dict(session.start.configuration)
    output = written(session, since=0).text[-limits.OUTPUT_KEPT_CHARACTERS :]
    return RecordResult(
        snapshot=snapshot(session),
        project=str(session.project),
        created=session.created,
        ending=session.state.ending,
        configuration=SessionConfiguration(
            adapter=session.adapter,
            command=_command(session.start.route),
            request=session.start.request,
            arguments=arguments if redaction is None else redaction.json(arguments),
        ),
        entries=remembered.record.entries(),
        dropped=remembered.record.dropped,
        output=output if redaction is None else redaction.text(output, Kind.OUTPUT),
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


def _command(route: Route) -> list[str]:
    """Say what was started as the adapter, or how it was reached."""
    match route:
        case Spawned() | Listening():
            return [*route.argv]
    return [type(route).__name__]
