"""Back in time: to the line before, to the stop before, and forward again to the live program."""

import contextlib
import os
import signal
from collections.abc import Mapping
from pathlib import Path

import anyio
import msgspec
import pytest

from dapkit.client import Ended, Stopped
from dapkit.endpoint import CapabilityMissing, RequestFailed
from dapkit.protocol import (
    CapabilitiesEvent,
    DataBreakpoint,
    DisconnectArguments,
    FunctionBreakpoint,
    OutputEvent,
    ProcessEvent,
    ReverseContinueArguments,
    SetVariableArguments,
    Source,
    SourceBreakpoint,
    StepBackArguments,
    StoppedEvent,
    TerminateArguments,
)
from dapkit.protocol.time_travel import WhyArguments, WhyBody
from e2e.python.adapter_client import AdapterClient, stacks_if_late

pytestmark = pytest.mark.each_python

PROGRAM = """
    import random
    import time

    def square(n):
        result = n * n
        return result

    def work(count):
        total = 0
        for i in range(count):
            total += square(i)
            moments.append(time.time_ns())
            numbers.append(random.random())
        return total

    moments, numbers = [], []
    print("begins", flush=True)
    total = work(50)
    print("ends", total, flush=True)
"""
LAST = 19
"""Its last line."""


@pytest.fixture
def launch(python: str) -> Mapping[str, object]:
    """Return launch arguments for each Python version."""
    return {"python": python, "timeTravel": True}


async def back(driver: AdapterClient) -> Stopped:
    """Step back, and return the stop."""
    await driver.session.request(StepBackArguments(thread_id=1))
    return await driver.session.next_stop()


async def reverse(driver: AdapterClient) -> Stopped:
    """Run backwards, and return the stop."""
    await driver.session.request(ReverseContinueArguments(thread_id=1))
    return await driver.session.next_stop()


async def value(driver: AdapterClient, expression: str) -> str:
    """Return what an expression is in the newest frame."""
    [top, *_] = await driver.frames()
    return (await driver.session.evaluate(expression, frame_id=top.id)).result


async def at_the_end(
    driver: AdapterClient, launch: Mapping[str, object], text: str = PROGRAM, line: int = LAST
) -> None:
    """Have a program stand at a line, its only breakpoint."""
    await driver.start(text, line, **launch)
    await driver.session.next_stop()


@pytest.mark.row("stepBack")
async def test_step_back_goes_to_the_line_before_over_calls_and_out_to_the_caller(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await at_the_end(driver, launch, line=6)
    assert await driver.where() == ("square", 6)
    places = []
    for _ in range(4):
        stop = await back(driver)
        assert stop.reason == "step"
        places.append(await driver.where())
    assert places == [("square", 5), ("work", 11), ("work", 10), ("work", 9)]
    assert await value(driver, "count") == "50"


@pytest.mark.row("stepBack")
async def test_step_back_does_not_enter_what_the_line_before_has_called(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await at_the_end(driver, launch)
    assert (await back(driver)).reason == "step"
    assert await driver.where() == ("<module>", 18)
    assert await value(driver, "'total' in globals()") == "False"
    assert await value(driver, "len(moments)") == "0"


async def instruction_back(driver: AdapterClient) -> tuple[str, int, str]:
    """Step back by instruction; return the function, the line and the address."""
    position = driver.session.position
    await driver.session.request(StepBackArguments(thread_id=1, granularity="instruction"))
    stop = await driver.session.wait_for(StoppedEvent, since=position)
    assert stop.reason == "step"
    return await place(driver)


async def place(driver: AdapterClient) -> tuple[str, int, str]:
    [top, *_] = await driver.frames()
    return top.name, top.line, top.instruction_pointer_reference or ""


@pytest.mark.row("stepBack")
async def test_steps_back_after_steps_forwards_go_the_same_way(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    # Where the live program has stopped, a copy of it is made as it goes on: at the very line that is shown next.
    await at_the_end(driver, launch, "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n", 2)
    for _ in range(3):
        await driver.session.next(1)
        await driver.session.next_stop()
    seen = []
    for _ in range(4):
        await back(driver)
        seen.append((await driver.where())[1])
    assert seen == [4, 3, 2, 1]


@pytest.mark.thorough
@pytest.mark.row("stepBack")
async def test_steps_back_by_instruction_are_those_forwards(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await at_the_end(driver, launch)
    await driver.session.set_breakpoints(Source(path=str(driver.file)), breakpoints=[SourceBreakpoint(line=5)])
    await reverse(driver)
    await driver.session.set_breakpoints(Source(path=str(driver.file)), breakpoints=[])
    forwards = [await place(driver)]
    while forwards[-1][:2] != ("work", 12):
        await driver.session.step_in(1, granularity="instruction")
        await driver.session.next_stop()
        forwards.append(await place(driver))
    assert len({name for name, _, _ in forwards}) > 1
    backwards = [forwards[-1]]
    while len(backwards) < len(forwards):
        backwards.append(await instruction_back(driver))
    assert backwards == forwards[::-1]


@pytest.mark.row("stepBack")
async def test_a_step_back_by_instruction_leaves_the_live_program(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await at_the_end(driver, launch)
    before = await place(driver)
    name, line, address = await instruction_back(driver)
    assert (name, line) != before[:2]
    await driver.session.step_in(1, granularity="instruction")
    await driver.session.next_stop()
    assert await place(driver) == before
    assert address != before[2]


@pytest.mark.row("reverseContinue")
async def test_running_backwards_stops_at_breakpoints_with_their_conditions(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await at_the_end(driver, launch)
    moments, numbers = await value(driver, "moments[:30]"), await value(driver, "numbers[:30]")
    await driver.session.set_breakpoints(
        Source(path=str(driver.file)), breakpoints=[SourceBreakpoint(line=12, condition="i % 10 == 0")]
    )
    indexes = []
    for _ in range(2):
        stop = await reverse(driver)
        assert stop.reason == "breakpoint"
        assert len(driver.told(StoppedEvent)[-1].hit_breakpoint_ids or ()) == 1
        assert await driver.where() == ("work", 12)
        indexes.append(await value(driver, "i"))
    assert indexes == ["40", "30"]
    assert await value(driver, "moments") == moments
    assert await value(driver, "numbers") == numbers


@pytest.mark.row("reverseContinue")
async def test_running_backwards_stops_where_a_message_would_be_logged(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await at_the_end(driver, launch)
    logs = SourceBreakpoint(line=12, condition="i % 10 == 0", log_message="at {i}")
    [set_] = (await driver.session.set_breakpoints(Source(path=str(driver.file)), breakpoints=[logs])).breakpoints
    for number in ("40", "30"):
        assert (await reverse(driver)).reason == "breakpoint"
        assert driver.told(StoppedEvent)[-1].hit_breakpoint_ids == [set_.id]
        assert (await driver.where(), await value(driver, "i")) == (("work", 12), number)
    assert not [event for event in driver.told(OutputEvent) if event.output.startswith("at ")]


@pytest.mark.row("reverseContinue")
async def test_hit_conditions_count_from_the_beginning(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    await at_the_end(driver, launch)
    await driver.session.set_breakpoints(
        Source(path=str(driver.file)), breakpoints=[SourceBreakpoint(line=12, hit_condition="7")]
    )
    await reverse(driver)
    assert await value(driver, "i") == "6"
    assert (await reverse(driver)).reason == "entry"


@pytest.mark.row("reverseContinue")
async def test_nothing_to_stop_at_leads_to_the_beginning(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    await at_the_end(driver, launch)
    await driver.session.set_breakpoints(Source(path=str(driver.file)), breakpoints=[])
    stop = await reverse(driver)
    assert stop.reason == "entry"
    assert driver.told(StoppedEvent)[-1].description == "Start of recorded history"
    assert await driver.where() == ("<module>", 1)
    assert (await back(driver)).reason == "entry"


@pytest.mark.row("reverseContinue")
async def test_a_stop_on_entry_is_not_met_again_on_the_way_back(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await driver.start(PROGRAM, LAST, stopOnEntry=True, **launch)
    assert (await driver.session.next_stop()).reason == "entry"
    await driver.session.continue_(1)
    assert (await driver.session.next_stop()).reason == "breakpoint"
    await driver.session.set_breakpoints(Source(path=str(driver.file)), breakpoints=[])
    assert (await reverse(driver)).reason == "entry"
    assert driver.told(StoppedEvent)[-1].description == "Start of recorded history"
    assert await driver.where() == ("<module>", 1)


@pytest.mark.thorough
@pytest.mark.row("reverseContinue")
async def test_forwards_again_comes_to_the_live_program_which_has_written_everything_once(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await at_the_end(driver, launch)
    await driver.session.set_breakpoints(
        Source(path=str(driver.file)), breakpoints=[SourceBreakpoint(line=12, condition="i == 48")]
    )
    await reverse(driver)
    await driver.session.set_breakpoints(Source(path=str(driver.file)), breakpoints=[SourceBreakpoint(line=LAST)])
    for place in (("work", 13), ("work", 10), ("work", 11), ("work", 12)):
        await driver.session.next(1)
        await driver.session.next_stop()
        assert await driver.where() == place
    stop = await driver.resume()
    assert isinstance(stop, Stopped)
    assert await driver.where() == ("<module>", LAST)
    total = await value(driver, "total")
    ended = await driver.resume()
    assert isinstance(ended, Ended)
    assert driver.output("stdout") == f"begins\nends {total}\n"


@pytest.mark.row("reverseContinue")
async def test_function_breakpoints_stop_backwards(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    await at_the_end(driver, launch)
    await driver.session.set_function_breakpoints(breakpoints=[FunctionBreakpoint(name="square")])
    stop = await reverse(driver)
    assert stop.reason == "function breakpoint"
    assert await driver.where() == ("square", 5)
    assert await value(driver, "n") == "49"


@pytest.mark.row("reverseContinue")
async def test_exceptions_stop_backwards(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    text = """
        def check(n):
            if n == 3:
                raise ValueError(n)

        for i in range(6):
            try:
                check(i)
            except ValueError:
                caught = i
        print(caught)
    """
    await at_the_end(driver, launch, text, 10)
    await driver.session.set_exception_breakpoints(["raised"])
    stop = await reverse(driver)
    assert stop.reason == "exception"
    assert await driver.where() == ("check", 3)
    assert await value(driver, "n") == "3"
    assert (await driver.session.exception_info(1)).exception_id == "ValueError"


@pytest.mark.row("stepBack")
async def test_the_past_cannot_be_changed(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    await at_the_end(driver, launch)
    await back(driver)
    [scope, *_] = await driver.scopes()
    with pytest.raises(RequestFailed, match="readOnlyPast"):
        await driver.session.request(
            SetVariableArguments(variables_reference=scope.variables_reference, name="numbers", value="1")
        )


@pytest.mark.row("stepBack")
async def test_the_way_back_is_announced_only_where_there_is_one(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await at_the_end(driver, launch)
    assert driver.session.capabilities.supports_step_back
    assert [event.capabilities.supports_step_back for event in driver.told(CapabilitiesEvent)] == [True]


@pytest.mark.row("stepBack")
async def test_without_time_travel_the_way_back_is_refused(driver: AdapterClient, python: str) -> None:
    await at_the_end(driver, {"python": python})
    with pytest.raises(CapabilityMissing, match="supportsStepBack"):
        await back(driver)


def copies_of(pid: int) -> list[int]:
    """Return the processes of the past of a program: they have its command line."""
    own = Path(f"/proc/{pid}/cmdline").read_bytes()
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != pid:
            with contextlib.suppress(OSError):
                if (folder / "cmdline").read_bytes() == own:
                    found.append(int(folder.name))
    return found


def runs(pid: int) -> bool:
    """Say whether a process has not ended; one that has, has no command line."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except OSError:
        return False


async def until_gone(pids: list[int]) -> None:
    """Wait until processes have ended."""
    with anyio.fail_after(30):
        while any(map(runs, pids)):  # noqa: ASYNC110 - nobody reports it
            await anyio.sleep(0.02)


@pytest.mark.row("stepBack")
async def test_a_killed_adapter_leaves_no_process_of_the_past(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await at_the_end(driver, launch)
    await back(driver)
    [event] = driver.told(ProcessEvent)
    program = event.system_process_id
    assert program is not None
    copies = copies_of(program)
    assert len(copies) >= 2  # one that waits, one that is shown
    assert driver.session.adapter_pid is not None
    os.kill(driver.session.adapter_pid, signal.SIGKILL)
    await until_gone([program, *copies])


@pytest.mark.row("stepBack")
async def test_a_killed_process_of_the_past_leads_to_the_live_program(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await at_the_end(driver, launch)
    await back(driver)
    assert await driver.where() == ("<module>", LAST - 1)
    position = driver.session.position
    [event] = driver.told(ProcessEvent)
    assert event.system_process_id is not None
    os.kill(max(copies_of(event.system_process_id)), signal.SIGKILL)
    await driver.session.wait_for(StoppedEvent, since=position)
    assert "a process of the past was killed by SIGKILL" in driver.output("important")
    assert await driver.where() == ("<module>", LAST)
    assert isinstance(await driver.resume(), Ended)


@pytest.mark.row("reverseContinue")
async def test_stops_that_the_program_has_gone_on_from_do_not_hold_up_its_past(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await driver.start(PROGRAM, 17, 18, LAST, **launch)
    await driver.session.next_stop()
    await driver.resume()
    await driver.resume()
    for line in (18, 17):
        assert (await reverse(driver)).reason == "breakpoint"
        assert await driver.where() == ("<module>", line)
    assert isinstance(await driver.resume(), Stopped)
    assert await driver.where() == ("<module>", 18)


async def why(driver: AdapterClient, expression: str) -> WhyBody:
    """Ask for the line that made a value of the newest frame what it is."""
    [top, *_] = await driver.frames()
    answer = await driver.session.request_custom("dapkit/why", WhyArguments(expression=expression, frame_id=top.id))
    return msgspec.convert(answer, WhyBody)


PAYMENTS = """
    class Account:
        balance = 0

    def pay(account, amount):
        history = account.history
        account.balance += amount
        history.append(account.balance)

    account = Account()
    account.history = history = []
    account.name = "mine"
    for amount in (5, -20, 3):
        pay(account, amount)
    total = 0
    for number in range(5):
        total = number
    print(account.balance)
"""


@pytest.mark.thorough
@pytest.mark.row("reverseContinue")
@pytest.mark.parametrize(
    ("expression", "change"),
    [
        ("account.balance", (6, "-15", "-12")),
        ("account.name", (11, None, "'mine'")),
        ("history", (7, "[5, -15]", "[5, -15, -12]")),
        ("total", (16, "3", "4")),
        ("len(history)", (7, "2", "3")),
        ("' '.join(map(str, history))", (7, "'5 -15'", "'5 -15 -12'")),
    ],
)
async def test_why_names_the_line_that_made_a_value_what_it_is(
    driver: AdapterClient, launch: Mapping[str, object], expression: str, change: tuple[int, str | None, str]
) -> None:
    await at_the_end(driver, launch, PAYMENTS, 17)
    found = await why(driver, expression)
    assert (found.path, found.line, found.old, found.new) == (str(driver.file), *change)
    assert found.clock is not None
    await driver.travel(found.clock)
    assert (await driver.where())[1] == change[0]


@pytest.mark.row("reverseContinue")
async def test_why_of_a_local_variable_is_about_this_call(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    await at_the_end(driver, launch, line=14)
    found = await why(driver, "total")
    assert (found.function, found.line, found.new) == ("work", 11, str(sum(i * i for i in range(50))))
    found = await why(driver, "count")
    assert (found.function, found.line, found.old, found.new) == ("<module>", 18, None, "50")


@pytest.mark.row("reverseContinue")
async def test_why_says_nothing_of_what_was_always_so(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    await at_the_end(driver, launch)
    assert await why(driver, "__name__") == WhyBody()
    with pytest.raises(RequestFailed, match="is not an expression"):
        await why(driver, "total +")
    with pytest.raises(RequestFailed, match="no_such_name: it has no value here, and had none before"):
        await why(driver, "no_such_name")


@pytest.mark.row("reverseContinue")
async def test_why_at_the_beginning_knows_a_value_from_none(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await driver.start(PROGRAM, stopOnEntry=True, **launch)
    await driver.session.next_stop()
    assert await why(driver, "__name__") == WhyBody()
    with pytest.raises(RequestFailed, match="total: it has no value here, and had none before"):
        await why(driver, "total")


@pytest.mark.thorough
@pytest.mark.row("restartFrame")
async def test_any_frame_can_be_shown_where_it_began(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    await at_the_end(driver, launch, line=6)
    places = []
    for frame in (1, 0, 0):
        frames = await driver.frames()
        assert all(shown.can_restart for shown in frames)
        await driver.session.restart_frame(frames[frame].id)
        assert (await driver.session.next_stop()).reason == "restart"
        places.append(await driver.where())
    assert places == [("work", 9), ("work", 9), ("work", 9)]
    assert isinstance(await driver.resume(), Stopped)
    assert await driver.where() == ("square", 6)
    await driver.session.restart_frame((await driver.frames())[-1].id)
    await driver.session.next_stop()
    assert await driver.where() == ("<module>", 1)


@pytest.mark.thorough
@pytest.mark.row("stepBack")
@pytest.mark.parametrize("command", ["terminate", "disconnect", "kill"])
async def test_the_end_of_the_program_ends_its_past(
    driver: AdapterClient, launch: Mapping[str, object], command: str
) -> None:
    await at_the_end(driver, launch)
    await back(driver)
    [event] = driver.told(ProcessEvent)
    assert event.system_process_id is not None
    processes = [event.system_process_id, *copies_of(event.system_process_id)]
    match command:
        case "terminate":
            await driver.session.request(TerminateArguments())
            assert isinstance(await driver.session.wait_until_ended(), Ended)
        case "disconnect":
            await driver.session.request(DisconnectArguments())
        case _:
            os.kill(event.system_process_id, signal.SIGKILL)
            assert isinstance(await driver.session.wait_until_ended(), Ended)
    await until_gone(processes)


@pytest.mark.thorough
@pytest.mark.row("reverseContinue")
async def test_data_breakpoints_on_variables_of_modules_stop_backwards(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    text = """
        balance = 0

        def pay(amount):
            global balance
            balance += amount

        for amount in (5, -20, 3):
            pay(amount)
        print(balance)
    """
    await at_the_end(driver, launch, text, 9)
    [top, *_] = await driver.frames()
    info = await driver.session.data_breakpoint_info("balance", frame_id=top.id)
    assert info.data_id is not None
    await driver.session.set_data_breakpoints(breakpoints=[DataBreakpoint(data_id=info.data_id, access_type="write")])
    seen = []
    for _ in range(3):
        assert (await reverse(driver)).reason == "data breakpoint"
        seen.append(await value(driver, "balance"))
    assert seen == ["-12", "-15", "5"]


@pytest.mark.row("stepBack")
async def test_modules_that_are_imported_for_the_first_time_are_no_divergence(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    for number in range(5):
        driver.write(f"value = {number}", f"module_{number}.py")
    text = """
        total = 0
        for number in range(5):
            total += __import__(f"module_{number}").value
        print(total)
    """
    environment = {"env": {"PYTHONDONTWRITEBYTECODE": None, "PYTHONPYCACHEPREFIX": None}}
    await at_the_end(driver, {**launch, **environment}, text, 4)
    assert len(list(driver.folder.glob("__pycache__/module_*.pyc"))) == 5
    await driver.travel(9, from_beginning=True)
    await driver.session.set_breakpoints(Source(path=str(driver.file)), breakpoints=[])
    assert (await reverse(driver)).reason == "entry"


@pytest.mark.row("stepBack")
async def test_generators_on_one_line_are_counted_each_time_they_begin(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    text = """
        import time
        pairs = []
        for name in "abc":
            pairs.extend((name, number) for number in range(2))
        begun = time.time_ns()
        after = 1
    """
    await at_the_end(driver, launch, text, 6)
    lines = []
    for _ in range(3):
        assert (await back(driver)).reason == "step"
        lines.append((await driver.where())[1])
    assert lines == [5, 3, 4]


@pytest.mark.row("stepBack")
async def test_the_past_can_be_shown_near_the_recursion_limit(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    text = """
        def f(n):
            try:
                m = n + 1
                return f(m)
            except RecursionError:
                return n
        print(f(0))
    """
    driver.write(text)
    await driver.session.add_breakpoint(driver.file, 4, condition="n == 985")
    await driver.launch(program=str(driver.file), **launch)
    assert (await driver.session.next_stop()).reason == "breakpoint"
    for line in (3, 2):
        assert (await back(driver)).reason == "step"
        assert await driver.where() == ("f", line)
        assert await value(driver, "n") == "985"


UNDER_A_LIBRARY = """
    import unittest

    class Test(unittest.TestCase):
        def test_a(self):
            total = 0
            for i in range(200_000):
                total += i
            self.total = total

        def test_b(self):
            x = 1
            x += 1
"""


@pytest.mark.row("stepBack")
async def test_step_back_from_a_function_that_a_library_has_called(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    """No function of the program waits for it, so the line before is the one that was begun before."""
    driver.write(UNDER_A_LIBRARY)
    await driver.session.add_breakpoint(driver.file, 11)
    await driver.launch(module="unittest", args=["prog"], **launch)
    await driver.session.next_stop()
    places = [await driver.where()]
    for _ in range(2):
        await back(driver)
        places.append(await driver.where())
    assert places == [("Test.test_b", 11), ("Test.test_a", 8), ("Test.test_a", 6)]


GENERATED_FOR_A_LIBRARY = """
    import urllib.parse
    from dataclasses import dataclass

    @dataclass
    class Mine:
        value: int

    mine = Mine(1)
    parts = urllib.parse.urlsplit("http://host/path")
    print(parts.path)
"""


@pytest.mark.row("stepBack")
async def test_code_that_a_library_has_generated_for_itself_is_not_the_programs(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await driver.start(GENERATED_FOR_A_LIBRARY, 10, **launch)
    await driver.session.next_stop()
    places = []
    for _ in range(2):
        await driver.session.request_custom("dapkit/stepBackInto")
        await driver.session.next_stop()
        places.append(await driver.where())
    assert places[0] == ("<module>", 9)
    assert places[1][0].endswith("__init__")  # of the program's own class


@pytest.mark.thorough
@pytest.mark.timeout(300)
async def test_stacks_of_all_processes_are_written_where_an_answer_is_late(
    driver: AdapterClient, launch: Mapping[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    """A request of time travel was once not answered, for a reason that was not found."""
    await driver.start(PROGRAM, 17, **launch)
    await driver.session.next_stop()
    shown = ""
    with anyio.fail_after(120):
        async with stacks_if_late(driver.session.adapter_pid or 0, seconds=0):
            while not ("asyncio" in shown and "prog.py:17" in shown):
                await anyio.sleep(0.1)
                shown += capsys.readouterr().err
