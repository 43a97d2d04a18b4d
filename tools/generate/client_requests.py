"""Modules of the client: a method per request, async and blocking, with the same names."""

from collections.abc import Mapping

from generate import descriptions
from generate.model import Command, Protocol
from generate.modules import formatted
from generate.origin import BANNER
from generate.signatures import call, method_name, parameters

_BY_HAND = ("initialize", "launch", "attach")  # the handshake is the session's business

_DEADLINE = "deadline: float = limits.REQUEST_SECONDS"


def client_modules(protocol: Protocol) -> Mapping[str, str]:
    """Make the generated modules of `dapkit.client`: file name -> source text."""
    commands = [command for command in protocol.commands if not command.is_reverse and command.name not in _BY_HAND]
    return formatted({"requests.py": _requests(commands), "blocking_requests.py": _blocking_requests(commands)})


def _requests(commands: list[Command]) -> str:
    used = {"Arguments"}
    methods = "\n".join(_method(command, used) for command in commands)
    return f'''"""Every request to an adapter as a typed coroutine.

{BANNER}"""

from abc import ABC, abstractmethod

from dapkit import limits
from dapkit.protocol import {", ".join(sorted(used))}


class RequestMethods(ABC):
    """The requests of a client; `deadline` is in seconds.

    Each method raises the errors of `request`.
    """

    @abstractmethod
    async def request[B](self, arguments: Arguments[B], *, {_DEADLINE}) -> B:
        """Ask the adapter and wait for its answer."""

{methods}'''


def _method(command: Command, used: set[str]) -> str:
    used.add(command.arguments.name)
    if command.body is not None:
        used.add(command.body)
    given = parameters(command.arguments.fields, used, last=_DEADLINE)
    returned = "return " if command.body is not None else ""
    return f'''\
    async def {method_name(command.name)}({given}) -> {command.body}:
        """{descriptions.about(command.arguments.name)}."""
        {returned}await self.request({call(command.arguments)}, deadline=deadline)
'''


def _blocking_requests(commands: list[Command]) -> str:
    rows = "".join(
        f"\n    {name} = blocking(RequestMethods.{name})"
        for name in (method_name(command.name) for command in commands)
    )
    return f'''"""Every request to an adapter as a plain method that waits for the answer.

{BANNER}"""

from dapkit.client.portal import Facade, blocking
from dapkit.client.requests import RequestMethods


class BlockingRequests[S: RequestMethods](Facade[S]):
    """The coroutines of `RequestMethods`, with the same names and parameters."""
{rows}
'''
