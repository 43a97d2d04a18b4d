"""Breakpoints by name: which functions a name means, those that are loaded later included.

    func  Class.method  outer.inner  outer.<locals>.inner     in any module of the program
    module.func  package.module.Class.method                  in that module, a library's too
    module:Class.method                                       the same, said unambiguously

The module that is run goes by `__main__` and by the name of its file. A name means first the functions that
were defined under it, decorated or not; then whatever else is found under it, a lambda for instance.
The condition is tested as the call begins; the program stops at the first line of the function.
"""

import os
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any, Final

from ..connection.framing import Json
from ..execution import monitor
from ..execution.monitor import Monitor
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..interpreter.gc_tracking import untrack
from ..interpreter.safe_types import ClassSet, is_a, mro_of, names_in_class, plain_text
from ..interpreter.safe_types import namespace as namespace_of
from ..interpreter.thread_checks import under_lock
from ..sources.compilation import with_nested
from ..sources.files import PROGRAM, Sources, is_function, lines_of_code, resume_offset
from ..sources.staleness import loaded_namespaces
from .breakpoint import FUNCTION, EngineBreakpoint
from .conditions import HostCode, LineCallback
from .sites import BreakpointSite, HitCollector, all_of, site_of
from .source import ActionsFor, Report

_AROUND_FUNCTIONS: Final = ClassSet(MethodType, staticmethod, classmethod)

type Meaning = tuple[str, str]
"""Module, or an empty text for any of the program's, and qualified name without `<locals>`."""


class _WantedNames:
    """The names of function breakpoints. There may be thousands, and as many functions to compare with them."""

    def __init__(self) -> None:
        self._by_qualified_name: dict[str, list[tuple[EngineBreakpoint, str]]] = {}
        self._by_first_part: dict[str, list[tuple[EngineBreakpoint, str, str]]] = {}
        untrack(self)

    def add(self, breakpoint: EngineBreakpoint, meanings: list[Meaning]) -> None:
        """Add the possible meanings of a breakpoint's name."""
        for module, name in meanings:
            self._by_qualified_name.setdefault(name, []).append((breakpoint, module))
            self._by_first_part.setdefault(name.partition(".")[0], []).append((breakpoint, module, name))

    def clear(self) -> None:
        """Forget all."""
        self._by_qualified_name.clear()
        self._by_first_part.clear()

    def of(self, code: CodeType) -> list[tuple[EngineBreakpoint, str]]:
        """Return the breakpoints by whose names a code object was defined, each with the module that must be its."""
        return self._by_qualified_name.get(plain_text(code.co_qualname).replace(".<locals>", ""), [])

    def unbound(self, namespace: dict[str, object]) -> Iterator[tuple[EngineBreakpoint, str, str]]:
        """Return breakpoints in no code yet whose name begins with one of a module: each, its module, and its name."""
        for first in list(filter(namespace.__contains__, self._by_first_part)):
            remaining = [meaning for meaning in self._by_first_part.pop(first) if not meaning[0].bound]
            if remaining:
                self._by_first_part[first] = remaining
                yield from remaining


class FunctionBreakpointTable:
    """All function breakpoints of the session.

    Invariant: `_sites` and `starts` have the same code objects, those that the monitor watches for this table.
    """

    def __init__(
        self, watch: Monitor, sources: Sources, *, actions_for: ActionsFor, collector: HitCollector, report: Report
    ) -> None:
        self._monitor = watch
        self._sources = sources
        self._actions_for = actions_for
        self._report = report
        self.asked: list[EngineBreakpoint] = []
        self._names = _WantedNames()
        self._collector = collector
        self._sites: dict[int, list[BreakpointSite]] = {}
        """By code object, each kept alive by its sites."""
        self.starts: dict[int, LineCallback] = {}
        """By code object: the actions at its start."""

    @under_lock
    def place(self, specs: list[Json]) -> list[EngineBreakpoint]:
        """Replace all function breakpoints."""
        self.clear()
        breakpoints: list[EngineBreakpoint] = []
        for spec in specs:
            breakpoint = EngineBreakpoint(FUNCTION, spec, modes=())
            breakpoints.append(breakpoint)
            if breakpoint.test is None:
                continue
            try:
                meanings = meanings_of(spec.get("name"))
            except RequestRefused as refusal:
                breakpoint.fail(str(refusal))
                continue
            self.asked.append(breakpoint)
            self._names.add(breakpoint, meanings)
        self._find_loaded()
        for breakpoint in self.asked:
            if not breakpoint.bound and not breakpoint.message:
                breakpoint.wait(f"no function {breakpoint.spec['name']} is loaded yet")
        if self.asked:
            self._monitor.discover("functions")  # shows all code again, as it starts
        return breakpoints

    @under_lock
    def clear(self) -> None:
        """Remove everything."""
        for [site, *_] in self._sites.values():
            self._monitor.want(site.code, "function", 0)
        self._sites.clear()
        self.starts = {}
        self.asked = []
        self._names.clear()
        self._monitor.also("functions", 0)

    @under_lock
    def bind_new_code(self, code: CodeType, namespace: dict[str, object]) -> None:
        """Bind to a code object that is about to run, and to the functions inside it."""
        bindings = [
            (breakpoint, part)
            for part in filter(is_function, with_nested(code))
            for breakpoint, module in self._names.of(part)
            if self._is_in(module, part.co_filename, namespace)
        ]
        if is_function(code) and all(part is not code for _, part in bindings):
            bindings += [
                (breakpoint, code)
                for breakpoint, module, name in self._names.unbound(namespace)
                if self._is_in(module, code.co_filename, namespace) and code_of(_look_up(namespace, name)) is code
            ]
        newly = {breakpoint.number: breakpoint for breakpoint, _ in bindings if not breakpoint.bound}
        for breakpoint, part in bindings:
            self._bind(breakpoint, part, namespace)
        for breakpoint in newly.values():
            self._report(breakpoint, "changed")

    def _is_in(self, module: str, filename: str, namespace: dict[str, object]) -> bool:
        if not module:
            return self._sources.kind(filename) == PROGRAM
        return module in _names_of(namespace)

    def _find_loaded(self) -> None:
        """Bind to functions that are already loaded, as far as names lead to them."""
        bindings: list[tuple[EngineBreakpoint, CodeType, dict[str, object]]] = []
        others: list[tuple[EngineBreakpoint, str]] = []
        for namespace in loaded_namespaces():
            filename = namespace.get("__file__")
            for breakpoint, module, name in self._names.unbound(namespace):
                if not self._is_in(module, filename if type(filename) is str else "<string>", namespace):
                    continue
                function = _look_up(namespace, name)
                code = code_of(function)
                if code is not None:
                    bindings.append((breakpoint, code, namespace))
                elif is_a(function, type):
                    others.append((breakpoint, f"is a class; name one of its methods, {name}.__init__ for instance"))
                elif callable(function):
                    others.append((breakpoint, "is built in: there is no Python code to stop in"))
        for breakpoint, code, namespace in bindings:
            self._bind(breakpoint, code, namespace)
        for breakpoint, why in others:
            if not breakpoint.bound:
                breakpoint.fail(f"{breakpoint.spec['name']} {why}")

    def _bind(self, breakpoint: EngineBreakpoint, code: CodeType, namespace: dict[str, object]) -> None:
        here = self._sites.setdefault(id(code), [])
        if any(site.breakpoint is breakpoint for site in here):
            return
        site = site_of(breakpoint, HostCode(code, namespace), resume_offset(code), self._actions_for(breakpoint))
        here.append(site)
        self.starts[id(code)] = site.callback if len(here) == 1 else all_of(here, self._collector)
        self._monitor.want(code, "function", monitor.EVENTS.PY_START, afresh=True)
        path = self._sources.path(code.co_filename)
        if path is not None:
            breakpoint.source = {"name": os.path.basename(path), "path": path}
        if not breakpoint.verified:
            breakpoint.line = min((line for line in lines_of_code(code) if line > 0), default=code.co_firstlineno)
        breakpoint.settle()


def meanings_of(name: object) -> list[Meaning]:
    """Read the name of a function breakpoint.

    Raises:
        RequestRefused: if no function can be called so.

    """
    if not isinstance(name, str):
        raise RequestRefused(f"the name of a function breakpoint is {name!r}, expected a text")
    dotted = name.strip().removesuffix("()")
    module, colon, qualified = dotted.rpartition(":")
    parts = qualified.replace(".<locals>", "").split(".")
    for part in [*parts, *(module.split(".") if colon else ())]:
        if not part.isidentifier() and part != "<lambda>":
            raise RequestRefused(
                f"{name!r} is not a name of a function; write func, Class.method, module.func or module:Class.method"
            )
    if colon:
        return [(module, ".".join(parts))]
    return [(".".join(parts[:at]), ".".join(parts[at:])) for at in range(len(parts))]


def _names_of(namespace: dict[str, object]) -> list[str]:
    """Return the names that a module goes by."""
    name = plain_text(namespace.get("__name__"))
    names = [name]
    if name == "__main__":
        names.append(plain_text(namespace_of(namespace.get("__spec__")).get("name")))
        names.append(os.path.basename(plain_text(namespace.get("__file__"))).removesuffix(".py"))
    return names


def _look_up(namespace: dict[str, object], name: str) -> object:
    """Return the object of a dotted name, without running any code of the program; None if it leads nowhere."""
    first, *rest = name.split(".")
    value = namespace.get(first)
    for part in rest:
        if not is_a(value, type):
            return None
        for kind in mro_of(value):
            members = names_in_class(kind)
            if part in members:
                value = members[part]
                break
        else:
            return None
    return value


def code_of(value: Any) -> CodeType | None:  # noqa: ANN401 - whatever a name leads to
    """Return the code that runs when a function is called, under its decorators; None for an object without code."""
    functools = sys.modules.get("functools")
    partial, cached = getattr(functools, "partial", None), getattr(functools, "_lru_cache_wrapper", None)
    for _ in range(limits.WRAPPERS):
        kind = type(value)
        if kind is FunctionType:
            wrapped = value.__dict__.get("__wrapped__")
            if wrapped is None:
                code: CodeType = value.__code__
                return code
            value = wrapped
        elif kind in _AROUND_FUNCTIONS:
            value = value.__func__
        elif kind is property:
            value = value.fget
        elif kind is partial:
            value = value.func
        elif kind is cached:
            value = value.__wrapped__
        else:
            return None
    return None
