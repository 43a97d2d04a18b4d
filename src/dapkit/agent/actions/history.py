"""The recorded history of a program that can be shown as it was before."""

from dapkit.agent import limits
from dapkit.agent.actions.execution import need_history, travelled
from dapkit.agent.actions.last_write import last_write
from dapkit.agent.budget import shortened
from dapkit.agent.calls import parameters as p
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.registry import Approval, action
from dapkit.agent.reading.selection import frame_of
from dapkit.agent.reading.snapshots import snapshot
from dapkit.agent.results.history import TimelineResult, WhyResult
from dapkit.agent.results.session import Resumed
from dapkit.protocol import changed
from dapkit.protocol.time_travel import (
    TimelineArguments,
    TimelineBody,
    TravelToArguments,
    WhyArguments,
    WhyBody,
)
from dapkit.redaction.redaction import names_secret, value_of


@action(Approval.EXECUTE, example={"expression": "total"})
async def why(
    call: ActionCall,
    *,
    expression: p.Expression,
    frame_id: p.FrameId | None = None,
    frame: p.FrameIndex | None = None,
    thread_id: p.ThreadId | None = None,
    thread: p.ThreadIndex | None = None,
    follow: p.Follow = False,
) -> WhyResult:
    """Show which line last changed a value, and its previous value.

    With a recorded history that is looked up. Native programs run once more, from their beginning to the same place,
    and the value is watched meanwhile.
    """
    if not call.session.traits.recorded_history and call.session.traits.fixed_addresses:
        return await last_write(call, expression, await frame_of(call, frame_id, frame, thread_id, thread))
    need_history(call)
    chosen_frame = await frame_of(call, frame_id, frame, thread_id, thread)
    seconds = max(call.timeout - limits.WHY_REST_SECONDS, call.timeout / 2)
    request = WhyArguments(expression=expression, frame_id=chosen_frame, seconds=seconds, follow=follow)
    answer = await call.requests.ask_beyond(request, WhyBody)
    if call.settings.redact_enabled:
        answer = without_secrets(answer, expression)
    return WhyResult(
        snapshot=snapshot(call.session),
        expression=expression,
        clock=answer.clock,
        path=answer.path,
        function=answer.function,
        line=answer.line,
        old=_short(call, answer.old),
        new=_short(call, answer.new),
        unchanged_since=answer.unchanged_since,
        chain=[changed(step, old=_short(call, step.old), new=_short(call, step.new)) for step in answer.chain],
        ends=answer.ends,
        inputs=[changed(part, value=_short(call, part.value)) for part in answer.inputs],
        doubt=answer.doubt,
    )


@action(Approval.READ)
async def timeline(call: ActionCall) -> TimelineResult:
    """Show the recorded history: its moments by their clocks, when they were, where the program stopped."""
    need_history(call)
    body = await call.requests.ask_beyond(TimelineArguments(), TimelineBody)
    latest_stops = body.stops[-limits.TIMELINE_STOPS_SHOWN :]
    return TimelineResult(
        snapshot=snapshot(call.session),
        beginning=body.beginning,
        now=body.now,
        live=body.live,
        checkpoints=body.checkpoints,
        stops=latest_stops,
        earlier_stops=len(body.stops) - len(latest_stops),
    )


@action(Approval.EXECUTE, example={"clock": 1203})
async def travel_to(call: ActionCall, *, clock: p.Clock) -> Resumed:
    """Show the program as it was at a moment of its recorded history; continue leads back to the present."""
    need_history(call)
    return await travelled(call, f"Travel to {clock}", TravelToArguments(clock=clock))


def without_secrets(answer: WhyBody, expression: str) -> WhyBody:
    """Remove secret values: if one name on the way of a value is secret, that value has other names there, too."""
    names = [expression, *(step.expression or "" for step in answer.chain)]
    secret = next(filter(names_secret, names), None)

    def value(name: str, text: str | None) -> str | None:
        return None if text is None else value_of(secret or name, text)

    def code(text: str) -> str:  # a literal in it may be the value
        return "[redacted]" if secret is not None and not {"'", '"'}.isdisjoint(text) else text

    return changed(
        answer,
        old=value(expression, answer.old),
        new=value(expression, answer.new),
        chain=[
            changed(
                step,
                text=code(step.text),
                old=value(step.expression or "", step.old),
                new=value(step.expression or "", step.new),
            )
            for step in answer.chain
        ],
        ends=None if answer.ends is None else code(answer.ends),
        inputs=[changed(part, value=value(part.expression, part.value)) for part in answer.inputs],
    )


def _short(call: ActionCall, value: str | None) -> str | None:
    return None if value is None else shortened(value, call.settings.text_bytes // 4)[0]
