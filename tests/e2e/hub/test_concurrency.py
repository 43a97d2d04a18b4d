"""Much at once: sessions, output, callers."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dapkit import limits
from dapkit.hub import CallRefused
from e2e.hub.debugger import Debugger
from e2e.hub.processes import most_memory
from e2e.hub.programs import LINE, RequireTool, c_program, python_program

LINE_OF_OUTPUT = "0123456789" * 10 + "\n"

FLOOD_IN_PYTHON = """\
import os, sys

written = 0
while written < {lines} or not os.path.exists({enough!r}):
    sys.stdout.write("0123456789" * 10 + "\\n")
    written += 1
print("the end")
"""

FLOOD_IN_C = """\
#include <stdio.h>
#include <unistd.h>

int main(void) {{
    for (int i = 0; i < {lines} || access("{enough}", F_OK); i++)
        puts("0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789");
    puts("the end");
}}
"""


@pytest.mark.thorough
@pytest.mark.timeout(240)
def test_ten_sessions_at_once_answer_and_end(debugger: Debugger, project: Path) -> None:
    debuggee = python_program(project)
    names = [f"session-{number}" for number in range(10)]

    def launch(name: str) -> object:
        debugger.launch(debuggee, LINE, session=name)
        return debugger.call("wait", session=name, timeout=40)["line"]

    with ThreadPoolExecutor(10) as callers:
        assert list(callers.map(launch, names)) == [LINE] * 10
        live = debugger.call("status")["sessions"]
        assert isinstance(live, list)
        assert sorted(live) == sorted(names)
        values = callers.map(lambda name: debugger.call("evaluate", session=name, expression="count")["result"], names)
        assert list(values) == ["0"] * 10
    with pytest.raises(CallRefused, match="AmbiguousSession"):
        debugger.call("evaluate", expression="count")
    assert debugger.hub_client.stop()
    assert debugger.started() == {}


@pytest.mark.thorough
@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("adapter", "size"),
    # lldb-dap sends an event for each line and debugpy one for each write, which takes them minutes.
    [
        ("ours", 100_000_000),
        pytest.param("debugpy", 10_000_000, marks=pytest.mark.each_adapter),
        pytest.param("lldb-dap", 10_000_000, marks=pytest.mark.each_adapter),
    ],
)
def test_flood_of_output_neither_fills_the_hub_nor_deafens_it(
    debugger: Debugger, project: Path, adapter: str, size: int, require_tool: RequireTool
) -> None:
    lines = size // len(LINE_OF_OUTPUT)
    enough = project / "enough"
    flood = {"lines": lines, "enough": str(enough)}
    if adapter == "lldb-dap":
        debuggee = c_program(project, require_tool, FLOOD_IN_C.format(**flood))
    else:
        debuggee = python_program(project, FLOOD_IN_PYTHON.format(**flood), adapter)
    debugger.launch(debuggee)
    for _ in range(5):  # while the output comes
        assert debugger.call("wait", session="debug-1", timeout=0.2)["status"] == "running"
    enough.touch()
    debugger.wait_for_end("debug-1", seconds=200)
    output = debugger.call("output", session="debug-1")
    assert isinstance(text := output["text"], str)
    assert text.replace("\r", "").endswith(f"{LINE_OF_OUTPUT}the end\n")
    assert limits.OUTPUT_KEPT_CHARACTERS / 2 < len(text) <= limits.OUTPUT_KEPT_CHARACTERS
    assert output["complete"] is False
    assert most_memory(debugger.hub) < 200_000_000


@pytest.mark.thorough
def test_two_who_continue_at_once_get_the_same_stop(debugger: Debugger, project: Path) -> None:
    debugger.stop_at_the_line(python_program(project))
    with ThreadPoolExecutor(2) as callers:
        for _ in range(5):
            answers = list(callers.map(lambda _: debugger.call("continue", timeout=20), range(2)))
            assert [answer["status"] for answer in answers] == ["stopped", "stopped"]
    number = debugger.call("look")["number"]
    assert isinstance(number, int)
    # Each call let the program go once at the most, and what it was told was a stop.
    count = debugger.call("evaluate", expression="count")["result"]
    assert count == str(number - 1)


@pytest.mark.thorough
def test_one_asks_while_another_lets_the_program_go(debugger: Debugger, project: Path) -> None:
    debugger.stop_at_the_line(python_program(project))

    def ask() -> str:
        try:
            return str(debugger.call("evaluate", expression="count")["result"])
        except CallRefused as refusal:  # it runs, or did so before the answer came
            return str(refusal).partition(":")[0]

    with ThreadPoolExecutor(2) as callers:
        asked = callers.map(lambda _: [ask() for _ in range(15)], range(2))
        for _ in range(10):
            debugger.call("continue", timeout=20)
    for answers in asked:  # each caller's own; those of two may come in another order than they were asked for
        counts = [int(answer) for answer in answers if answer.isdigit()]
        assert counts == sorted(counts)
        assert set(answers) - set(map(str, counts)) <= {"NotStopped", "StaleReference", "RequestFailed"}
