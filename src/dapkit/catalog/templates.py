"""Fill in the placeholders of a definition.

    "${args}"             alone in a text: the value itself, whatever its type;
                          alone in a list and a list itself: its items
    "--sock=${socket}"    within a text: the value as text
    "$${port}"            stays `${port}`

A value of None means that the value is missing: a text that needs it is left out. An unknown placeholder stays as it
is; the transport has some of its own.
"""

import re
from collections.abc import Callable, Mapping

from dapkit.catalog.definition import ArgumentTemplate

_PLACEHOLDER = re.compile(r"\$?\$\{([^{}]+)\}")

type PlaceholderLookup = Callable[[str], object]
"""Returns the value of a placeholder; `UNKNOWN` for one that it does not know."""

UNKNOWN = object()
"""A placeholder of another module, which stays as it is."""


def placeholders(template: object) -> set[str]:
    """Return the names of all placeholders in a template."""
    match template:
        case str():
            return {match[1] for match in _PLACEHOLDER.finditer(template) if not match[0].startswith("$$")}
        case Mapping():
            return set().union(*(placeholders(value) for value in template.values()))
        case list() | tuple():
            return set().union(*(placeholders(value) for value in template))
        case _:
            return set()


def fill_table(template: ArgumentTemplate, values: PlaceholderLookup) -> dict[str, object]:
    """Return the arguments that a template makes of these values."""
    filled = {key: fill(value, values) for key, value in template.items()}
    return {key: value for key, value in filled.items() if value is not None}


def fill_command(template: tuple[str, ...], values: PlaceholderLookup) -> tuple[str, ...] | None:
    """Return the command that a template makes of these values; None if one of them is missing."""
    filled = [fill(part, values) for part in template]
    if None in filled:
        return None
    return tuple(str(word) for part in filled for word in (part if isinstance(part, list | tuple) else [part]))


def fill(template: object, values: PlaceholderLookup) -> object:
    """Return a template with its values; None if one of them is missing."""
    match template:
        case str():
            return _filled_text(template, values)
        case Mapping():
            return fill_table(template, values)
        case list() | tuple():
            return _filled_list(list(template), values)
        case _:
            return template


def _filled_list(template: list[object], values: PlaceholderLookup) -> list[object]:
    filled: list[object] = []
    for item in template:
        value = fill(item, values)
        if isinstance(item, str) and isinstance(value, list | tuple):
            filled.extend(value)
        elif value is not None:
            filled.append(value)
    return filled


def _filled_text(template: str, values: PlaceholderLookup) -> object:
    alone = _PLACEHOLDER.fullmatch(template)
    if alone is not None and not template.startswith("$$"):
        value = values(alone[1])
        return template if value is UNKNOWN else value
    missing = False

    def replaced(match: re.Match[str]) -> str:
        nonlocal missing
        if match[0].startswith("$$"):
            return match[0][1:]
        value = values(match[1])
        missing = missing or value is None
        return match[0] if value is UNKNOWN else str(value)

    text = _PLACEHOLDER.sub(replaced, template)
    return None if missing else text
