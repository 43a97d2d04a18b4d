"""Base classes of the generated messages.

Python names are snake case; the wire name is their camel case unless a field
says otherwise. A field that is None is absent on the wire, and null is read as
absent. The only exceptions are required fields that admit null.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

import msgspec

RawJson = msgspec.Raw
"""JSON that is not decoded: read later, or written through as it is."""

NO_EXTRA: Mapping[str, object] = MappingProxyType({})


class ProtocolObject(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A JSON object of the protocol. Subclasses repeat `frozen=True, kw_only=True`."""


class Arguments[B](ProtocolObject, frozen=True, kw_only=True):
    """The arguments of one command; `B` is the body of its response, or None."""

    command: ClassVar[str]
    """Name of the command."""


class OpenArguments[B](Arguments[B], frozen=True, kw_only=True):
    """Arguments whose further keys are up to the adapter, as in launch and attach.

    Every key that is not a field is kept in `extra`, under its wire name, in both directions.
    """

    extra: Mapping[str, object] = NO_EXTRA
    """The keys that are not fields, under their names on the wire."""

    def __post_init__(self) -> None:
        """Freeze `extra`.

        The fast encoder does not know a mapping proxy and refuses it, so that the
        codec need not look for open arguments among all the messages that it writes.
        """
        if not isinstance(self.extra, MappingProxyType):
            frozen = MappingProxyType(dict(self.extra)) if self.extra else NO_EXTRA
            msgspec.structs.force_setattr(self, "extra", frozen)


class EventBody(ProtocolObject, frozen=True, kw_only=True):
    """The body of one event, without the envelope."""

    event: ClassVar[str]
    """Name of the event."""


def wire_name(kind: type[ProtocolObject], field: str) -> str:
    """Tell the name on the wire of a field: `supports_step_back` is `supportsStepBack`."""
    return kind.__struct_encode_fields__[kind.__struct_fields__.index(field)]


def changed[T: msgspec.Struct](value: T, /, **changes: object) -> T:
    """Copy a message or an object of the protocol with other fields, by their Python names."""
    return msgspec.structs.replace(value, **changes)
