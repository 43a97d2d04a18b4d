"""The variables of a frame: those that a report shows, which are the function's own, and one found by its name."""

import re
from collections.abc import Awaitable, Mapping, Sequence
from typing import Protocol

from dapkit.agent.calls.call import ActionCall
from dapkit.endpoint import RequestFailed
from dapkit.protocol import Arguments, EvaluateArguments, Scope, ScopesArguments, Variable, VariablesArguments

_NO_LOCALS = ("global", "register", "static", "builtin")

_PRINTED = re.compile(r"^(?P<name>[A-Za-z_]\w*) = (?P<value>.*(?:\n(?![A-Za-z_]\w* = ).*)*)", re.MULTILINE)
"""A variable as command lines print it: NAME = VALUE, up to the next one."""

_RETURNED = re.compile(r"\(return\)|\(Return Value\)$")


class Ask(Protocol):
    """Sends a request to the adapter and returns its response; raises DapkitError."""

    def __call__[B](self, arguments: Arguments[B], /) -> Awaitable[B]:
        """Send a request."""
        ...


async def variables_of(frame_id: int, ask: Ask, *, commands: Mapping[str, str]) -> list[Variable]:
    """Read the variables of a frame.

    Args:
        frame_id: of the frame.
        ask: sends the requests.
        commands: commands of the debugger that print the variables of a scope, by the hint of the scope, for a
            debugger that refuses all variables of a scope because of one (`Traits.scope_commands`).

    """
    variables: list[Variable] = []
    for scope in local_scopes((await ask(ScopesArguments(frame_id=frame_id))).scopes):
        try:
            variables += (await ask(VariablesArguments(variables_reference=scope.variables_reference))).variables
        except RequestFailed:
            command = commands.get(scope.presentation_hint or "")
            if command is None:
                raise
            printed = await ask(EvaluateArguments(expression=command, frame_id=frame_id, context="repl"))
            variables += printed_variables(printed.result)
    return variables


def local_scopes(scopes: Sequence[Scope]) -> list[Scope]:
    """Choose the scopes that hold the variables of a function, and the value that a call has just returned.

    gdb has the arguments in a scope of their own, and dapkit the variables of the functions around it; js-debug calls
    the latter arguments.
    """
    hinted = [scope for scope in scopes if scope.presentation_hint in ("locals", "arguments", "returnValue")]
    if hinted:
        around = [scope for scope in scopes if scope.name == "Closure" and not scope.expensive and scope not in hinted]
        return [*hinted, *around]
    others = [
        scope
        for scope in scopes
        if not scope.expensive
        and scope.presentation_hint is None
        and not any(word in scope.name.lower() for word in _NO_LOCALS)
    ]
    return others[:2]


def is_returned(variable: Variable) -> bool:
    """Whether a variable stands for the value that a call has returned: `(return) f` of dapkit and debugpy, say."""
    return _RETURNED.match(variable.name) is not None


def returned_name(variable: Variable) -> str:
    """Return the name of the function that has returned it; empty if the adapter does not report that."""
    match = _RETURNED.match(variable.name)
    return "" if match is None else variable.name[match.end() :].strip()


def printed_variables(text: str) -> list[Variable]:
    r"""Read variables as a command line prints them.

    >>> [(each.name, each.value) for each in printed_variables("n = 3\nbox = {a = 1,\n  b = 2}\n")]
    [('n', '3'), ('box', '{a = 1,\n  b = 2}')]
    """
    return [
        Variable(name=match["name"], value=match["value"].rstrip("\n"), variables_reference=0)
        for match in _PRINTED.finditer(text)
    ]


async def scope_of(call: ActionCall, name: str, frame_id: int) -> Scope | None:
    """Find the scope that has a variable of this name; the inner ones, and those that cost little, first."""
    scopes = (await call.requests.ask(ScopesArguments(frame_id=frame_id))).scopes
    for scope in sorted(scopes, key=lambda scope: scope.expensive):
        body = await call.requests.ask(VariablesArguments(variables_reference=scope.variables_reference))
        if any(variable.name == name for variable in body.variables):
            return scope
    return None
