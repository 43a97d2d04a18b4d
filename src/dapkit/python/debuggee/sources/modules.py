"""Modules of the program: numbers for them, pages of the list, and events about those the client knows of.

`sys.modules` is looked at when the client asks for something, never at an import. A `module` event
is sent for a module before a frame first refers to it; once a client has asked for
the list, all that come, change (are loaded again) or go are reported.
"""

import os
import sys
from collections.abc import Callable
from time import gmtime, strftime
from types import FrameType

from ..connection.framing import Json
from ..interpreter.safe_types import entry_of, is_a, simple_name
from ..interpreter.thread_checks import in_link_thread
from .files import PROGRAM, Sources
from .imported_modules import Names, loaded, names_of


class ModuleTable:
    """The modules that may be reported to a client.

    Invariant: a name has the same number for the whole session; `_reported` are the modules that the client
    was reported, and the object that each was. Used in the link's thread, or one that it waits for.
    """

    def __init__(self, sources: Sources, report: Callable[[str, Json], None]) -> None:
        self._sources = sources
        self._report = report
        self._numbers: dict[str, int] = {}
        self._reported: dict[str, int] = {}
        self._listed = False

    def _number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers) + 1)

    def number_of(self, frame: FrameType) -> int | None:
        """Return the number of the module whose code a frame runs, and report the module to the client first."""
        name = entry_of(frame.f_globals, "__name__")
        module = sys.modules.get(name) if type(name) is str else None
        names = names_of(module)
        if names is not frame.f_globals or type(name) is not str:
            return None
        if name not in self._reported:
            self._announce("new", name, module)
        return self._number(name)

    @in_link_thread
    def page(self, start: int, count: int) -> Json:
        """Return the body of `modules`; a count of 0 means all. From now on changes are reported to the client."""
        every = loaded()
        self._listed = True
        self._reported.update((name, id(module)) for name, module in every)
        page = every[start : start + count] if count else every[start:]
        return {"modules": [self.describe(name, module) for name, module in page], "totalModules": len(every)}

    def look(self) -> None:
        """Report the changes of modules since the last report to the client."""
        for name, entry in list(self._reported.items()):
            module = sys.modules.get(name)
            if module is None:
                del self._reported[name]
                self._report("module", {"reason": "removed", "module": {"id": self._number(name), "name": name}})
            elif entry != id(module):
                self._announce("changed", name, module)
        if self._listed:
            for name, new in loaded():
                if name not in self._reported:
                    self._announce("new", name, new)

    def _announce(self, reason: str, name: str, module: object) -> None:
        self._reported[name] = id(module)
        self._report("module", {"reason": reason, "module": self.describe(name, module)})

    def describe(self, name: str, module: object) -> Json:
        """Return the protocol's Module."""
        names = names_of(module) or {}
        described: Json = {"id": self._number(name), "name": name, "isOptimized": sys.flags.optimize > 0}
        file = names.get("__file__")
        if type(file) is str:
            path = self._sources.path(file) or file
            described["path"] = path
            described["isUserCode"] = self._sources.kind(file) == PROGRAM
            described["symbolStatus"] = "Python source" if file.endswith((".py", ".pyw")) else "no Python source"
            stamp = _time_of(path)
            if stamp:
                described["dateTimeStamp"] = stamp
        else:
            described["isUserCode"] = name == "__main__"
            described["symbolStatus"] = "built in" if name in sys.builtin_module_names else "no file"
        version = names.get("__version__")
        if type(version) is str:
            described["version"] = version
        package = names.get("__package__")
        if type(package) is str:
            described["package"] = package
        described["loader"] = _loader(names)
        return described


def _loader(names: Names) -> str:
    """Return the name of the class that loaded a module."""
    loader = names.get("__loader__")
    kind: type = loader if is_a(loader, type) else type(loader)
    return "" if loader is None else simple_name(kind)


def _time_of(path: str) -> str:
    """Return when a file was last written, as RFC 3339 has it; an empty text if there is no such file."""
    try:
        seconds = os.stat(path).st_mtime
    except (OSError, ValueError):
        return ""
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(seconds))
