"""Text of the results of diagnostics queries; their callers show the details in ways of their own."""

from dapkit.agent.results.diagnostics import HeapResult, LiveSessions, RecordResult, WireRecords
from dapkit.agent.text.escaping import render


@render.register
def _(result: WireRecords) -> str:
    return f"{len(result.records)} of {result.total} messages of {result.session}"


@render.register
def _(result: RecordResult) -> str:
    return f"{len(result.entries)} actions in {result.snapshot.id}"


@render.register
def _(result: LiveSessions) -> str:
    return f"{len(result.sessions)} live sessions"


@render.register
def _(result: HeapResult) -> str:
    return f"{result.heap.objects} objects, {result.heap.size} bytes"
