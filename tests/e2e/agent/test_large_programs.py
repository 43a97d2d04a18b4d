"""Programs with a great deal of everything: answers stay short, come soon, and lead to the rest."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import anyio
import pytest

from action_fixtures import Caller

SECONDS = 30
"""How long all answers of a test may take on a machine that does much else; two or three where it does not."""

pytestmark = pytest.mark.timeout(120)

PYTHON = """\
import sys
sys.setrecursionlimit(200_000)

def down(n):
    if n == 0:
        return len(text)
    return down(n - 1)

text = "x" * 10_000_000
items = list(range(1_000_000))
print(len(items))
print(down({deep}))
"""

C = """\
static char text[10000001];
static int many[1000000];

int down(int n) {
    if (n == 0)
        return text[5];
    return down(n - 1) + 1;
}

int main(void) {
    for (int i = 0; i < 1000000; i++)
        many[i] = i;
    for (int i = 0; i < 10000000; i++)
        text[i] = 'x';
    int (*items)[1000000] = &many;
    return down(100000) == (*items)[7];
}
"""

GO = """\
package main

import "strings"

var text = strings.Repeat("x", 10000000)

func down(n int) int {
	if n == 0 {
		return len(text)
	}
	return down(n-1) + 1
}

func main() {
	items := make([]int, 1000000)
	for i := range items {
		items[i] = i
	}
	println(down(100000), items[7])
}
"""


class Big(NamedTuple):
    """A program that is about to recurse.

    Attributes:
        launch: how it is started.
        top: where it has its values, before it recurses.
        bottom: where it is deepest.
        frames: how many there are of its function then.
        total: whether the adapter knows how many there are.
        items: how many of its million items can be seen: debugpy leaves out most.

    """

    launch: dict[str, object]
    top: str
    bottom: str
    frames: int
    total: bool = False
    items: int = 1_000_000


OTHERS = [pytest.param(name, marks=pytest.mark.each_adapter) for name in ("debugpy", "lldb-dap", "gdb", "dlv")]


@pytest.fixture(params=["dapkit", *OTHERS])
def big(request: pytest.FixtureRequest, caller: Caller, require_tool: Callable[[str], Path]) -> Big:
    """Write the program for an adapter, and compile it."""
    adapter = request.param
    match adapter:
        case "dapkit":
            caller.write("big.py", PYTHON.format(deep=100_000))
            return Big({"program": "big.py", "adapter": adapter}, "big.py:11", "big.py:6", 100_001, total=True)
        case "debugpy":  # which takes as long for each frame as others for a thousand
            caller.write("big.py", PYTHON.format(deep=1_100))
            return Big({"program": "big.py", "adapter": adapter}, "big.py:11", "big.py:6", 1_101, total=True, items=300)
        case "dlv":
            require_tool("go")
            require_tool("dlv")
            caller.write("go.mod", "module example.com/big\n\ngo 1.19\n")
            caller.write("main.go", GO)
            return Big({"program": "."}, "main.go:19", "main.go:9", 100_001)
    if adapter == "gdb":
        gdb: list[str] = request.getfixturevalue("gdb")
        found = Path(shutil.which(gdb[0]) or gdb[0]).parent
        caller.env = {**caller.env, "PATH": f"{found}{os.pathsep}{caller.env['PATH']}"}
    else:
        require_tool("lldb-dap-22")
    source = caller.write("big.c", C)
    subprocess.run([require_tool("cc"), "-g", "-O0", "-o", caller.project / "big", source], check=True)
    return Big({"program": "big", "adapter": adapter}, "big.c:16", "big.c:6", 100_001)


async def started(caller: Caller, big: Big, place: str) -> None:
    launched = await caller("launch", **big.launch, breakpoints=[place], timeout=50)
    assert launched.details["snapshot"]["status"] == "stopped", launched.text
    assert len(launched.text.encode()) < 2500


async def test_big_values_are_cut_and_come_in_pages(caller: Caller, big: Big) -> None:
    await started(caller, big, big.top)
    with anyio.fail_after(SECONDS):
        text = (await caller("evaluate", expression="text")).text
        assert len(text.encode()) < 8192
        assert re.sub(r"\(cut, (1000000[01] items|at least \d+ characters)\)", "", text).find("(cut, ") == -1
        assert "(cut, 10000000 items)" in text or big.launch.get("adapter") != "dapkit"
        value = await caller("evaluate", expression="*items" if "big.c" in big.top else "items")
        reference = value.details["evaluation"]["variablesReference"]
        page = await caller("variables", variable_ref=reference)
        assert len(page.text.encode()) < 8192
        assert "start=" in page.text
        if big.items < 1_000_000:
            return
        last = await caller("variables", variable_ref=reference, start=999_998)
        shown = [variable["value"] for variable in last.details["variables"]]
        assert shown[:2] == ["999998", "999999"]
        assert (await caller("variables", variable_ref=reference, start=2_000_000)).text == "Variables:\n(none)"
        found = await caller("variables", variable_ref=reference, match="77")
        assert found.details["variables"][0]["value"] == "77"
        assert "(only the first 10000 members were searched)" in found.text


@pytest.mark.thorough
async def test_a_deep_stack_is_told_in_part_and_in_pages(caller: Caller, big: Big) -> None:
    await started(caller, big, big.bottom)
    with anyio.fail_after(SECONDS):
        stack = await caller("stack_trace")
        assert len(stack.details["stackFrames"]) == 20
        assert stack.details["more"]
        assert ("totalFrames" in stack.details) == big.total
        assert len(stack.text.encode()) < 4096
        much = await caller("stack_trace", levels=1_000_000)
        assert len(much.details["stackFrames"]) == 1000
        assert len(much.text.encode()) < 8400
        of_threads = await caller("threads", levels=1_000_000)
        assert sum(len(stack["frames"]) for stack in of_threads.details["stacks"]) <= 1000
        assert any(stack["more"] for stack in of_threads.details["stacks"])
        following = await caller("stack_trace", start=much.details["nextStart"], levels=1)
        assert following.details["stackFrames"][0]["index"] == 1000
        if big.total:
            end = await caller("stack_trace", start=big.frames)
            assert "<module>" in end.text
