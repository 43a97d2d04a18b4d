"""Sessions: the list, the output of their programs, and their end."""

from typing import Literal

from dapkit.agent import limits
from dapkit.agent.calls import parameters as p
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.program_output import written
from dapkit.agent.calls.registry import Approval, action
from dapkit.agent.reading.report import from_line, last_output
from dapkit.agent.reading.snapshots import snapshot
from dapkit.agent.results.session import CustomBody, OutputResult, SessionsResult, Terminated
from dapkit.protocol import encode_value
from dapkit.sessions.errors import NoSession


@action(Approval.READ)
async def output(call: ActionCall, *, category: p.Category | None = None, since: p.Since = 0) -> OutputResult:
    """Show the output of the program."""
    page = written(call.session, category, since=since)
    most = call.settings.text_bytes * 3 // 4
    text = page.text if len(page.text) <= most else from_line(page.text[-most:])
    return OutputResult(
        snapshot=snapshot(call.session),
        output=text,
        next=page.end,
        lost=page.lost,
        omitted=len(page.text) - len(text),
    )


@action(Approval.READ)
async def sessions(call: ActionCall) -> SessionsResult:
    """Show the sessions of this project, the live ones first, without ended runs."""
    sessions = call.sessions.of(call.folder)
    runs = {session for session, notes in call.memories.items() if notes.is_whole_run and session.state.over}
    rows = [snapshot(session) for session in sessions if session not in runs]
    return SessionsResult(
        sessions=sorted(rows, key=lambda each: each.status == "terminated"),
        ended_runs=len(sessions) - len(rows),
        near=[f"{name} in {folder}" for name, folder in call.sessions.near(call.folder)] or None,
    )


@action(Approval.EXECUTE, example={"command": "threads"})
async def custom_request(
    call: ActionCall, *, command: p.Command, arguments: p.RequestArguments | None = None
) -> CustomBody:
    """Send any request to the adapter."""
    body = await call.requests.ask_custom(command, arguments)
    text = encode_value(body)  # only to measure it; a body that is short enough stays a value
    if len(text) <= limits.CUSTOM_BODY_BYTES:
        return CustomBody(snapshot=snapshot(call.session), command=command, custom_body=body)
    if call.settings.redact_enabled:  # while names and texts can still be told apart
        text = encode_value(call.remembered.redaction.json(body))
    beginning = text[: limits.CUSTOM_BODY_BYTES].decode(errors="replace")
    return CustomBody(snapshot=snapshot(call.session), command=command, custom_body=beginning, length=len(text))


@action(Approval.EXECUTE)
async def terminate(call: ActionCall) -> Terminated:
    """End the program and the session; a program that was attached to is released."""
    try:
        session = call.session
    except NoSession:
        return Terminated(ending="terminated", released=False)
    already = session.state.over
    await session.terminate()
    return _ended(call, "terminated", released=session.attached and not already, already=already)


@action(Approval.EXECUTE)
async def detach(call: ActionCall) -> Terminated:
    """End the session and let the program run on."""
    await call.session.detach()
    return _ended(call, "detached", released=True)


def _ended(
    call: ActionCall, ending: Literal["terminated", "detached"], *, released: bool, already: bool = False
) -> Terminated:
    output, since = call.take_output()
    return Terminated(
        snapshot=snapshot(call.session),
        ending=ending,
        released=released,
        already=already,
        output=last_output(output),
        output_since=since,
    )
