"""Sessions: which there are, what they have written, and their end."""

from dapkit.agent import parameters as p
from dapkit.agent.call import Call
from dapkit.agent.registry import Approval, action
from dapkit.agent.results.session import CustomBody, Output, Sessions, Terminated


@action(Approval.READ)
async def output(call: Call, *, category: p.Category | None = None, since: p.Since = 0) -> Output:
    """Show what the program has written."""
    raise NotImplementedError


@action(Approval.READ)
async def sessions(call: Call) -> Sessions:
    """Show the sessions of this project."""
    raise NotImplementedError


@action(Approval.EXECUTE, example={"command": "threads"})
async def custom_request(call: Call, *, command: p.Command, arguments: p.RequestArguments | None = None) -> CustomBody:
    """Send any request to the adapter."""
    raise NotImplementedError


@action(Approval.EXECUTE)
async def terminate(call: Call) -> Terminated:
    """End the program and the session; a program that was attached to is released."""
    raise NotImplementedError


@action(Approval.EXECUTE)
async def detach(call: Call) -> Terminated:
    """End the session and let the program run on."""
    raise NotImplementedError
