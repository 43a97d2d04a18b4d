"""A process of this machine that has no engine of the debugger gets one, which listens at a unix socket for us."""

import re
from pathlib import Path
from typing import Final

from dapkit.program_api.command_line import CliOptions
from dapkit.program_api.start_plan import start_plan
from dapkit.python.adapter.injection.bootstrap import begin_in
from dapkit.python.adapter.injection.injector import Ways
from dapkit.system.this_system import SYSTEM
from dapkit.transport import private_folder

_ENTERED: Final = re.compile(r"entered-(\d+)")


def entered_socket(pid: int) -> Path:
    """Return the path at which a process listens that was entered. Raises: NotPrivate."""
    return private_folder() / f"entered-{pid}"


async def listen_in(pid: int) -> Path:
    """Make a process listen until we leave it; return the path of its socket.

    Raises:
        RequestFailed: it cannot be entered; the text says why.

    """
    path = entered_socket(pid)
    _remove_dead(path.parent)
    options = CliOptions()
    options.mode, options.address, options.target_kind, options.target = "listen", str(path), "pid", pid
    await begin_in(pid, start_plan(options), ways=Ways())
    return path


def _remove_dead(folder: Path) -> None:
    """Remove the sockets of processes that were killed."""
    for file in folder.glob("entered-*"):
        match = _ENTERED.fullmatch(file.name)
        if match is not None and not SYSTEM.exists(int(match[1])):
            file.unlink(missing_ok=True)
