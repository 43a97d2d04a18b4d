"""The shape of a row in the generated table of commands, and the commands that set breakpoints."""

import enum

import msgspec

from dapkit.protocol.base import Arguments, ProtocolObject

BREAKPOINT_COMMANDS = frozenset(
    {
        "setBreakpoints",
        "setFunctionBreakpoints",
        "setDataBreakpoints",
        "setInstructionBreakpoints",
        "setExceptionBreakpoints",
    }
)
"""Requests that replace all earlier breakpoints of their kind."""


class Direction(enum.Enum):
    """The direction of a request."""

    CLIENT_TO_ADAPTER = "client to adapter"
    ADAPTER_TO_CLIENT = "adapter to client"


class CommandSpec(msgspec.Struct, frozen=True):
    """The schema's rules for one command."""

    command: str
    """Name of the command."""

    arguments: type[Arguments[object]]
    """Class of its arguments."""

    body: type[ProtocolObject] | None
    """Class of the response's body; None if the response has no body."""

    capability: str | None = None
    """The field that must be true (or a non-empty list) before the command may be sent: one of `Capabilities`, or for a
    reverse request one of `InitializeRequestArguments`. None: the command is always allowed.
    """

    direction: Direction = Direction.CLIENT_TO_ADAPTER
    """The direction of the request."""

    arguments_optional: bool = False
    """Whether a request may leave its arguments out."""
