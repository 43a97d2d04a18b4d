"""JSON schemas: for each action its arguments, and the details of its answer."""

import json
from collections.abc import Mapping

from dapkit.agent.calls.registry import Action, Parameter, ParameterKind
from dapkit.protocol.schemas import Schema, json_schemas

_STRING: Schema = {"type": "string"}
_TYPES: Mapping[ParameterKind, Schema] = {
    ParameterKind.STRING: _STRING,
    ParameterKind.PATH: _STRING,
    ParameterKind.INTEGER: {"type": "integer"},
    ParameterKind.PLACE: {"type": ["integer", "string"]},
    ParameterKind.NUMBER: {"type": "number"},
    ParameterKind.BOOLEAN: {"type": "boolean"},
    ParameterKind.STRINGS: {"type": "array", "items": _STRING},
    ParameterKind.INTEGERS: {"type": "array", "items": {"type": "integer"}},
    ParameterKind.VARIABLES: {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
    ParameterKind.OBJECT: {"type": "object"},
    ParameterKind.BREAKPOINTS: {"type": "array", "items": {"type": ["string", "object"]}},
}


def schemas(actions: Mapping[str, Action]) -> str:
    """Write the JSON."""
    kinds = [kind for action in actions.values() for kind in action.results]
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "actions": {
            name: {"arguments": _arguments(action), "details": _details(action)} for name, action in actions.items()
        },
        "$defs": json_schemas(kinds),
    }
    return json.dumps(document, indent=1) + "\n"


def _arguments(action: Action) -> Schema:
    required = [parameter.name for parameter in action.parameters.values() if parameter.required]
    return {
        "type": "object",
        "properties": {name: _property(parameter) for name, parameter in action.parameters.items()},
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def _details(action: Action) -> Schema:
    found: list[object] = [{"$ref": f"#/$defs/{kind.__name__}"} for kind in action.results]
    return {"anyOf": found}


def _property(parameter: Parameter) -> Schema:
    choices: Schema = {"enum": list(parameter.choices)} if parameter.choices else {}
    return {**_TYPES[parameter.kind], **choices, "description": parameter.meaning}
