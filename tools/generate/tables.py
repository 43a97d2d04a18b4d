"""Source text of the tables: commands, events, gates."""

from generate.model import Command, Protocol
from generate.names import snake


def tables(protocol: Protocol) -> str:
    """Write the rows of COMMANDS, EVENTS and EVENT_GATES."""
    rows = "".join(f"\n    {_row(command)}," for command in protocol.commands)
    bodies = "".join(f'\n        "{event.name}": {event.body.name},' for event in protocol.events)
    gates = "".join(f'\n        "{event.name}": {_attribute(event.gate)},' for event in protocol.events if event.gate)
    return f'''\
_SPECS = ({rows}
)

COMMANDS: Mapping[str, CommandSpec] = MappingProxyType({{spec.command: spec for spec in _SPECS}})
"""Every command by its name on the wire."""

EVENTS: Mapping[str, type[EventBody]] = MappingProxyType(
    {{{bodies}
    }}
)
"""The body of every event by its name on the wire."""

EVENT_GATES: Mapping[str, str] = MappingProxyType(
    {{{gates}
    }}
)
"""Events that only some clients want, and the attribute of `InitializeRequestArguments` that says so."""
'''


def table_names(protocol: Protocol) -> set[str]:
    """Collect the classes that the tables need."""
    names = {command.arguments.name for command in protocol.commands}
    names |= {command.body for command in protocol.commands if command.body}
    return names | {event.body.name for event in protocol.events}


def _row(command: Command) -> str:
    facts = [f'"{command.name}"', command.arguments.name, str(command.body)]
    if command.gate is not None:
        facts.append(f"capability={_attribute(command.gate)}")
    if command.is_reverse:
        facts.append("direction=Direction.ADAPTER_TO_CLIENT")
    if command.arguments_optional:
        facts.append("arguments_optional=True")
    return f"CommandSpec({', '.join(facts)})"


def _attribute(wire: str | None) -> str:
    return "None" if wire is None else f'"{snake(wire)}"'
