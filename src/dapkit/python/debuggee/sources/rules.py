"""Rules of a launch configuration that say which code is the program's own: the first one that fits decides.

    {"path": "**/vendored/*", "include": false}      code of these files is a library's
    {"module": "requests.*", "include": true}        code of these modules is the program's own

`*` stands for any characters, `**` too, `?` for one. A path without a slash at its beginning fits in any
folder; a folder stands for all that is in it, and a package for its modules.
"""

from ..connection.wire import Json
from ..errors import RequestRefused


class CodeRule:
    """One rule: what it fits, and whether that is the program's own."""

    __slots__ = ("_pattern", "include", "of_modules")

    def __init__(self, pattern: str, *, of_modules: bool, include: bool) -> None:
        if not of_modules and not pattern.startswith("/"):
            pattern = f"*/{pattern.removeprefix('**/')}"
        self._pattern = pattern
        self.of_modules = of_modules
        self.include = include

    def fits(self, name: str) -> bool:
        """Say whether the rule is about a path or a module."""
        mark = "." if self.of_modules else "/"
        while name:
            if matches(name, self._pattern):
                return True
            name = name.rpartition(mark)[0]
        return False


def read_rules(given: list[Json]) -> list[CodeRule]:
    """Read the rules of a launch configuration.

    Raises:
        RequestRefused: if one of them is not a rule.

    """
    rules: list[CodeRule] = []
    for rule in given:
        path, module, include = rule.get("path"), rule.get("module"), rule.get("include")
        pattern = module if path is None else path
        if not isinstance(pattern, str) or not pattern or not isinstance(include, bool):
            raise RequestRefused(
                f"a rule is {rule!r:.200}, expected path or module, a text, and include, true or false"
            )
        rules.append(CodeRule(pattern, of_modules=path is None, include=include))
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
