"""`restart`: the program begins anew, the session goes on, and what was set stays set."""

import pytest

from dapkit.client import Ended
from dapkit.endpoint import RequestFailed
from dapkit.protocol import (
    BreakpointEvent,
    OutputEvent,
    ProcessEvent,
    SetBreakpointsArguments,
    SourceBreakpoint,
    StoppedEvent,
    TerminatedEvent,
    ThreadEvent,
)
from e2e.python.adapter_client import AdapterClient
from e2e.python.processes import ended, only_line, process_of
from e2e.python.raw_client import raw_client

pytestmark = pytest.mark.row("restart, terminate, disconnect")

PROGRAM = """
    import sys, time
    x = sys.argv[1:]
    print("ready", x, flush=True)
    time.sleep(60)
"""


@pytest.mark.each_python
async def test_restart_at_a_breakpoint_stops_there_again_in_another_process(driver: AdapterClient, python: str) -> None:
    await driver.start(PROGRAM, 2, python=python)
    await driver.session.next_stop()
    before = await process_of(driver)
    await driver.session.restart()
    await driver.session.next_stop()
    first, again = driver.told(StoppedEvent)
    assert again.hit_breakpoint_ids == first.hit_breakpoint_ids
    assert await driver.where() == ("<module>", 2)
    await ended(before)
    processes = [event.system_process_id for event in driver.told(ProcessEvent)]
    assert len(set(processes)) == 2
    assert driver.told(TerminatedEvent) == []


@pytest.mark.thorough
async def test_restart_of_a_running_program_takes_new_arguments(driver: AdapterClient, python: str) -> None:
    await driver.start(PROGRAM, python=python)
    await only_line(driver)
    launch: dict[str, object] = {
        "program": str(driver.file),
        "cwd": str(driver.folder),
        "args": ["new"],
        "python": python,
    }
    await driver.session.restart(arguments=launch)
    await driver.session.wait_for(OutputEvent, where=lambda event: "new" in event.output)
    gone = [event.thread_id for event in driver.told(ThreadEvent) if event.reason == "exited"]
    assert gone == [1]


@pytest.mark.thorough
async def test_breakpoints_of_all_kinds_set_right_before_a_restart_or_during_it_count(driver: AdapterClient) -> None:
    async with raw_client() as client:
        driver.write("""
            def work(n):
                return n
            work(1)
            work(2)
            raise KeyError
        """)
        source = {"path": str(driver.file)}
        await client.initialize()
        await client.send("launch", {"program": str(driver.file)})
        await client.event("initialized")
        await client.ask("setBreakpoints", {"source": source, "breakpoints": [{"line": 1}, {"line": 3}]})
        await client.ask("configurationDone")
        await client.event("stopped")
        client.heard.clear()
        first = await client.send("setBreakpoints", {"source": source, "breakpoints": [{"line": 5}]})
        last = await client.send("setBreakpoints", {"source": source, "breakpoints": [{"line": 4}]})
        named = await client.send("setFunctionBreakpoints", {"breakpoints": [{"name": "work", "condition": "n == 2"}]})
        restarted = await client.send("restart")
        raised = await client.send("setExceptionBreakpoints", {"filters": ["raised"]})
        answers = [await client.answer(seq) for seq in (first, last, named, raised, restarted)]
        assert [answer["success"] for answer in answers] == [True] * 5
        stops = []
        for number in range(1, 4):
            await client.until_stopped(number)
            stop = [message["body"] for message in client.heard if message.get("event") == "stopped"][-1]
            stops.append((stop["reason"], stop.get("hitBreakpointIds")))
            await client.send("continue", {"threadId": 1})
        numbers = [answer["body"]["breakpoints"][0]["id"] for answer in answers[1:3]]
        assert stops == [
            ("breakpoint", numbers[:1]),
            ("function breakpoint", numbers[1:]),
            ("exception", stops[2][1]),
        ]


@pytest.mark.thorough
async def test_breakpoints_set_after_a_restart_have_numbers_of_their_own(driver: AdapterClient) -> None:
    async with raw_client() as client:
        driver.write(PROGRAM)
        source = {"path": str(driver.file)}

        async def place(*lines: int) -> list[int]:
            asked = {"source": source, "breakpoints": [{"line": line} for line in lines]}
            return [one["id"] for one in (await client.ask("setBreakpoints", asked))["body"]["breakpoints"]]

        await client.initialize()
        await client.send("launch", {"program": str(driver.file)})
        await client.event("initialized")
        numbers = [*await place(1), *await place(1, 2)]
        assert (await client.ask("configurationDone"))["success"]
        assert (await client.event("stopped"))["hitBreakpointIds"] == numbers[1:2]
        client.heard.clear()
        assert (await client.ask("restart"))["success"]
        assert (await client.event("stopped"))["hitBreakpointIds"] == numbers[1:2]
        client.heard.clear()
        [new] = await place(3)
        assert new not in numbers
        await client.ask("continue", {"threadId": 1})
        assert (await client.event("stopped"))["hitBreakpointIds"] == [new]
        assert (await client.ask("disconnect"))["success"]


@pytest.mark.thorough
async def test_breakpoint_that_moved_with_its_file_is_told_after_a_restart(driver: AdapterClient) -> None:
    await driver.start("x = 1\ny = 2\n", 2)
    await driver.session.next_stop()
    driver.write("x = 1\n\n\ny = 2\n")
    await driver.session.restart()
    await driver.session.next_stop()
    [changed] = driver.told(BreakpointEvent)
    [stopped] = driver.told(StoppedEvent)[1:]
    assert changed.breakpoint.line == 4
    assert stopped.hit_breakpoint_ids == [changed.breakpoint.id]
    assert await driver.where() == ("<module>", 4)


@pytest.mark.thorough
async def test_exception_filters_are_kept(driver: AdapterClient) -> None:
    driver.write("import sys\n1 / len(sys.argv[1:])\n")
    await driver.session.break_on_exceptions("uncaught")
    await driver.launch(program=str(driver.file), args=["a"], stopOnEntry=True)
    await driver.session.next_stop()
    await driver.session.restart(arguments={"program": str(driver.file), "cwd": str(driver.folder)})
    assert (await driver.session.next_stop()).reason == "exception"


@pytest.mark.thorough
async def test_restart_before_the_configuration_was_done_waits_for_it() -> None:
    async with raw_client() as client:
        await client.initialize()
        launch = await client.send("launch", {"code": "print('ran')"})
        await client.event("initialized")
        assert (await client.ask("restart"))["success"]
        assert (await client.ask("configurationDone"))["success"]
        assert (await client.answer(launch))["success"]
        await client.event("terminated")
        assert client.output("stdout") == "ran\n"


async def test_restart_that_fails_ends_the_session_and_says_why(driver: AdapterClient) -> None:
    await driver.start(PROGRAM)
    await only_line(driver)
    driver.file.unlink()
    with pytest.raises(RequestFailed, match="does not exist"):
        await driver.session.restart()
    await driver.session.wait_for(TerminatedEvent)


@pytest.mark.thorough
async def test_restart_in_a_terminal_opens_another(driver: AdapterClient) -> None:
    await driver.start("print('ready')\nx = 1\nx = 2\n", 2, console="integratedTerminal")
    await driver.session.next_stop()
    await driver.session.restart()
    await driver.session.next_stop()
    assert len(driver.session.terminals) == 2
    assert await driver.resume() == Ended(0)


@pytest.mark.thorough
async def test_restart_with_wrong_arguments_leaves_the_program_running(driver: AdapterClient) -> None:
    await driver.start(PROGRAM, 2)
    await driver.session.next_stop()
    with pytest.raises(RequestFailed, match=r"restart: \$.arguments.arguments.args"):
        await driver.session.restart(arguments={"args": 1})
    assert await driver.where() == ("<module>", 2)


@pytest.mark.thorough
async def test_breakpoint_in_a_text_of_the_program_before_is_told_to_be_gone(driver: AdapterClient) -> None:
    await driver.start(
        """
        def called():
            return 1
        exec("called()\\ndef made():\\n    return 5\\nmade()\\n")
        """,
        2,
    )
    await driver.session.next_stop()
    source = (await driver.frames())[1].source
    assert source is not None
    placed = await driver.session.request(
        SetBreakpointsArguments(source=source, breakpoints=[SourceBreakpoint(line=3)])
    )
    assert placed.breakpoints[0].verified
    await driver.session.restart()
    told = await driver.session.wait_for(BreakpointEvent, where=lambda event: not event.breakpoint.verified, since=0)
    assert told.breakpoint.id == placed.breakpoints[0].id
    assert told.breakpoint.message == "this text was one of the program before the restart"
    await driver.session.next_stop()
    assert await driver.where() == ("called", 2)
