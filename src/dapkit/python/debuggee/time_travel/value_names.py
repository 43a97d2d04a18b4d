"""How a value is named so that it is found at other times: from a module, or from a call of a function."""

import sys
from types import CodeType, FrameType

from ..connection.framing import Json
from ..loader import load

_MOST: int = 10_000
"""Values that are looked through for a name, of each module."""


def identity_of(frame: FrameType) -> int:
    """Return by which number a frame is known in each replay process, in a program that has one."""
    identity: int = load("time_travel.replay_backend").backend.identity(frame)
    return identity


def place_in(frame: FrameType, code: CodeType) -> Json:
    """Return the meaning of an expression in a frame at any time: names of a module, or of this call of a function."""
    of_frame = frame.f_code
    local = {*of_frame.co_varnames, *of_frame.co_cellvars, *of_frame.co_freevars}
    module = frame.f_globals.get("__name__")
    is_global = type(module) is str and vars(sys.modules.get(module, object)) is frame.f_globals
    if is_global and (frame.f_locals is frame.f_globals or not local & _names_in(code)):
        return {"module": module}
    return {"frame": identity_of(frame), "path": of_frame.co_filename, "line": of_frame.co_firstlineno}


def named_from_module(owner: object, frame: FrameType) -> tuple[str, str] | None:
    """Return a module, and an expression in it that is an object: a variable, or a part of a variable's value."""
    for module in dict.fromkeys((str(frame.f_globals.get("__name__")), "__main__")):
        names = vars(sys.modules.get(module, object))
        values = [(name, value) for name, value in list(names.items())[:_MOST] if name.isidentifier()]
        for name, value in values:
            if value is owner:
                return module, name
        for name, value in values:
            for part, inner in _parts(value):
                if inner is owner:
                    return module, name + part
    return None


def _parts(value: object) -> list[tuple[str, object]]:
    if type(value) is list or type(value) is tuple:
        return [(f"[{place}]", inner) for place, inner in enumerate(value[:_MOST])]
    if type(value) is dict:
        return [(f"[{key!r}]", inner) for key, inner in list(value.items())[:_MOST] if type(key) in (str, int)]
    return []


def _names_in(code: CodeType) -> set[str]:
    """Return the names in an expression, and in functions in it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names_in(constant)
    return names
