"""Bytes of buffers, for readMemory and writeMemory.

A memory reference is the identity of the object, in hexadecimal; offsets count from the buffer's first byte. It is
good for the stop in which it was given. Memory that a client has read stays readable after that, since a memory view
stays open; only a few small objects are remembered for it, and none is kept alive but bytes, whose end no code of the
program notices.
"""

import sys
from collections.abc import Callable
from types import WrapperDescriptorType
from typing import Any, Final

from ..connection.framing import Json
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..interpreter.safe_types import (
    ClassSet,
    module_of,
    mro,
    names_in_class,
    namespace,
    once_per_class,
    simple_name,
    type_name,
)
from ..interpreter.weak_values import COLLECTED, weak_getter
from .references import ObjectReferences

_BUILT_IN: Final = ClassSet(bytes, bytearray, memoryview)
_IMPORTED: Final = {
    ("array", "array"): "array",
    ("mmap", "mmap"): "mmap",
    ("numpy", "ndarray"): "numpy",
    ("_ctypes", "_SimpleCData"): "_ctypes",
    ("_ctypes", "Structure"): "_ctypes",
    ("_ctypes", "Union"): "_ctypes",
    ("_ctypes", "Array"): "_ctypes",
}
"""Buffers of other modules: (`__module__`, name) and where the class is to be found."""


class MemoryRegion:
    """The buffer of one object, and which part of it a client has seen."""

    what = "memory reference"

    def __init__(self, find: Callable[[], Any], start: int = 0, content: bytes | None = None) -> None:
        self._find = find
        self.start = start
        self.seen = content

    @property
    def value(self) -> Any:  # noqa: ANN401 - whatever has a buffer
        """The object, None if it is gone."""
        buffer = self._find()
        return None if buffer is COLLECTED else buffer

    def view(self) -> memoryview:
        """Return the bytes.

        Raises:
            RequestRefused: if no further ones are available.

        """
        try:
            whole = memoryview(self.value)
            return whole.cast("B") if whole.c_contiguous else memoryview(whole.tobytes())
        except (ValueError, TypeError, BufferError) as error:
            raise RequestRefused(f"the {type_name(self.value)} has no readable memory: {error}") from error


class MemoryReferences:
    """Memory references of the present stop, and of memory views of clients.

    Invariant: `_kept` holds at most `limits.KEPT_REGIONS` regions, none of an object larger than `limits.KEPT_BYTES`.
    References of the present stop are among the numbered objects, and end like them.
    """

    def __init__(self, references: ObjectReferences) -> None:
        self._references = references
        self._numbers: dict[str, int] = {}  # of regions, some of which have ended
        self._kept: dict[str, MemoryRegion] = {}

    def refer(self, value: object, owner: int) -> str:
        """Return the memory reference of a value that is shown in a thread, an empty text if it is not a buffer."""
        if not is_buffer(value):
            return ""
        name = f"{id(value):#x}"
        if self._current(name) is None:
            earlier = self._kept.get(name)
            region = MemoryRegion(lambda: value)
            if earlier is not None and earlier.value is value:
                region = MemoryRegion(lambda: value, earlier.start, earlier.seen)
            self._numbers[name] = self._references.add(region, owner)
        return name

    def _current(self, name: str) -> MemoryRegion | None:
        """Return a region of the present stop; forget the numbers of others."""
        number = self._numbers.get(name)
        region = self._references.find(number, MemoryRegion) if number is not None else None
        if region is None:
            self._numbers.pop(name, None)
        return region

    def _all(self) -> dict[str, MemoryRegion]:
        """Return the regions that can be read, by name."""
        regions = {name: region for name, region in list(self._kept.items()) if region.value is not None}
        for name in list(self._numbers):
            region = self._current(name)
            if region is not None:
                regions[name] = region
        return regions

    def read(self, name: object, offset: int, count: int) -> Json:
        """Return the body of `readMemory`."""
        region = self._region(name)
        if count > limits.MEMORY_BYTES:
            raise RequestRefused(f"count is {count}; {limits.MEMORY_BYTES} bytes can be read at once")
        view = region.view()
        size = len(view)
        body: Json = {"address": f"{max(0, int(str(name), 16) + offset):#x}"}
        if offset < 0 or offset >= size:
            missing = min(count, -offset) if offset < 0 else count
            return body | ({"unreadableBytes": missing} if missing else {})
        data = view[offset : offset + count].tobytes()
        region.start, region.seen = offset, data
        self._keep(str(name), region, size)
        from binascii import b2a_base64

        body["data"] = b2a_base64(data, newline=False).decode()
        if len(data) < count:
            body["unreadableBytes"] = count - len(data)
        return body

    def write(self, name: object, offset: int, data: object, *, partial: bool) -> tuple[Json, int, int]:
        """Write, and return the body of `writeMemory` and the range that was written.

        Raises:
            RequestRefused: if it cannot be written, or not all of it and that was not allowed.

        """
        region = self._region(name)
        content = _decoded(data)
        view = region.view()
        whole = memoryview(region.value)
        if whole.readonly:
            raise RequestRefused(f"the memory of a {type_name(region.value)} cannot be changed: it is read-only")
        if not whole.c_contiguous:
            raise RequestRefused(f"the memory of this {type_name(region.value)} is not contiguous")
        begin, end = max(0, offset), min(len(view), offset + len(content))
        if not partial and (begin != offset or end != offset + len(content)):
            raise RequestRefused(
                f"{len(content)} bytes at {offset} do not fit into {len(view)}; allowPartial writes the part that does"
            )
        count = max(0, end - begin)
        if count:
            view[begin:end] = content[begin - offset : end - offset]
        body: Json = {"bytesWritten": count}
        if begin != offset:
            body["offset"] = begin
        return body, begin, count

    def at(self, address: int) -> tuple[object, int]:
        """Return the object whose buffer an address lies in, and the offset from its beginning.

        Raises:
            RequestRefused: if it lies in none that was reported to a client.

        """
        for name, region in self._all().items():
            offset = address - int(name, 16)
            if 0 <= offset < len(region.view()):
                return region.value, offset
        raise RequestRefused(f"there is no memory at {address:#x}; addresses come with variables, for this stop")

    def changed(self) -> list[Json]:
        """Return bodies of `memory` events for memory that has changed since clients read it."""
        bodies: list[Json] = []
        for name, region in self._all().items():
            if region.seen is None:
                continue
            try:
                now = region.view()[region.start : region.start + len(region.seen)].tobytes()
            except RequestRefused:
                continue  # it was closed; there is nothing to read again
            if now != region.seen:
                bodies.append({"memoryReference": name, "offset": region.start, "count": len(region.seen)})
                region.seen = now
                if name in self._kept:
                    self._kept[name].seen = now
        return bodies

    def _region(self, name: object) -> MemoryRegion:
        region = self._all().get(name) if isinstance(name, str) else None
        if region is None:
            raise RequestRefused(f"there is no memory {name!r:.200}; references come with variables, for this stop")
        return region

    def _keep(self, name: str, region: MemoryRegion, size: int) -> None:
        find = weak_getter(region.value)
        if size <= limits.KEPT_BYTES and find is not None:
            self._kept.pop(name, None)
            self._kept[name] = MemoryRegion(find, region.start, region.seen)
            while len(self._kept) > limits.KEPT_REGIONS:
                del self._kept[next(iter(self._kept))]


@once_per_class
def is_buffer(value: object) -> bool:
    """Return whether a value has bytes that can be read without running code of the program."""
    if type(value) in _BUILT_IN:
        return True
    is_found = False
    for kind in mro(value):
        in_c = names_in_class(kind).get("__buffer__")
        if in_c is not None and type(in_c) is not WrapperDescriptorType:
            return False
        if kind in _BUILT_IN:
            is_found = True
            continue
        name = simple_name(kind)
        place = _IMPORTED.get((module_of(kind), name))
        is_found = is_found or (place is not None and namespace(sys.modules.get(place)).get(name) is kind)
    return is_found


def _decoded(data: object) -> bytes:
    from binascii import a2b_base64

    try:
        if isinstance(data, str):
            return a2b_base64(data, strict_mode=bool(data))
    except ValueError as error:
        raise RequestRefused(f"data is not base64: {error}") from error
    raise RequestRefused(f"data is {data!r:.200}, expected a text in base64")
