"""A variable found by its name in the scopes of a frame."""

from dapkit.agent.calls.call import ActionCall
from dapkit.protocol import Scope, ScopesArguments, VariablesArguments


async def scope_of(call: ActionCall, name: str, frame_id: int) -> Scope | None:
    """Find the scope that has a variable of this name; the inner ones, and those that cost little, first."""
    scopes = (await call.ask(ScopesArguments(frame_id=frame_id))).scopes
    for scope in sorted(scopes, key=lambda scope: scope.expensive):
        body = await call.ask(VariablesArguments(variables_reference=scope.variables_reference))
        if any(variable.name == name for variable in body.variables):
            return scope
    return None
