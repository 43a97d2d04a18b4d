"""The past that may be changed: a process that shows it takes the place of the live program, and goes on from there."""

import ast
import os
from typing import Any

import msgspec

from dapkit.adapter import RequestFailed
from dapkit.protocol import Arguments, EvaluateArguments, decode_as
from dapkit.python.adapter.engine.debuggee import Debuggee
from dapkit.python.adapter.launch.launched_program import LaunchedProgram
from dapkit.python.adapter.time_travel.checkpoints import History
from dapkit.transport import TransportError, private_folder

MUTATING_COMMANDS = frozenset({"setVariable", "setExpression", "writeMemory", "goto", "terminateThreads"})
"""Changes of the past."""

_MAY_CHANGE = (ast.Call, ast.NamedExpr, ast.Await)


class Branched(msgspec.Struct):
    """A process that has taken the place of the live program.

    `lost` are descriptors that were open at its moment and could not be had again, `copies` how many copies had been
    made by then.
    """

    pid: int
    copies: int
    lost: list[int]


class _Marks(msgspec.Struct):
    marks: int


def writes(arguments: Arguments[Any]) -> bool:
    """Return whether a request would change the past: text at the console does if it is more than an expression.

    A function that an expression calls may change something as well; that change is gone with the replay process.
    """
    return arguments.command in MUTATING_COMMANDS or not all(isinstance(line, ast.Expr) for line in _typed(arguments))


def _typed(arguments: Arguments[Any]) -> list[ast.stmt]:
    """Return the text that a request typed at the console; nothing if Python would not read it."""
    if not isinstance(arguments, EvaluateArguments) or arguments.context != "repl":
        return []
    try:
        return ast.parse(arguments.expression.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def may_change(arguments: Arguments[Any]) -> bool:
    """Return whether a request may change the live program; a function called by an expression may, too."""
    nodes = (node for line in _typed(arguments) for node in ast.walk(line))
    return writes(arguments) or any(isinstance(node, _MAY_CHANGE) for node in nodes)


async def branch(past: Debuggee, live: Debuggee, program: LaunchedProgram, history: History, clock: int) -> Branched:
    """Let a replay process take the place of the live program, which is ended.

    Raises:
        RequestFailed: it cannot; then nothing has changed.

    """
    path = private_folder() / f"branch-{os.urandom(8).hex()}"
    place = {"place": str(path)}
    try:
        await past.link.request_custom("dapkit/prepareBranch", place)
        marks = decode_as(_Marks, await live.link.request_custom("dapkit/handOver", place))
        request = {"pipes": program.pipe_identities(), "mark": marks.marks}
        branched = decode_as(Branched, await past.link.request_custom("dapkit/branch", request))
    except TransportError as error:
        raise RequestFailed(f"the program cannot go on from this moment: {error}") from error
    finally:
        path.unlink(missing_ok=True)
    history.end_at(clock, branched.copies)
    await program.replace(branched.pid)
    return branched


def remark(branched: Branched) -> str:
    """Describe the fate of the program."""
    text = f"The program goes on from this moment as process {branched.pid}; its later history is dropped.\n"
    for number in branched.lost:
        text += f"Descriptor {number} was closed since, and cannot be had again: it is closed.\n"
    return text
