"""What a new user does in a folder with nothing but a buggy program, from the shell and as an agent over MCP."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from e2e.mcp.answer_data import DETAILS

C = """\
#include <stdio.h>

static int counter;

static int total(int *prices, int count) {
    int sum = 0;
    for (int i = 0; i <= count; i++) {
        sum += prices[i];
        counter++;
    }
    return sum;
}

int main(void) {
    int prices[] = {10, 20, 30, -1000};
    printf("sum %d\\n", total(prices, 3));
    return 0;
}
"""

GO = """\
package main

import "fmt"

func mean(prices []int) int {
	total := 0
	for _, price := range prices {
		total += price
	}
	return total / len(prices)
}

func main() {
	fmt.Println(mean([]int{3, 5}))
	fmt.Println(mean(nil))
}
"""

CART = """\
class Cart:
    def __init__(self):
        self.lines = []

    def mean(self):
        total = 0
        for price in self.lines:
            total += price
        return total / len(self.lines)
"""

type Face = Callable[..., Awaitable[dict[str, Any]]]


pytestmark = pytest.mark.usefixtures("runtime")


@pytest.fixture(params=["shell", "mcp"])
async def debug(request: pytest.FixtureRequest, project: Path) -> AsyncIterator[Face]:
    """Return a function that has an action done and returns its details."""
    command = [sys.executable, "-m", "dapkit.cli"]
    if request.param == "shell":

        async def by_command(action: str, **arguments: object) -> dict[str, Any]:
            words = [action.replace("_", "-"), "--json"]
            for name, value in arguments.items():
                for item in value if isinstance(value, list) else [value]:
                    words += [f"--{name.replace('_', '-')}", str(item)]
            done = await anyio.run_process([*command, *words], cwd=project, check=False)
            return details(json.loads(done.stdout))

        yield by_command
        return
    server = StdioServerParameters(command=command[0], args=[*command[1:], "mcp"], cwd=project, env=dict(os.environ))
    async with Client(server) as client:

        async def by_tool(action: str, **arguments: object) -> dict[str, Any]:
            called = await client.call_tool("debug", {"action": action, **arguments}, meta=DETAILS)
            answer = called.structured_content
            assert answer is not None
            return details(answer)

        yield by_tool


def details(answer: dict[str, Any]) -> dict[str, Any]:
    assert answer["success"], answer["text"]
    found: dict[str, Any] = answer["details"]
    return found


def locals_of(stopped: dict[str, Any]) -> dict[str, str]:
    return {variable["name"]: variable["value"] for variable in stopped["stop"]["locals"]}


@pytest.fixture
def bug(project: Path, require_tool: Callable[[str], Path]) -> str:
    """Compile the C program into the project."""
    require_tool("lldb-dap-22")
    (project / "bug.c").write_text(C)
    subprocess.run([require_tool("cc"), "-g", "-O0", "-o", project / "bug", project / "bug.c"], check=True)
    return "bug"


@pytest.mark.each_adapter
async def test_c_program_with_data_breakpoints_and_memory(debug: Face, bug: str) -> None:
    stopped = await debug("launch", program=bug, adapter="lldb-dap", breakpoints=["bug.c:8"])
    assert (stopped["snapshot"]["line"], locals_of(stopped)["sum"]) == (8, "0")
    info = (await debug("data_breakpoint_info", name="counter"))["dataBreakpointInfo"]
    assert (await debug("set_data_breakpoint", data_id=info["dataId"], access_type="write"))["dataBreakpoints"]
    await debug("breakpoints", do="disable", numbers=[1])
    stopped = await debug("continue")
    assert stopped["snapshot"]["frameName"] == "total"
    assert (await debug("evaluate", expression="counter"))["evaluation"]["result"] == "1"
    await debug("remove_data_breakpoint", data_id=info["dataId"])
    address = (await debug("evaluate", expression="&sum"))["evaluation"]["result"].split()[-1]
    assert (await debug("read_memory", memory_reference=address, count=4))["memoryData"] == "CgAAAA=="
    assert (await debug("write_memory", memory_reference=address, data="KgAAAA=="))["bytesWritten"] == 4
    await debug("set_breakpoint", file="bug.c", text="return sum")
    stopped = await debug("continue")
    assert locals_of(stopped)["sum"] == str(42 + 20 + 30 - 1000)  # one too many
    assert (await debug("step_out"))["snapshot"]["frameName"] == "main"
    ended = await debug("continue")
    assert (ended["state"], ended["snapshot"]["exitCode"]) == ("terminated", 0)
    assert "sum -908" in (await debug("output"))["output"]


@pytest.mark.each_adapter
async def test_go_module_with_a_panic(debug: Face, project: Path, require_tool: Callable[[str], Path]) -> None:
    require_tool("dlv")
    require_tool("go")
    (project / "go.mod").write_text("module example.com/mean\n\ngo 1.19\n")
    (project / "main.go").write_text(GO)
    stopped = await debug("launch", program=".", breakpoints=["main.go:8"], timeout=60)
    assert (stopped["adapter"], locals_of(stopped)["price"]) == ("dlv", "3")
    assert (await debug("step_over"))["snapshot"]["line"] == 7
    assert (await debug("evaluate", expression="total + 1"))["evaluation"]["result"] == "4"
    await debug("breakpoints", do="clear")
    crashed = await debug("continue")
    assert crashed["stop"]["reason"] == "exception"
    assert "divide by zero" in crashed["stop"]["exception"]["description"]
    ended = await debug("terminate")
    assert ended["snapshot"]["status"] == "terminated"


async def test_python_package_with_a_crash(debug: Face, project: Path) -> None:
    (project / "shop").mkdir()
    (project / "shop" / "__init__.py").touch()
    (project / "shop" / "cart.py").write_text(CART)
    (project / "shop" / "__main__.py").write_text("from shop.cart import Cart\n\nprint(Cart().mean())\n")
    crashed = await debug("launch", module="shop", exceptions=["uncaught"])
    assert crashed["stop"]["exception"]["message"] == "division by zero"
    assert (crashed["snapshot"]["line"], locals_of(crashed)["total"]) == (9, "0")
    await debug("set_breakpoint", file="shop/cart.py", text="total = 0")
    again = await debug("restart")
    assert again["snapshot"]["line"] == 6
    assert (await debug("step_over"))["snapshot"]["line"] == 7
    info = (await debug("data_breakpoint_info", name="total"))["dataBreakpointInfo"]
    await debug("set_data_breakpoint", data_id=info["dataId"])
    await debug("set_expression", expression="self.lines", value="[4, 6]")
    changed = await debug("continue")
    assert changed["snapshot"]["stopReason"] == "data breakpoint"
    assert (await debug("evaluate", expression="total"))["evaluation"]["result"] == "4"
    await debug("breakpoints", do="clear")
    ended = await debug("continue")
    assert (ended["state"], ended["output"]) == ("terminated", "5.0\n")
