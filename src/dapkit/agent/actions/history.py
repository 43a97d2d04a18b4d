"""The recorded history of a program that can be shown as it was before."""

from dapkit import limits
from dapkit.agent import parameters as p
from dapkit.agent.budget import shortened
from dapkit.agent.call import ActionCall
from dapkit.agent.failures import Unsupported
from dapkit.agent.redaction import value_of
from dapkit.agent.registry import Approval, action
from dapkit.agent.results.history import TimelineResult, WhyResult
from dapkit.agent.selection import frame_of
from dapkit.agent.snapshots import snapshot
from dapkit.protocol.time_travel import TimelineArguments, TimelineBody, WhyArguments, WhyBody


@action(Approval.EXECUTE, example={"expression": "total"})
async def why(
    call: ActionCall,
    *,
    expression: p.Expression,
    frame_id: p.FrameId | None = None,
    frame: p.FrameIndex | None = None,
    thread_id: p.ThreadId | None = None,
    thread: p.ThreadIndex | None = None,
) -> WhyResult:
    """Tell which line has made a value what it is, and what it was before; for programs with a recorded history."""
    _need_history(call)
    chosen = await frame_of(call, frame_id, frame, thread_id, thread)
    asked = WhyArguments(expression=expression, frame_id=chosen)
    found = await call.session.requests.ask_beyond(asked, WhyBody, deadline=call.left)
    return WhyResult(
        snapshot=snapshot(call.session),
        expression=expression,
        clock=found.clock,
        path=found.path,
        function=found.function,
        line=found.line,
        old=_shown(call, expression, found.old),
        new=_shown(call, expression, found.new),
    )


@action(Approval.READ)
async def timeline(call: ActionCall) -> TimelineResult:
    """Show the recorded history: its moments by their clocks, when they were, where the program stopped."""
    _need_history(call)
    body = await call.session.requests.ask_beyond(TimelineArguments(), TimelineBody, deadline=call.left)
    shown = body.stops[-limits.TIMELINE_STOPS_SHOWN :]
    return TimelineResult(
        snapshot=snapshot(call.session),
        beginning=body.beginning,
        now=body.now,
        live=body.live,
        checkpoints=body.checkpoints,
        stops=shown,
        earlier_stops=len(body.stops) - len(shown),
    )


def _need_history(call: ActionCall) -> None:
    if not call.session.traits.recorded_history:
        raise Unsupported("a recorded history", "dapkit/timeline")
    try:
        call.require("supports_step_back", "a recorded history")
    except Unsupported as error:
        error.hint = 'The program was started without it: launch with the option {"timeTravel": true}.'
        raise


def _shown(call: ActionCall, expression: str, value: str | None) -> str | None:
    if value is None:
        return None
    secret_of = expression if call.settings.redact_enabled else ""
    return shortened(value_of(secret_of, value), call.settings.text_bytes // 4)[0]
