"""Core files: what a program was doing when it crashed, by LLDB and delve."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from action_fixtures import Caller

CRASH = """\
struct point { int x; int *y; };

static int deref(struct point *where) {
    return where->x + *where->y;
}

int main(void) {
    struct point here = { 3, 0 };
    return deref(&here);
}
"""
GO = """\
package main

import "fmt"

func fail(count int) int {
    text := fmt.Sprint("count is ", count)
    panic(text)
}

func main() { fail(7) }
"""


def leave_core(gdb: list[str], program: Path, *commands: str) -> None:
    """Run a program until it crashes, and write its core file: the kernel of the machine may write none."""
    given = [word for command in (*commands, "run", "generate-core-file the.core") for word in ("-ex", command)]
    command = [gdb[0], "-nx", "-batch", *given, str(program)]
    subprocess.run(command, cwd=program.parent, stdin=subprocess.DEVNULL, capture_output=True, check=True)


@pytest.fixture
def crashed(caller: Caller, gdb: list[str], require_tool: Callable[[str], Path]) -> Path:
    """Return the program that has crashed; its core file is beside it."""
    require_tool("lldb-dap-22")
    source, program = caller.write("crash.c", CRASH), caller.project / "crash"
    subprocess.run([require_tool("cc"), "-g", "-O0", "-o", program, source], check=True)
    leave_core(gdb, program)
    return program


@pytest.mark.usefixtures("crashed")
async def test_core_file_shows_the_signal_the_stack_and_the_values_and_is_only_read(caller: Caller) -> None:
    opened = await caller("core", program="crash", core=str(caller.project / "the.core"))
    assert opened.details["adapter"] == "lldb-dap"
    stop = opened.details["stop"]
    assert (stop["reason"], stop["description"].partition(":")[0]) == ("exception", "SIGSEGV")
    assert [frame["name"] for frame in stop["frames"]][:2] == ["deref", "main"]
    assert opened.details["snapshot"]["line"] == 4
    assert (await caller("evaluate", expression="where->x")).text.startswith("Result: 3")
    assert (await caller("evaluate", expression="here.x", frame=1)).text.startswith("Result: 3")
    for action in ("continue", "step_over", "step_in", "step_out", "pause", "restart", "detach"):
        code, message = (await caller(action)).error
        assert (code, message) == (
            "unsupported",
            "This is a core file: its stacks and values can be read, and nothing of it runs any more.",
        )
    ended = await caller("terminate")
    assert (ended.details["released"], ended.details["snapshot"]["status"]) == (False, "terminated")


@pytest.mark.each_adapter
@pytest.mark.usefixtures("crashed", "with_adapters_of_sid")
async def test_core_file_is_opened_by_a_gdb_that_can(caller: Caller) -> None:
    opened = await caller("core", program="crash", core=str(caller.project / "the.core"), adapter="gdb")
    assert opened.details["snapshot"]["line"] == 4
    assert [frame["name"] for frame in opened.details["stop"]["frames"]][:2] == ["deref", "main"]
    assert (await caller("evaluate", expression="where->x")).text.startswith("Result: 3")
    assert (await caller("continue")).error[0] == "unsupported"


@pytest.mark.each_adapter
@pytest.mark.usefixtures("crashed")
async def test_gdb_that_opens_no_core_files_is_refused_with_the_version_that_does(
    caller: Caller, gdb: list[str]
) -> None:
    folder = Path(shutil.which(gdb[0]) or gdb[0]).parent
    caller.env = {**caller.env, "PATH": f"{folder}{os.pathsep}{caller.env['PATH']}"}
    _, message = (await caller("core", program="crash", core=str(caller.project / "the.core"), adapter="gdb")).error
    assert message.endswith(" cannot open core files, 18.1 and later can")


@pytest.mark.thorough
@pytest.mark.usefixtures("crashed")
async def test_core_file_is_never_taken_for_a_program_to_run(caller: Caller) -> None:
    core = str(caller.project / "the.core")
    refused = await caller("launch", program="the.core")
    assert "dapkit core PROGRAM the.core opens it" in refused.error[1]
    for adapter, key in (("lldb-dap", "coreFile"), ("lldb-dap", "coreDumpPath")):
        code, message = (await caller("launch", program="crash", adapter=adapter, options={key: core})).error
        assert (code, message) == (
            "invalid_arguments",
            f"{key}: {adapter} would run the program; dapkit core PROGRAM CORE opens a core file",
        )
    assert (
        (await caller("core", program="crash", core=str(caller.project / "crash.c")))
        .error[1]
        .endswith("crash.c is not a core file")
    )
    assert (
        (await caller("core", program="crash", core=str(caller.project / "none")))
        .error[1]
        .startswith("there is no core file")
    )
    configuration = {"type": "cppdbg", "request": "launch", "program": "${workspaceFolder}/crash"}
    given = {"name": "crashed", **configuration, "coreDumpPath": core}
    caller.write(".vscode/launch.json", json.dumps({"configurations": [given]}))
    opened = await caller("launch", configuration="crashed")
    assert opened.details["adapter"] == "lldb-dap"
    assert opened.details["stop"]["frames"][0]["name"] == "deref"
    assert (await caller("continue")).error[0] == "unsupported"


@pytest.fixture
def crashed_go(caller: Caller, gdb: list[str], require_tool: Callable[[str], Path]) -> None:
    """Leave a program of Go that has crashed, and its core file."""
    require_tool("dlv")
    source, program = caller.write("main.go", GO), caller.project / "fail"
    build = [str(require_tool("go")), "build", "-gcflags=all=-N -l", "-o", str(program), str(source)]
    subprocess.run([str(word) for word in build], check=True, cwd=caller.project)
    leave_core(gdb, program, "set environment GOTRACEBACK=crash", "handle SIGURG nostop noprint")


@pytest.mark.each_adapter
@pytest.mark.usefixtures("crashed_go")
async def test_core_file_of_go_is_opened_by_delve(caller: Caller) -> None:
    opened = await caller("core", program="fail", core=str(caller.project / "the.core"))
    assert opened.details["adapter"] == "dlv"
    assert opened.details["snapshot"]["frameName"] == "main.fail"
    assert opened.details["snapshot"]["line"] == 7
    assert "dlv help" not in opened.text
    frames = [row["name"] for row in (await caller("stack_trace")).details["stackFrames"]]
    value = await caller("evaluate", expression="count", frame=frames.index("main.fail"))
    assert value.text.startswith("Result: 7")
    assert (await caller("continue")).error[0] == "unsupported"
