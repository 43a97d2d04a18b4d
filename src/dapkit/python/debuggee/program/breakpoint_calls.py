"""The built-in function `breakpoint`, which stops in the debugger while a client is attached.

A program, or PYTHONBREAKPOINT, that has replaced `sys.breakpointhook` keeps its own hook. The import of debugpy, as by
a kernel of Jupyter, replaces it as well; the program did not choose that, unless a client of debugpy is there.
"""

import os
import sys
from types import CodeType
from typing import Final

from ..connection import current_engine
from ..interpreter.safe_types import is_a, namespace

_INSTALLER: Final = "/debugpy/_vendored/force_pydevd.py"
"""The module that sets debugpy's hook."""


class BreakpointCalls:
    """The hook of one session.

    Invariant: `_hooked` says whether the hook was set to ours and not given back.
    """

    def __init__(self) -> None:
        self._hooked = False
        self._before: object = sys.__breakpointhook__

    def take(self) -> None:
        """Let calls of `breakpoint` stop in the debugger, unless the program wants something else."""
        if os.environ.get("PYTHONBREAKPOINT") or not _is_free(sys.breakpointhook):
            return
        self._before = sys.breakpointhook
        sys.breakpointhook, self._hooked = current_engine.hook, True

    def give_back(self) -> None:
        """Set the hook as it was before."""
        if self._hooked and sys.breakpointhook is current_engine.hook:
            sys.breakpointhook = self._before  # type: ignore[assignment]  # it was there
        self._hooked = False

    def are_taken_by(self, code: CodeType) -> bool:
        """Return whether the code of a module, which begins, replaces our hook by debugpy's."""
        return self._hooked and code.co_filename.endswith(_INSTALLER)


def _is_free(hook: object) -> bool:
    """Return whether nothing but Python, or a debugpy without a client, has set a hook."""
    if hook is sys.__breakpointhook__:
        return True
    module = getattr(hook, "__module__", None)
    if not is_a(module, str) or module.partition(".")[0] not in ("debugpy", "pydevd"):
        return False
    holder = namespace(sys.modules.get("_pydevd_bundle.pydevd_constants")).get("GlobalDebuggerHolder")
    return namespace(holder).get("global_dbg") is None
