"""Code that no breakpoint concerns runs as without a debugger: the same instructions, specialized as there."""

import json
import subprocess

import pytest

from e2e.python.adapter_client import AdapterClient

pytestmark = pytest.mark.each_python

PROGRAM = """
    import dis, json, sys
    factor, watched = 3, 0
    def never():
        return 1
    def hot(count):
        total = 0
        for i in range(count):
            total += len(str(i)) * factor
        return total
    begun = True
    for _ in range(30):
        hot(100)
    monitoring = sys.monitoring
    print(json.dumps({
        # Without the pairs that 3.12 runs as one: it does not join them again where events were on once.
        "instructions": [one.opname.partition("__")[0] for one in dis.get_instructions(hot, adaptive=True)],
        "events": [monitoring.get_local_events(tool, hot.__code__) for tool in range(6) if monitoring.get_tool(tool)],
    }))
"""
NEVER, BEGUN = 4, 10


def instructions_without_a_debugger(driver: AdapterClient, python: str) -> list[str]:
    """Return what the hot function consists of after it has run alone."""
    file = driver.write(PROGRAM, "alone.py")
    done = subprocess.run([python, file], capture_output=True, text=True, check=True)
    alone = json.loads(done.stdout)
    assert alone["events"] == []
    return list(alone["instructions"])


async def assert_runs_as_without_a_debugger(driver: AdapterClient, python: str) -> None:
    """Let the program end, and compare."""
    await driver.session.wait_until_ended()
    debugged = json.loads(driver.output("stdout"))
    assert debugged["instructions"] == instructions_without_a_debugger(driver, python)
    assert set(debugged["events"]) == {0}


@pytest.mark.thorough
@pytest.mark.row("setBreakpoints")
@pytest.mark.parametrize("lines", [(), (NEVER,)], ids=["no breakpoint", "a breakpoint elsewhere"])
async def test_breakpoints_elsewhere_leave_code_as_it_is(
    driver: AdapterClient, python: str, lines: tuple[int, ...]
) -> None:
    await driver.start(PROGRAM, *lines, python=python)
    await assert_runs_as_without_a_debugger(driver, python)


@pytest.mark.row("setDataBreakpoints")
async def test_watching_a_global_leaves_code_that_does_not_use_it_as_it_is(driver: AdapterClient, python: str) -> None:
    await driver.start(PROGRAM, BEGUN, python=python)
    await driver.session.next_stop()
    await driver.session.clear_breakpoints()
    [frame] = await driver.frames()
    info = await driver.session.data_breakpoint_info("watched", frame_id=frame.id)
    assert info.data_id is not None
    placed = await driver.session.add_data_breakpoint(info.data_id, access_type="write")
    assert placed.verified
    await driver.session.continue_(1)
    await assert_runs_as_without_a_debugger(driver, python)
