"""Write docs/reference/behaviours.md: the files that answer each request, and the tests of it.

    python tools/behaviours_page.py            write the page
    python tools/behaviours_page.py --check    show what differs, and exit with 1

The code is found through the tables of handlers, the tests through their marks `row`.
"""

import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dapkit.adapter import HANDLERS
from dapkit.python.adapter import PythonAdapter
from dapkit.python.debuggee.requests.dispatch import HANDLERS as ENGINE_HANDLERS
from made_files import ROOT, run, table
from requests_table import ROWS, row_of

PAGE = ROOT / "docs/reference/behaviours.md"
SOURCES, TESTS = ROOT / "src/dapkit", ROOT / "tests"

ELSEWHERE = {
    "startDebugging": ("python/adapter/children/children.py", "python/debuggee/children/launch_hooks.py"),
    "cancel, progress": ("adapter/session.py", "adapter/progress.py", "python/adapter/session/progress.py"),
}
"""Code of rows whose requests are sent by the adapter, or answered by the SDK."""

NO_ROW = "setBreakpoints: lines"
"""An unknown row, in the text of a test about such rows."""

_MARK = re.compile(r'mark\.row\("([^"]+)"')


def code_of(row: str) -> Iterator[str]:
    """Yield the files that answer the requests of a row: in the adapter, and in the engine."""
    if row in ELSEWHERE:
        yield from ELSEWHERE[row]
        return
    functions: list[Callable[..., Any] | None] = []
    for command in row.split(", "):
        handler = HANDLERS.get(command)
        functions += [getattr(PythonAdapter, handler, None) if handler else None, ENGINE_HANDLERS.get(command)]
    files = [inspect.getsourcefile(inspect.unwrap(function)) for function in functions if function is not None]
    for file in dict.fromkeys(files):
        if file is not None:
            yield Path(file).resolve().relative_to(SOURCES).as_posix()


def tests_by_row() -> dict[str, list[str]]:
    """Return the test files by row."""
    tests = defaultdict(list)
    for file in sorted(TESTS.rglob("test_*.py")):
        if "node_modules" not in file.parts:
            names = set(_MARK.findall(file.read_text(encoding="utf-8"))) - {NO_ROW}
            rows = {row_of(name) for name in names}
            for row in rows:
                tests[row].append(file.relative_to(TESTS).as_posix())
    return tests


def page() -> Iterator[str]:
    """Yield the lines of the page."""
    yield "# From behaviour to files"
    yield ""
    yield "`python tools/behaviours_page.py` makes this page. Code is relative to `src/dapkit/`, tests to `tests/`."
    yield "The code answers the request and calls the parts that do the work. `make test ROW=setBreakpoints` runs the"
    yield "tests of a row."
    yield ""
    tests = tests_by_row()
    yield from table(("requests", "code", "tests"), ((row, _names(code_of(row)), _names(tests[row])) for row in ROWS))


def _names(files: Iterator[str] | list[str]) -> str:
    return ", ".join(f"`{file}`" for file in files)


def main() -> int:
    """Write the page, or compare it."""
    return run("write docs/reference/behaviours.md", lambda: {PAGE: "\n".join([*page(), ""])})


if __name__ == "__main__":
    sys.exit(main())
