"""Requests and answers between a caller, who knows the hub's numbers, and an adapter, which knows its own.

The fields that hold numbers of frames, values and locations have the same names in all messages of the protocol, so one
table gives the meaning of each.
"""

from collections.abc import Callable

from dapkit.protocol import Arguments, ProtocolObject, StackFrame, changed
from dapkit.sessions.references import ReferenceKind

type Renumber = Callable[[ReferenceKind, int], int]
"""Returns the other side's number."""

_FIELDS: dict[str, ReferenceKind] = {
    "frame_id": "frame",
    "variables_reference": "variables reference",
    "location_reference": "location",
    "value_location_reference": "location",
    "declaration_location_reference": "location",
}


def references_in(arguments: Arguments[object]) -> list[tuple[ReferenceKind, int]]:
    """List the numbers that a request refers to; 0 stands for nothing."""
    return [
        (_FIELDS[name], number)
        for name in arguments.__struct_fields__
        if name in _FIELDS and (number := getattr(arguments, name))
    ]


def renumbered[T: ProtocolObject](value: T, renumber: Renumber) -> T:
    """Copy a request or a response with all numbers replaced, also inside nested values."""
    changes: dict[str, object] = {}
    for name in value.__struct_fields__:
        field_value: object = getattr(value, name)
        new = _renumbered_field(value, name, field_value, renumber)
        if new is not field_value:
            changes[name] = new
    return changed(value, **changes) if changes else value


def _renumbered_field(value: ProtocolObject, name: str, field_value: object, renumber: Renumber) -> object:
    match field_value:
        case ProtocolObject():
            return renumbered(field_value, renumber)
        case list():
            items = [renumbered(item, renumber) if isinstance(item, ProtocolObject) else item for item in field_value]
            return field_value if all(new is old for new, old in zip(items, field_value, strict=True)) else items
        case int() if field_value and name in _FIELDS:
            return renumber(_FIELDS[name], field_value)
        case int() if name == "id" and isinstance(value, StackFrame):
            return renumber("frame", field_value)
        case _:
            return field_value
