"""Descriptions of each class, field and value of the protocol, in our own words.

`descriptions/*.toml` has a table for each class and enumeration, with an entry
for each field (by its name on the wire) or value. `about` is the first line of
the docstring; bodies, and enumerations inside an object, have none, since
theirs follows from what they belong to.
"""

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path

from generate.model import Object, Protocol
from generate.schema import SchemaError

_FOLDER = Path(__file__).with_name("descriptions")
_ABOUT = "about"


def about(name: str) -> str:
    """Tell what a class or an enumeration is, as a sentence without its full stop."""
    return _tables()[name][_ABOUT]


def of(name: str, key: str) -> str:
    """Tell what a field of a class is, or a value of an enumeration."""
    return _tables()[name][key]


def check(protocol: Protocol) -> None:
    """Refuse a definition that is not described, and a description without definition.

    Raises:
        SchemaError: it names the first such definition.

    """
    expected = _expected(protocol)
    if different := set(expected) ^ set(_tables()):
        raise SchemaError(f"the schema and {_FOLDER} differ in {', '.join(sorted(different))}")
    for name, keys in expected.items():
        if (described := list(_tables()[name])) != keys:
            raise SchemaError(f"{_FOLDER} describes {name} with {described}, expected in this order: {keys}")


def _expected(protocol: Protocol) -> Mapping[str, list[str]]:
    """List the entries of each table, in order."""
    commands = protocol.commands
    titled: list[Object] = [
        *protocol.objects,
        *(command.arguments for command in commands),
        *(event.body for event in protocol.events),
    ]
    bodies = [command.own_body for command in commands if command.own_body is not None]
    expected = {item.name: [_ABOUT, *_fields(item)] for item in titled}
    expected.update({item.name: [_ABOUT, *item.values] for item in protocol.enumerations})
    expected.update({item.name: _fields(item) for item in bodies})
    for owner in (*titled, *bodies):
        expected.update({item.name: list(item.values) for item in owner.enumerations})
    return expected


def _fields(item: Object) -> list[str]:
    return [field.wire for field in item.fields]


@functools.cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    tables: dict[str, Mapping[str, str]] = {}
    for path in sorted(_FOLDER.glob("*.toml")):
        read = tomllib.loads(path.read_text(encoding="utf-8"))
        if twice := set(read) & set(tables):
            raise SchemaError(f"{path} describes again {', '.join(sorted(twice))}")
        tables.update(read)
    return tables
