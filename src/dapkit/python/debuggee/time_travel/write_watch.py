"""The clock of the last write to the data that an expression reads, found without a look at each line.

The interpreter reports writes to dicts, and most data is in dicts: globals, attributes, items. Lists, sets, slots and
the cells of variables that functions share are compared at each line, in C. Another variable of a call is written to by
the lines of its function that bind it. For all else, such as computed values, it is not known when they were written
to; `value_watches` examines each line then.
"""

import sys
from types import CellType, FrameType, MemberDescriptorType, ModuleType
from typing import Any, Final

from ..bytecode.bindings import binding_offsets
from ..connection.framing import Json
from ..interpreter.safe_types import defined, stored_dict
from .replay_backend import backend
from .value_marks import PLAIN, is_seen_by_writes, slots_of
from .value_names import address_by_name
from .value_steps import CELL_CONTENTS, Step, steps_of

_SET_BYTES: Final = 200
_MOST_TABLE_BYTES: Final = 1024 * 16
"""Of a set without its table, and of the table: as `writes.c` has them."""
_CELL_OFFSET: Final = object.__basicsize__
"""Where a cell has its value."""
_CONSTANT_INSIDE: Final = (*PLAIN, tuple, frozenset)
_LIST_BYTES: Final = 40
_MOST_ITEMS: Final = 1 << 17
"""Of a list without its items, and of all lists that are compared whole: as `writes.c` has them."""
_MOST_LINKS: Final = 16
"""As many as `writes.c` watches."""
_NO_NAME: Final = object()
_READS_PLAINLY: Final = (object.__getattribute__, ModuleType.__getattribute__)

type _Link = tuple[object, object, bool]
"""A container, the key in it (None for any), and whether another value there leads elsewhere.

It is a dict, a list, a set, or an object with slots, whose key is the offset of one; a cell has one.
"""


class _NotKnown(Exception):
    """It cannot be found out when the data is written to."""


class WriteWatch:
    """The writes to the data of an expression; `place` is the response of `dapkit/placeOfExpression`."""

    def __init__(self, expression: str, place: Json) -> None:
        self._steps = steps_of(expression)
        described: dict[str, Any] = place
        self._module = place.get("module")
        self._object: tuple[int, int] = described.get("object", 0), described.get("type", 0)  # 0: none
        self._variable: dict[str, Any] | None = described.get("variable")
        self._frame: int = described.get("frame", 0)
        self._name: str | None = described.get("name")
        self._call: dict[str, Any] = described.get("call", {})
        self._is_cell = bool(place.get("cell"))
        self._was_named = False
        self._watched: list[tuple[int, object]] = []
        self._is_known = True
        self._is_absent = False

    def watch(self) -> None:
        """Watch the containers that the data is in now."""
        try:
            links = self._links()
            if len(links) > _MOST_LINKS or _count_items(links) > _MOST_ITEMS:
                raise _NotKnown  # noqa: TRY301 - as for each of them
        except _NotKnown:
            self._is_known, links = False, []
        self._watched = _identities(links)
        backend.watch_writes(links, self.watch, *self._object)

    @property
    def is_too_early(self) -> bool:
        """Whether the object does not exist yet that the expression begins at."""
        return self._object[0] != 0 and backend.object_at(*self._object) is None

    def named_at(self, frame: FrameType) -> Json:
        """Return the addresses of the object and its type, as the variable leads to it that did when it was named.

        An object may have another address in each process that began at another checkpoint.
        """
        if self._name is None:
            return {"namedAt": [0, 0]}
        return {"namedAt": address_by_name(frame, self._name, self._call, cell=self._is_cell)}

    def begin(self, frame: FrameType) -> None:
        """Watch from here on."""
        self._was_named = self._object[0] != 0 and self.named_at(frame)["namedAt"] == list(self._object)
        if self._variable is not None:
            backend.watch_variable(self._frame, self._variable["code"], self._variable["lines"])
        self.watch()

    def report(self, frame: FrameType) -> Json:
        """Return the clock of the last write, whether it is known, and whether there was no value at the end.

        It is not known if the data is elsewhere now, and no write has led there: `__dict__` can be replaced.
        """
        try:
            is_elsewhere = _identities(self._links()) != self._watched
        except _NotKnown:
            is_elsewhere = True
        write = backend.last_write()
        is_known = self._is_known and not (is_elsewhere and write < backend.clock() - 1)
        if self._variable is not None and is_known:
            write, is_known = self._write_of_variable(frame, write)
        of_name = {**self.named_at(frame), "wasNamed": self._was_named}
        return {"write": write, "isKnown": is_known, "absent": self._is_absent, **of_name}

    def _write_of_variable(self, frame: FrameType, write: int) -> tuple[int, bool]:
        """Return the clock of the last write, also where that was the call, and whether it is known."""
        call = backend.frame_of(frame, self._frame)
        if call is None:  # it is suspended
            return 0, False
        if backend.is_variable_pending():
            if call is frame:
                return backend.clock() - 1, True
            if _has_bound(call, self._steps[0][1]):
                return 0, False
        self._is_absent = self._steps[0][1] not in call.f_locals
        began = backend.first_tick(call) or backend.clock()  # -1: before this process watched
        return max(write, began - 1), True

    def _links(self) -> list[_Link]:
        links: list[_Link] = []
        (kind, name), *others = self._steps
        if kind != "name":
            raise _NotKnown
        self._is_absent = True
        missing = object()
        value = self._first(name, links, missing)
        for step in others:
            if value is missing:
                return links
            value = _next(value, step, links, missing)
        self._is_absent = value is missing
        if value is not missing:
            _add_inside(value, links)
        return links

    def _first(self, name: str, links: list[_Link], missing: object) -> object:
        """Return the value that the expression begins at: an object, or a variable; and add the dict that it is in."""
        if self._module is None:
            value = backend.object_at(*self._object) if self._object[0] else None
            return missing if value is None else value
        module = sys.modules.get(str(self._module))
        names = None if module is None else vars(module)
        if names is None or (name not in names and name in vars(sys.modules["builtins"])):
            raise _NotKnown
        links.append((names, name, True))
        return names.get(name, missing)


def _has_bound(call: FrameType, name: str) -> bool:
    """Return whether the line that a frame executes may have bound a name already."""
    return any(offset < call.f_lasti for offset in binding_offsets(call.f_code, name, call.f_lineno))


def _identities(links: list[_Link]) -> list[tuple[int, object]]:
    return [(id(container), key) for container, key, _ in links]


def _next(value: object, step: Step, links: list[_Link], missing: object) -> object:
    """Return the attribute or item of a value, and add the dict that it is in."""
    kind, key = step
    if type(value) is CellType and key == CELL_CONTENTS:
        return _in_cell(value, links, missing)
    if kind == "item" and type(value) is dict:
        links.append((value, key, True))
        return value.get(key, missing)
    if kind == "item" and type(value) in (tuple, list) and type(key) is int:
        items: Any = value
        if type(value) is list:
            _add_list(value, key if key >= 0 else None, links)  # one from the end moves with the size
        return items[key] if -len(items) <= key < len(items) else missing
    if kind != "attribute" or isinstance(value, type):
        raise _NotKnown
    if defined(type(value), "__getattribute__") not in _READS_PLAINLY:
        raise _NotKnown
    in_class = defined(type(value), key)
    if type(in_class) is MemberDescriptorType:
        return _in_slot(value, in_class, links, missing)
    names = stored_dict(value)
    if type(names) is not dict or in_class is not None:
        raise _NotKnown
    links.append((_detached(names), key, True))
    return names.get(key, missing)


def _in_cell(cell: CellType, links: list[_Link], missing: object) -> object:
    """Return the value of a variable that functions share, and add its cell."""
    links.append((cell, _CELL_OFFSET, True))
    try:
        return cell.cell_contents
    except ValueError:
        return missing


def _in_slot(value: object, slot: MemberDescriptorType, links: list[_Link], missing: object) -> object:
    """Return the value in a slot of an object, and add the slot."""
    offset = backend.slot_offset(slot)
    if offset < 0:
        raise _NotKnown
    links.append((value, offset, True))
    try:
        return slot.__get__(value)
    except AttributeError:
        return missing


def _detached(names: dict[str, object]) -> dict[str, object]:
    """Return the dict with the attributes of an object, after it has been made to keep the values itself.

    From CPython 3.13 on the object may keep them, and then no writes are reported.
    """
    keys: dict[Any, Any] = names
    keys[_NO_NAME] = None  # a dict with such a key has a table of its own
    del keys[_NO_NAME]
    return names


def _add_list(value: list[Any], index: int | None, links: list[_Link], *, is_link: bool = True) -> None:
    """Add a list: one item of it, or all."""
    if list.__basicsize__ != _LIST_BYTES:
        raise _NotKnown
    links.append((value, index, is_link))


def _count_items(links: list[_Link]) -> int:
    """Return how many items are compared: of the lists of which no single one matters."""
    return sum(len(value) for value, key, _ in links if type(value) is list and key is None)


def _add_inside(value: object, links: list[_Link]) -> None:
    """Add the containers of the items or attributes of a value: a change of these is a change of the value."""
    kind = type(value)
    if kind is dict or (kind is set and _is_comparable(value)):
        links.append((value, None, False))
    elif type(value) is list:
        _add_list(value, None, links, is_link=False)
    elif kind in _CONSTANT_INSIDE:
        return
    elif not is_seen_by_writes(value):
        raise _NotKnown
    else:
        if type(names := stored_dict(value)) is dict:
            links.append((_detached(names), None, False))
        links += [(value, backend.slot_offset(slot), False) for slot in slots_of(value)]


def _is_comparable(value: Any) -> bool:  # noqa: ANN401 - a set of anything
    """Return whether a set is so small that it can be compared at each line."""
    return set.__basicsize__ == _SET_BYTES and set.__sizeof__(value) <= _SET_BYTES + _MOST_TABLE_BYTES
