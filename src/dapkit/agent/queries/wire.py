"""The messages that passed between a session and its adapters."""

from typing import Annotated

import anyio

from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.registry import Approval, query
from dapkit.agent.queries.wire_rows import page_of
from dapkit.agent.results.diagnostics import WireRecords
from dapkit.sessions.session import DebugSession
from dapkit.transport import background_tasks


@query(Approval.READ, without_secrets=True)
async def wire_records(
    call: ActionCall,
    *,
    after: Annotated[int, "Number of the last record that is known already; 0 for none."] = 0,
    follow: Annotated[bool, "Whether to wait for a record, if no record exists yet, until the timeout."] = False,
    leaves: Annotated[bool, "Whether they leave the machine: secrets are left out whatever the settings say."] = False,
) -> WireRecords:
    """Return the messages after one, as many as an answer may have, without their secrets."""
    session = call.session
    if follow:
        with anyio.move_on_after(call.left):
            await _wait_for_more(session, after)
    redaction = call.remembered.redaction.with_code() if leaves or call.settings.redact_enabled else None
    return await page_of(session.wire, after=after, of=session.name, over=session.state.over, redaction=redaction)


async def _wait_for_more(session: DebugSession, after: int) -> None:
    """Wait for a message after one, or for the end of the session."""

    async def report_end() -> None:
        await session.state.updates.until(lambda: session.state.over)
        session.wire.updates.notify()

    async with background_tasks() as tasks:
        tasks.start_soon(report_end)
        await session.wire.updates.until(lambda: session.wire.total > after or session.state.over)
