"""Where a project says how values of its own classes are shown.

A file of presenters is executed once, at the first stop at which a client looks at values, in a namespace of its own,
which `sys.modules` does not know. A file leaves its presenters under the name PRESENTERS: functions by the full names
of classes. A program can say the same by `dapkit.present`.
"""

import builtins
import sys
from collections.abc import Callable
from typing import Any, Final

from ...evaluation.guard import EvaluationGuard
from ...interpreter import limits
from ...interpreter.errors import TimeIsUp
from ...interpreter.safe_types import is_a, namespace
from ...sources.compilation import compiled
from ..error_text import say

NAME: Final = "PRESENTERS"

type Functions = dict[str, Callable[[Any], object]]


class ProjectPresenters:
    """The functions by which a project has values shown, by the full names of their classes.

    Invariant: `_unread` are the files that `load` has not executed yet.
    """

    def __init__(self) -> None:
        self._of_files: Functions = {}
        self._unread: list[str] = []

    def use(self, files: list[str]) -> None:
        """Take the files of a new session instead of those before."""
        self._of_files = {}
        self._unread = list(files)

    def functions(self) -> Functions:
        """Return all present ones; the program's own take precedence."""
        own_functions = namespace(sys.modules.get("dapkit.program_api.presenters")).get(NAME)
        return self._of_files | own_functions if type(own_functions) is dict else self._of_files

    def load(self, guard: EvaluationGuard, report: Callable[[str], None]) -> None:
        """Execute the remaining files, in the calling thread of the program, and report their faults."""
        while self._unread:
            file = self._unread.pop(0)
            try:
                functions = guard.call_quarantined(limits.WATCH_SECONDS, _executed, file)
            except TimeIsUp:
                report(f"{file}: no presenters were taken from it, since it took too long")
            except BaseException as error:
                report(f"{file}: no presenters were taken from it: {say(error)}")
            else:
                self._of_files = self._of_files | functions


PROJECT: Final = ProjectPresenters()


def _executed(file: str) -> Functions:
    with open(file, "rb") as source:
        text = source.read()
    names: dict[str, object] = {"__name__": "dapkit_presenters", "__file__": file, "__builtins__": vars(builtins)}
    exec(compiled(text, place=file), names)
    functions = names.get(NAME)
    if not is_a(functions, dict):
        raise TypeError(f"it defines no dict {NAME} with functions by the names of classes")
    return {str(name): function for name, function in dict.items(functions)}
