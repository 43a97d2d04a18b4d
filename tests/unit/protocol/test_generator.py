"""The reader of the schema, on a schema small enough to be seen whole; its writers, on the classes they make."""

import copy
from typing import Any

import pytest

from generate import descriptions, structs
from generate.model import Enumeration, Field, ListOf, MapOf, Named, Object, Plain, Protocol, Ranged
from generate.modules import generate
from generate.names import camel, snake
from generate.schema import SchemaError, read_schema


def message(base: str, **properties: object) -> dict[str, Any]:
    own = {"type": "object", "description": "", "properties": properties, "required": list(properties)}
    return {"allOf": [{"$ref": f"#/definitions/{base}"}, own]}


def constant(value: str) -> dict[str, Any]:
    return {"type": "string", "enum": [value]}


SCHEMA: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-04/schema#",
    "title": "A protocol",
    "description": "",
    "type": "object",
    "definitions": {
        "PingRequest": message("Request", command=constant("ping"), arguments={"$ref": "#/definitions/PingArguments"}),
        "PingArguments": {
            "type": "object",
            "properties": {
                "clientID": {"type": "string"},
                "kind": {"type": "string", "_enum": ["a", "b"]},
                "count": {"type": "integer", "format": "int32", "minimum": 0},
                "moduleId": {"type": ["integer", "string"]},
                "env": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
                "marks": {"type": "array", "items": {"$ref": "#/definitions/Mark"}},
            },
            "required": ["kind"],
        },
        "PingResponse": message("Response", body={"type": "object", "properties": {"late": {"type": "boolean"}}}),
        "PongEvent": message("Event", event=constant("pong")),
        "Mark": {"type": "string", "enum": ["x", "y"]},
        "InitializeRequestArguments": {"type": "object", "properties": {"supportsPong": {"type": "boolean"}}},
        "Capabilities": {"type": "object", "properties": {"supportsPing": {"type": "boolean"}}},
    },
}


@pytest.fixture
def schema() -> dict[str, Any]:
    return copy.deepcopy(SCHEMA)


def own_part(schema: dict[str, Any], name: str) -> Any:  # noqa: ANN401 - JSON
    return schema["definitions"][name]["allOf"][1]


def refused(schema: dict[str, Any]) -> str:
    with pytest.raises(SchemaError) as caught:
        read_schema(schema)
    return str(caught.value)


def arguments(protocol: Protocol) -> Object:
    return protocol.commands[0].arguments


def test_the_fields_of_an_object_are_read(schema: dict[str, Any]) -> None:
    assert arguments(read_schema(schema)) == Object(
        "PingArguments",
        (
            Field("clientID", "client_id", Plain("str"), required=False),
            Field("kind", "kind", Named("PingKind"), required=True, values=("a", "b")),
            Field("count", "count", Ranged("NonNegativeInt32"), required=False),
            Field("moduleId", "module_id", Plain("int | str"), required=False),
            Field("env", "env", MapOf(Plain("str | None")), required=False),
            Field("marks", "marks", ListOf(Named("Mark")), required=False, values=("x", "y")),
        ),
        enumerations=(Enumeration("PingKind", ("a", "b"), is_open=True),),
    )


def test_a_request_has_its_response_and_an_event_may_have_no_body(schema: dict[str, Any]) -> None:
    protocol = read_schema(schema)
    [ping], [pong] = protocol.commands, protocol.events
    assert (ping.name, ping.body, ping.gate, ping.is_reverse) == ("ping", "PingBody", None, False)
    assert (pong.name, pong.body) == ("pong", Object("PongEvent", ()))
    assert protocol.enumerations == (Enumeration("Mark", ("x", "y"), is_open=False),)


def test_a_gate_is_read_from_the_description(schema: dict[str, Any]) -> None:
    sentence = "Clients should only call this request if the corresponding capability `supportsPing` is true."
    own_part(schema, "PingRequest")["description"] = f"Plays.\n{sentence}"
    assert read_schema(schema).commands[0].gate == "supportsPing"


def test_the_title_of_a_section_tells_reverse_requests(schema: dict[str, Any]) -> None:
    own_part(schema, "PingRequest")["title"] = "Reverse Requests"
    assert read_schema(schema).commands[0].is_reverse


def test_a_gate_that_nobody_announces_is_refused(schema: dict[str, Any]) -> None:
    own_part(schema, "PingRequest")["description"] = "should only be called if the capability `supportsPong` is true."
    assert "supportsPong" in refused(schema)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"type": "string", "pattern": "x"}, "unknown pattern"),
        ({"type": "string", "minLength": 1}, "unknown minLength"),
        ({"type": "integer"}, "format None"),
        ({"type": "integer", "format": "int16"}, "format int16"),
        ({"type": "integer", "format": "int32", "minimum": 5}, "minimum 5"),
        ({"type": ["boolean", "string"]}, "['boolean', 'string']"),
        ({"type": "date"}, "'date'"),
        ({"type": "array"}, "expected an object, found None"),
        ({"type": "object"}, "expected an object, found None"),
        ({"$ref": "#/definitions/Nothing"}, "Nothing, which is not defined"),
        ({"oneOf": [{"$ref": "#/definitions/Mark"}]}, "a choice between ['Mark']"),
        ({"type": "integer", "enum": [1]}, "other things than strings"),
    ],
)
def test_a_construct_that_is_not_known_is_refused_with_its_place(
    schema: dict[str, Any], change: dict[str, Any], named: str
) -> None:
    schema["definitions"]["PingArguments"]["properties"]["clientID"] = change
    error = refused(schema)
    assert named in error
    assert error.startswith(("PingArguments.clientID", "PingClientID"))


def test_a_request_without_response_is_refused(schema: dict[str, Any]) -> None:
    del schema["definitions"]["PingResponse"]
    assert refused(schema) == "PingResponse is missing"


def test_a_required_property_that_is_not_there_is_refused(schema: dict[str, Any]) -> None:
    schema["definitions"]["PingArguments"]["required"] = ["what"]
    assert "requires ['what']" in refused(schema)


def test_a_definition_without_a_place_among_the_modules_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match=r"data types and tools/generate/topics\.py differ in .*Mark"):
        generate(read_schema(schema))


@pytest.mark.parametrize(
    ("wire", "name"),
    [
        ("threadId", "thread_id"),
        ("clientID", "client_id"),
        ("supportsANSIStyling", "supports_ansi_styling"),
        ("linesStartAt1", "lines_start_at1"),
        ("__restart", "restart_data"),
        ("request_seq", "request_seq"),
        ("id", "id"),
    ],
)
def test_a_wire_name_gets_its_name_in_python(wire: str, name: str) -> None:
    assert snake(wire) == name


def test_camel_case_does_not_give_back_every_wire_name() -> None:
    assert camel("thread_id") == "threadId"
    assert camel("client_id") == "clientId"


def test_a_field_is_written_with_its_description() -> None:
    item = Object(
        "Source",
        (
            Field("name", "name", Plain("str"), required=True),
            Field("sources", "sources", ListOf(Named("Source")), required=False),
            Field("origin", "origin", Plain("object"), required=False),
            Field("presentationHint", "presentation_hint", Named("Hint"), required=False, values=("x", "y")),
        ),
    )
    assert structs.data_type(item) == (
        "class Source(ProtocolObject, frozen=True, kw_only=True):\n"
        '    """A source: a file, or a text to be had by reference.\n\n'
        '    DAP, "Types: Source".\n'
        '    """\n\n'
        "    name: str\n"
        '    """Short name to show. Adapters always send it; clients may leave it out."""\n\n'
        '    sources: list["Source"] | None = None\n'
        '    """Sources related to this one, such as those that it was generated from."""\n\n'
        "    origin: object = None\n"
        '    """Where the source comes from, for the user to read: say, that a source map contains it."""\n\n'
        "    presentation_hint: Hint | None = None\n"
        '    """How prominently the source is shown. Absent: as usual. Values: `x`, `y`."""\n'
    )


def test_a_field_whose_wire_name_breaks_the_rule_carries_it() -> None:
    item = Object(
        "InitializeRequestArguments",
        (
            Field("clientID", "client_id", Plain("str"), required=False),
            Field("adapterID", "adapter_id", Plain("str"), required=True),
        ),
    )
    text = structs.data_type(item)
    assert '    client_id: str | None = field(default=None, name="clientID")\n' in text
    assert '    adapter_id: str = field(name="adapterID")\n' in text


DESCRIBED: dict[str, dict[str, str]] = {
    "PingArguments": dict.fromkeys(("about", "clientID", "kind", "count", "moduleId", "env", "marks"), "..."),
    "PingKind": {"a": "...", "b": "..."},
    "PingBody": {"late": "..."},
    "PongEvent": {"about": "..."},
    "Mark": {"about": "...", "x": "...", "y": "..."},
    "InitializeRequestArguments": {"about": "...", "supportsPong": "..."},
    "Capabilities": {"about": "...", "supportsPing": "..."},
}


def test_each_class_field_and_value_has_a_description_and_nothing_else_has_one(
    schema: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    protocol = read_schema(schema)

    def refused_with(**tables: dict[str, str]) -> str:
        monkeypatch.setattr(descriptions, "_tables", lambda: {**DESCRIBED, **tables})
        with pytest.raises(SchemaError) as caught:
            descriptions.check(protocol)
        return str(caught.value)

    monkeypatch.setattr(descriptions, "_tables", lambda: DESCRIBED)
    descriptions.check(protocol)
    assert "describes PingBody with []" in refused_with(PingBody={})
    assert "describes PingBody with ['late', 'early']" in refused_with(PingBody={"late": "...", "early": "..."})
    assert "describes PingKind with ['a']" in refused_with(PingKind={"a": "..."})
    assert "describes Mark with ['x', 'y']" in refused_with(Mark={"x": "...", "y": "..."})
    assert "differ in PingResult" in refused_with(PingResult={"late": "..."})
