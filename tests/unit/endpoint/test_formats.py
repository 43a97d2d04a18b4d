"""Lines, columns and paths cross the edge in the client's convention, both ways, in every type that has them."""

import typing
from collections.abc import Iterator

import msgspec
import pytest

import dapkit.protocol
from dapkit.endpoint import Endpoint, Formats, Role, conversion
from dapkit.protocol import (
    Arguments,
    Breakpoint,
    BreakpointLocationsArguments,
    CompletionItem,
    CompletionsArguments,
    EvaluateBody,
    InitializeRequestArguments,
    OutputEvent,
    ProtocolObject,
    RawJson,
    RunInTerminalRequestArguments,
    SetBreakpointsArguments,
    SetExpressionBody,
    SetVariableBody,
    Source,
    SourceBreakpoint,
    StackFrame,
    StackTraceArguments,
    StackTraceBody,
    StoppedEvent,
    Variable,
    VariablesBody,
    changed,
    decode_as,
    encode_value,
)
from dapkit.testing import Pair
from raw_peer import RawPeer, raw_client

ZERO_BASED = Formats(line_offset=1, column_offset=1)
URIS = Formats(uris=True)

NOT_POSITIONS = {
    "ColumnDescriptor.attribute_name",
    "InitializeRequestArguments.columns_start_at1",
    "InitializeRequestArguments.lines_start_at1",
    "ProcessEvent.start_method",
    "StackFrameFormat.line",
    "Capabilities.additional_module_columns",
}
"""Fields whose names sound like a place in a source, and are none."""


@pytest.fixture(autouse=True)
def _paths_are_of_posix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "IS_WINDOWS", False)


def object_types() -> list[type[ProtocolObject]]:
    exported = (getattr(dapkit.protocol, name) for name in dapkit.protocol.__all__)
    kinds = [kind for kind in exported if isinstance(kind, type) and issubclass(kind, ProtocolObject)]
    return sorted({kind for kind in kinds if kind.__struct_fields__}, key=lambda kind: kind.__name__)


def position_fields() -> Iterator[tuple[type[ProtocolObject], str]]:
    """Every field of the protocol that says where something is."""
    for kind in object_types():
        for name in kind.__struct_fields__:
            place = f"{kind.__name__}.{name}"
            if any(word in name for word in ("line", "column")) and place not in NOT_POSITIONS:
                yield kind, name


def minimal(kind: type[ProtocolObject], name: str, value: object) -> ProtocolObject:
    """Make an object with one field set, and whatever it requires besides."""
    required = {field.name: field.type for field in msgspec.structs.fields(kind) if field.required}
    values = {field: Source(path="/s.py") if hint is Source else 5 for field, hint in required.items()}
    if kind is StackFrame:
        values["source"] = Source(path="/s.py")
    return kind(**(values | {name: value}))


@pytest.mark.parametrize(
    ("kind", "name"), [pytest.param(*field, id=f"{field[0].__name__}.{field[1]}") for field in position_fields()]
)
def test_every_position_of_the_protocol_is_converted_both_ways(kind: type[ProtocolObject], name: str) -> None:
    ours: object = [7, 8] if name == "lines" else 7
    theirs: object = [6, 7] if name == "lines" else 6
    outward = ZERO_BASED.outward(minimal(kind, name, ours))
    assert getattr(outward, name) == theirs
    assert ZERO_BASED.inward(outward) == minimal(kind, name, ours)


def test_the_walk_finds_what_the_schema_has() -> None:
    fields = [f"{kind.__name__}.{name}" for kind, name in position_fields()]
    assert len(fields) == 47
    assert {
        "StackFrame.end_column",
        "OutputEvent.line",
        "LocationsBody.end_line",
        "SetBreakpointsArguments.lines",
    } < set(fields)


def test_every_source_is_reached_wherever_it_stands() -> None:
    for kind in object_types():
        for name, hint in typing.get_type_hints(kind).items():
            if hint in (Source, Source | None):
                value = minimal(kind, name, Source(path="/a b.py", sources=[Source(path="/c.py")]))
                source = getattr(URIS.outward(value), name)
                assert (source.path, source.sources[0].path) == ("file:///a%20b.py", "file:///c.py"), kind
                assert URIS.inward(URIS.outward(value)) == value


def test_working_directory_of_a_terminal_is_a_path_too() -> None:
    ours = RunInTerminalRequestArguments(cwd="/a b", args=["true"])
    assert URIS.outward(ours).cwd == "file:///a%20b"
    assert URIS.inward(URIS.outward(ours)) == ours


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("/a/b.py", "file:///a/b.py"),
        ("/é?#%.py", "file:///%C3%A9%3F%23%25.py"),
        ("/not-utf8-\udcff", "file:///not-utf8-%FF"),
        ("<string>", "<string>"),
        ("relative.py", "relative.py"),
    ],
)
def test_path_becomes_a_uri_and_back(path: str, uri: str) -> None:
    assert URIS.outward(Source(path=path)).path == uri
    assert URIS.inward(Source(path=uri)).path == path


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        (r"C:\a b\c.py", "file:///C:/a%20b/c.py"),
        (r"\\server\share\a.py", "file://server/share/a.py"),
        ("<string>", "<string>"),
        (r"relative\a.py", r"relative\a.py"),
    ],
)
def test_path_of_windows_becomes_a_uri_and_back(path: str, uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "IS_WINDOWS", True)
    assert URIS.outward(Source(path=path)).path == uri
    assert URIS.inward(Source(path=uri)).path == path


def test_each_form_of_a_uri_is_a_path_of_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "IS_WINDOWS", True)
    for uri in ("file:///c:/a.py", "file:///c%3A/a.py", "file://localhost/c:/a.py", "file:/c:/a.py"):
        assert URIS.inward(Source(path=uri)).path == r"c:\a.py"
    assert URIS.outward(Source(path="\\\\?\\C:\\a.py")).path == "file:///C:/a.py"
    assert URIS.outward(Source(path="\\\\?\\UNC\\server\\a.py")).path == "file://server/a.py"


def test_uri_of_another_scheme_is_left_alone() -> None:
    assert URIS.inward(Source(path="vscode-notebook://cell/1")).path == "vscode-notebook://cell/1"
    assert Formats().inward(Source(path="file:///a.py")).path == "file:///a.py"


def test_frame_without_source_keeps_line_and_column_0() -> None:
    frame = StackFrame(id=1, name="<native>", line=0, column=0)
    assert ZERO_BASED.outward(frame) == frame
    assert ZERO_BASED.inward(frame) == frame


def test_bases_of_lines_and_columns_are_agreed_on_apart() -> None:
    client = InitializeRequestArguments(adapter_id="x", lines_start_at1=False, columns_start_at1=True)
    assert Formats.agreed(client).outward(SourceBreakpoint(line=5, column=5)) == SourceBreakpoint(line=4, column=5)
    modern = InitializeRequestArguments(adapter_id="x", supports_variable_type=True, supports_memory_references=True)
    assert Formats.agreed(modern) == Formats()


def test_start_of_a_completion_counts_from_0_whatever_was_agreed_on() -> None:
    item = CompletionItem(label="x", start=3, selection_start=2, length=1)
    assert ZERO_BASED.outward(item) == item


ODD = {"linesStartAt1": False, "columnsStartAt1": False, "pathFormat": "uri"}


@pytest.fixture
def odd_client() -> RawPeer:
    """Return a raw client that counts from 0 and names files by URI."""
    return raw_client(**ODD)


def test_adapter_hears_and_speaks_its_own_convention(odd_client: RawPeer) -> None:
    [asked] = odd_client.ask(
        "setBreakpoints",
        {"source": {"path": "file:///a.py"}, "breakpoints": [{"line": 0, "column": 0}], "lines": [0]},
    )
    assert asked.request.arguments == SetBreakpointsArguments(  # type: ignore[union-attr] # the only happening
        source=Source(path="/a.py"), breakpoints=[SourceBreakpoint(line=1, column=1)], lines=[1]
    )
    odd_client.endpoint.send_event(OutputEvent(output="x", source=Source(path="/a.py"), line=3, column=1))
    [event] = odd_client.hear()
    assert event["body"] == {"output": "x", "source": {"path": "file:///a.py"}, "line": 2, "column": 0}


def test_raw_bodies_are_converted_too(odd_client: RawPeer) -> None:
    [asked] = odd_client.ask("stackTrace", {"threadId": 1})
    frame = StackFrame(id=1, name="f", line=3, column=1, source=Source(path="/a.py"))
    raw = RawJson(encode_value(StackTraceBody(stack_frames=[frame])))
    odd_client.endpoint.respond(asked.request, raw)  # type: ignore[union-attr] # the only happening
    [response] = odd_client.hear()
    assert response["body"]["stackFrames"] == [
        {"id": 1, "name": "f", "line": 2, "column": 0, "source": {"path": "file:///a.py"}}
    ]


def test_raw_bodies_pass_untouched_where_nothing_differs(client: RawPeer) -> None:
    [asked] = client.ask("stackTrace", {"threadId": 1})
    client.endpoint.respond(asked.request, RawJson(b'{"stackFrames":[],"ours":1}'))  # type: ignore[union-attr] # the only happening
    assert client.hear()[0]["body"] == {"stackFrames": [], "ours": 1}


def test_raw_bodies_without_places_pass_untouched_whatever_the_formats(odd_client: RawPeer) -> None:
    [asked] = odd_client.ask("threads", None)
    odd_client.endpoint.respond(asked.request, RawJson(b'{"threads":[],"ours":1}'))  # type: ignore[union-attr] # the only happening
    assert odd_client.hear()[0]["body"] == {"threads": [], "ours": 1}


def test_events_from_before_initialize_leave_in_the_formats_that_it_brings() -> None:
    peer = RawPeer(Endpoint(Role.ADAPTER))
    peer.endpoint.send_event(OutputEvent(output="early", source=Source(path="/a.py"), line=3))
    [asked] = peer.ask("initialize", {"adapterID": "x", **ODD})
    peer.endpoint.respond(asked.request, RawJson(b"{}"))  # type: ignore[union-attr] # the only happening
    assert peer.hear()[1]["body"] == {"output": "early", "source": {"path": "file:///a.py"}, "line": 2}


def test_both_ends_speak_natively_over_a_wire_that_does_not() -> None:
    client = InitializeRequestArguments(
        adapter_id="x", lines_start_at1=False, columns_start_at1=False, path_format="uri"
    )
    pair = Pair.running(client=client)
    frame = StackFrame(id=1, name="f", line=3, column=1, source=Source(path="/a.py"))
    asked = pair.client.send(StackTraceArguments(thread_id=1))
    pair.run_until_idle()
    pair.adapter.respond(asked, StackTraceBody(stack_frames=[frame]))
    pair.adapter.tell(StoppedEvent(reason="step", thread_id=1))
    pair.run_until_idle()
    [response] = pair.client.responses_to(asked)
    assert response.body == StackTraceBody(stack_frames=[frame])
    assert b"file:///a.py" in pair.timeline.moments[-2].payload


def test_conversion_leaves_everything_else_as_it_is() -> None:
    breakpoint_ = Breakpoint(id=3, verified=True, message="line 3", line=3, offset=4, source=Source(name="a.py"))
    outward = ZERO_BASED.outward(breakpoint_)
    assert decode_as(dict[str, object], encode_value(outward)) == {
        "id": 3,
        "verified": True,
        "message": "line 3",
        "line": 2,
        "offset": 4,
        "source": {"name": "a.py"},
    }


def test_arguments_are_found_in_the_walk() -> None:
    kinds = {kind for kind, _ in position_fields()}
    assert {BreakpointLocationsArguments, CompletionsArguments} <= kinds
    assert any(issubclass(kind, Arguments) for kind in kinds)


PLAIN = Formats(types=False, memory_references=False)
FULL = Variable(name="x", value="1", variables_reference=0, type="int", memory_reference="0x1")


@pytest.mark.parametrize(
    ("value", "left"),
    [
        (FULL, Variable(name="x", value="1", variables_reference=0)),
        (
            VariablesBody(variables=[FULL]),
            VariablesBody(variables=[Variable(name="x", value="1", variables_reference=0)]),
        ),
        (
            EvaluateBody(result="1", variables_reference=0, type="int", memory_reference="0x1"),
            EvaluateBody(result="1", variables_reference=0),
        ),
        (SetVariableBody(value="1", type="int", memory_reference="0x1"), SetVariableBody(value="1")),
        (SetExpressionBody(value="1", type="int", memory_reference="0x1"), SetExpressionBody(value="1")),
    ],
)
def test_client_gets_no_field_that_it_did_not_announce(value: ProtocolObject, left: ProtocolObject) -> None:
    assert PLAIN.outward(value) == left
    assert Formats().outward(value) is value


def test_types_and_memory_references_are_announced_one_by_one() -> None:
    types = Formats.agreed(InitializeRequestArguments(adapter_id="x", supports_variable_type=True))
    assert types.outward(FULL) == changed(FULL, memory_reference=None)
    memory = Formats.agreed(InitializeRequestArguments(adapter_id="x", supports_memory_references=True))
    assert memory.outward(FULL) == changed(FULL, type=None)


def test_only_what_holds_values_is_read_for_a_client_without_types() -> None:
    assert PLAIN.concern(VariablesBody)
    assert not PLAIN.concern(StackTraceBody)
    assert not Formats().concern(VariablesBody)
