"""The messages that passed between a session and its adapters: page by page, without their secrets.

The beginning of a cut message is still read as JSON, so that its keys show which values are secret. The last value
before the cut is left out: it may be the beginning of a secret, too short to be recognised.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Annotated

import anyio
from anyio.lowlevel import checkpoint

from dapkit.agent import limits
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.registry import Approval, query
from dapkit.agent.results.diagnostics import WireRecords, WireRow
from dapkit.redaction.redaction import CUT, Redaction, TextKind
from dapkit.sessions.session import DebugSession
from dapkit.transport import WireBuffer, WireRecord, background_tasks

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\],"]', re.DOTALL)
"""The JSON characters that change the depth; a single quote begins a string without an end."""

_WHOLE_CHARACTERS = re.compile(r'(?:[^"\\]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+')

_CLOSING = {"{": "}", "[": "]"}


async def page_of(
    buffer: WireBuffer, *, after: int, of: str, over: bool, redaction: Redaction | None = None
) -> WireRecords:
    """Return the records after one, as many as an answer may have; there is more if the last one is not the latest.

    Other tasks get their turn after each record.

    Args:
        buffer: the recorded messages.
        after: number of the last record that is known already.
        of: whose messages they are.
        over: whether no more will come.
        redaction: takes their secrets out; None if they stay.

    """
    total, count, characters = buffer.total, len(buffer), buffer.characters
    rows = []
    for record in list(_first(buffer.after(after))):
        rows.append(_row(record, redaction))
        await checkpoint()
    return WireRecords(session=of, over=over, records=rows, total=total, kept=count, characters=characters)


def _first(records: Sequence[WireRecord]) -> Iterator[WireRecord]:
    """Yield the records that fit into an answer, at least one."""
    characters = 0
    for record in records:
        characters += len(record.text)
        if characters > limits.WIRE_ANSWER_CHARACTERS and record is not records[0]:
            return
        yield record


def _row(record: WireRecord, redaction: Redaction | None) -> WireRow:
    return WireRow(
        number=record.number,
        time=record.time,
        channel=record.channel,
        sender=record.sender,
        kind=record.head.kind,
        name=record.head.name if redaction is None else redaction.text(record.head.name),
        seq=record.head.seq,
        request_seq=record.head.request_seq,
        success=record.head.success,
        text=record.text if redaction is None else _without_secrets(record, redaction),
        length=record.length,
        problem=record.problem if redaction is None or record.problem is None else redaction.text(record.problem),
    )


def _without_secrets(record: WireRecord, redaction: Redaction) -> str:
    """Remove secrets by the keys of a message, or, if it is not JSON, by the shape of its text."""
    text, marker = record.text_and_marker
    if marker:
        return _without_secrets_of_cut(text, redaction) + marker
    try:
        return _dumped(redaction.json(json.loads(text), TextKind.OUTPUT))
    except (ValueError, RecursionError):
        return redaction.text(text, TextKind.VALUE)


def _without_secrets_of_cut(text: str, redaction: Redaction) -> str:
    for completed, closing in _completed(text):
        try:
            message = redaction.json(json.loads(completed), TextKind.OUTPUT)
        except (ValueError, RecursionError):
            continue
        return _without_end(_dumped(message).removesuffix(closing))
    return _without_end(redaction.text(text + CUT, TextKind.VALUE))


def _without_end(text: str) -> str:
    return text.removesuffix(CUT)[: -limits.SECRET_SHAPE_CHARACTERS]


def _completed(text: str) -> Iterator[tuple[str, str]]:
    """Yield the possible completions of the beginning of some JSON, each with its closing characters."""
    open_ones: list[str] = []
    place, closed_since = 0, list[str]()
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "{" | "[":
                open_ones.append(_CLOSING[token[0]])
                place, closed_since = token.end(), []
            case "}" | "]" if open_ones:
                closed_since.append(open_ones.pop())
            case ",":
                place, closed_since = token.start(), []
            case '"':
                end = _WHOLE_CHARACTERS.match(text, token.end())
                last = '"' + "".join(reversed(open_ones))
                yield (text[: token.end() if end is None else end.end()] + CUT + last, last)
                break
    closing = "".join([*closed_since, *reversed(open_ones)])
    yield text[:place] + closing, closing


def _dumped(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON allows
        return json.dumps(value, separators=(",", ":"))
    return text


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
