"""The debugged program in a terminal of the client's.

The client runs the program's supervisor there, which connects to the adapter and starts the program: so the adapter
controls it as much as a program that it started itself, but has none of its output. The client may run a shell, or a
terminal program that hands over to another and ends at once.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from dapkit.python import limits
from dapkit.python.adapter.launch.command import Command
from dapkit.python.adapter.launch.launched_program import LaunchedProgram, attended
from dapkit.python.adapter.launch.parent_listener import awaiting_parent
from dapkit.python.adapter.launch.supervisor import ProgramParent, parent_command

type RunInTerminal = Callable[[list[str]], Awaitable[object]]
"""Has the client run a command in a terminal."""


@asynccontextmanager
async def started_in_terminal(command: Command, run: RunInTerminal) -> AsyncIterator[LaunchedProgram]:
    """Let the client start a program; leaving the block ends it as `LaunchedProgram.close` describes.

    Raises:
        RequestFailed: the client, or the operating system, refused.
        NeverCame: nothing was started within `limits.LINK_SECONDS`, or `limits.PASSWORD_SECONDS` as root.

    """
    async with awaiting_parent("in the terminal") as (place, arrival):
        await run([*command.as_root, *parent_command(place)])
        parent = ProgramParent(await arrival(limits.PASSWORD_SECONDS if command.as_root else limits.LINK_SECONDS))
        program = LaunchedProgram(parent)
        async with attended(program, parent, command):
            yield program
