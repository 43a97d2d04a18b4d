"""Arguments and commands of an adapter beyond every launch's own: mapped sources and commands of the user.

An adapter takes these as arguments of launch and attach, or as words of its command;
its definition says how. An option that the adapter cannot take is an error that names it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dapkit.catalog.choice import Choice
from dapkit.catalog.definition import ArgumentTemplate
from dapkit.catalog.errors import CatalogError
from dapkit.catalog.templates import UNKNOWN, fill, fill_table


def with_sources_mapped(choice: Choice, source_map: Mapping[str, str]) -> Choice:
    """Return a choice whose adapter looks for sources elsewhere than the program says.

    Args:
        choice: of `Catalog.choose`.
        source_map: folders as the program, or its debug information, names them, each with where it is here.

    Raises:
        CatalogError: the adapter cannot.

    """
    if not source_map:
        return choice
    definition = choice.definition
    if not definition.source_map and not definition.source_map_words:
        raise CatalogError(f"{definition.name} cannot map sources: it has nothing for that")
    pairs = list(source_map.items())
    values: Mapping[str, object] = {
        "pairs": [[there, here] for there, here in pairs],
        "table": dict(pairs),
        "substitutions": [{"from": here, "to": there} for there, here in pairs],
        "roots": [{"localRoot": here, "remoteRoot": there} for there, here in pairs],
    }
    words = [
        word for there, here in pairs for word in _filled(definition.source_map_words, {"there": there, "here": here})
    ]
    return _extended(choice, definition.source_map, values, words)


def with_commands(choice: Choice, commands: Sequence[str]) -> Choice:
    """Return a choice whose debugger runs commands of its own first. Raises: CatalogError: it takes none."""
    if not commands:
        return choice
    definition = choice.definition
    if not definition.debugger_commands and not definition.debugger_command_words:
        raise CatalogError(f"{definition.name} takes no commands at its start")
    words = [word for command in commands for word in _filled(definition.debugger_command_words, {"command": command})]
    return _extended(choice, definition.debugger_commands, {"commands": list(commands)}, words)


def _extended(choice: Choice, template: ArgumentTemplate, values: Mapping[str, object], words: Sequence[str]) -> Choice:
    more = fill_table(template, lambda name: values.get(name, UNKNOWN))
    return replace(choice, command=(*choice.command, *words), arguments={**choice.arguments, **more})


def _filled(template: Sequence[str], values: Mapping[str, str]) -> Iterator[str]:
    for word in template:
        yield str(fill(word, lambda name: values.get(name, UNKNOWN)))
