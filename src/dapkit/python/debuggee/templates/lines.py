"""Lines of a template, in code that was generated from it.

The generator names its own lines at which the template's lines begin. Such a line is a *place*: there a step may
end, and a breakpoint be hit. Where a function begins is a place as well, for the line of the template that defines it.
"""

from _bisect import bisect_right
from types import CodeType
from typing import Final

from ..interpreter.gc_tracking import untrack
from ..sources.files import first_line, lines_of_code

_HELPER: Final = "t_"
"""First words of the names of functions that implement filters, and of generators that filter the values of a loop."""


class LineTable:
    """Which line of the template each line of the code is from."""

    def __init__(self, pairs: list[tuple[int, int]]) -> None:
        """Take pairs of a template's line and the code's line where it begins, in the order of the latter."""
        self._begins = [line for _, line in pairs]
        self._lines = [line for line, _ in pairs]
        untrack(self._begins)
        untrack(self._lines)
        untrack(self)

    def line(self, generated: int) -> int:
        """Return the line of the template for one of the code."""
        at = bisect_right(self._begins, generated)
        return self._lines[at - 1] if at else 1

    def is_place(self, code: CodeType, generated: int) -> bool:
        """Return whether a line of the template begins at a line of the code, or a function does that renders one."""
        at = bisect_right(self._begins, generated)
        return (at > 0 and self._begins[at - 1] == generated) or (renders(code) and generated == first_line(code))

    def places(self, codes: list[CodeType]) -> dict[int, list[tuple[CodeType, int]]]:
        """Return the places of each line of a template, in the functions that it was compiled to.

        A line at which something runs is meant where it runs, else where the function begins that it defines.
        """
        definitions = {code.co_firstlineno for code in codes if renders(code)}
        by_line: dict[int, list[tuple[CodeType, int]]] = {}
        for code in codes:
            for generated in sorted(lines_of_code(code) & set(self._begins) - definitions):
                by_line.setdefault(self.line(generated), []).append((code, generated))
        running = frozenset(by_line)
        for code in codes:
            begin = first_line(code)
            if renders(code) and self.line(begin) not in running:
                by_line.setdefault(self.line(begin), []).append((code, begin))
        return by_line


def renders(code: CodeType) -> bool:
    """Return whether a function renders a piece of the template."""
    return not code.co_name.startswith((_HELPER, "<"))
