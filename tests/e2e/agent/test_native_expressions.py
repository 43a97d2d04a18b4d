"""Expressions and commands of the debugger on a C program, by GDB and lldb-dap."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from action_fixtures import Caller

SOURCE = """\
#include <string.h>
static struct account { int balance; struct { int first, last; } years; int history[3]; } ann = {50, {1, 9}, {7, 8}};
static int twice(int number) { return number * 2; }
static int length(const char *text) { return (int)strlen(text); }

int main(void) {
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += twice(i);
    }
    return sum + length("abc") - 9;
}
"""


@pytest.fixture(params=["gdb", "gdb of Debian sid", "lldb-dap", "lldb-dap of Debian sid"])
def adapter(request: pytest.FixtureRequest, caller: Caller, require_tool: Callable[[str], Path]) -> str:
    """Compile the program for one of the adapters."""
    if request.param == "gdb":
        gdb: list[str] = request.getfixturevalue("gdb")
        found = Path(shutil.which(gdb[0]) or gdb[0]).parent
        caller.env = {**caller.env, "PATH": f"{found}{os.pathsep}{caller.env['PATH']}"}
    elif str(request.param).endswith("of Debian sid"):
        request.getfixturevalue("with_adapters_of_sid")
    else:
        require_tool("lldb-dap-22")
    source = caller.write("calls.c", SOURCE)
    subprocess.run([require_tool("cc"), "-g", "-O0", "-o", caller.project / "calls", source], check=True)
    return str(request.param).partition(" ")[0]


@pytest.fixture
async def stopped(caller: Caller, adapter: str) -> Caller:
    """Stop the program in its loop."""
    launched = await caller("launch", program="calls", adapter=adapter, breakpoints=["calls.c:9"], timeout=60)
    assert launched.details["snapshot"]["line"] == 9
    return caller


@pytest.mark.thorough
async def test_an_expression_is_never_a_command_of_the_debugger(stopped: Caller) -> None:
    for command in ("d", "k", "r", "c", "n", "s", "q", "bt"):
        code, message = (await stopped("evaluate", expression=command)).error
        assert code == "adapter_failed"
        assert command in message
    listed = await stopped("breakpoints")
    assert "calls.c line 9: verified" in listed.text
    [session] = (await stopped("sessions")).details["sessions"]
    assert (session["status"], session["line"]) == ("stopped", 9)
    again = await stopped("continue")
    assert again.details["stop"]["reason"] == "breakpoint"
    assert (await stopped("evaluate", expression="i")).text.startswith("Result: 1")


@pytest.mark.each_adapter
@pytest.mark.usefixtures("with_adapters_of_sid")
async def test_an_expression_is_completed_and_not_a_command(
    caller: Caller, require_tool: Callable[[str], Path]
) -> None:
    source = caller.write("calls.c", SOURCE)
    await anyio.run_process([require_tool("cc"), "-g", "-O0", "-o", caller.project / "calls", source])
    await caller("launch", program="calls", adapter="gdb", breakpoints=["calls.c:9"], timeout=60)
    assert "- sum\n" in f"{(await caller('completions', expression='su')).text}\n"
    assert "info" not in (await caller("completions", expression="inf")).text.split()


@pytest.mark.thorough
async def test_a_marked_command_goes_to_the_debugger(stopped: Caller) -> None:
    for marked in ({"expression": "`bt"}, {"expression": "bt", "context": "repl"}):
        assert "main" in (await stopped("evaluate", **marked)).text
    assert (await stopped("evaluate", expression="sum + 1")).text.startswith("Result: 1")
    failed = await stopped("evaluate", expression="nowhere_defined")
    assert failed.error[0] == "adapter_failed"
    assert "nowhere_defined" in failed.text
    assert len(failed.text.splitlines()) == 1  # not the lines of the compiler, nor a hint at commands
    assert (
        "A command of the debugger begins with a backtick"
        in (await stopped("evaluate", expression="frame variable")).text
    )


@pytest.mark.thorough
async def test_a_call_leaves_the_program_and_all_references_as_they_are(stopped: Caller) -> None:
    scopes = (await stopped("scopes")).details["scopes"]
    reference = scopes[0]["variablesReference"]
    for call, value in (("twice(21)", "42"), ('length("four")', "4"), ('twice(length("abc"))', "6")):
        assert (await stopped("evaluate", expression=call)).details["evaluation"]["result"] == value
        assert "- sum = 0" in (await stopped("variables", variable_ref=reference)).text
    [session] = (await stopped("sessions")).details["sessions"]
    assert (session["status"], session["line"], session["stopReason"]) == ("stopped", 9, "breakpoint")
    assert (await stopped("step_over")).details["stop"]["number"] == 2


@pytest.mark.thorough
async def test_an_evaluation_shows_the_contents_of_structs_and_arrays(stopped: Caller) -> None:
    whole = (await stopped("evaluate", expression="ann")).details["evaluation"]["contents"]
    assert whole == "{balance = 50, years = {first = 1, last = 9}, history = {7, 8, 0}}"
    items = await stopped("evaluate", expression="ann.history")
    assert items.details["evaluation"]["contents"] == "{7, 8, 0}"
    assert "Result: {7, 8, 0} (int" in items.text  # and the size of the array
    assert "contents" not in (await stopped("evaluate", expression="ann.balance")).details["evaluation"]


@pytest.mark.each_adapter
@pytest.mark.usefixtures("gdb")
@pytest.mark.parametrize("adapter", ["cdt-gdb-adapter", "codelldb"])
async def test_an_evaluation_shows_what_the_adapters_text_leaves_out(
    caller: Caller, adapter: str, require_tool: Callable[[str], Path]
) -> None:
    require_tool("cdtDebugAdapter" if adapter == "cdt-gdb-adapter" else "codelldb")
    source = caller.write("calls.c", SOURCE)
    await anyio.run_process([require_tool("cc"), "-g", "-O0", "-o", caller.project / "calls", source])
    await caller("launch", program="calls", adapter=adapter, breakpoints=["calls.c:9"], timeout=60)
    evaluated = await caller("evaluate", expression="ann")
    assert evaluated.text.startswith("Result: {balance = 50, years = {first = 1, last = 9}, history = {7, 8, 0}} (")


@pytest.mark.thorough
async def test_a_command_of_the_debugger_runs_in_the_frame_that_was_asked_for(stopped: Caller, adapter: str) -> None:
    await stopped("set_breakpoint", function="twice")
    assert (await stopped("continue")).details["snapshot"]["frameName"] == "twice"
    command = "`frame variable" if adapter == "lldb-dap" else "`info locals"
    in_caller = await stopped("evaluate", expression=command, frame=1)
    assert "sum = 1" in in_caller.text or "sum = 0" in in_caller.text
    assert "sum" not in (await stopped("evaluate", expression=command)).text  # the selection lasts no longer


@pytest.mark.thorough
async def test_a_value_that_the_compiler_has_not_kept_is_named_as_such(
    caller: Caller, adapter: str, require_tool: Callable[[str], Path]
) -> None:
    caller.write("kept.c", OPTIMIZED)
    build = [str(require_tool("cc")), "-g", "-O2", "-o", str(caller.project / "kept"), str(caller.project / "kept.c")]
    await anyio.run_process(build)
    await caller("launch", program="kept", adapter=adapter, breakpoints=["inner"], timeout=60)
    answer = await caller("evaluate", expression="result", expressions=["count"], frame=1)
    assert "DW_OP" not in answer.text
    assert "result = (result is optimized out in this frame)" in answer.text or "<optimized out>" in answer.text


OPTIMIZED = """\
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) int inner(int *data, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += data[i];
    return sum;
}
__attribute__((noinline)) int outer(int count) {
    int *data = malloc(count * sizeof(int));
    int spare = count * 7;
    for (int i = 0; i < count; i++)
        data[i] = i;
    int result = inner(data, count);
    free(data);
    printf("%d %d\\n", spare, result);
    return result;
}
int main(int argc, char **argv) { return outer(argc + 4); }
"""
