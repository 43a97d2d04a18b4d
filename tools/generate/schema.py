"""Read the JSON schema into the model.

The schema has no version of its own and follows conventions rather than rules:
`XRequest`, `XArguments` or `XRequestArguments`, `XResponse`, `XEvent`. Whatever
does not follow them, and every keyword that is not known here, is an error: a
new schema is to be understood before code is made from it.
"""

import re
from collections.abc import Iterable, Mapping

from generate.model import (
    Command,
    Enumeration,
    Event,
    Field,
    ListOf,
    MapOf,
    Named,
    Object,
    Plain,
    Protocol,
    Ranged,
    Type,
)
from generate.names import snake, upper_first

type Json = Mapping[str, object]

# (format, minimum, maximum) -> alias, defined in dapkit.protocol.numbers
RANGES: Mapping[tuple[object, object, object], str] = {
    ("int32", None, None): "Int32",
    ("int32", 0, None): "NonNegativeInt32",
    ("int32", 1, None): "PositiveInt32",
    ("uint32", None, None): "Uint32",
    ("int64", -(2**53 - 1), 2**53 - 1): "Int53",
    ("uint64", None, 2**53 - 1): "Uint53",
    (None, 0, 100): "Percentage",
}
_PLAIN = {"string": "str", "boolean": "bool"}
_UNIONS = {
    ("string", "null"): "str | None",
    ("integer", "string"): "int | str",
    ("array", "boolean", "integer", "null", "number", "object", "string"): "object",
}
_ENVELOPES = ("ProtocolMessage", "Request", "Event", "Response", "ErrorResponse")
_OPEN_COMMANDS = ("launch", "attach")
# Where the rule gives a name that is taken, or that misleads.
_ENUMERATION_NAMES = {
    ("BreakpointEvent", "reason"): "BreakpointEventReason",
    ("StartDebuggingRequestArguments", "request"): "StartDebuggingKind",
    ("VariablePresentationHint", "attributes"): "VariablePresentationHintAttribute",
}
_GATE = re.compile(r"only (?:be )?(?:call|called|sent)\b[^.]*?\bcapability `(\w+)`")
_REFERENCE = "#/definitions/"


class SchemaError(Exception):
    """The schema holds something that this generator does not understand."""


def read_schema(schema: Json) -> Protocol:
    """Read the whole schema.

    Raises:
        SchemaError: with the place and the construct that is not known.

    """
    _only(schema, ("$schema", "title", "description", "type", "definitions"), "$")
    return _Reader(_json(schema.get("definitions"), "$.definitions")).read()


class _Reader:
    """One pass over the definitions. `_read` collects what was used, so that nothing is left over."""

    def __init__(self, definitions: Json) -> None:
        self._definitions = {name: _json(node, name) for name, node in definitions.items()}
        self._used: set[str] = set(_ENVELOPES)

    def read(self) -> Protocol:
        names = [name for name in self._definitions if name not in _ENVELOPES]
        commands = tuple(self._command(name) for name in names if name.endswith("Request"))
        events = tuple(self._event(name) for name in names if name.endswith("Event"))
        objects: list[Object] = []
        enumerations: list[Enumeration] = []
        for name in names:
            if name not in self._used:
                match self._data_type(name):
                    case Object() as data:
                        objects.append(data)
                    case Enumeration() as enumeration:
                        enumerations.append(enumeration)
        return Protocol(commands, events, tuple(objects), tuple(enumerations))

    # Requests, responses, events

    def _command(self, request_name: str) -> Command:
        stem = request_name.removesuffix("Request")
        request = self._message(request_name, "Request")
        properties = _properties(request, request_name)
        _only(properties, ("command", "arguments"), request_name)
        command = _only_value(properties["command"], f"{request_name}.command")
        arguments = self._arguments(stem, properties.get("arguments"))
        body, own_body = self._response(stem)
        gate = _gate(request)
        is_reverse = self._is_reverse(request_name)
        holder = "InitializeRequestArguments" if is_reverse else "Capabilities"
        if gate is not None and gate not in _properties(self._definitions[holder], holder):
            raise SchemaError(f"{request_name}: gated by `{gate}`, which {holder} does not have")
        return Command(
            name=command,
            arguments=arguments,
            arguments_optional="arguments" not in _required(request),
            body=body,
            own_body=own_body,
            gate=gate,
            is_reverse=is_reverse,
            is_open=command in _OPEN_COMMANDS,
        )

    def _arguments(self, stem: str, node: object) -> Object:
        if node is None:
            return Object(f"{stem}Arguments", ())
        reference = _json(node, f"{stem}Request.arguments")
        _only(reference, ("$ref", "description"), f"{stem}Request.arguments")
        name = _target(reference)
        if name not in (f"{stem}Arguments", f"{stem}RequestArguments"):
            raise SchemaError(f"{stem}Request.arguments: unexpected type {name}")
        self._used.add(name)
        return self._object(name, self._definitions[name])

    def _response(self, stem: str) -> tuple[str | None, Object | None]:
        """Read the body of a response: its name, and its definition if that is written inline."""
        name = f"{stem}Response"
        response = self._message(name, "Response")
        properties = _properties(response, name)
        _only(properties, ("body",), name)
        if "body" not in properties:
            return None, None
        body = _json(properties["body"], f"{name}.body")
        if "$ref" in body:
            return _target(body), None
        own = self._object(f"{stem}Body", body)
        return own.name, own

    def _event(self, name: str) -> Event:
        node = self._message(name, "Event")
        properties = _properties(node, name)
        _only(properties, ("event", "body"), name)
        body = Object(name, ())
        if "body" in properties:
            body = self._object(name, _json(properties["body"], f"{name}.body"))
        gate = _gate(node)
        if gate is not None and gate not in _properties(
            self._definitions["InitializeRequestArguments"], "InitializeRequestArguments"
        ):
            raise SchemaError(f"{name}: gated by `{gate}`, which InitializeRequestArguments does not have")
        return Event(_only_value(properties["event"], f"{name}.event"), body, gate)

    def _message(self, name: str, base: str) -> Json:
        """Take the own part of a definition that extends an envelope."""
        self._used.add(name)
        if name not in self._definitions:
            raise SchemaError(f"{name} is missing")
        own_base, own = _extension(self._definitions[name], name)
        if own_base != base:
            raise SchemaError(f"{name}: extends {own_base}, expected {base}")
        _only(own, ("type", "title", "description", "properties", "required"), name)
        return own

    def _is_reverse(self, request_name: str) -> bool:
        """Tell whether the last section title before a request is that of the reverse requests.

        The schema marks sections by a `title` on the first definition of each.
        """
        section = ""
        for name, node in self._definitions.items():
            own = _extension(node, name)[1] if "allOf" in node else node
            section = str(own.get("title", section))
            if name == request_name:
                break
        return section == "Reverse Requests"

    # Data types

    def _data_type(self, name: str) -> Object | Enumeration:
        node = self._definitions[name]
        if "enum" in node or "_enum" in node:
            return _enumeration(name, node)
        if "allOf" not in node:
            return self._object(name, node)
        base, own = _extension(node, name)
        return self._object(name, own, base=base)

    def _object(self, name: str, node: Json, base: str | None = None) -> Object:
        _only(node, ("type", "title", "description", "properties", "required"), name)
        if node.get("type") != "object":
            raise SchemaError(f"{name}: type {node.get('type')!r}, expected 'object'")
        required = _required(node)
        properties = _properties(node, name)
        if missing := set(required) - set(properties):
            raise SchemaError(f"{name}: requires {sorted(missing)}, which it does not define")
        enumerations: list[Enumeration] = []
        fields = tuple(
            Field(
                wire,
                snake(wire),
                self._type(name, wire, _json(prop, f"{name}.{wire}"), enumerations),
                wire in required,
                self._values(_json(prop, f"{name}.{wire}")),
            )
            for wire, prop in properties.items()
        )
        return Object(name, fields, base, tuple(enumerations))

    def _type(self, owner: str, wire: str, node: Json, enumerations: list[Enumeration]) -> Type:
        at = f"{owner}.{wire}"
        if "$ref" in node:
            return self._reference(at, node)
        if "oneOf" in node:
            return _one_of(at, node)
        if "enum" in node or "_enum" in node:
            enumeration = _enumeration(_enumeration_name(owner, wire), node)
            enumerations.append(enumeration)
            return Named(enumeration.name)
        match node.get("type"):
            case "array":
                _only(node, ("type", "description", "items"), at)
                return ListOf(self._type(owner, wire, _json(node.get("items"), at), enumerations))
            case "object":
                _only(node, ("type", "description", "additionalProperties"), at)
                return self._map(owner, wire, node.get("additionalProperties"), enumerations)
            case _:
                return _scalar(at, node)

    def _values(self, node: Json) -> tuple[str, ...]:
        """List the values of the enumeration in a property, after `_type` has found it sound."""
        match node:
            case {"$ref": _}:
                return self._values(self._definitions[_target(node)])
            case {"type": "array", "items": dict(items)}:
                return self._values(items)
            case {"enum": list(values)} | {"_enum": list(values)}:
                return tuple(str(value) for value in values)
            case _:
                return ()

    def _reference(self, at: str, node: Json) -> Type:
        _only(node, ("$ref", "description"), at)
        name = _target(node)
        if name not in self._definitions:
            raise SchemaError(f"{at}: refers to {name}, which is not defined")
        return Named(name)

    def _map(self, owner: str, wire: str, value: object, enumerations: list[Enumeration]) -> Type:
        if value is True:
            return MapOf(Plain("object"))
        return MapOf(self._type(owner, wire, _json(value, f"{owner}.{wire}"), enumerations))


def _scalar(at: str, node: Json) -> Type:
    kind = node.get("type")
    match kind:
        case "integer" | "number":
            _only(node, ("type", "description", "format", "minimum", "maximum"), at)
            return _ranged(at, node)
        case str() if kind in _PLAIN:
            _only(node, ("type", "description"), at)
            return Plain(_PLAIN[kind])
        case list() if tuple(kind) in _UNIONS:
            _only(node, ("type", "description"), at)
            return Plain(_UNIONS[tuple(kind)])
        case _:
            raise SchemaError(f"{at}: type {kind!r}")


def _one_of(at: str, node: Json) -> Type:
    """Read the choice between launch and attach arguments: both open, so any JSON object will do."""
    _only(node, ("oneOf", "description"), at)
    names = [_target(_json(choice, at)) for choice in _list(node["oneOf"], at)]
    if names != ["LaunchRequestArguments", "AttachRequestArguments"]:
        raise SchemaError(f"{at}: a choice between {names}")
    return MapOf(Plain("object"))


def _enumeration(name: str, node: Json) -> Enumeration:
    _only(node, ("type", "description", "enum", "_enum", "enumDescriptions"), name)
    is_open = "_enum" in node
    values = _list(node["_enum" if is_open else "enum"], name)
    if node.get("type") != "string" or not all(isinstance(value, str) for value in values):
        raise SchemaError(f"{name}: an enumeration of other things than strings")
    return Enumeration(name, tuple(str(value) for value in values), is_open)


def _enumeration_name(owner: str, wire: str) -> str:
    """Name an enumeration that is written inside a property: `StoppedEvent.reason` is `StoppedReason`."""
    if name := _ENUMERATION_NAMES.get((owner, wire)):
        return name
    for suffix in ("RequestArguments", "Arguments", "Event", "Body"):
        owner = owner.removesuffix(suffix)
    return owner + upper_first(wire)


def _ranged(at: str, node: Json) -> Ranged:
    key = (node.get("format"), node.get("minimum"), node.get("maximum"))
    if key not in RANGES:
        raise SchemaError(f"{at}: a number with format {key[0]}, minimum {key[1]}, maximum {key[2]}")
    return Ranged(RANGES[key])


def _extension(node: Json, name: str) -> tuple[str, Json]:
    """Split `allOf: [{$ref}, {...}]` into the name of the base and the own part."""
    _only(node, ("allOf",), name)
    match node["allOf"]:
        case [dict(base), dict(own)] if "$ref" in base:
            return _target(base), own
        case other:
            raise SchemaError(f"{name}: allOf with {other!r:.80}")


def _gate(node: Json) -> str | None:
    found = _GATE.search(str(node.get("description", "")))
    return found[1] if found else None


def _target(reference: Json) -> str:
    return str(reference["$ref"]).removeprefix(_REFERENCE)


def _only_value(node: object, at: str) -> str:
    match node:
        case {"type": "string", "enum": [str(value)]}:
            return value
        case _:
            raise SchemaError(f"{at}: expected one constant string, found {node!r:.80}")


def _properties(node: Json, at: str) -> Json:
    return _json(node.get("properties", {}), f"{at}.properties")


def _required(node: Json) -> list[str]:
    return [str(name) for name in _list(node.get("required", []), "required")]


def _only(node: Json, known: Iterable[str], at: str) -> None:
    if unknown := sorted(set(node) - set(known)):
        raise SchemaError(f"{at}: unknown {', '.join(unknown)}")


def _json(node: object, at: str) -> Json:
    if not isinstance(node, dict):
        raise SchemaError(f"{at}: expected an object, found {node!r:.80}")
    return node


def _list(node: object, at: str) -> list[object]:
    if not isinstance(node, list):
        raise SchemaError(f"{at}: expected a list, found {node!r:.80}")
    return node
