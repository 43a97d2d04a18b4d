"""Events about what takes long, what cannot be done, and a program that goes on without being told to."""

from pathlib import Path

import pytest

from e2e.python.raw_client import Message, RawClient, raw_client


async def stop(
    client: RawClient, folder: Path, python: str, program: str, *lines: int, shows_progress: bool = True
) -> int:
    """Stop in a frame of a program; return the frame's id."""
    file = folder / "prog.py"
    file.write_text(program)
    await client.initialize(supportsProgressReporting=shows_progress)
    await client.send("launch", {"program": str(file), "python": python})
    await client.event("initialized")
    breakpoints = [{"line": line} for line in lines]
    await client.ask("setBreakpoints", {"source": {"path": str(file)}, "breakpoints": breakpoints})
    assert (await client.ask("configurationDone"))["success"]
    await client.event("stopped")
    frames = (await client.ask("stackTrace", {"threadId": 1}))["body"]["stackFrames"]
    return int(frames[0]["id"])


@pytest.mark.thorough
@pytest.mark.row("cancel, progress")
async def test_long_evaluation_is_a_progress_that_can_be_cancelled(python: str, tmp_path: Path) -> None:
    async with raw_client() as client:
        frame = await stop(client, tmp_path, python, "import time\nx = 1\n", 2)
        slept = {"expression": "time.sleep(60)", "frameId": frame, "context": "repl"}
        asked = await client.send("evaluate", slept)
        start = await client.event("progressStart", title="Evaluating")
        assert (start["requestId"], start["cancellable"]) == (asked, True)
        progress = {"progressId": start["progressId"]}  # a slow start has one of its own
        await client.event("progressUpdate", **progress)
        await client.ask("cancel", progress)
        assert (await client.answer(asked))["message"] == "cancelled"
        await client.event("progressEnd", **progress)
        again = await client.ask("evaluate", {"expression": "x", "frameId": frame})
        assert "is not defined" in again["message"]  # it is assigned in the line that is next


@pytest.mark.thorough
@pytest.mark.row("cancel, progress")
async def test_large_page_of_variables_is_a_progress_that_can_be_cancelled(python: str, tmp_path: Path) -> None:
    async with raw_client() as client:
        frame = await stop(client, tmp_path, python, "long = list(range(5_000_000))\nx = 1\n", 2)
        shown = (await client.ask("evaluate", {"expression": "long", "frameId": frame}))["body"]["variablesReference"]
        page = {"variablesReference": shown, "filter": "indexed", "start": 0, "count": 5_000_000}
        asked = await client.send("variables", page)
        start = await client.event("progressStart", title="Reading variables")
        assert (start["requestId"], start["cancellable"]) == (asked, True)
        await client.ask("cancel", {"progressId": start["progressId"]})
        assert (await client.answer(asked))["message"] == "cancelled"
        page["count"] = 3
        assert len((await client.ask("variables", page))["body"]["variables"]) == 3


@pytest.mark.thorough
@pytest.mark.row("cancel, progress")
async def test_request_is_no_progress_for_a_client_that_shows_none(python: str, tmp_path: Path) -> None:
    async with raw_client() as client:
        frame = await stop(client, tmp_path, python, "import time\nx = 1\n", 2, shows_progress=False)
        slept = {"expression": "time.sleep(1.5)", "frameId": frame, "context": "repl"}
        assert (await client.ask("evaluate", slept))["success"]
        assert not [event for event in client.heard if str(event.get("event")).startswith("progress")]


@pytest.mark.row("launch")
async def test_adapter_can_do_less_without_debugging_and_all_again_with_it(python: str, tmp_path: Path) -> None:
    async with raw_client() as client:
        all_at_first = await client.initialize()
        file = tmp_path / "prog.py"
        file.write_text("import time\ntime.sleep(60)\n")
        launch = {"program": str(file), "python": python}
        await client.send("launch", {**launch, "noDebug": True})
        less = (await client.event("capabilities"))["capabilities"]
        assert set(less.values()) == {False}
        assert all(all_at_first[name] is True for name in less)
        assert (await client.ask("configurationDone"))["success"]
        refused = await client.ask("stepInTargets", {"frameId": 1})
        assert "supportsStepInTargetsRequest was not announced" in refused["message"]
        assert (await client.ask("restart", {"arguments": launch}))["success"]
        assert (await client.event("capabilities", capabilities=dict.fromkeys(less, True))) is not None
        assert (await client.ask("pause", {"threadId": 1}))["success"]
        await client.event("stopped")


@pytest.mark.row("continue, pause")
async def test_stop_inside_an_evaluation_tells_that_the_program_went_on(python: str, tmp_path: Path) -> None:
    async with raw_client() as client:
        frame = await stop(client, tmp_path, python, "def f():\n    return 1\nx = 1\n", 2, 3)
        before = len(client.heard)
        evaluate = await client.send("evaluate", {"expression": "f()", "frameId": frame, "context": "repl"})
        await client.until(lambda said: said.get("event") == "stopped" and said in client.heard[before:])
        told = [said["event"] for said in client.heard[before:] if said.get("event") in ("continued", "stopped")]
        assert told == ["continued", "stopped"]
        assert (await client.ask("continue", {"threadId": 1}))["success"]
        assert (await client.answer(evaluate))["body"]["result"] == "1"


@pytest.mark.row("restart, terminate, disconnect")
async def test_program_that_is_to_end_tells_that_it_goes_on(python: str, tmp_path: Path) -> None:
    async with raw_client() as client:
        await stop(client, tmp_path, python, "x = 1\n", 1)
        assert (await client.ask("terminate"))["success"]
        assert await client.event("continued") == {"threadId": 1, "allThreadsContinued": True}
        await client.event("terminated")


def leaves_unheard_stops(heard: list[Message]) -> list[Message]:
    """Return the answers by which the program went on from a stop that was not told of before."""
    found: list[Message] = []
    is_stopped = False
    for message in heard:
        if message.get("event") == "stopped":
            is_stopped = True
        elif message.get("command") == "continue" and message["success"]:
            found += [] if is_stopped else [message]
            is_stopped = False
    return found


@pytest.mark.row("continue, pause")
async def test_client_that_continues_twice_at_once_hears_of_each_stop_before_it_is_left(
    python: str, tmp_path: Path
) -> None:
    async with raw_client() as client:
        await stop(client, tmp_path, python, "while True:\n    x = 1\n    print('some output' * 50)\n", 2)
        for _ in range(15):
            stops = sum(message.get("event") == "stopped" for message in client.heard)
            asked = [await client.send("continue", {"threadId": 1}) for _ in range(2)]
            went_on = [(await client.answer(seq))["success"] for seq in asked]
            await client.until_stopped(stops + sum(went_on))
        assert leaves_unheard_stops(client.heard) == []
