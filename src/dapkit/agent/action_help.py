"""The description of an action for a model: its parameters, and a call of it."""

import json
from difflib import get_close_matches

from dapkit.agent.table import ACTIONS, PARAMETERS

_MOST_CHARACTERS = 1000
_NAMES_ENOUGH = (
    *("program", "args", "module", "configuration", "inputs", "adapter", "cwd", "env", "stdin_file", "terminal"),
    *("options", "pid", "host", "port", "timeout", "test", "python", "source_map"),
)
"""Parameters whose names say enough, where an action has many."""


def action_help(name: str | None) -> str:
    """Describe an action; without a name, list all with their purposes. A wrong name is answered with near ones."""
    if name is None:
        return "\n".join(f"{name}: {row['summary']}" for name, row in ACTIONS.items())
    if name not in ACTIONS:
        return unknown_action(name)
    whole = _described(name, ())
    return whole if len(whole) <= _MOST_CHARACTERS else _described(name, _NAMES_ENOUGH)


def _described(name: str, only_named: tuple[str, ...]) -> str:
    row = ACTIONS[name]
    lines = [f"{name}: {row['summary']}"]
    if plain := [parameter for parameter in row["parameters"] if parameter in only_named]:
        lines.append(f"- {', '.join(plain)}")
    for parameter in row["parameters"]:
        about = PARAMETERS[parameter]
        kind = "|".join(about["choices"]) or about["type"]
        necessity = ", required" if parameter in row["required"] else ""
        if parameter not in only_named:
            lines.append(f"- {parameter} ({kind}{necessity}): {about['meaning']}")
    return "\n".join([*lines, f"Example: {example_call(name)}"])


def example_call(name: str) -> str:
    """Return a call of an action that is right, as the arguments of the tool."""
    return json.dumps({"action": name, "parameters": ACTIONS[name]["example"]})


def unknown_action(name: str) -> str:
    """Say that there is no such action, and which are near."""
    near = get_close_matches(name, ACTIONS, n=3)
    return f"Unsupported debug action: {name}. " + (
        f"Near: {', '.join(near)}." if near else 'The action "help" lists all.'
    )
