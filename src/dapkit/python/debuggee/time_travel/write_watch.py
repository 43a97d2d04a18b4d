"""The clock of the last write to the data that an expression reads, found without a look at each line.

The interpreter reports writes to dicts, and most data of a module is in dicts: globals, attributes, items. Lists are
compared at each line, in C. For all else (sets, slots, computed values) it is not known when they were written to;
`value_watches` examines each line then.
"""

import _ast
import sys
from types import ModuleType
from typing import Any, Final

from ..connection.framing import Json
from ..interpreter.safe_types import defined, stored_dict
from .replay_backend import backend
from .value_watches import PLAIN

_AS_TREE: Final = 0x400  # ast.PyCF_ONLY_AST
_KEYS: Final = (int, str, float, bytes)
_UNKNOWN_INSIDE: Final = (set, bytearray)
_CONSTANT_INSIDE: Final = (*PLAIN, tuple, frozenset)
_NO_NAME: Final = object()
_READS_PLAINLY: Final = (object.__getattribute__, ModuleType.__getattribute__)

type _Step = tuple[str, Any]
"""How a value is reached from the one before: `name`, `attribute` or `item`, with the name or the key."""
type _Link = tuple[dict[Any, Any] | list[Any], object, bool]
"""A dict or list, the key in it (None for any), and whether another value there leads elsewhere."""


class _NotKnown(Exception):
    """It cannot be found out when the data is written to."""


class WriteWatch:
    """The writes to the data of an expression with variables of a module."""

    def __init__(self, expression: str, module: str) -> None:
        tree = compile(expression.strip(), "<dapkit: why>", "eval", _AS_TREE, dont_inherit=True)
        self._steps = _steps_of(tree.body)  # type: ignore[attr-defined]  # an expression
        self._module = module
        self._watched: list[tuple[int, object]] = []
        self._is_known = True
        self._is_absent = False

    def watch(self) -> None:
        """Watch the containers that the data is in now."""
        try:
            links = self._links()
        except _NotKnown:
            self._is_known, links = False, []
        self._watched = _identities(links)
        backend.watch_writes(links, self.watch)

    def report(self) -> Json:
        """Return the clock of the last write, whether it is known, and whether there was no value at the end.

        It is not known if the data is elsewhere now, and no write has led there: `__dict__` can be replaced.
        """
        try:
            is_elsewhere = _identities(self._links()) != self._watched
        except _NotKnown:
            is_elsewhere = True
        write = backend.last_write()
        is_known = self._is_known and not (is_elsewhere and write < backend.clock() - 1)
        return {"write": write, "isKnown": is_known, "absent": self._is_absent}

    def _links(self) -> list[_Link]:
        links: list[_Link] = []
        (kind, name), *others = self._steps
        if kind != "name":
            raise _NotKnown
        self._is_absent = True
        missing = object()
        value = self._variable(name, links, missing)
        for step in others:
            if value is missing:
                return links
            value = _next(value, step, links, missing)
        self._is_absent = value is missing
        if value is not missing:
            _add_inside(value, links)
        return links

    def _variable(self, name: str, links: list[_Link], missing: object) -> object:
        """Return the value of a variable, and add the dict that it is in."""
        module = sys.modules.get(self._module)
        names = None if module is None else vars(module)
        if names is None or (name not in names and name in vars(sys.modules["builtins"])):
            raise _NotKnown
        links.append((names, name, True))
        return names.get(name, missing)


def _steps_of(node: Any) -> list[_Step]:  # noqa: ANN401 - of `_ast`
    """Return the steps of an expression; an empty name stands for one that is not known."""
    match node:
        case _ast.Name():
            return [("name", node.id)]
        case _ast.Attribute():
            return [*_steps_of(node.value), ("attribute", node.attr)]
        case _ast.Subscript(slice=_ast.Constant(value=key)) if type(key) in _KEYS:
            return [*_steps_of(node.value), ("item", key)]
        case _:
            return [("computed", None)]


def _identities(links: list[_Link]) -> list[tuple[int, object]]:
    return [(id(container), key) for container, key, _ in links]


def _next(value: object, step: _Step, links: list[_Link], missing: object) -> object:
    """Return the attribute or item of a value, and add the dict that it is in."""
    kind, key = step
    if kind == "item" and type(value) is dict:
        links.append((value, key, True))
        return value.get(key, missing)
    if kind == "item" and type(value) in (tuple, list) and type(key) is int:
        items: Any = value
        if type(value) is list:
            links.append((value, None, True))
        return items[key] if -len(items) <= key < len(items) else missing
    if kind != "attribute" or isinstance(value, type):
        raise _NotKnown
    names = stored_dict(value)
    is_plain = defined(type(value), "__getattribute__") in _READS_PLAINLY and defined(type(value), key) is None
    if type(names) is not dict or not is_plain:
        raise _NotKnown
    links.append((_detached(names), key, True))
    return names.get(key, missing)


def _detached(names: dict[str, object]) -> dict[str, object]:
    """Return the dict with the attributes of an object, after it has been made to keep the values itself.

    From CPython 3.13 on the object may keep them, and then no writes are reported.
    """
    keys: dict[Any, Any] = names
    keys[_NO_NAME] = None  # a dict with such a key has a table of its own
    del keys[_NO_NAME]
    return names


def _add_inside(value: object, links: list[_Link]) -> None:
    """Add the dict with the items or attributes of a value: a change of these is a change of the value."""
    kind = type(value)
    if kind is dict or kind is list:
        links.append((value, None, False))  # type: ignore[arg-type]  # it is one of both
    elif kind in _UNKNOWN_INSIDE:
        raise _NotKnown
    elif kind not in _CONSTANT_INSIDE and type(names := stored_dict(value)) is dict:
        links.append((_detached(names), None, False))
