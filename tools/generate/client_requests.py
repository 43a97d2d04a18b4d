"""Modules of the client: a method per request, async and blocking, with the same names."""

from collections.abc import Mapping

from generate import wording
from generate.model import Command, Protocol
from generate.origin import BANNER
from generate.signatures import call, method_name, parameters

_BY_HAND = ("initialize", "launch", "attach")  # the handshake is the session's business

_DEADLINE = "deadline: float = limits.REQUEST_SECONDS"


def client_modules(protocol: Protocol) -> Mapping[str, str]:
    """Make the generated modules of `dapkit.client`: file name -> source text, not formatted."""
    return {
        "requests.py": _module(protocol, blocking=False),
        "blocking_requests.py": _module(protocol, blocking=True),
    }


def _module(protocol: Protocol, *, blocking: bool) -> str:
    used = {"Arguments"}
    commands = [one for one in protocol.commands if not one.is_reverse and one.name not in _BY_HAND]
    methods = "\n".join(_method(command, used, blocking=blocking) for command in commands)
    word = "def" if blocking else "async def"
    kind, name = ("plain method", "BlockingRequests") if blocking else ("coroutine", "Requests")
    return f'''"""Every request to an adapter as a typed {kind}.

{BANNER}"""

from abc import ABC, abstractmethod

from dapkit import limits
from dapkit.protocol import {", ".join(sorted(used))}


class {name}(ABC):
    """What a client may ask; `deadline` is in seconds.

    Each method raises what `request` raises.
    """

    @abstractmethod
    {word} request[B](self, arguments: Arguments[B], *, {_DEADLINE}) -> B:
        """Ask the adapter and wait for its answer."""

{methods}'''


def _method(command: Command, used: set[str], *, blocking: bool) -> str:
    used.add(command.arguments.name)
    if command.body is not None:
        used.add(command.body)
    word, wait = ("def", "") if blocking else ("async def", "await ")
    given = parameters(command.arguments.fields, used, last=_DEADLINE)
    returned = "return " if command.body is not None else ""
    return f'''\
    {word} {method_name(command.name)}({given}) -> {command.body}:
        """{wording.COMMANDS[command.name]}."""
        {returned}{wait}self.request({call(command.arguments)}, deadline=deadline)
'''
