"""Other interpreters that a program makes in its process: they run without the debugger, which is said once.

`sys.monitoring`, and every module of ours, belongs to one interpreter. A function in C makes other interpreters, which
no event of the interpreter shows; so code is recognised that calls it, as it starts for the first time.
"""

import sys
from types import CodeType, FrameType
from typing import Final

from ..connection.link import Link
from ..interpreter.safe_types import entry_of

_MODULES: Final = ("_interpreters", "_xxsubinterpreters")  # 3.13 and later; 3.12
_MAKER: Final = "create"
_TEXT: Final = (
    "This program uses subinterpreters. Code in them is not debugged: "
    "breakpoints, exception breakpoints and steps do not stop there.\n"
)


class OtherInterpreters:
    """Whether the program makes other interpreters."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._reported = False

    def look(self, frame: FrameType, code: CodeType) -> None:
        """Look at code that starts; report it if it is the first that makes an interpreter."""
        if not self._reported and _MAKER in code.co_names and _calls_maker(frame, code):
            self._reported = True
            self._link.event("output", {"category": "console", "output": _TEXT})


def _calls_maker(frame: FrameType, code: CodeType) -> bool:
    names = code.co_names
    if any(type(constant) is CodeType and constant.co_name == _MAKER for constant in code.co_consts):
        return False  # it defines a function of that name
    if any(name in names for name in _MODULES):
        return True
    modules = [module for name in _MODULES if (module := sys.modules.get(name)) is not None]
    around = frame.f_globals
    return any(entry_of(around, name) is module for module in modules for name in names)
