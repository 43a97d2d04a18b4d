"""The standard input of a command, for the program that it debugs.

The program is a process of another parent, so that it cannot inherit our input: it opens the descriptor by its name in
`/proc`, which leads to the same pipe, file or terminal, and stays with it when this command has ended.
"""

import os
import stat
import sys

from dapkit.cli import exit_codes
from dapkit.system.selection import IS_WINDOWS, LINUX, NAME

STANDS_FOR_IT = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
"""How a user names it."""


def path_of_own_input() -> str:
    """Return where another process of the user finds our standard input; the command ends where it finds it nowhere."""
    if NAME != LINUX:
        sys.stderr.write(f"Error: --stdin-file - needs Linux. {_ADVICE}\n")
        sys.exit(exit_codes.USAGE)
    return _OWN_INPUT


def input_to_pass_on() -> str | None:
    """Return the input if it can hold data for the program: it is a pipe, a file or a terminal.

    On other systems than Linux only a terminal has a path by which another process can open it, and on Windows not
    even that; data that waits in a pipe or a file is reported on stderr.
    """
    if NAME == LINUX:
        return _OWN_INPUT if _can_hold_data() and os.path.exists(_OWN_INPUT) else None
    from dapkit.system.standard_streams import has_waiting_input

    if has_waiting_input():
        sys.stderr.write(f"note: the program does not read the standard input of this command here. {_ADVICE}\n")
    if IS_WINDOWS:
        return None
    return os.ttyname(0) if os.isatty(0) else None


_OWN_INPUT = f"/proc/{os.getpid()}/fd/0"
_ADVICE = "Name a file with --stdin-file FILE."


def _can_hold_data() -> bool:
    try:
        mode = os.fstat(0).st_mode
    except OSError:  # closed
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or os.isatty(0)
