"""Data that can be watched: the places where the program keeps values.

A place is read here without any code of the program. How a change of it is noticed depends on its kind:

    DictEntry, ObjectEntry     a watcher of the dict (`entries`), or polling
    Slot, Item, Bytes          polling (`polls`)
    Local, Cell, reads         events at the instructions that use the name (`names`)

A target is the data of a data breakpoint: one place, or two if a name means an attribute of an object or, if the object
lacks it, of its class.
"""

import _weakref
import sys
from collections.abc import Callable
from types import CellType, CodeType, FrameType, MemberDescriptorType
from typing import Any, Final

from ..connection.framing import Json
from ..interpreter import native
from ..interpreter.frame_locals import locals_of
from ..interpreter.safe_types import is_a, stored_dict

MISSING: Final = native.MISSING
"""The value of a place without a value."""

WRITE: Final = "write"
READ: Final = "read"
READ_WRITE: Final = "readWrite"


class DictEntry:
    """The value in a dict under a key."""

    __slots__ = ("key", "namespace")

    def __init__(self, namespace: dict[Any, Any], key: object) -> None:
        self.namespace = namespace
        self.key = key

    def holder(self) -> dict[Any, Any]:
        """Return the dict."""
        return self.namespace

    watched_holder = holder

    @property
    def mark(self) -> tuple[object, ...]:
        """The key that identifies this place."""
        return (id(self.namespace), self.key)

    def read(self) -> object:
        """Return the value, MISSING if the place has no value."""
        return dict.get(self.namespace, self.key, MISSING)

    def polled(self) -> tuple[Any, ...]:
        """Return its form for `native.poll`."""
        return ("key", self.namespace, self.key)


class ObjectEntry:
    """An attribute in the `__dict__` of an object, which may get another one; the object is not kept alive."""

    __slots__ = ("_owner", "key")

    def __init__(self, owner: object, name: str) -> None:
        self._owner = _reference(owner)
        self.key = name

    def owner(self) -> object:
        """Return the object, None if it is gone."""
        return self._owner()

    def holder(self) -> dict[Any, Any] | None:
        """Return the dict, None if the object is gone."""
        owner = self._owner()
        return None if owner is None else own_dict(owner)

    def watched_holder(self) -> dict[Any, Any] | None:
        """Return the dict as `holder` does, made so that watchers see every write."""
        owner = self._owner()
        return None if owner is None else native.namespace_of(owner)

    def is_shared(self) -> bool:
        """Return whether the program itself holds the dict, and not only the object."""
        holder = self.holder()
        return holder is not None and sys.getrefcount(holder) > 3  # of the object, of the variable, of the call

    @property
    def mark(self) -> tuple[object, ...]:
        """The key that identifies this place."""
        return (id(self._owner()), self.key)

    def read(self) -> object:
        """Return the value, MISSING if the place has no value."""
        names = self.holder()
        return MISSING if names is None else dict.get(names, self.key, MISSING)

    def polled(self) -> tuple[Any, ...]:
        """Return its form for `native.poll`, for the dict that it is in now: an empty one if the object is gone."""
        holder = self.holder()
        return ("key", {} if holder is None else holder, self.key)


class Slot:
    """An attribute without a dict: `__slots__`, or a member of a type written in C."""

    __slots__ = ("descriptor", "owner")

    def __init__(self, owner: object, descriptor: MemberDescriptorType) -> None:
        self.owner = owner
        self.descriptor = descriptor

    @property
    def mark(self) -> tuple[object, ...]:
        """The key that identifies this place."""
        return (id(self.owner), id(self.descriptor))

    def read(self) -> object:
        """Return the value, MISSING if the place has no value."""
        try:
            return self.descriptor.__get__(self.owner)
        except AttributeError:
            return MISSING

    def polled(self) -> tuple[Any, ...]:
        """Return its form for `native.poll`."""
        return ("slot", self.owner, self.descriptor)


class Item:
    """An item of a list."""

    __slots__ = ("container", "index")

    def __init__(self, container: list[Any], index: int) -> None:
        self.container = container
        self.index = index

    @property
    def mark(self) -> tuple[object, ...]:
        """The key that identifies this place."""
        return (id(self.container), self.index)

    def read(self) -> object:
        """Return the value, MISSING if the list is too short."""
        try:
            return list.__getitem__(self.container, self.index)
        except IndexError:
            return MISSING

    def polled(self) -> tuple[Any, ...]:
        """Return its form for `native.poll`."""
        return ("index", self.container, self.index)


class Bytes:
    """A range of a buffer, shown as one of its items if `form` is the letter of their type."""

    __slots__ = ("form", "length", "owner", "start")

    def __init__(self, owner: Any, start: int, length: int, form: str = "") -> None:  # noqa: ANN401 - any buffer
        self.owner = owner
        self.start = start
        self.length = length
        self.form = form

    @property
    def mark(self) -> tuple[object, ...]:
        """The key that identifies this place."""
        return (id(self.owner), self.start, self.length, self.form)

    def read(self) -> object:
        """Return the bytes, MISSING if the buffer is too short or closed."""
        try:
            with memoryview(self.owner) as view, view.cast("B") as flat:
                data = bytes(flat[self.start : self.start + self.length])
        except (TypeError, ValueError, BufferError):
            return MISSING
        return data if len(data) == self.length else MISSING

    def shown(self, value: object) -> object:
        """Return the value of the bytes."""
        if not self.form or not isinstance(value, bytes):
            return value
        return memoryview(value).cast(self.form)[0]  # type: ignore[call-overload]  # one of the letters it knows

    def polled(self) -> tuple[Any, ...]:
        """Return its form for `native.poll`."""
        return ("bytes", self.owner, self.start, self.length)


class Local:
    """A variable of one call of a function, for as long as that runs."""

    __slots__ = ("frame", "name")

    def __init__(self, frame: FrameType, name: str) -> None:
        self.frame: FrameType | None = frame
        self.name = name

    @property
    def mark(self) -> tuple[object, ...]:
        """The key that identifies this place."""
        return (id(self.frame), self.name)

    def read(self) -> object:
        """Return the value, MISSING if the place has no value."""
        return MISSING if self.frame is None else locals_of(self.frame).get(self.name, MISSING)


class Cell:
    """A variable that functions share with those inside them; `codes` are all that can write it."""

    __slots__ = ("cell", "codes", "name")

    def __init__(self, cell: CellType, name: str, codes: list[CodeType]) -> None:
        self.cell = cell
        self.name = name
        self.codes = codes

    @property
    def mark(self) -> tuple[object, ...]:
        """The key that identifies this place."""
        return (id(self.cell),)

    def read(self) -> object:
        """Return the value, MISSING if the place has no value."""
        try:
            contents: object = self.cell.cell_contents
        except ValueError:
            return MISSING
        return contents


class Reads:
    """Reads of a global variable, wherever code of its module names it."""

    __slots__ = ("name", "namespace")

    def __init__(self, names: dict[str, Any], name: str) -> None:
        self.namespace = names
        self.name = name


type Entry = DictEntry | ObjectEntry
type Pollable = Entry | Slot | Item | Bytes
type WatchedPlace = Pollable | Local | Cell


class WatchTarget:
    """The data of a data breakpoint.

    Invariant: `identity` is the dataId, and means the same place for as long as it is valid. With `is_lasting`
    it can be found again by that name in another run of the program.
    """

    def __init__(self, identity: str, label: str, places: list[WatchedPlace], *, is_lasting: bool = False) -> None:
        self.identity = identity
        self.label = label
        self.places = places
        self.is_lasting = is_lasting
        self.reads: Reads | None = None
        self.description = label
        self.ended = ""
        """Why it can be watched no more."""

    @property
    def access_types(self) -> list[str]:
        """Return the kinds of access that are noticed."""
        readable = self.reads is not None or any(isinstance(place, Local) for place in self.places)
        return [WRITE, READ, READ_WRITE] if readable else [WRITE]

    def means(self, other: "WatchTarget") -> bool:
        """Return whether another target is on the same places."""
        return [(type(place), place.mark) for place in self.places] == [
            (type(place), place.mark) for place in other.places
        ]

    def describe(self) -> Json:
        """Return the body of `dataBreakpointInfo`."""
        return {
            "dataId": self.identity,
            "description": self.description,
            "accessTypes": self.access_types,
            "canPersist": self.is_lasting,
        }


class DataAccess:
    """One use of a target: for a read, `new` is the value that is read."""

    __slots__ = ("kind", "new", "old", "place", "target")

    def __init__(self, target: WatchTarget, place: WatchedPlace | Reads, kind: str, old: object, new: object) -> None:
        self.target = target
        self.place = place
        self.kind = kind
        self.old = old
        self.new = new


def own_dict(owner: object) -> dict[Any, Any] | None:
    """Return the dict of an object's attributes as it is, None if it has no dict, or has attributes of its own kind."""
    attributes = native.namespace_of(owner) if is_a(owner, type) else stored_dict(owner)
    return attributes if type(attributes) is dict else None


def _reference(owner: object) -> Callable[[], object]:
    try:
        return _weakref.ref(owner)
    except TypeError:
        return lambda: owner
