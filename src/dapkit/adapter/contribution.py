"""The contribution of a VS Code extension about an adapter, in its package.json.

The schemas of launch and attach configurations follow from the types that the
adapter reads them into, with the strings below their fields as descriptions:
an editor completes and checks launch.json by them. Schemas in a package.json
cannot refer to others, so that each is written out where it is used.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from dapkit.adapter.adapter import Adapter
from dapkit.adapter.errors import DefinitionError
from dapkit.protocol.schemas import json_schemas

type Json = dict[str, object]

_SENT_BY_CLIENTS = ("noDebug", "__restart")
"""Members of all arguments that clients set by themselves (specification, "Launch Request")."""

_REFERENCE = "#/$defs/"


def debugger_contribution(
    adapter: type[Adapter[Any, Any]],
    *,
    kind: str,
    label: str,
    command: Sequence[str],
    languages: Sequence[str] = (),
    configurations: Sequence[Mapping[str, object]] = (),
) -> Json:
    """Describe an adapter as `contributes.debuggers` of a package.json does.

    Args:
        adapter: the class; its types for launch and attach become schemas.
        kind: the `type` of its configurations in launch.json.
        label: its name for people.
        command: the command that starts it; a path that begins with `./` is in the folder of the extension.
        languages: identifiers of the languages in whose files it is offered.
        configurations: the configurations of a new launch.json; each gets `type` and `name` if it lacks them.

    Raises:
        DefinitionError: the class is only a part of an adapter, or a type contains itself.

    Example:
        >>> from dapkit import protocol as dap
        >>> from dapkit.adapter import NoAttach
        >>> class ListLaunch(dap.LaunchRequestArguments, frozen=True, kw_only=True):
        ...     program: str
        >>> class ListAdapter(Adapter[ListLaunch, NoAttach]):
        ...     async def launch(self, args: ListLaunch) -> None: ...
        >>> made = debugger_contribution(ListAdapter, kind="list", label="Lists", command=["./list-adapter"])
        >>> made["configurationAttributes"]
        {'launch': {'required': ['program'], 'properties': {'program': {'type': 'string'}}}}

    """
    definition = adapter.definition()
    program, *arguments = command
    attributes = {
        request: _configuration(struct) for request, struct in definition.starts.items() if struct is not None
    }
    offered = [
        {"type": kind, "name": f"{label}: {configuration.get('request', 'launch')}", **configuration}
        for configuration in configurations
    ]
    described: Json = {
        "type": kind,
        "label": label,
        "languages": list(languages),
        "program": program if program.startswith("./") else None,
        "runtime": None if program.startswith("./") else program,
        "args": arguments,
        "configurationAttributes": attributes,
        "initialConfigurations": offered,
    }
    return {name: value for name, value in described.items() if value not in (None, [])}


def write_contribution(package_json: Path, contribution: Mapping[str, object]) -> None:
    """Put a debugger into a package.json, in place of the one of the same `type`; all else stays.

    Breakpoints are allowed in files of its languages.

    Raises:
        OSError: the file cannot be read or written.
        DefinitionError: the file is not a package.json.

    """
    text = package_json.read_text(encoding="utf-8")
    try:
        package = json.loads(text)
        contributes = package.setdefault("contributes", {})
        debuggers = contributes.setdefault("debuggers", [])
        others = [debugger for debugger in debuggers if debugger.get("type") != contribution["type"]]
        breakpoints = contributes.setdefault("breakpoints", [])
        languages_with_breakpoints = {entry.get("language") for entry in breakpoints}
    except (ValueError, AttributeError, TypeError) as error:
        raise DefinitionError(f"{package_json} is not the package.json of an extension: {error}") from error
    contributes["debuggers"] = [*others, dict(contribution)]
    languages = cast("list[str]", contribution.get("languages", []))
    breakpoints += [{"language": language} for language in languages if language not in languages_with_breakpoints]
    indent = next((line[: len(line) - len(line.lstrip())] for line in text.splitlines() if line[:1] in " \t"), "  ")
    package_json.write_text(json.dumps(package, indent=indent, ensure_ascii=False) + "\n", encoding="utf-8")


def _configuration(struct: type[Any]) -> Json:
    """Make the schema of one kind of configuration."""
    schemas = json_schemas([struct])
    schema = cast("Json", _written_out(schemas[struct.__name__], schemas, ()))
    properties = cast("Json", schema.get("properties", {}))
    for name in _SENT_BY_CLIENTS:
        properties.pop(name, None)
    required = schema.get("required", [])
    return {"required": required, "properties": properties} if required else {"properties": properties}


def _written_out(schema: object, schemas: Mapping[str, Json], within: tuple[str, ...]) -> object:
    """Put schemas in place of references, and leave out null for keys, where it is the same as their absence."""
    match schema:
        case {"$ref": str(reference), **beside}:
            name = reference.removeprefix(_REFERENCE)
            if name in within:
                raise DefinitionError(f"{name} contains itself: a package.json has no place for such a schema")
            schema_of_reference = cast("Json", _written_out(schemas[name], schemas, (*within, name)))
            return {**schema_of_reference, **cast("Json", _written_out(beside, schemas, within))}
        case {"properties": dict(properties), **beside}:
            members = {
                name: _written_out(_without_null(member), schemas, within) for name, member in properties.items()
            }
            return {**cast("Json", _written_out(beside, schemas, within)), "properties": members}
        case dict():
            return {
                key: _written_out(value, schemas, within)
                for key, value in schema.items()
                if not (key == "default" and value is None) and key != "title"
            }
        case list() | tuple():
            return [_written_out(value, schemas, within) for value in schema]
        case _:
            return schema


def _without_null(schema: object) -> object:
    match schema:
        case {"anyOf": list(choices), **beside}:
            other_choices = [choice for choice in choices if choice != {"type": "null"}]
            return {**other_choices[0], **beside} if len(other_choices) == 1 else {"anyOf": other_choices, **beside}
        case _:
            return schema
