"""From a client's reference to data to the places to watch.

Data that cannot be watched is refused with the reason: it is computed when it is read, it cannot change, or reading it
would run code of the program.

A variable that functions share is in a cell, which a frame does not give. But a mark can be put into the variable for a
moment: the cell is the one that then holds the mark. Native code does that in one go, so that no other thread sees the
mark.
"""

import gc
import itertools
import os
import sys
from _functools import partial  # type: ignore[import-not-found]  # the C half of `functools`
from _operator import call  # the C half of `operator`
from collections.abc import Callable, Iterator
from types import (
    AsyncGeneratorType,
    CellType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
)
from typing import Any, Final, cast

from ..interpreter import native
from ..interpreter.errors import RequestRefused
from ..interpreter.frame_locals import forget_locals
from ..interpreter.frame_views import virtual_frame_of
from ..interpreter.safe_types import (
    FROZENDICT,
    ClassSet,
    class_name,
    is_a,
    module_of,
    mro,
    mro_of,
    names_in_class,
    namespace,
    plain_text,
    qualified_name,
    type_name,
)
from ..interpreter.thread_frames import all_frames
from ..sources.compilation import with_nested
from ..sources.files import is_function
from ..values.memory import is_buffer
from ..values.storage import Attribute, ContainerItem, LocalVariable, Stored, locals_writer
from .targets import (
    MISSING,
    Bytes,
    Cell,
    DictEntry,
    Item,
    Local,
    ObjectEntry,
    Reads,
    Slot,
    WatchedPlace,
    WatchTarget,
    own_dict,
)


def cell_of(frame: FrameType, name: str) -> CellType | None:
    """Return the cell of a variable of a function; None if it is not found."""
    variables = frame.f_locals
    write_back = locals_writer(frame)
    mark = object.__new__(_Mark)
    previous: dict[str, object] = {}
    # Each step is a call of native code, and so is their sequence. `map` takes its values when they are due.
    refresh = partial(getattr, frame, "f_locals")  # 3.12: `variables` is a copy, to be written back once after this
    steps: list[Callable[[], object]] = [
        refresh,
        partial(next, map(previous.__setitem__, (name,), map(variables.get, (name,), (MISSING,)))),
        partial(variables.__setitem__, name, mark),
        write_back,
        partial(gc.get_referrers, mark),
        refresh,
        partial(next, map(variables.__setitem__, (name,), map(previous.__getitem__, (name,)))),
        write_back,
    ]
    holders = list(map(call, steps))[4]
    cells = [holder for holder in holders if type(holder) is CellType]  # type: ignore[attr-defined]  # a list
    del steps, refresh, variables  # all that holds the dict, if there is one
    forget_locals(frame)
    if previous[name] is MISSING:
        for cell in cells:
            del cell.cell_contents
    return cells[0] if len(cells) == 1 else None


class _Mark:
    """An object to which only the garbage collector has a reference."""

    __slots__ = ("itself",)


def writers_of(cell: CellType, name: str, frame: FrameType) -> list[CodeType]:
    """Return the code of all functions that have the cell, and of those that they may still make."""
    writers: dict[int, CodeType] = {}
    codes = [frame.f_code, *(running.f_code for running in all_frames()), *_codes_that_hold(cell)]
    for code in codes:
        for part in with_nested(code):
            if name in part.co_cellvars or name in part.co_freevars:
                writers[id(part)] = part
    return list(writers.values())


def _codes_that_hold(cell: CellType) -> Iterator[CodeType]:
    for holder in gc.get_referrers(cell):
        match holder:
            case tuple():  # the closure of functions
                yield from (
                    function.__code__ for function in gc.get_referrers(holder) if type(function) is FunctionType
                )
            case GeneratorType():
                yield holder.gi_code
            case CoroutineType():
                yield holder.cr_code
            case AsyncGeneratorType():
                yield holder.ag_code


_IMMUTABLE_TYPE: Final = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
_PLAIN: Final = ClassSet(object, str, int, float, bytes, type(None), complex)
_CONSTANT: Final = (tuple, str, bytes, range, frozenset, *FROZENDICT)

POLLING: Final = "compared at every line of the program's own code, which slows it" + (
    "" if native.CAN_POLL else " several times, since the native part of dapkit is not there"
)
"""The message about a breakpoint on data that cannot be watched otherwise."""

_next: Final = itertools.count(1).__next__


def target_of(stored: Stored, label: str) -> WatchTarget:
    """Return the target for where a value is stored.

    Raises:
        RequestRefused: if it cannot be watched.

    """
    match stored:
        case LocalVariable():
            return _of_variable(stored, label)
        case Attribute(owner=owner, name=name):
            return _of_attribute(owner, name, label)
        case ContainerItem(container=container, key=key):
            if type(container) is dict and type(key) is str and _module_of(container):
                if key not in container:
                    raise RequestRefused(f"there is no variable {key}")
                return _of_global(container, key, label)
            return _of_item(container, key, label)


def target_of_bytes(owner: object, start: int, length: int, label: str) -> WatchTarget:
    """Return the target for a range of a buffer.

    Raises:
        RequestRefused: if it is not a buffer, cannot change, or is too short.

    """
    size = _size_of_buffer(owner)
    if start + length > size:
        raise RequestRefused(f"{label} has {size} bytes; {length} bytes from {start} are more than that")
    return _numbered(f"{label}, bytes {start} to {start + length - 1}", [Bytes(owner, start, length)])


def lasting_target(identity: str) -> WatchTarget | None:
    """Find a target again by its dataId in another run; None if its module or class is not there yet.

    Raises:
        RequestRefused: if the dataId has another origin.

    """
    kind, _, rest = identity.partition(":")
    module, _, path = rest.partition(":")
    if kind not in ("global", "class") or not module or not path:
        raise RequestRefused(f"dataId {identity!r:.200} is no longer valid; ask for it again while the program stands")
    owner: Any = sys.modules.get(module)
    if not is_a(owner, ModuleType):
        return None
    if kind == "global":
        return _of_global(cast("dict[str, Any]", namespace(owner)), path, path)
    qualified, _, name = path.rpartition(":")
    for part in qualified.split("."):
        owner = namespace(owner).get(part)
    return _of_attribute(owner, name, f"{qualified}.{name}") if is_a(owner, type) else None


def _of_variable(stored: LocalVariable, label: str) -> WatchTarget:
    frame, name = stored.frame, stored.name
    if virtual_frame_of(frame) is not None:
        raise RequestRefused("a variable of a template cannot be watched")
    code = frame.f_code
    if not is_function(code) and frame.f_locals is frame.f_globals:
        return _of_global(frame.f_globals, name, label)
    if not is_function(code):
        return _of_item(frame.f_locals, name, label)
    if name not in code.co_cellvars and name not in code.co_freevars:
        target = _numbered(label, [Local(frame, name)])
        target.description = f"{label} in this call of {plain_text(code.co_qualname)}"
        return target
    cell = cell_of(frame, name)
    if cell is None:
        raise RequestRefused(f"{name} is shared by several functions, and which ones cannot be found out")
    return _numbered(label, [Cell(cell, name, writers_of(cell, name, frame))])


def _of_global(names: dict[str, Any], name: str, label: str) -> WatchTarget:
    module = _module_of(names)
    identity = f"global:{module}:{name}" if module else _identity()
    target = WatchTarget(identity, label, [DictEntry(names, name)], is_lasting=bool(module))
    target.reads = Reads(names, name)
    target.description = f"{label} in module {module}" if module else label
    return target


def _module_of(names: dict[str, Any]) -> str:
    """Return the name of the module whose variables these are, or an empty text."""
    module = dict.get(names, "__name__")
    module_object = sys.modules.get(module) if type(module) is str else None
    return str(module) if is_a(module_object, ModuleType) and namespace(module_object) is names else ""


def _of_attribute(owner: object, name: str, label: str) -> WatchTarget:
    if is_a(owner, type):
        return _of_class(owner, name, label)
    if is_a(owner, ModuleType):
        return _of_global(cast("dict[str, Any]", namespace(owner)), name, label)  # a module's is a dict
    holder, value = _in_classes(mro(owner), name)
    if type(value) is MemberDescriptorType:
        return _numbered(label, [Slot(owner, value)])
    if value is not None and _is_data_descriptor(value):
        raise RequestRefused(f"{label} is computed when it is asked for, by {type_name(value)}; watch its parts")
    names = own_dict(owner)
    if names is None:
        raise RequestRefused(f"a {type_name(owner)} keeps no attributes of its own")
    places: list[WatchedPlace] = [ObjectEntry(owner, name)]
    if name not in names:
        if holder is None:
            raise RequestRefused(f"{label} is not a stored attribute")
        if not _is_immutable(holder):
            places.append(ObjectEntry(holder, name))
    return _numbered(label, places)


def _of_class(owner: type, name: str, label: str) -> WatchTarget:
    _, value = _in_classes(mro(owner), name)
    if value is not None and _is_data_descriptor(value):
        raise RequestRefused(f"{label} is computed by the metaclass when it is asked for")
    holder, _ = _in_classes(mro_of(owner), name)
    if holder is None:
        raise RequestRefused(f"{label} is not a stored attribute")
    if _is_immutable(owner):
        raise RequestRefused(f"the attributes of {type_name(owner)} {class_name(owner)} do not change")
    keepers = [owner] if holder is owner else [owner, holder]
    places: list[WatchedPlace] = [ObjectEntry(keeper, name) for keeper in keepers if not _is_immutable(keeper)]
    qualified, module = qualified_name(owner), module_of(owner)
    identity = f"class:{module}:{qualified}:{name}"
    target = WatchTarget(identity, label, places)
    target.is_lasting = _finds(module, qualified, owner)
    if not target.is_lasting:
        target.identity = _identity()
    return target


def _finds(module: str, qualified: str, owner: object) -> bool:
    value: object = sys.modules.get(module)
    for part in qualified.split("."):
        value = namespace(value).get(part)
    return value is owner


def _of_item(container: Any, key: object, label: str) -> WatchTarget:  # noqa: ANN401 - whatever has items
    if is_a(container, dict):
        if not is_plain(key):
            raise RequestRefused(f"a key of type {type_name(key)} is compared by code of the program")
        return _numbered(label, [DictEntry(container, key)])
    if is_a(container, *_CONSTANT):
        raise RequestRefused(f"a {type_name(container)} does not change")
    is_list = is_a(container, list)
    if not is_list:
        _size_of_buffer(container)
    if type(key) is not int and type(key) is not bool:
        raise RequestRefused(f"an item of a {type_name(container)} at {type_name(key)} is not a single place")
    if is_list:
        length = list.__len__(container)
        if not -length <= key < length:
            raise RequestRefused(f"there is no item {key}; the list has {length}")
        return _numbered(label, [Item(container, key % length)])
    return _of_buffer_item(container, key, label)


def _of_buffer_item(container: Any, index: int, label: str) -> WatchTarget:  # noqa: ANN401 - any buffer
    size = _size_of_buffer(container)
    with memoryview(container) as view:
        if view.ndim != 1:
            raise RequestRefused(f"an item of {view.ndim} dimensions is not a single place; watch its bytes")
        count, width, form = len(view), view.itemsize, _native_form(view.format, view.itemsize)
    if not -count <= index < count:
        raise RequestRefused(f"there is no item {index}; there are {count}")
    start = index % count * width
    return _numbered(label, [Bytes(container, start, min(width, size - start), form)])


def _native_form(form: str, width: int) -> str:
    """Return the letter by which `memoryview.cast` knows the items; empty if there is no such letter."""
    letter = form.lstrip("@=<" if sys.byteorder == "little" else "@=>!")  # ctypes names the order of the bytes
    is_native = len(letter) == 1 and letter in "cbB?hHiIlLqQnNfd"
    return letter if is_native and memoryview(bytes(width)).cast(letter).itemsize == width else ""  # type: ignore[call-overload]


def _size_of_buffer(owner: Any) -> int:  # noqa: ANN401 - any object
    if not is_buffer(owner):
        raise RequestRefused(_not_a_buffer(owner))
    try:
        with memoryview(owner) as view:
            if view.readonly:
                raise RequestRefused(f"a {type_name(owner)} does not change")
            if not view.c_contiguous:
                raise RequestRefused(f"the bytes of this {type_name(owner)} do not lie side by side")
            with view.cast("B") as flat:
                return flat.nbytes
    except (TypeError, ValueError, BufferError) as error:
        raise RequestRefused(_not_a_buffer(owner)) from error


def _not_a_buffer(owner: object) -> str:
    return f"a {type_name(owner)} is not a dict, list or buffer; its items can only be read by running its own code"


def _numbered(label: str, places: list[WatchedPlace]) -> WatchTarget:
    return WatchTarget(_identity(), label, places)


def _identity() -> str:
    # A program that is started again must not take the names of its predecessor for its own.
    return f"value:{os.getpid()}:{_next()}"


def _in_classes(classes: tuple[type, ...], name: str) -> tuple[type | None, object]:
    for base in classes:
        names = names_in_class(base)
        if name in names:
            return base, names[name]
    return None, None


def _is_data_descriptor(value: object) -> bool:
    kind = mro(value)
    return type(value) is GetSetDescriptorType or any(
        "__set__" in names_in_class(base) or "__delete__" in names_in_class(base) for base in kind
    )


def _is_immutable(kind: type) -> bool:
    return bool(type.__dict__["__flags__"].__get__(kind) & _IMMUTABLE_TYPE)


def is_plain(key: object) -> bool:
    """Return whether a key is hashed and compared without any code of the program."""
    if type(key) is tuple:
        return all(map(is_plain, key))
    return all(_method_of(key, method) for method in ("__hash__", "__eq__"))


def _method_of(key: object, method: str) -> bool:
    """Return whether a key has a method of a built-in class."""
    holder, _ = _in_classes(mro(key), method)
    return holder is not None and holder in _PLAIN
