"""The program's imported modules, examined without running code of its own."""

import sys
from types import ModuleType
from typing import cast

from ..interpreter.safe_types import is_a, namespace

_OURS = __name__.removesuffix(".sources.imported")

type Names = dict[str, object]
"""The contents of a module."""


def loaded() -> list[tuple[str, object]]:
    """Return the modules of `sys.modules` with their names, in the order they were imported."""
    everything: list[tuple[object, object]] = list(sys.modules.items())  # the program can put anything there
    return [
        (name, module)
        for name, module in everything
        if type(name) is str and module is not None and not name.startswith(_OURS)
    ]


def names_of(module: object) -> Names | None:
    """Return the contents of a module, without running code of its own; None if it is not a real module."""
    if not is_a(module, ModuleType):
        return None
    return cast("Names", namespace(module))  # a module's is a dict
