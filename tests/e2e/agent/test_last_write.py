"""Which line wrote a value last, found by another run, over the debuggers for native programs."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from action_fixtures import Caller

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(300)]

SOURCE = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct order { char note[8]; int limit; char password[8]; };

static void note(struct order *order, int number) {
    char text[16];
    snprintf(text, sizeof text, "order %4d", number);
    strcpy(order->note, text);
}

static void raise_limit(struct order *order, int by) {
    order->limit += by;
    strcpy(order->password, "hunt22");
}

int main(void) {
    struct order *order = calloc(1, sizeof *order);
    int untouched = 3;
    for (int round = 1; round < 4; round++) {
        raise_limit(order, round);
        puts("raised");
    }
    note(order, 7);
    if (order->limit != 6)
        abort();
    return untouched;
}
"""


OTHER_WAY = """\
#include <stdio.h>
#include <stdlib.h>

static int limit;

int main(void) {
    limit = 3;
    if (fopen("mark", "r") != NULL)
        abort();
    fclose(fopen("mark", "w"));
    limit = 4;
    limit = 3;
    abort();
}
"""


@pytest.fixture(
    params=[pytest.param("gdb", id="gdb"), pytest.param("lldb-dap", id="lldb-dap", marks=pytest.mark.each_adapter)]
)
def adapter(request: pytest.FixtureRequest, caller: Caller, require_tool: Callable[[str], Path]) -> str:
    name = str(request.param)
    require_tool({"gdb": "gdb", "lldb-dap": "lldb-dap-22"}[name])
    for program, source in (("app", SOURCE), ("other", OTHER_WAY)):
        caller.write(f"{program}.c", source)
        command = [str(require_tool("cc")), "-g", "-O0", "-fno-stack-protector", "-o", program, f"{program}.c"]
        subprocess.run(command, check=True, cwd=caller.project)
    return name


async def test_crash_is_followed_to_the_write_that_a_library_made(caller: Caller, adapter: str) -> None:
    await caller("launch", program="app", adapter=adapter, stop_on_entry=False, timeout=60)
    before = (await caller("sessions")).details["sessions"]
    found = await caller("why", expression="order->limit", timeout=120)
    assert "app.c:10 in note, as another run shows" in found.text
    assert found.details["line"] == 10
    assert found.details["old"] == "6"
    assert "doubt" not in found.details
    [session] = (await caller("sessions")).details["sessions"]
    assert (session["id"], session["status"], session["line"]) == (before[0]["id"], "stopped", 27)
    assert (await caller("evaluate", expression="order->limit")).details["evaluation"]["result"] == found.details["new"]


async def test_breakpoint_is_met_at_the_same_hit(caller: Caller, adapter: str) -> None:
    await caller("launch", program="app", adapter=adapter, breakpoints=["app.c:22"], timeout=60)
    await caller("continue")
    stopped = await caller("continue")
    assert stopped.details["snapshot"]["line"] == 22
    found = await caller("why", expression="order->limit", timeout=120)
    assert (found.details["line"], found.details["function"].partition("(")[0]) == (14, "raise_limit")
    assert (found.details["old"], found.details["new"]) == ("1", "3")


async def test_breakpoint_that_was_set_late_is_found_by_the_stack_and_the_value(caller: Caller, adapter: str) -> None:
    await caller("launch", program="app", adapter=adapter, breakpoints=["app.c:22"], timeout=60)
    await caller("continue")
    await caller("set_breakpoint", file="app.c", line=15)
    await caller("continue")
    found = await caller("why", expression="order->limit", timeout=120)
    assert (found.details["line"], found.details["old"], found.details["new"]) == (14, "1", "3")
    assert "doubt" not in found.details


async def test_secret_value_is_left_out(caller: Caller, adapter: str) -> None:
    await caller("launch", program="app", adapter=adapter, breakpoints=["app.c:22"], timeout=60)
    await caller("continue")
    found = await caller("why", expression="order->password", timeout=120)
    assert found.details["line"] == 15
    assert "hunt22" not in str(found.whole)
    assert "redacted" in found.text


async def test_answer_is_refused_where_the_place_cannot_be_found_again(caller: Caller, adapter: str) -> None:
    await caller("launch", program="app", adapter=adapter, breakpoints=["app.c:22"], timeout=60)
    await caller("step_over")
    refused = await caller("why", expression="order->limit", timeout=60)
    assert refused.error is not None
    assert "from a breakpoint, or from where the program breaks off" in refused.error[1]
    nowhere = await caller("why", expression="1 + 1", timeout=60)
    assert nowhere.error is not None
    assert len((await caller("sessions")).details["sessions"]) == 1


async def test_other_run_that_breaks_off_elsewhere_is_doubted(caller: Caller, adapter: str) -> None:
    await caller("launch", program="other", adapter=adapter, stop_on_entry=False, timeout=60)
    found = await caller("why", expression="limit", timeout=120)
    assert (found.details["line"], found.details["new"]) == (7, "3")
    assert "Doubt: the other run did not come to the same place" in found.text
