"""The shape of a row in the generated table of commands."""

import enum

import msgspec

from dapkit.protocol.base import Arguments, ProtocolObject


class Direction(enum.Enum):
    """Who asks whom."""

    CLIENT_TO_ADAPTER = "client to adapter"
    ADAPTER_TO_CLIENT = "adapter to client"


class CommandSpec(msgspec.Struct, frozen=True):
    """What the schema says about one command.

    `capability` is the attribute that must be true (or a non-empty list) before
    the command may be sent: one of `Capabilities`, or for a reverse request one
    of `InitializeRequestArguments`. None means that the command is always allowed.
    """

    command: str
    arguments: type[Arguments[object]]
    body: type[ProtocolObject] | None
    capability: str | None = None
    direction: Direction = Direction.CLIENT_TO_ADAPTER
    arguments_optional: bool = False
