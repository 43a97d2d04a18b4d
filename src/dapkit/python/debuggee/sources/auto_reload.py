"""Files that are saved while the program runs, taken into it: `autoReload`.

The link's thread looks at the files of the program's own modules every now and then; none of the program's
code runs for that. `replacement` decides the effects of a text.
"""

import os
from collections.abc import Callable

from ..connection.framing import Json
from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..interpreter.thread_checks import in_link_thread
from .files import PROGRAM, Sources, read_file
from .imported_modules import loaded, names_of
from .own_code_rules import CodeRule
from .replacement import Namespace, ReplacementReport, replace
from .staleness import Stamp, stamp_of

type Report = Callable[[str, Json], None]


class ReloadSettings:
    """The option `autoReload`.

    Raises:
        RequestRefused: it cannot be as it is given.

    """

    def __init__(self, options: Json) -> None:
        seconds = options.get("pollingInterval", limits.RELOAD_SECONDS)
        if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not seconds > 0:
            raise RequestRefused(f"autoReload.pollingInterval is {seconds!r:.200}, expected seconds, more than 0")
        self.seconds = max(float(seconds), limits.TICK_SECONDS)
        self._include = _patterns(options, "include") or ["*.py", "*.pyw"]
        self._exclude = _patterns(options, "exclude")

    def is_about(self, path: str) -> bool:
        """Return whether a file is to be watched."""
        return _fits(self._include, path) and not _fits(self._exclude, path)


def _patterns(texts: Json, name: str) -> list[str]:
    patterns = texts.get(name) or []
    if not isinstance(patterns, list) or not all(isinstance(pattern, str) and pattern for pattern in patterns):
        raise RequestRefused(f"autoReload.{name} is {patterns!r:.200}, expected a list of patterns")
    return patterns


def _fits(patterns: list[str], path: str) -> bool:
    return any(CodeRule(pattern, of_modules=False, include=True).fits(path) for pattern in patterns)


class Reloader:
    """The files of the program's own modules, and their state when they were last read."""

    def __init__(
        self, settings: ReloadSettings, sources: Sources, report: Report, console: Callable[[str], None]
    ) -> None:
        self._wanted = settings
        self._sources = sources
        self._report = report
        self._console = console
        self._stamps: dict[str, Stamp] = {}  # by key
        self.seconds = settings.seconds

    @in_link_thread
    def look(self) -> None:
        """Load the files that were saved since the last look, into the modules of that time."""
        modules: dict[str, list[Namespace]] = {}
        for _, module in loaded():
            names = names_of(module) or {}
            file = names.get("__file__")
            if type(file) is str and self._sources.kind(file) == PROGRAM:
                modules.setdefault(self._sources.key(file) or file, []).append(names)
        for key, namespaces in modules.items():
            now = stamp_of(key) if self._wanted.is_about(key) else None
            before = self._stamps.get(key) or self._sources.stamps.at_start(key)
            if now is not None and now != before:
                self._stamps[key] = now
                if before is not None:
                    self._load(key, namespaces)

    def _load(self, key: str, namespaces: list[Namespace]) -> None:
        name = os.path.basename(key)
        outcome = ReplacementReport()
        try:
            text = read_file(key)
            for namespace in namespaces:
                replace(namespace, text, lambda filename: self._sources.name(filename) == key, outcome)
        except SyntaxError as problem:
            self._console(f"{name} was saved, but is not valid Python in line {problem.lineno}: {problem.msg}")
            return
        except Exception as problem:
            self._console(f"{name} was saved, but cannot be loaded: {type(problem).__name__}: {problem}")
            return
        self._sources.stamps.note(key)
        self._sources.stamps.reloaded.add(key)
        path = self._sources.path(key) or key
        self._report("loadedSource", {"reason": "changed", "source": {"name": name, "path": path}})
        left_out = [f"{what} ({why})" for what, why in outcome.left.items()]
        parts = [
            f"{verb} {', '.join(dict.fromkeys(names))}"
            for verb, names in (("changed", outcome.changed), ("new", outcome.added), ("not taken over", left_out))
            if names
        ]
        self._console(f"{name} was saved: {'; '.join(parts) or 'no function does anything else'}")
