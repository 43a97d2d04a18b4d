"""The messages that passed between a session and its adapters."""

import json
from collections.abc import Sequence
from typing import Annotated

import anyio

from dapkit.agent.call import ActionCall
from dapkit.agent.redaction import Kind, Redaction
from dapkit.agent.registry import Approval, query
from dapkit.agent.results.diagnostics import WireRecords, WireRow
from dapkit.transport import WireRecord


@query(Approval.READ)
async def wire_records(
    call: ActionCall,
    *,
    after: Annotated[int, "Number of the last record that is known already; 0 for none."] = 0,
    follow: Annotated[bool, "Whether to wait for a record, if there is none yet, until the timeout."] = False,
) -> WireRecords:
    """Return the messages after one, without their secrets."""
    session, wire = call.session, call.session.wire
    if follow:
        with anyio.move_on_after(call.left):
            await wire.pulse.until(lambda: wire.total > after or session.state.over)
    found = wire.after(after)
    kept = wire.after(0)
    return WireRecords(
        session=session.name,
        over=session.state.over,
        records=shown_records(found, call.remembered.redaction.with_code() if call.settings.redact_enabled else None),
        total=wire.total,
        kept=len(kept),
        characters=wire.characters,
    )


def shown_records(records: Sequence[WireRecord], redaction: Redaction | None) -> list[WireRow]:
    """Make rows of records, with their secrets taken out."""
    return [
        WireRow(
            number=record.number,
            time=record.time,
            channel=record.channel,
            sender=record.sender,
            kind=record.head.kind,
            name=record.head.name,
            seq=record.head.seq,
            request_seq=record.head.request_seq,
            success=record.head.success,
            text=record.text if redaction is None else _without_secrets(record, redaction),
            length=record.length,
            problem=record.problem,
        )
        for record in records
    ]


def _without_secrets(record: WireRecord, redaction: Redaction) -> str:
    """Take secrets out by the keys of a message; where it was cut, or is not JSON, by what its text looks like."""
    try:
        message = json.loads(record.text)
    except (ValueError, RecursionError):
        return redaction.text(record.text, Kind.VALUE)
    return json.dumps(redaction.json(message), ensure_ascii=False, separators=(",", ":"))
