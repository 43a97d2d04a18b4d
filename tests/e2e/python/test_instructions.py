"""Positions, functions, instructions and jumps, through the whole adapter."""

from collections.abc import Mapping

import pytest

from dapkit.endpoint import RequestFailed
from dapkit.protocol import (
    BreakpointEvent,
    FunctionBreakpoint,
    InstructionBreakpoint,
    Source,
    SourceBreakpoint,
)
from e2e.python.adapter_client import AdapterClient

pytestmark = pytest.mark.each_python

PROGRAM = """
    def add(a, b):
        c = a + b
        return c

    x = add(1, 2); y = add(x, 3)
    print(x, add(add(y, 1), 2))
    print("end")
"""


@pytest.fixture
def launch(python: str) -> Mapping[str, object]:
    """Return launch arguments for each Python version."""
    return {"python": python}


async def test_capabilities_tell_all_of_it(driver: AdapterClient) -> None:
    await driver.start(PROGRAM, 7)
    await driver.session.next_stop()
    told = driver.session.capabilities
    assert told.supports_breakpoint_locations_request
    assert told.supports_function_breakpoints
    assert told.supports_instruction_breakpoints
    assert told.supports_disassemble_request
    assert told.supports_stepping_granularity
    assert told.supports_step_in_targets_request
    assert told.supports_goto_targets_request
    assert told.supports_restart_frame
    assert [mode.mode for mode in told.breakpoint_modes or ()] == ["once"]


@pytest.mark.row("breakpointLocations")
@pytest.mark.row("setBreakpoints")
async def test_places_that_are_offered_can_be_set(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    await driver.start(PROGRAM, 5, **launch)
    await driver.session.next_stop()
    source = Source(path=str(driver.file))
    offered = (await driver.session.breakpoint_locations(source, 5, end_line=6)).breakpoints
    assert [(one.line, one.column) for one in offered] == [(5, 1), (5, 16), (6, 1), (6, 10), (6, 14)]
    wishes = [SourceBreakpoint(line=one.line, column=one.column, mode="once") for one in offered[1:]]
    placed = (await driver.session.set_breakpoints(source, breakpoints=wishes)).breakpoints
    assert [(one.verified, one.line, one.column) for one in placed] == [
        (True, one.line, one.column) for one in offered[1:]
    ]
    for _ in wishes:
        assert (await driver.resume()).event.reason == "breakpoint"  # type: ignore[union-attr]  # or the assertion fails
    assert driver.output("stdout") == ""


@pytest.mark.row("setFunctionBreakpoints")
async def test_function_is_stopped_in_whenever_it_is_loaded(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await driver.start(PROGRAM, 5, **launch)
    await driver.session.next_stop()
    wish = FunctionBreakpoint(name="add", condition="b == 3")
    [placed] = (await driver.session.set_function_breakpoints([wish])).breakpoints
    assert placed.verified
    stopped = await driver.resume()
    assert (stopped.event.reason, stopped.event.hit_breakpoint_ids) == ("function breakpoint", [placed.id])  # type: ignore[union-attr]  # the same
    assert await driver.where() == ("add", 2)


@pytest.mark.row("setInstructionBreakpoints, disassemble")
async def test_instruction_that_is_shown_can_be_stopped_at(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    await driver.start(PROGRAM, 2, **launch)
    await driver.session.next_stop()
    [top, *_] = await driver.frames()
    assert top.instruction_pointer_reference is not None
    rows = (await driver.session.disassemble(top.instruction_pointer_reference, 6)).instructions
    [adding] = [row for row in rows if row.instruction.startswith("BINARY_OP")]
    wish = InstructionBreakpoint(instruction_reference=adding.address)
    [placed] = (await driver.session.set_instruction_breakpoints([wish])).breakpoints
    assert placed.verified
    stopped = await driver.resume()
    assert stopped.event.reason == "instruction breakpoint"  # type: ignore[union-attr]  # the same
    [top, *_] = await driver.frames()
    assert top.instruction_pointer_reference == adding.address


@pytest.mark.row("next, stepIn, stepOut")
@pytest.mark.row("stepInTargets, gotoTargets, goto, restartFrame")
async def test_steps_into_a_chosen_call_and_jumps(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    await driver.start(PROGRAM, 6, **launch)
    session = driver.session
    await session.next_stop()
    targets = (await session.step_in_targets((await driver.frames())[0].id)).targets
    assert [target.label for target in targets] == ["add(y, 1)", "add(add(y, 1), 2)", "print(…)"]
    await session.step_in(1, target_id=targets[1].id)
    assert (await session.next_stop()).reason == "step"
    assert {name: one.value for name, one in (await driver.locals()).items()} == {"a": "7", "b": "2"}
    await session.next(1, granularity="line")
    await session.next_stop()
    [top, *_] = await driver.frames()
    assert top.can_restart
    await session.restart_frame(top.id)
    assert (await session.next_stop()).reason == "restart"
    assert await driver.where() == ("add", 2)
    source = Source(path=str(driver.file))
    [target] = (await session.goto_targets(source, 3)).targets
    await session.goto(1, target.id)
    assert (await session.next_stop()).reason == "goto"
    assert await driver.where() == ("add", 3)
    [caller] = (await driver.frames())[1:]
    with pytest.raises(RequestFailed, match="only the newest frame of a stopped thread can jump"):
        await session.restart_frame(caller.id)


@pytest.mark.row("setBreakpoints")
async def test_breakpoint_in_a_file_that_is_made_later_is_told_when_it_is_verified(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    made = driver.folder / "made.py"
    events = driver.session.events()
    await driver.session.add_breakpoint(made, 2)
    await driver.start("open('made.py', 'w').write('a = 1\\nb = 2\\n')\nimport made\n", **launch)
    event = await events.next(BreakpointEvent, where=lambda one: one.reason == "changed")
    assert (event.breakpoint.verified, event.breakpoint.line) == (True, 2)
    await driver.session.next_stop()


@pytest.mark.row("next, stepIn, stepOut")
async def test_steps_begin_at_instructions_of_no_line(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    # What the compiler adds behind handlers is of no line; the frame is shown at that of its function then.
    program = """
        try:
            def fail(failure):

                try:
                    raise failure
                except KeyError:
                    pass

            fail(ValueError("a failure"))
        except ValueError:
            print("end")
    """
    await driver.start(program, 6, **launch)
    await driver.session.next_stop()
    for _ in range(20):
        if await driver.where() == ("fail", 2):
            break
        await driver.session.next(1, granularity="instruction")
        await driver.session.next_stop()
    assert await driver.where() == ("fail", 2)
    await driver.session.next(1)
    await driver.session.next_stop()
    assert await driver.where() == ("<module>", 10)
