"""What nothing else has seen coming: the interpreter and the standard library report it to a hook.

In the live program it ends the history. In the past it ends the process, before it is done; and an expression there is
refused it.
"""

import _thread
import errno
import os
import sys
from typing import Any, Final

from ...interpreter.hidden_frames import unseen
from .notes import NotedCalls
from .state import OFF, REPLAY, state
from .tables import CHANGING, FENCED

_SOCKETS: Final = "socket."
_CHANGES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def build(notes: NotedCalls) -> None:
    """Have the hook from here on; there is no way to be without it again."""

    @unseen
    def hook(event: str, args: tuple[Any, ...]) -> None:
        is_fenced = event in FENCED or event.startswith(_SOCKETS)
        if event == "open" and args[2] == 0 and args[1] == "rb":
            return  # the interpreter itself looks for a line of source
        if not is_fenced and event != "open" and event not in CHANGING:
            return
        if state.guarded and _thread.get_ident() == state.main:
            if is_fenced or event != "open" or (type(args[2]) is int and args[2] & _CHANGES):
                raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        elif state.is_of_program and (is_fenced or state.mode is not OFF):
            if state.mode is REPLAY and not is_fenced:
                notes.history.diverge(event, (0, "nothing", 0, None))
            notes.end(event)

    sys.addaudithook(hook)
