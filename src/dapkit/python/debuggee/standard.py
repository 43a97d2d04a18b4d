"""Modules of the standard library for our own use, loaded when they are needed.

The program may have files of the same names, which must not run because of us; and what
it did not import itself, it does not find in `sys.modules`.
"""

import os
from typing import Any

_loaded: dict[str, Any] = {}


def standard(name: str) -> Any:  # noqa: ANN401 - a module
    """Return a module of the standard library, loaded for ourselves."""
    if name not in _loaded:
        from importlib.machinery import PathFinder
        from importlib.util import module_from_spec

        spec = PathFinder.find_spec(name, [os.path.dirname(os.__file__)])
        if spec is None or spec.loader is None:  # a standard library in an archive
            return __import__(name)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        _loaded[name] = module
    return _loaded[name]
