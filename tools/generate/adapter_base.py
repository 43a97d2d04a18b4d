"""Modules of the adapter SDK: a method per request to override, a method per event to call.

`requests.py` refuses every request; an author's class overrides what it
supports. `events.py` has the events, and the requests to the client, as
methods with the fields of the body for parameters.
"""

from collections.abc import Mapping

from generate import descriptions
from generate.model import Command, Object, Protocol
from generate.modules import formatted
from generate.names import lower_first
from generate.origin import BANNER
from generate.signatures import call, method_name, parameters

_OWN = ("cancel", "initialize")  # answered by the SDK itself


def adapter_modules(protocol: Protocol) -> Mapping[str, str]:
    """Make the generated modules of `dapkit.adapter`: file name -> source text."""
    return formatted({"requests.py": _requests(protocol), "events.py": _events(protocol)})


# Requests of the client


def _requests(protocol: Protocol) -> str:
    commands = [command for command in protocol.commands if not command.is_reverse and command.name not in _OWN]
    rows = "".join(f'\n        "{command.name}": "{method_name(command.name)}",' for command in commands)
    names = {name for command in commands for name in _names_of_request(command)} | {"RawJson"}
    methods = "\n".join(_request(command) for command in commands)
    return f'''"""Every request that an adapter may answer, as a method that refuses it.

A handler raises `RequestFailed` to answer with an error.

{BANNER}"""

# ruff: noqa: ARG002 - a request that is refused does not look at its arguments

from collections.abc import Mapping
from types import MappingProxyType

from dapkit.adapter.errors import NotSupported
from dapkit.protocol import {", ".join(sorted(names))}

HANDLERS: Mapping[str, str] = MappingProxyType(
    {{{rows}
    }}
)
"""The name of the method that answers a command."""


class Requests[Launch, Attach]:
    """Requests of the client; override those that are supported.

    `Launch` and `Attach` are the types of the arguments of `launch` and `attach`.
    """

{methods}'''


def _names_of_request(command: Command) -> set[str]:
    names = {command.body} if command.body is not None else set()
    return names | {command.arguments.name} if _parameter(command).endswith("Arguments") else names


def _request(command: Command) -> str:
    parameter = _parameter(command)
    arguments = f", args: {parameter}" if parameter else ""
    body = "None" if command.body is None else f"{command.body} | RawJson"
    return f'''\
    async def {method_name(command.name)}(self{arguments}) -> {body}:
        """{descriptions.about(command.arguments.name)}."""
        raise NotSupported("{command.name}")
'''


def _parameter(command: Command) -> str:
    """Type of the handler's parameter; empty if there is nothing to hand over."""
    match command.name:
        case "launch":
            return "Launch"
        case "attach":
            return "Attach"
        case "restart":
            return "Launch | Attach | None"
        case _:
            return command.arguments.name if command.arguments.fields else ""


# What an adapter sends


def _events(protocol: Protocol) -> str:
    reverse = [command for command in protocol.commands if command.is_reverse]
    used = {"Arguments", "EventBody"}
    methods = [_event(event.name, event.body, used) for event in protocol.events]
    questions = [_reverse_request(command, used) for command in reverse]
    return f'''"""Every event, and every request to the client, as a method.

{BANNER}"""

from abc import ABC, abstractmethod

from dapkit import limits
from dapkit.protocol import {", ".join(sorted(used))}


class Events(ABC):
    """Events that an adapter sends to its client.

    Each method returns once the event is on its way, and says whether it was:
    False means that the client did not announce that it understands it.
    """

    @abstractmethod
    async def send_event(self, body: EventBody) -> bool:
        """Tell the client; output waits while too much of it is queued."""

{"\n".join(methods)}

class ReverseRequests(ABC):
    """Requests that an adapter sends to its client.

    Each method raises `CapabilityMissing` at once if the client did not
    announce that it can do this, and `RequestFailed` if it tried and could not.
    """

    @abstractmethod
    async def ask_client[B](self, arguments: Arguments[B], *, deadline: float = limits.REQUEST_SECONDS) -> B:
        """Ask the client and wait for its answer, at most until the deadline (in seconds)."""

{"\n".join(questions)}'''


def _event(wire: str, body: Object, used: set[str]) -> str:
    used.add(body.name)
    return f'''\
    async def {method_name(wire)}({parameters(body.fields, used)}) -> bool:
        """Tell the client: {lower_first(descriptions.about(body.name))}."""
        return await self.send_event({call(body)})
'''


def _reverse_request(command: Command, used: set[str]) -> str:
    used.add(command.arguments.name)
    if command.body is not None:
        used.add(command.body)
    fields = parameters(command.arguments.fields, used, last="deadline: float = limits.REQUEST_SECONDS")
    return f'''\
    async def {method_name(command.name)}({fields}) -> {command.body}:
        """{descriptions.about(command.arguments.name)}."""
        return await self.ask_client({call(command.arguments)}, deadline=deadline)
'''
