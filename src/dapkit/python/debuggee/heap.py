"""The contents of a program's heap at one moment: by type, by holder, and by allocating line.

No code of the program runs for it: objects come from the garbage collector, and objects that it does not list (texts,
numbers) from those; sizes come from native code alone. No other thread runs meanwhile (`_settle`). The objects are let
go before that ends, so none of them can have ended in between, and be finalized by us.

Each object is counted once. First come instances of classes, with the plain containers, texts and numbers that they
reach and no earlier object has reached: these belong to that class. Then come modules, with the objects that their
names reach; then classes, functions and the like; then the debugger's objects. The rest belongs to local variables of
running calls, or to native code.

That an object was met is remembered as a byte for 16 bytes of addresses, in pages: a sixteenth of the memory that is
looked at, where a set of numbers would need as much again.

The text of this file is executed in programs of other debuggers, too. So it is for Python 3.9 and later, holds no
class, and needs no module that every interpreter does not have at hand.
"""

import builtins
import gc
import sys
from os import getpid
from time import monotonic
from types import CellType, CodeType, FunctionType, ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_ALONE_SECONDS, _ALONE_SECONDS_EACH = 0.25, 20e-6
"""How long other threads wait until they ask for the interpreter: so long, and for each object that is listed."""

_SETTLED_SECONDS = 0.1
"""How long is waited at most until they do."""

_ROOTS_AT_ONCE = 4_096
"""Objects whose references are asked for together."""

_MET_AT_ONCE = 50_000
"""References that are followed before the clock is looked at."""

_NAME_CHARS = 200

_HEAP_TYPE, _HAS_GC, _IS_OF_TYPES = 1 << 9, 1 << 14, 1 << 31
"""Py_TPFLAGS_HEAPTYPE, Py_TPFLAGS_HAVE_GC, Py_TPFLAGS_TYPE_SUBCLASS."""
_PRE_HEADER = 1 << 3 | 1 << 4
"""Py_TPFLAGS_MANAGED_WEAKREF, Py_TPFLAGS_MANAGED_DICT."""

_MRO = type.__dict__["__mro__"].__get__
_NAMES = type.__dict__["__dict__"].__get__
_FLAGS = type.__dict__["__flags__"].__get__
_MODULE = type.__dict__["__module__"].__get__
_NAME = type.__dict__["__qualname__"].__get__
_MODULE_NAMES: "Callable[[Any], dict[str, Any]]" = vars(ModuleType)["__dict__"].__get__
_IN_CODE = ("co_consts", "co_names", "co_filename", "co_name", "co_qualname", "co_linetable", "co_exceptiontable")
"""Objects to which code refers; the collector does not follow it."""
_NATIVE = (type(object.__sizeof__), type(object.__repr__))
"""Types of methods that native code has defined."""

LEFT_OVER = "local variables, native code"
"""The holder of objects that nothing else has reached."""


def snapshot(
    *, seconds: float, most: int, rows: int, trace_bytes: int, debuggers: "tuple[str, ...]", folders: "tuple[str, ...]"
) -> "dict[str, Any]":
    """Return the contents of the heap, as JSON.

    Args:
        seconds: time for the walk; then it ends with a partial result.
        most: objects that are counted; likewise.
        rows: of each table; groups with fewer bytes than these appear only in the sums.
        trace_bytes: memory of `tracemalloc` up to which its traces are read, which takes as much again.
        debuggers: the first words of the names of a debugger's modules.
        folders: parts of the paths of their files.

    """
    interval = sys.getswitchinterval()
    listed = next(map(len, iter(gc.get_objects, None)))  # in one call of native code, so that none is kept alive
    sys.setswitchinterval(min(seconds + _ALONE_SECONDS, _ALONE_SECONDS + listed * _ALONE_SECONDS_EACH))
    try:
        _settle(interval)
        began = monotonic()
        line_table = _lines(rows, trace_bytes, folders)
        line_table.update(_objects(began + seconds, most, rows, debuggers))
        line_table.update(pid=getpid(), python=sys.version.partition(" ")[0], seconds=monotonic() - began)
    finally:
        sys.setswitchinterval(interval)
    return line_table


def _settle(interval: float) -> None:
    """Wait until all other threads wait for the interpreter as long as they are to.

    A thread asks for it when it has waited for `sys.getswitchinterval()`, as that was when it began to wait. One that
    began before asks too early, once; we are given the interpreter again when the new interval has passed, which
    therefore is no longer than is needed.
    """
    quiet = min(3 * interval, _SETTLED_SECONDS)
    began = last = monotonic()
    for _ in range(1_000_000):
        now = monotonic()
        if now - last > quiet / 10:  # another thread had it meanwhile
            began = now
        if now - began > quiet:
            return
        last = now


# By type


def _objects(until: float, most: int, rows: int, debuggers: "tuple[str, ...]") -> "dict[str, Any]":
    plain = _plain_types()
    groups = _grouped(gc.get_objects(), plain, debuggers)
    heap: dict[str, Any] = {"until": until, "left": most, "pages": {}, "plain": plain, "types": {}, "uncounted": 0}
    modules = [(module, _MODULE_NAMES(module)) for module in groups["modules"]]
    for _, names in modules:
        _is_new(heap["pages"], id(names))  # functions reach them as well, and instances may
    holders = [(_name_of(type(group[0])), *_reach(heap, group)) for group in groups["instances"]]
    holders += [
        (f"module {_text(_name_of_module(module))}", *_reach(heap, [module, names])) for module, names in modules
    ]
    holders += [(f"class {_name_of(kind)}", *_reach(heap, [kind])) for kind in groups["classes"]]
    holders += [(_name_of(type(group[0])), *_reach(heap, group)) for group in groups["others"] if group]
    types, heap["types"] = heap["types"], {}
    debugger = _reach(heap, groups["debugger"])
    heap["types"] = types
    rest = [value for value in groups["plain"] if _is_new(heap["pages"], id(value))]
    holders.append((LEFT_OVER, *_reach(heap, rest)))
    of_types = [(_name_of(kind), count, size) for kind, count, size, _, _ in types.values() if count]
    return {
        "objects": sum(count for _, count, _ in of_types),
        "size": sum(size for _, _, size in of_types),
        "uncounted": heap["uncounted"],
        "frozen": gc.get_freeze_count(),
        "debuggerObjects": debugger[0],
        "debuggerSize": debugger[1],
        "types": _table(of_types, rows),
        "holders": _table(holders, rows),
    }


def _plain_types() -> "dict[int, type]":
    """Return containers without a class of their own, by id: a class may have any `__hash__`."""
    plain: list[type] = [dict, list, tuple, set, frozenset, CellType]
    if sys.version_info >= (3, 15):
        plain.append(vars(builtins)["frozendict"])
    module = sys.modules.get("_collections")
    if type(module) is ModuleType:
        names = (_MODULE_NAMES(module).get(name) for name in ("deque", "defaultdict", "OrderedDict"))
        plain += [kind for kind in names if type(kind) is type]
    return {id(kind): kind for kind in plain}


def _grouped(tracked: "list[Any]", plain: "dict[int, type]", debuggers: "tuple[str, ...]") -> "dict[str, Any]":
    """Sort the collector's list; instances, and others, by their type."""
    groups: dict[str, Any] = {name: [] for name in ("instances", "modules", "classes", "others", "plain", "debugger")}
    by_type: dict[int, list[Any]] = {}
    for value in tracked:
        group = by_type.get(id(type(value)))
        if group is None:
            by_type[id(type(value))] = [value]
        else:
            group.append(value)
    for group in by_type.values():
        kind = type(group[0])
        if id(kind) in plain:
            groups["plain"] += group
        elif any(base is ModuleType for base in _MRO(kind)):
            _share(group, groups["modules"], groups["debugger"], _name_of_module, debuggers)
        elif _FLAGS(kind) & _IS_OF_TYPES:
            _share(group, groups["classes"], groups["debugger"], _module_of, debuggers)
        elif kind is FunctionType:
            functions: list[Any] = []
            _share(group, functions, groups["debugger"], _module_of_function, debuggers)
            groups["others"].append(functions)
        elif _is_of(_module_of(kind), debuggers):
            groups["debugger"] += group
        else:
            groups["instances" if _FLAGS(kind) & _HEAP_TYPE else "others"].append(group)
    return groups


def _share(
    values: "list[Any]",
    programs: "list[Any]",
    debuggers: "list[Any]",
    module_of: "Callable[[Any], object]",
    names: "tuple[str, ...]",
) -> None:
    """Put values of the debugger's modules apart."""
    for value in values:
        (debuggers if _is_of(module_of(value), names) else programs).append(value)


def _is_of(module: object, debuggers: "tuple[str, ...]") -> bool:
    return type(module) is str and module.startswith(debuggers)


def _reach(heap: "dict[str, Any]", roots: "list[Any]") -> "tuple[int, int]":
    """Count objects with the objects that they reach and no earlier one has reached.

    Return their number and their bytes.

    Instances of classes are not followed to: they are roots themselves. Objects that are not counted because time is up
    are added to `uncounted`.
    """
    if heap["left"] <= 0 or monotonic() >= heap["until"]:
        heap["uncounted"] += len(roots)
        return 0, 0
    objects, size = len(roots), 0
    for value in roots:
        size += _count(heap["types"], value)
    frontier = roots
    while frontier:
        following: list[Any] = []
        for start in range(0, len(frontier), _ROOTS_AT_ONCE):
            met = gc.get_referents(*frontier[start : start + _ROOTS_AT_ONCE])
            for begin in range(0, len(met), _MET_AT_ONCE):
                if heap["left"] <= objects or monotonic() >= heap["until"]:
                    heap["uncounted"] += len(met) - begin
                    following.clear()
                    break
                count, bytes_met = _meet(heap, met[begin : begin + _MET_AT_ONCE], following)
                objects += count
                size += bytes_met
        frontier = following
    heap["left"] -= objects
    return objects, size


def _meet(heap: "dict[str, Any]", met: "list[Any]", following: "list[Any]") -> "tuple[int, int]":
    """Count objects that were referred to, unless they are roots or were met before, and add those with references."""
    plain, types, pages = heap["plain"], heap["types"], heap["pages"]
    is_tracked = gc.is_tracked
    objects = size = 0
    for value in met:
        kind = type(value)
        if id(kind) not in plain and (is_tracked(value) or _is_hidden(types, kind)):
            continue
        ident = id(value)
        page = pages.get(ident >> 20) or _page(pages, ident)
        slot = ident >> 4 & 0xFFFF
        if page[slot]:
            continue
        page[slot] = 1
        objects += 1
        size += _count(types, value)
        if id(kind) in plain:
            following.append(value)
        elif kind is CodeType:
            following.append([getattr(value, name, None) for name in _IN_CODE])
    return objects, size


def _is_hidden(types: "dict[int, list[Any]]", kind: type) -> bool:
    """Return whether untracked instances are hidden by a debugger: the collector would follow others."""
    return bool((types.get(id(kind)) or _entry(types, kind))[4])


def _count(types: "dict[int, list[Any]]", value: object) -> int:
    """Count an object by its type; return its bytes."""
    kind = type(value)
    entry = types.get(id(kind)) or _entry(types, kind)
    size: int = entry[3](value)
    entry[1] += 1
    entry[2] += size
    return size


def _page(pages: "dict[int, bytearray]", ident: int) -> bytearray:
    page = pages[ident >> 20] = bytearray(1 << 16)
    return page


def _is_new(pages: "dict[int, bytearray]", ident: int) -> bool:
    """Record an object that was met; return whether it is the first time."""
    page = pages.get(ident >> 20) or _page(pages, ident)
    slot = ident >> 4 & 0xFFFF
    met, page[slot] = page[slot], 1
    return not met


def _entry(types: "dict[int, list[Any]]", kind: type) -> "list[Any]":
    """Make the row of a type: the type, objects, bytes, the size of one, and whether the collector follows it."""
    entry = types[id(kind)] = [kind, 0, 0, _measure_of(kind), bool(_FLAGS(kind) & _HAS_GC)]
    return entry


def _measure_of(kind: type) -> "Callable[[Any], int]":
    """Return native code that measures instances of a type: never a `__sizeof__` of the program's own."""
    methods = [names["__sizeof__"] for names in map(_NAMES, _MRO(kind)) if "__sizeof__" in names]
    native = [method for method in methods if any(type(method) is kind_of_method for kind_of_method in _NATIVE)]
    if methods and methods[0] is native[0]:
        return sys.getsizeof
    header = 16 * (bool(_FLAGS(kind) & _HAS_GC) + bool(_FLAGS(kind) & _PRE_HEADER))
    return lambda value: native[0](value) + header


# By line


def _lines(rows: int, trace_bytes: int, folders: "tuple[str, ...]") -> "dict[str, Any]":
    """Return the lines that allocated the objects, as far as `tracemalloc` traces."""
    try:
        import _tracemalloc
    except ImportError:  # another interpreter
        return {"lines": None}
    if not _tracemalloc.is_tracing():
        return {"lines": None}
    if _tracemalloc.get_tracemalloc_memory() > trace_bytes:
        return {"lines": None, "traceSize": _tracemalloc.get_tracemalloc_memory()}
    by_line: dict[Any, list[int]] = {}
    for _domain, size, trace, *_ in _tracemalloc._get_traces():
        sums = by_line.get(trace[0])
        if sums is None:
            by_line[trace[0]] = [1, size]
        else:
            sums[0] += 1
            sums[1] += size
    lines = [
        (f"{file}:{line}", count, size)
        for (file, line), (count, size) in by_line.items()
        if not any(folder in file for folder in folders)
    ]
    return {"lines": _table(lines, rows)}


# Rows


def _table(rows_by_name: "Iterable[tuple[str, int, int]]", rows: int) -> "dict[str, Any]":
    """Sum up by name, and return the rows with most bytes, and the sums of all others."""
    sums: dict[str, list[int]] = {}
    for name, count, size in rows_by_name:
        if name in sums:
            sums[name][0] += count
            sums[name][1] += size
        else:
            sums[name] = [count, size]
    ordered = sorted(sums.items(), key=lambda row: -row[1][1])
    others = [row for _, row in ordered[rows:]]
    return {
        "rows": [{"name": name, "count": count, "size": size} for name, (count, size) in ordered[:rows]],
        "others": len(others),
        "otherCount": sum(count for count, _ in others),
        "otherSize": sum(size for _, size in others),
    }


def _name_of(kind: type) -> str:
    module = _module_of(kind)
    name = _text(_NAME(kind))
    return name if module == "builtins" or type(module) is not str else f"{_text(module)}.{name}"


def _module_of(kind: type) -> object:
    try:
        module: object = _MODULE(kind)
    except Exception:  # a class may lack it
        return None
    return module


def _name_of_module(module: ModuleType) -> object:
    return _MODULE_NAMES(module).get("__name__")


def _module_of_function(function: FunctionType) -> object:
    return function.__module__


def _text(name: object) -> str:
    """Return a name as a text that can be sent."""
    return name[:_NAME_CHARS].encode("utf-8", "replace").decode() if type(name) is str else "?"
