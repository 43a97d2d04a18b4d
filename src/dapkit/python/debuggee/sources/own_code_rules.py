"""Rules of a launch configuration that say which code is the program's own: the first one that fits decides.

    {"path": "**/vendored/*", "include": false}      code of these files is a library's
    {"module": "requests.*", "include": true}        code of these modules is the program's own
    {"exception": "shop.Redirect", "include": false} exceptions of this class are not errors (`exceptions.control_flow`)

`*` stands for any characters, `**` too, `?` for one. A path without a slash at its beginning fits in any
folder; a folder stands for all that is in it, and a package for its modules.
"""

import os
from typing import NamedTuple

from ..connection.framing import Json
from ..interpreter.errors import RequestRefused
from ..system import IS_WINDOWS


class CodeRule:
    """One rule: its pattern, and whether matching code is the program's own."""

    __slots__ = ("_is_plain", "_pattern", "include", "of_modules")

    def __init__(self, pattern: str, *, of_modules: bool, include: bool) -> None:
        if not of_modules:
            pattern = _comparable(pattern)
        if not of_modules and not os.path.isabs(pattern):
            pattern = f"*/{pattern.removeprefix('**/')}"
        self._pattern = pattern
        self._is_plain = "*" not in pattern and "?" not in pattern
        self.of_modules = of_modules
        self.include = include

    def fits(self, name: str) -> bool:
        """Return whether the rule is about a path or a module."""
        mark = "." if self.of_modules else "/"
        if not self.of_modules:
            name = _comparable(name)
        if self._is_plain:  # Jupyter's kernel names its modules one by one: a thousand rules
            return name == self._pattern or name.startswith(self._pattern + mark)
        while name:
            if matches(name, self._pattern):
                return True
            name = name.rpartition(mark)[0]
        return False


def _comparable(path: str) -> str:
    """Return a path with slashes; on Windows in small letters, since paths that differ in nothing else are the same."""
    return path.replace("\\", "/").lower() if IS_WINDOWS else path


class ExceptionRule:
    """One rule about exceptions: the classes that it names, and whether they are errors."""

    __slots__ = ("_pattern", "include")

    def __init__(self, pattern: str, *, include: bool) -> None:
        self._pattern = pattern
        self.include = include

    def fits(self, name: str) -> bool:
        """Return whether the rule is about a class of this full name."""
        return matches(name, self._pattern)


class Rules(NamedTuple):
    """The rules of a launch configuration, each kind in their order."""

    code: list[CodeRule]
    exceptions: list[ExceptionRule]


def read_rules(entries: list[Json]) -> Rules:
    """Read the rules of a launch configuration.

    Raises:
        RequestRefused: if one of them is not a rule.

    """
    rules = Rules([], [])
    for rule in entries:
        include = rule.get("include")
        kinds = [kind for kind in ("path", "module", "exception") if rule.get(kind) is not None]
        pattern = rule[kinds[0]] if len(kinds) == 1 else None
        if not isinstance(pattern, str) or not pattern or not isinstance(include, bool):
            raise RequestRefused(
                f"a rule is {rule!r:.200}, expected path, module or exception, a text, and include, true or false"
            )
        if kinds[0] == "exception":
            rules.exceptions.append(ExceptionRule(pattern, include=include))
        else:
            rules.code.append(CodeRule(pattern, of_modules=kinds[0] == "module", include=include))
    return rules


def matches(name: str, pattern: str) -> bool:
    """Compare a name with a pattern of `*` and `?`, in time proportional to both lengths' product at worst."""
    at = place = 0
    star = resume = -1
    while at < len(name):
        if place < len(pattern) and pattern[place] == "*":
            star, resume = place, at
            place += 1
        elif place < len(pattern) and pattern[place] in ("?", name[at]):
            at += 1
            place += 1
        elif star >= 0:
            place, resume = star + 1, resume + 1
            at = resume
        else:
            return False
    return all(mark == "*" for mark in pattern[place:])
