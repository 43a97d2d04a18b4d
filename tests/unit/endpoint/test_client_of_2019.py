"""A client written to the specification of January 2019 plays a whole session, and is given what it can use.

Its requests are as that text has them: no granularity, no filterOptions, `lines` beside `breakpoints`, and none
of the flags that came later.
"""

from typing import Any

from dapkit.endpoint import Endpoint, Phase, RequestReceived, Role
from dapkit.protocol import (
    Breakpoint,
    Capabilities,
    ContinueBody,
    EvaluateBody,
    ExceptionBreakpointsFilter,
    ExitedEvent,
    InitializedEvent,
    InvalidatedEvent,
    MemoryEvent,
    OutputEvent,
    ProgressStartEvent,
    ProtocolObject,
    Scope,
    ScopesBody,
    SetBreakpointsArguments,
    SetBreakpointsBody,
    SetExceptionBreakpointsArguments,
    Source,
    StackFrame,
    StackTraceBody,
    StoppedEvent,
    TerminatedEvent,
    Thread,
    ThreadsBody,
    Variable,
    VariablePresentationHint,
    VariablesBody,
)
from raw_peer import RawPeer

INITIALIZE = {
    "clientID": "old",
    "clientName": "An old client",
    "adapterID": "mock",
    "locale": "de-CH",
    "linesStartAt1": True,
    "columnsStartAt1": True,
    "pathFormat": "path",
    "supportsVariableType": True,
    "supportsVariablePaging": False,
    "supportsRunInTerminalRequest": False,
}


class OldClient(RawPeer):
    """A raw client whose adapter answers each request with one body."""

    def call(self, command: str, arguments: object, body: ProtocolObject | None = None) -> tuple[Any, Any]:
        """Ask; return the arguments as the adapter got them, and the body of the answer."""
        [asked] = self.ask(command, arguments)
        assert isinstance(asked, RequestReceived)
        self.endpoint.respond(asked.request, body)
        [response, *_] = self.hear()
        assert response["success"] is True
        assert response["request_seq"] == self.seq
        return asked.request.arguments, response.get("body")


def test_session_of_a_client_of_2019() -> None:
    adapter = Endpoint(Role.ADAPTER)
    client = OldClient(adapter)

    filters = [ExceptionBreakpointsFilter(filter="raised", label="Raised")]
    capabilities = Capabilities(supports_configuration_done_request=True, exception_breakpoint_filters=filters)
    _, body = client.call("initialize", INITIALIZE, capabilities)
    assert body == {
        "supportsConfigurationDoneRequest": True,
        "exceptionBreakpointFilters": [{"filter": "raised", "label": "Raised"}],
    }
    adapter.send_event(InitializedEvent())
    assert [message["event"] for message in client.hear()] == ["initialized"]

    lines, _ = client.call(
        "setBreakpoints",
        {"source": {"path": "/a.py"}, "lines": [3, 5]},
        SetBreakpointsBody(breakpoints=[Breakpoint(verified=True, line=3), Breakpoint(verified=True, line=5)]),
    )
    assert lines == SetBreakpointsArguments(source=Source(path="/a.py"), lines=[3, 5])
    client.call("setExceptionBreakpoints", {"filters": []})
    client.call("configurationDone", {})
    client.call("launch", {"noDebug": False, "program": "/a.py"})

    adapter.send_event(StoppedEvent(reason="breakpoint", thread_id=1, hit_breakpoint_ids=[1]))
    assert client.hear()[0]["body"]["reason"] == "breakpoint"
    client.call("threads", None, ThreadsBody(threads=[Thread(id=1, name="main")]))
    frames, _ = client.call(
        "stackTrace",
        {"threadId": 1, "startFrame": 0, "levels": 20},
        StackTraceBody(stack_frames=[StackFrame(id=1, name="main", line=3, column=1, source=Source(path="/a.py"))]),
    )
    assert frames.levels == 20
    client.call(
        "scopes", {"frameId": 1}, ScopesBody(scopes=[Scope(name="Locals", variables_reference=2, expensive=False)])
    )
    watched = Variable(
        name="x", value="1", variables_reference=0, presentation_hint=VariablePresentationHint(kind="dataBreakpoint")
    )
    _, body = client.call("variables", {"variablesReference": 2}, VariablesBody(variables=[watched]))
    assert body["variables"][0]["presentationHint"] == {"kind": "dataBreakpoint"}
    client.call(
        "evaluate",
        {"expression": "x", "frameId": 1, "context": "watch"},
        EvaluateBody(result="1", variables_reference=0),
    )
    client.call("next", {"threadId": 1})
    adapter.send_event(StoppedEvent(reason="step", thread_id=1))
    client.hear()
    client.call("continue", {"threadId": 1}, ContinueBody())
    phases = [adapter.phase]

    adapter.send_event(OutputEvent(output="bye\n", category="stdout"))
    adapter.send_event(ExitedEvent(exit_code=0))
    adapter.send_event(TerminatedEvent())
    assert [message["event"] for message in client.hear()] == ["output", "exited", "terminated"]
    client.call("disconnect", {"terminateDebuggee": True})
    assert [*phases, adapter.phase] == [Phase.RUNNING, Phase.OVER]
    assert adapter.violations.kept == []


def test_client_of_2019_is_sent_no_event_that_came_later() -> None:
    adapter = Endpoint(Role.ADAPTER)
    client = OldClient(adapter)
    client.call("initialize", INITIALIZE, Capabilities())
    for body in (
        InvalidatedEvent(),
        MemoryEvent(memory_reference="m", offset=0, count=1),
        ProgressStartEvent(progress_id="1", title="t"),
    ):
        assert adapter.send_event(body) is False
    assert client.hear() == []


def test_client_without_configuration_done_ends_its_configuration_with_exception_breakpoints() -> None:
    adapter = Endpoint(Role.ADAPTER)
    client = OldClient(adapter)
    client.call("initialize", {"adapterID": "mock"}, Capabilities())
    adapter.send_event(InitializedEvent())
    client.hear()
    arguments, _ = client.call("setExceptionBreakpoints", {"filters": ["raised"]})
    assert arguments == SetExceptionBreakpointsArguments(filters=["raised"])
    client.call("launch", {})
    adapter.send_event(StoppedEvent(reason="entry", thread_id=1))
    client.hear()
    assert adapter.phase is Phase.STOPPED
