"""The exception being thrown, if the adapter leaves it to expressions.

gdb and lldb-dap report a throw of C++ without its type and text; both are in memory.
The expressions that read them are data of the adapter (`Traits.thrown`).
"""

import re

from dapkit.agent.reading.local_variables import Ask
from dapkit.agent.reading.variable_contents import contents_of_result
from dapkit.agent.results.values import ExceptionRow
from dapkit.catalog import Traits
from dapkit.protocol import DapkitError, EvaluateArguments, EvaluateBody
from dapkit.sessions.stops import Stop

_QUOTED = re.compile(r'"(?P<text>.*)"\Z', re.DOTALL)
"""The text that a pointer to characters shows."""


async def thrown_at(stop: Stop, traits: Traits, ask: Ask) -> ExceptionRow | None:
    """Read the exception being thrown at a stop.

    None if the program stopped elsewhere, or if nothing is known of it.
    """
    thrown = traits.thrown
    top = stop.frames[0] if stop.frames else None
    if top is None or not thrown or top.name.partition("(")[0] != thrown.get("function"):
        return None
    kind = await _evaluated(thrown.get("type"), top.id, ask)
    text = await _evaluated(thrown.get("message"), top.id, ask)
    value = await _evaluated(thrown.get("value"), top.id, ask)
    type_name = None if kind is None else _type_name(kind.result, thrown.get("type_pattern"))
    if type_name is None and value is not None:
        type_name = value.type
    message = None if text is None else _quoted(text.result)
    if message is None and value is not None:
        message = await _inside(value, ask)
    if not type_name:
        return None
    return ExceptionRow(exception_id=type_name, break_mode="always", type_name=type_name, message=message)


async def _evaluated(expression: str | None, frame_id: int, ask: Ask) -> EvaluateBody | None:
    if not expression:
        return None
    try:
        return await ask(EvaluateArguments(expression=expression, frame_id=frame_id, context="watch"))
    except DapkitError:  # without the symbols that it needs, say
        return None


def _type_name(text: str, pattern: str | None) -> str | None:
    match = re.search(pattern, text) if pattern else None
    return _quoted(text) if match is None else match[1]


def _quoted(text: str) -> str | None:
    match = _QUOTED.search(text)
    return None if match is None else match["text"]


async def _inside(value: EvaluateBody, ask: Ask) -> str | None:
    """Show the members of a value, or the value itself if it has no members."""
    return await contents_of_result(value, ask) or value.result or None
