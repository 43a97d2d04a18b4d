"""Write docs/reference/requests.md: the requests, capabilities and events of the Python adapter.

    python tools/requests_table.py            write the page
    python tools/requests_table.py --check    fail if the page says anything else

What the adapter announces and handles is asked of the adapter itself. Whether a row works is
read from the reports that `make test ARGS=--each-python`, `make test-js` and `make test-windows` leave in
build/: a row is a yes where tests that carry its name have passed, and none has failed. What is in no report, such
as a Python that nothing was run with, is not compared, and stays as it was written.
"""

import argparse
import inspect
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from dapkit.adapter import HANDLERS, Adapter
from dapkit.protocol import COMMANDS, EVENTS, Capabilities, Direction, FrameDecoder, encode_frame
from dapkit.python.adapter import PythonAdapter, PythonLaunch
from dapkit.python.adapter.configuration.keys import abilities
from junit_reports import outcome, testcases
from made_files import ROOT, table

PAGE = ROOT / "docs/reference/requests.md"
VERSIONS = ("3.12", "3.13", "3.14", "3.15")
WINDOWS = "Windows"
UNKNOWN = "?"

ROWS = {
    "launch": "files, modules and text; arguments, environment, terminals; the keys of debugpy",
    "attach": "programs that listen or connect, again and again; functions for use inside programs",
    "startDebugging": "child processes, each in a session of its own: subprocess, multiprocessing, fork, exec, spawn",
    "restart, terminate, disconnect": "another run with the same breakpoints; a polite end; release or end",
    "setBreakpoints": "lines and columns, conditions, hit conditions, log messages, the mode `once`, pending ones",
    "breakpointLocations": "every place in a range of lines, with columns",
    "setFunctionBreakpoints": "functions and methods by their names, also of modules that are not imported yet",
    "setExceptionBreakpoints": "raised, uncaught, user-unhandled; by type, by expression, by path",
    "dataBreakpointInfo, setDataBreakpoints": "variables, attributes, items and bytes; read and write; conditions",
    "setInstructionBreakpoints, disassemble": "bytecode, with symbols and source lines",
    "next, stepIn, stepOut": "by statement, line and instruction; through generators and coroutines",
    "stepBack, reverseContinue": "moments of the past of a program that was started with `timeTravel`",
    "stepInTargets, gotoTargets, goto, restartFrame": "the chosen call; another line; the frame again",
    "continue, pause": "all threads or one",
    "threads, terminateThreads": "threads of any origin, and tasks of asyncio",
    "stackTrace": "stopped and running threads, page by page; who awaits whom",
    "scopes, variables": "page by page, lazily, within time limits",
    "setVariable, setExpression": "locals, cells, globals, attributes, items",
    "evaluate": "watch, repl, hover, clipboard and variables, within time limits",
    "completions": "names, attributes, keys and imports, of the running program",
    "source, loadedSources, modules, locations": "text without a file by reference; where values are defined",
    "readMemory, writeMemory": "buffers of every kind",
    "exceptionInfo": "the chain, the notes, the members of groups, the stack",
    "cancel, progress": "long requests can be ended, and report how far they are",
}
"""The rows of the table, by the requests they are about; tests carry these names, or one of the requests."""


def row_of(name: str) -> str:
    """Return the row that a test belongs to."""
    for row in ROWS:
        if name == row or name in row.split(", "):
            return row
    raise SystemExit(f"a test names the row {name!r}, expected one of:\n" + "\n".join(ROWS))


class Evidence:
    """What the reports of the last run say.

    Attributes:
        outcomes: of the tests of a row, by the row and the column they count for.
        seen: by the real client: names of "requests" that were answered, and of "events".

    """

    def __init__(self, reports: Path) -> None:
        self.outcomes: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        python, real_client = reports / "python.xml", reports / "real-client.xml"
        self._columns: set[str] = set()
        if python.exists():
            for case in testcases(python):
                told = {entry.get("name", ""): entry.get("value", "") for entry in case.iter("property")}
                if "row" in told and "python" in told:
                    self._columns.add(told["python"])
                    self.outcomes[row_of(told["row"]), told["python"]].add(outcome(case))
        for report in sorted(reports.glob("windows*.xml")):
            self._add_windows(report)
        if real_client.exists():
            self._columns.add("real client")
            for case in testcases(real_client):
                name, bracket, _ = case.get("name", "").removeprefix("[").partition("] ")
                if bracket:
                    self.outcomes[row_of(name), "real client"].add(outcome(case))
        self.seen: dict[str, set[str]] = {"requests": set(), "events": set()}
        heard = reports / "real-client.jsonl"
        self._listened = heard.exists()
        for line in heard.read_text().splitlines() if self._listened else ():
            for kind, names in json.loads(line).items():
                self.seen[kind].update(names)

    def _add_windows(self, report: Path) -> None:
        self._columns.add(WINDOWS)
        for case in testcases(report):
            for entry in case.iter("property"):
                if entry.get("name") == "row":
                    self.outcomes[row_of(entry.get("value", "")), WINDOWS].add(outcome(case))

    def of_row(self, row: str, column: str) -> str:
        """Say whether a row works, as far as one column knows."""
        outcomes = self.outcomes[row, column]
        if column not in self._columns or outcomes == {"skipped"}:
            return UNKNOWN
        works = "passed" in outcomes and "failed" not in outcomes
        return yes_or_no(works and (column != "real client" or all(map(self._was_answered, row.split(", ")))))

    def _was_answered(self, name: str) -> bool:
        return name in self.seen["requests"] or f"{name}Start" in self.seen["events"]

    def of_client(self, kind: str, name: str) -> str:
        """Say whether the real client has seen a response or an event."""
        return yes_or_no(name in self.seen[kind]) if self._listened else UNKNOWN


def announced() -> dict[str, Any]:
    """Start the adapter, and return the capabilities it announces."""
    arguments = {"adapterID": "python"}
    request = {"seq": 1, "type": "request", "command": "initialize", "arguments": arguments}
    with subprocess.Popen(
        [sys.executable, "-m", "dapkit.python"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as adapter:
        assert adapter.stdin is not None  # noqa: S101 - both are pipes
        assert adapter.stdout is not None  # noqa: S101
        adapter.stdin.write(encode_frame(json.dumps(request).encode()))
        decoder, messages = FrameDecoder(), list[dict[str, Any]]()
        while not any(message["type"] == "response" for message in messages):
            heard = adapter.stdout.read(65536)
            if not heard:
                raise SystemExit("the adapter ended without an answer to initialize")
            messages += [json.loads(payload) for payload in decoder.feed(heard)]
        adapter.stdin.close()
        adapter.stdout.read()
    [answer] = [message for message in messages if message["type"] == "response"]
    if not answer["success"]:
        raise SystemExit(f"the adapter refused initialize: {answer}")
    body: dict[str, Any] = answer["body"]
    return body


def is_handled(command: str) -> bool:
    """Say whether the adapter does something of its own at a request."""
    name = HANDLERS.get(command)
    if name is None or command in PythonAdapter.forwards:
        return True
    return inspect.getattr_static(PythonAdapter, name) is not inspect.getattr_static(Adapter, name)


def yes_or_no(fact: object) -> str:
    """Put a fact into words."""
    return "yes" if fact else "no"


def page(evidence: Evidence) -> Iterator[str]:
    """Return the lines of the page."""
    yield "# Requests of the Python adapter"
    yield ""
    yield "This page is made by `make requests-table` from the adapter and from the reports of `make test`."
    yield ""
    yield "Tests stand behind each row: dapkit's own, in programs run by each version of Python, and tests with"
    yield "`DebugClient`, Microsoft's test client for debug adapters. A yes means that tests of the row have passed and"
    yield "none has failed; and, with `DebugClient`, that each of its requests was answered with success. Windows is"
    yield "Python 3.13 for Windows under Wine, and tests of [features that it lacks](platforms.md) are left out there."
    yield ""
    columns = (*VERSIONS, WINDOWS, "real client")
    head = ("requests", "support", *(f"Python {version}" for version in VERSIONS), WINDOWS, "`DebugClient`")
    yield from table(
        head, ((row, about, *(evidence.of_row(row, column) for column in columns)) for row, about in ROWS.items())
    )
    yield ""
    yield "## Requests"
    yield ""
    yield "A request that is not handled is refused with an error that names it."
    yield ""
    commands = [spec.command for spec in COMMANDS.values() if spec.direction is Direction.CLIENT_TO_ADAPTER]
    yield from table(
        ("request", "handled", "answered to `DebugClient` with success"),
        (
            (f"`{command}`", yes_or_no(is_handled(command)), evidence.of_client("requests", command))
            for command in commands
        ),
    )
    yield ""
    yield "## Events"
    yield ""
    yield from table(
        ("event", "heard by `DebugClient`"), ((f"`{event}`", evidence.of_client("events", event)) for event in EVENTS)
    )
    yield ""
    yield "## Capabilities"
    yield ""
    yield "`supportsStepBack` is announced by an event, once a program was started with `timeTravel`."
    yield ""
    body = announced()
    later = msgspec.to_builtins(abilities(PythonLaunch(time_travel=True)))
    yield from table(
        ("capability", "announced"),
        ((f"`{name}`", yes_or_no(body.get(name) or later.get(name))) for name in Capabilities.__struct_encode_fields__),
    )


def completed(line: str, written: dict[str, list[str]]) -> str:
    """Fill the cells that are in no report as they are in the page: as no, if the page has no such line."""
    cells = line.removesuffix(" |").split(" | ")
    if UNKNOWN not in cells:
        return line
    known = written.get(cells[0], ["no"] * len(cells))
    return " | ".join(old if new == UNKNOWN else new for new, old in zip(cells, known, strict=True)) + " |"


def matches(expected: str, found: str) -> bool:
    """Compare two lines; a cell that is not known matches every one."""
    cells, others = expected.split(" | "), found.split(" | ")
    return len(cells) == len(others) and all(
        cell == other or UNKNOWN in (cell, cell.removesuffix(" |")) for cell, other in zip(cells, others, strict=True)
    )


def main() -> None:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(description="write docs/reference/requests.md")
    parser.add_argument("--check", action="store_true", help="only compare the page with what is so now")
    parser.add_argument(
        "--reports", type=Path, default=ROOT / "build/reports", help="what `make test` left; default: %(default)s"
    )
    options = parser.parse_args()
    wanted = list(page(Evidence(options.reports)))
    written = PAGE.read_text().splitlines() if PAGE.exists() else []
    if not options.check:
        by_name = {cells[0]: cells for cells in (line.removesuffix(" |").split(" | ") for line in written)}
        PAGE.write_text("\n".join(completed(line, by_name) for line in wanted) + "\n")
        return
    different = [line for line, other in zip(wanted, written, strict=False) if not matches(line, other)]
    if different or len(wanted) != len(written):
        place = PAGE.relative_to(ROOT)
        raise SystemExit("\n".join([f"{place} is out of date (make test; make requests-table), expected:", *different]))


if __name__ == "__main__":
    main()
