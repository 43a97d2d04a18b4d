"""From the names on the wire to names in Python, and back."""

import re

# `__restart` would be mangled inside a class body.
_SPECIAL = {"__restart": "restart_data"}

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def snake(wire: str) -> str:
    """Name a property or command in snake case: `supportsANSIStyling` is `supports_ansi_styling`."""
    return _SPECIAL.get(wire) or _WORD_START.sub("_", wire).lower()


def camel(python: str) -> str:
    """Tell which wire name `rename="camel"` gives to a field."""
    first, *rest = python.split("_")
    return first + "".join(word.capitalize() for word in rest)


def upper_first(name: str) -> str:
    """Turn a command or property name into the start of a class name."""
    return name[0].upper() + name[1:]


def lower_first(text: str) -> str:
    """Turn the start of a sentence into the middle of one."""
    return text[0].lower() + text[1:]
