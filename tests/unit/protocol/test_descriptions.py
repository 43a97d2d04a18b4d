"""Descriptions of fields: each public one has one, and they are in the JSON schemas."""

import msgspec
import pytest

import dapkit.protocol
from dapkit.protocol import LaunchRequestArguments, Source, StackFrameFormat
from dapkit.protocol.schemas import field_descriptions, json_schemas

CLASSES = [
    kind for kind in (getattr(dapkit.protocol, name) for name in dapkit.protocol.__all__) if isinstance(kind, type)
]


class Launch(LaunchRequestArguments, frozen=True, kw_only=True):
    """Start a calculation."""

    program: str
    """The program
    to run.
    """

    stopAtLine: int = 1  # noqa: N815 - a name for the wire
    arguments: list[str] = msgspec.field(default_factory=list)
    """What it gets."""


@pytest.mark.parametrize("kind", [kind for kind in CLASSES if issubclass(kind, msgspec.Struct)])
def test_each_field_of_a_public_class_is_described(kind: type[msgspec.Struct]) -> None:
    assert set(kind.__struct_fields__) - set(field_descriptions(kind)) == set()


def test_fields_have_the_descriptions_of_the_classes_they_come_from() -> None:
    described = field_descriptions(Launch)
    assert described["program"] == "The program to run."
    assert described["no_debug"] == field_descriptions(LaunchRequestArguments)["no_debug"]
    assert "stopAtLine" not in described


def test_a_class_whose_source_is_not_there_has_no_descriptions() -> None:
    made = msgspec.defstruct("Made", [("x", int)], module="of_no_file")
    assert field_descriptions(made) == {}
    assert json_schemas([made])["Made"]["properties"] == {"x": {"type": "integer"}}


def test_a_json_schema_has_the_descriptions_of_all_fields() -> None:
    schemas = json_schemas([Source, StackFrameFormat])
    assert set(schemas) == {"Checksum", "Source", "StackFrameFormat"}
    for schema in schemas.values():
        properties = schema["properties"]
        assert isinstance(properties, dict)
        assert [name for name, entry in properties.items() if "description" not in entry] == []


def test_the_schema_of_launch_arguments_has_their_keys_on_the_wire() -> None:
    schema = json_schemas([Launch])["Launch"]
    properties = schema["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == ["noDebug", "__restart", "program", "stopAtLine", "arguments"]
    assert properties["program"] == {"type": "string", "description": "The program to run."}
    assert properties["arguments"]["default"] == []
    assert schema["required"] == ["program"]
    assert schema["description"] == "Start a calculation."
