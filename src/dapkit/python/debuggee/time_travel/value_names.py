"""How a value is named so that it is found at other times: from a module, or from a call of a function."""

import sys
from types import CellType, CodeType, FrameType
from typing import Any, Final

from ..bytecode.bindings import binding_lines, is_fast_local
from ..connection.framing import Json
from ..interpreter.frame_locals import LocalVariables, cell_of, is_shared, stored_locals
from ..loader import load
from .value_steps import CELL_CONTENTS, KEYS, OBJECT, Step, steps_of, text_of

_CONSTANT: Final = (int, float, complex, str, bytes, bool, type(None), tuple, frozenset)
_MOST_LINES: Final = 256
"""Lines that bind a variable; as many as writes.c watches."""
_MOST: Final = 10_000
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


def place_of_value(frame: FrameType, code: CodeType, expression: str) -> Json:
    """Return where the data of an expression is at any time.

    module               names of a module
    object, type         the object at an address, with its type at another; `expression` continues from it
    name, call           how a variable leads to the object now, in a call of a function
    cell                 whether the object is the variable's cell, not its value
    frame, path, line    names of this call of a function, and for a variable that no other function reaches
    variable, inside     the code that binds it, and the lines; the place of its value, if that can change inside
    outer                whether it reads variables of calls around this one, which may be older than it
    """
    place = place_in(frame, code)
    if "frame" in place and not _names_in(code).isdisjoint(frame.f_code.co_freevars):
        place = {**place, "outer": True}
    (kind, name), *others = steps_of(expression)
    missing = object()
    variables = stored_locals(frame)
    value = variables.get(name, missing) if kind == "name" and "frame" in place else missing
    if value is missing:
        return place
    others = _with_keys(others, variables)
    value, steps, tuple_steps = _without_tuples(value, others)
    inside: Json = {}
    if type(value) not in _CONSTANT:
        object_, kind_of = _address(value)
        inside = {"object": object_, "type": kind_of, "name": text_of(name, tuple_steps), "call": place}
    if steps and inside and not any(kind == "key" for kind, _ in steps):
        return {**inside, "expression": text_of(OBJECT, steps)}
    if is_shared(frame, name):
        return _place_of_cell(cell_of(frame, name), name, others, place)
    if steps or not is_fast_local(frame.f_code, name):
        return place
    lines = binding_lines(frame.f_code, name)
    if len(lines) > _MOST_LINES:
        return place
    variable: Json = {"variable": {"code": id(frame.f_code), "lines": lines}}
    return {**place, **variable, "inside": {**inside, "expression": OBJECT} if inside else None}


def _place_of_cell(cell: CellType | None, name: str, steps: list[Step], call: Json) -> Json:
    """Return the place of a variable that functions share: its call may have ended."""
    if cell is None or any(kind not in ("attribute", "item") for kind, _ in steps):
        return call
    object_, kind_of = _address(cell)
    expression = text_of(OBJECT, [("attribute", CELL_CONTENTS), *steps])
    return {"object": object_, "type": kind_of, "name": name, "call": call, "cell": True, "expression": expression}


def address_by_name(frame: FrameType, name: str, call: Json, *, cell: bool) -> list[int]:
    """Return the addresses of an object and its type, as a variable of a call leads to it; zeros without a variable.

    Args:
        frame: the newest frame of the call's thread.
        name: the `name` of the object's place.
        call: the `call` of the same place.
        cell: whether the object is the variable's cell.

    """
    backend = load("time_travel.replay_backend").backend
    owner = backend.frame_of(frame, call["frame"])
    if owner is None or (owner.f_code.co_filename, owner.f_code.co_firstlineno) != (call["path"], call["line"]):
        return [0, 0]
    if cell:
        shared = cell_of(owner, name)
        return [0, 0] if shared is None else list(_address(shared))
    (_, variable), *steps = steps_of(name)
    missing = object()
    value, steps, _ = _without_tuples(stored_locals(owner).get(variable, missing), steps)
    return [0, 0] if steps or value is missing else list(_address(value))


def _without_tuples(value: Any, steps: list[Step]) -> tuple[Any, list[Step], list[Step]]:  # noqa: ANN401 - any value
    """Take the first steps, as far as they lead to items of tuples; return the value, the other steps, and these."""
    count = 0
    while count < len(steps) and type(value) is tuple and _is_in(steps[count], value):
        value = value[steps[count][1]]
        count += 1
    return value, steps[count:], steps[:count]


def _address(value: object) -> tuple[int, int]:
    return id(value), id(type(value))


def _with_keys(steps: list[Step], variables: LocalVariables) -> list[Step]:
    """Return the steps with the values of the variables in them, as far as these are found again."""
    return [
        ("item", variables[key]) if kind == "key" and type(variables.get(key)) in KEYS else (kind, key)
        for kind, key in steps
    ]


def _is_in(step: Step, value: tuple[object, ...]) -> bool:
    kind, key = step
    return kind == "item" and type(key) is int and -len(value) <= key < len(value)


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
