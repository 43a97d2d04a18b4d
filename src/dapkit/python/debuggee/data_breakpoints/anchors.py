"""Places that are found again at other moments of a program's history.

Objects have the same addresses there, and calls the same depth. So the dataId of such a place says which object it is
in, by address and class, or which call.
"""

from collections.abc import Callable, Iterable
from types import CodeType, FrameType, MemberDescriptorType
from typing import Any, Final

from ..connection.framing import Json, body_of, decode
from ..interpreter.errors import MalformedFrame, RequestRefused
from ..interpreter.safe_types import mro, names_in_class
from ..interpreter.thread_frames import stack_of
from .targets import Bytes, Cell, DictEntry, Item, Local, ObjectEntry, Slot, WatchedPlace, WatchTarget

_PREFIX: Final = "at:"
type ObjectAt = Callable[[int, int], object]
"""Returns the object at an address, if there is one with the class at another address."""

_LITERALS: Final = (str, int, bool, type(None))


def is_anchor(identity: str) -> bool:
    """Return whether a dataId is of this kind."""
    return identity.startswith(_PREFIX)


def anchor_of(target: WatchTarget, expression: Json | None) -> str | None:
    """Return a dataId by which a target is found again at other moments; None if it has another, or has none.

    `expression` says how to name it there: `expression`, and `place` as of `dapkit/placeOfExpression`.
    """
    if target.is_lasting or target.reads is not None:
        return None
    places = [_described(place) for place in target.places]
    if None in places:
        return None
    description: Json = {
        "label": target.label,
        "description": target.description,
        "places": places,
        "named": expression,
    }
    return _PREFIX + body_of(description).decode()


def holder_of(target: WatchTarget) -> tuple[object, str]:
    """Return the object that a target is in, and how an expression continues from that; an empty text for none."""
    match target.places[0]:
        case DictEntry(namespace=owner, key=key):
            return owner, f"[{key!r}]" if type(key) in _LITERALS else ""
        case ObjectEntry(key=key) as entry:
            return entry.owner(), f".{key}"
        case Slot(owner=owner, descriptor=descriptor):
            return owner, f".{descriptor.__name__}"
        case Item(container=owner, index=index):
            return owner, f"[{index}]"
        case Bytes(owner=owner, start=start, length=length):
            return owner, f".__getitem__(slice({start}, {start + length}))"
    return None, ""


class AnchoredPlaces:
    """The parts of such a dataId."""

    def __init__(self, identity: str) -> None:
        """Read it.

        Raises:
            RequestRefused: it is another dataId.

        """
        self._identity = identity
        try:
            description: dict[str, Any] = decode(identity.removeprefix(_PREFIX).encode())
            self._label, self._description = str(description["label"]), str(description["description"])
            self._places: list[dict[str, Any]] = [{**place} for place in description["places"]]
        except (MalformedFrame, KeyError, TypeError) as error:
            raise RequestRefused(f"dataId {identity!r:.200} does not come from dataBreakpointInfo") from error

    def target(self, frames: Iterable[FrameType], object_at: ObjectAt) -> WatchTarget | None:
        """Find the target again at this moment, in the stacks of these frames if it is a variable of a call."""
        places = self.places(frames, object_at)
        if not places:
            return None
        target = WatchTarget(self._identity, self._label, places)
        target.description = self._description
        return target

    def places(self, frames: Iterable[FrameType], object_at: ObjectAt) -> list[WatchedPlace]:
        """Return where it is at this moment; nothing if it is not there."""
        places = [_found(place, frames, object_at) for place in self._places]
        return [place for place in places if place is not None] if None not in places else []


def _described(place: WatchedPlace) -> Json | None:
    match place:
        case Local():
            return _call(place)
        case DictEntry(namespace=owner, key=key):
            which: Json | None = {"key": key} if type(key) in _LITERALS else None
        case ObjectEntry(key=key):
            owner, which = place.owner(), {"attribute": key}
        case Slot(owner=owner, descriptor=descriptor):
            which = {"slot": descriptor.__name__}
        case Item(container=owner, index=index):
            which = {"index": index}
        case Bytes(owner=owner, start=start, length=length, form=form):
            which = {"start": start, "length": length, "form": form}
        case Cell(cell=owner, name=name, codes=codes):
            which = {"cell": name, "codes": [id(code) for code in codes]}
    return None if which is None else {"at": id(owner), "type": id(type(owner)), **which}


def _call(place: Local) -> Json | None:
    if place.frame is None:
        return None
    code = place.frame.f_code
    depth = len(stack_of(place.frame))
    return {"depth": depth, "path": code.co_filename, "first": code.co_firstlineno, "local": place.name}


def _found(place: Any, frames: Iterable[FrameType], object_at: ObjectAt) -> WatchedPlace | None:  # noqa: ANN401 - JSON of ours
    if "local" in place:
        frame = _call_at(place, frames)
        return None if frame is None else Local(frame, place["local"])
    owner: Any = object_at(place["at"], place["type"])
    return None if owner is None else _in_object(owner, place, object_at)


def _in_object(owner: Any, place: Any, object_at: ObjectAt) -> WatchedPlace | None:  # noqa: ANN401 - any object; JSON of ours
    match place:
        case {"attribute": name}:
            return ObjectEntry(owner, name)
        case {"slot": name}:
            return _slot(owner, name)
        case {"index": index}:
            return Item(owner, index)
        case {"cell": name, "codes": codes}:
            code_objects = [object_at(code, id(CodeType)) for code in codes]
            return Cell(owner, name, [code for code in code_objects if isinstance(code, CodeType)])
        case {"start": start, "length": length, "form": form}:
            return Bytes(owner, start, length, form)
    return DictEntry(owner, place["key"])


def _slot(owner: object, name: str) -> Slot | None:
    for base in mro(owner):
        descriptor = names_in_class(base).get(name)
        if type(descriptor) is MemberDescriptorType:
            return Slot(owner, descriptor)
    return None


def _call_at(place: Json, frames: Iterable[FrameType]) -> FrameType | None:
    depth, function = place["depth"], (place["path"], place["first"])
    for frame in frames:
        chain = stack_of(frame)
        if isinstance(depth, int) and depth <= len(chain):
            called = chain[len(chain) - depth]
            if (called.f_code.co_filename, called.f_code.co_firstlineno) == function:
                return called
    return None
