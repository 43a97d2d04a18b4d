"""The standard input of a command, for the program that it debugs.

The program is a process of another parent, so that it cannot inherit our input: it opens the descriptor by its name in
`/proc`, which leads to the same pipe, file or terminal, and stays with it when this command has ended.
"""

import os
import stat

from dapkit.system.selection import IS_WINDOWS, LINUX, NAME

STANDS_FOR_IT = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
"""How a user names it."""


def path_of_own_input() -> str:
    """Return where another process of the user finds our standard input."""
    return f"/proc/{os.getpid()}/fd/0"


def input_to_pass_on() -> str | None:
    """Return the input if it can hold data for the program: it is a pipe, a file or a terminal.

    On other systems than Linux only a terminal has a path by which another process can open it, and on Windows not
    even that.
    """
    try:
        mode = os.fstat(0).st_mode
    except OSError:  # closed
        return None
    has_input = stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or os.isatty(0)
    if IS_WINDOWS:
        return None
    if NAME != LINUX:
        return os.ttyname(0) if os.isatty(0) else None
    return path_of_own_input() if has_input and os.path.exists(path_of_own_input()) else None
