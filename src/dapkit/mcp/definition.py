"""The definition of the tool: the text that a model reads before it uses it, in as few words as possible."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from mcp import types

from dapkit.agent.table import ACTIONS, PARAMETERS

if TYPE_CHECKING:
    from dapkit.agent.table import ParameterRow

NAME: Final = "debug"

DESCRIPTION: Final = (
    "Debug programs in any language. launch stops at breakpoints and reports source, locals, stack and output; "
    "then evaluate, step_*, continue; terminate at the end. Sessions stay between calls. "
    "Each action takes the parameters that its errors name; all are described in the resource dapkit://actions."
)

_PLAIN: Final = frozenset(
    [
        "args",
        "module",
        "cwd",
        "pid",
        "port",
        "file",
        "line",
        "column",
        "function",
        "condition",
        "thread_id",
        "expression",
        "frame_id",
        "levels",
        "name",
        "value",
        "offset",
        "count",
        "data_id",
        "access_type",
        "instruction_count",
        "resolve_symbols",
        "data",
        "allow_partial",
        "memory_reference",
        "instruction_reference",
        "start_module",
        "module_count",
        "granularity",
        "into",
        "clock",
        "scope_id",
        "filter",
    ]
)
"""Parameters whose names say enough."""

_TYPES: Final[Mapping[str, dict[str, Any]]] = {
    "string": {"type": "string"},
    "path": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "strings": {"type": "array", "items": {"type": "string"}},
    "integers": {"type": "array", "items": {"type": "integer"}},
    "variables": {"type": "object"},
    "object": {"type": "object"},
    "breakpoints": {"type": "array"},
}


def tool(*, read_only: bool) -> types.Tool:
    """Return the definition; a read-only one lists only the actions that look."""
    actions = [name for name, row in ACTIONS.items() if not read_only or row["approval"] == "read"]
    used_parameters = {parameter for name in actions for parameter in ACTIONS[name]["parameters"]}
    properties: dict[str, object] = {"action": {"enum": actions}, "session": {"type": "string"}}
    properties |= {name: _schema(name, row) for name, row in PARAMETERS.items() if name in used_parameters}
    return types.Tool(
        name=NAME,
        description=DESCRIPTION,
        input_schema={"type": "object", "properties": properties, "required": ["action"]},
        annotations=types.ToolAnnotations(
            title="Debugger",
            read_only_hint=read_only,
            destructive_hint=not read_only,
            idempotent_hint=False,
            open_world_hint=False,
        ),
        _meta={"dapkit/reads": [name for name in actions if ACTIONS[name]["approval"] == "read"]},  # the others execute
    )


def _schema(name: str, row: "ParameterRow") -> dict[str, object]:
    schema: dict[str, object] = {"enum": list(row["choices"])} if row["choices"] else dict(_TYPES[row["type"]])
    if name not in _PLAIN:
        schema["description"] = row["meaning"].removesuffix(".")
    return schema
