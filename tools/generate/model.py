"""The protocol as the generator understands it, free of JSON schema and of Python syntax."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Plain:
    """A type without structure: `str`, `bool`, `object` (any JSON), `int | str`, `str | None`."""

    python: str


@dataclass(frozen=True)
class Ranged:
    """A number with limits, known by the name of its alias."""

    alias: str


@dataclass(frozen=True)
class Named:
    """A reference to an object, or to an enumeration with a name of its own."""

    name: str


@dataclass(frozen=True)
class ListOf:
    """A JSON array."""

    item: "Type"


@dataclass(frozen=True)
class MapOf:
    """A JSON object used as a dictionary."""

    value: "Type"


type Type = Plain | Ranged | Named | ListOf | MapOf


@dataclass(frozen=True)
class Enumeration:
    """A set of strings; an open one admits others as well."""

    name: str
    values: tuple[str, ...]
    is_open: bool


@dataclass(frozen=True)
class Field:
    """One property of an object; `values` are those of the enumeration that it holds, or that its items are of."""

    wire: str
    python: str
    type: Type
    required: bool
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Object:
    """A JSON object with known properties. `base` is the object it extends, if any."""

    name: str
    fields: tuple[Field, ...]
    base: str | None = None
    enumerations: tuple[Enumeration, ...] = ()


@dataclass(frozen=True)
class Command:
    """One request and its response."""

    name: str
    arguments: Object
    arguments_optional: bool
    body: str | None
    own_body: Object | None
    gate: str | None
    is_reverse: bool
    is_open: bool


@dataclass(frozen=True)
class Event:
    """One event with its body."""

    name: str
    body: Object
    gate: str | None


@dataclass(frozen=True)
class Protocol:
    """Everything that the schema defines, in the schema's order."""

    commands: tuple[Command, ...]
    events: tuple[Event, ...]
    objects: tuple[Object, ...]
    enumerations: tuple[Enumeration, ...] = field(default=())
