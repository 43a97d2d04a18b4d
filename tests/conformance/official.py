"""The official JSON schema, as a judge of what we write."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dapkit.protocol import AnyMessage, Request, Response

SCHEMA = Path(__file__).parents[3] / "shared" / "reference" / "dap" / "debugAdapterProtocol.json"

ENVELOPES = ("ProtocolMessage", "Request", "Event", "Response", "ErrorResponse")


def schema() -> dict[str, Any]:
    """Read the schema, or skip the test without it."""
    if not SCHEMA.exists():
        pytest.skip(f"the official schema is not at {SCHEMA}")
    found: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return found


@cache
def definitions() -> dict[str, Any]:
    """Return the definitions of the schema."""
    found: dict[str, Any] = schema()["definitions"]
    # "One of launch and attach arguments" cannot be met: whatever is one is the other too. "Any of" is meant.
    restart = found["RestartArguments"]["properties"]["arguments"]
    restart["anyOf"] = restart.pop("oneOf")
    return found


def own_part(name: str) -> dict[str, Any]:
    """Return a definition without what it inherits."""
    node: dict[str, Any] = definitions()[name]
    return node["allOf"][1] if "allOf" in node else node


def properties(name: str) -> dict[str, bool]:
    """Return the properties of an object, inherited ones too, and whether each is required."""
    node = definitions()[name]
    inherited = properties(node["allOf"][0]["$ref"].rpartition("/")[2]) if "allOf" in node else {}
    return _properties(own_part(name)) | inherited


def body_properties(name: str) -> dict[str, bool]:
    """Return the properties of the body of a response or event, and whether each is required."""
    body = own_part(name).get("properties", {}).get("body", {})
    return properties(body["$ref"].rpartition("/")[2]) if "$ref" in body else _properties(body)


def names_ending(suffix: str) -> list[str]:
    """Return the names of requests, responses, ... without the envelopes."""
    return [name for name in definitions() if name.endswith(suffix) and name not in ENVELOPES]


def data_types() -> list[str]:
    """Return the names of what is neither message nor arguments."""
    messages = ("Request", "Response", "Event", "Arguments")
    return [name for name in definitions() if not name.endswith(messages) and name not in ENVELOPES]


def response_name(command: str) -> str:
    """Name the definition of a successful response."""
    return _named("Request", "command", command).removesuffix("Request") + "Response"


def event_name(event: str) -> str:
    """Name the definition of an event."""
    return _named("Event", "event", event)


def definition_of(message: AnyMessage) -> str:
    """Name the definition that a message has to obey."""
    match message:
        case Request(command=command):
            return _named("Request", "command", command)
        case Response(success=False):
            return "ErrorResponse"
        case Response(command=command):
            return response_name(command)
        case _:
            return event_name(message.event)


def complaints(name: str, value: object) -> list[str]:
    """List what a definition has against a JSON value."""
    return [f"{error.json_path}: {error.message}" for error in _validator(name).iter_errors(value)]


def _properties(node: dict[str, Any]) -> dict[str, bool]:
    return {wire: wire in node.get("required", []) for wire in node.get("properties", {})}


def _named(suffix: str, key: str, value: str) -> str:
    [name] = [name for name in names_ending(suffix) if own_part(name)["properties"][key]["enum"] == [value]]
    return name


@cache
def _validator(name: str) -> jsonschema.Draft4Validator:
    return jsonschema.Draft4Validator({"$ref": f"#/definitions/{name}", "definitions": definitions()})
