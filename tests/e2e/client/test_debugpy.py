"""debugpy as people use it: launch, terminal, children, attach, and its death."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from client_fixtures import PROGRAMS, line_of
from dapkit.client import AdapterDied, BlockingSession, Ended, ProgramEnded, Session, StartRefused, Stopped
from dapkit.endpoint import CapabilityMissing
from dapkit.protocol import ExitedEvent, NextArguments, ProcessEvent

SUMS = PROGRAMS / "sums.py"
TOTAL = line_of("sums.py", "total = left")


def launching(name: str, console: str = "internalConsole") -> dict[str, object]:
    return {"program": str(PROGRAMS / name), "console": console, "justMyCode": False}


@pytest.mark.thorough
async def test_full_session(debugpy: list[str]) -> None:
    async with Session.spawn(debugpy) as session:
        await session.add_breakpoint(SUMS, TOTAL)
        await session.break_on_exceptions()
        await session.launch(launching("sums.py"))
        stop = await session.next_stop()
        assert stop.reason == "breakpoint"
        assert [one.verified for one in session.breakpoints] == [True]

        stack = await session.stack_trace(stop.thread_id)
        frame = stack.stack_frames[0]
        assert (frame.name, frame.line) == ("add", TOTAL)
        scopes = await session.scopes(frame.id)
        variables = await session.variables(scopes.scopes[0].variables_reference)
        assert {one.name: one.value for one in variables.variables} == {"left": "0", "right": "10"}
        assert (await session.evaluate("left + right", frame_id=frame.id)).result == "10"
        assert [thread.name for thread in (await session.threads()).threads] == ["MainThread"]

        stepped = await session.resume(NextArguments(thread_id=stop.thread_id))
        assert isinstance(stepped, Stopped)
        assert (stepped.reason, stepped.epoch) == ("step", 2)
        again = await session.resume()
        assert isinstance(again, Stopped)
        assert again.reason == "breakpoint"
        await session.clear_breakpoints()
        assert await session.resume() == Ended(3)
        assert session.output.read("stdout").text == "sum 33\n"
        assert (await session.wait_for(ExitedEvent, since=0)).exit_code == 3


@pytest.mark.each_adapter
async def test_condition_and_log_message(debugpy: list[str]) -> None:
    async with Session.spawn(debugpy) as session:
        await session.add_breakpoint(SUMS, TOTAL, condition="left == 2")
        await session.add_breakpoint(SUMS, TOTAL + 1, log_message="total is {total}")
        await session.break_on_exceptions()
        await session.launch(launching("sums.py"))
        stop = await session.next_stop()
        frame = (await session.stack_trace(stop.thread_id, levels=1)).stack_frames[0]
        assert (await session.evaluate("left", frame_id=frame.id)).result == "2"
        assert await session.resume() == Ended(3)
        assert "total is 10" in session.output.read("console", "stdout").text


async def test_request_that_debugpy_would_never_answer_is_not_sent(debugpy: list[str]) -> None:
    async with Session.spawn(debugpy) as session:
        with pytest.raises(CapabilityMissing, match="supportsLoadedSourcesRequest"):
            await session.loaded_sources()
        with pytest.raises(CapabilityMissing, match="supportsDataBreakpoints"):
            await session.data_breakpoint_info("x")


async def test_interpreter_that_does_not_exist_is_refused_with_the_text_of_debugpy(debugpy: list[str]) -> None:
    async with Session.spawn(debugpy) as session:
        with pytest.raises(StartRefused, match=r"launch failed: .*/no/such/python"):
            await session.launch({**launching("sums.py"), "python": "/no/such/python"})


@pytest.mark.thorough
async def test_breakpoints_go_to_a_second_session_and_the_transcript_to_a_file(
    debugpy: list[str], tmp_path: Path
) -> None:
    async with Session.spawn(debugpy) as first:
        await first.add_breakpoint(SUMS, TOTAL)
        wanted = first.breakpoints_for_another()
    transcript = tmp_path / "run.jsonl"
    async with Session.spawn(debugpy, breakpoints=wanted, transcript=transcript) as session:
        await session.launch(launching("sums.py"))
        assert (await session.next_stop()).reason == "breakpoint"
    messages = [json.loads(line)["message"] for line in transcript.read_text().splitlines()]
    answered = [one["command"] for one in messages if one["type"] == "response"]
    assert (answered[0], answered[-1]) == ("initialize", "disconnect")


@pytest.mark.thorough
async def test_program_in_a_terminal_reads_what_is_typed(debugpy: list[str]) -> None:
    async with Session.spawn(debugpy) as session:
        await session.add_breakpoint(PROGRAMS / "greeting.py", line_of("greeting.py", 'print("hello"'))
        await session.break_on_exceptions()
        await session.launch({**launching("greeting.py", "integratedTerminal"), "env": {"ADDED": "1"}})
        terminal = await session.wait_for_terminal()
        shown = await terminal.wait_for_output("name? ")
        assert "terminal True 1\r\n" in shown.text
        await terminal.send_input("Ada\n")
        stop = await session.next_stop()
        frame = (await session.stack_trace(stop.thread_id)).stack_frames[0]
        assert (await session.evaluate("name", frame_id=frame.id)).result == "'Ada'"
        assert await session.resume() == Ended(4)
        await terminal.wait_for_output("hello Ada\r\n", since=shown.end)
        assert await terminal.wait() == 4


@pytest.mark.thorough
async def test_child_process_is_a_session_with_the_breakpoints_of_its_parent(debugpy: list[str]) -> None:
    async with Session.spawn(debugpy) as session:
        await session.add_breakpoint(PROGRAMS / "child.py", line_of("child.py", "return result"))
        await session.launch(launching("parent.py"))
        [child] = await session.wait_for_children()
        stop = await child.next_stop()
        frame = (await child.stack_trace(stop.thread_id)).stack_frames[0]
        assert (await child.evaluate("result", frame_id=frame.id)).result == "42"
        assert isinstance(await child.resume(), Ended)
        assert await session.wait_until_ended() == Ended(0)
        assert session.output.read("stdout").text.splitlines() == ["child 42", "parent done"]


@pytest.mark.thorough
async def test_child_that_nobody_wants_runs_on(debugpy: list[str]) -> None:
    async with Session.spawn(debugpy, adopts=lambda _: False) as session:
        await session.add_breakpoint(PROGRAMS / "child.py", line_of("child.py", "return result"))
        await session.launch(launching("parent.py"))
        assert await session.wait_until_ended() == Ended(0)
        assert session.children == ()
        assert session.output.read("stdout").text.splitlines() == ["child 42", "parent done"]


@pytest.mark.thorough
async def test_closing_at_a_stop_of_a_child_leaves_no_process(debugpy: list[str]) -> None:
    async with Session.spawn(debugpy) as session:
        await session.add_breakpoint(PROGRAMS / "child.py", line_of("child.py", "return result"))
        await session.launch(launching("parent.py"))
        [child] = await session.wait_for_children()
        await child.next_stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


type Running = Callable[[list[str]], subprocess.Popen[str]]


@pytest.mark.each_adapter
async def test_attached_program_survives_its_session(running: Running) -> None:
    port = free_port()
    running([sys.executable, "-m", "debugpy", "--listen", f"127.0.0.1:{port}", str(PROGRAMS / "waiting.py")])
    async with Session.connect("127.0.0.1", port) as session:
        await session.add_breakpoint(PROGRAMS / "waiting.py", line_of("waiting.py", "return count + 1"))
        await session.attach({"justMyCode": False})
        stop = await session.next_stop()
        assert stop.reason == "breakpoint"
        await session.detach()


@pytest.mark.thorough
async def test_attached_program_survives_an_error_in_the_block(running: Running) -> None:
    port = free_port()
    running([sys.executable, "-m", "debugpy", "--listen", f"127.0.0.1:{port}", str(PROGRAMS / "waiting.py")])
    with pytest.raises(ZeroDivisionError):  # noqa: PT012 - the block is what is tested
        async with Session.connect("127.0.0.1", port) as session:
            await session.add_breakpoint(PROGRAMS / "waiting.py", line_of("waiting.py", "return count + 1"))
            await session.attach({"justMyCode": False})
            await session.next_stop()
            _ = 1 / 0


@pytest.mark.thorough
async def test_adapter_that_is_killed_is_reported_with_its_signal(debugpy: list[str]) -> None:
    async with Session.spawn(debugpy) as session:
        await session.add_breakpoint(SUMS, TOTAL)
        await session.launch(launching("sums.py"))
        stop = await session.next_stop()
        adapter = session.adapter_pid
        assert adapter is not None
        os.kill(adapter, signal.SIGKILL)
        with pytest.raises(AdapterDied) as caught:
            await session.stack_trace(stop.thread_id)
        assert caught.value.exit_code == -signal.SIGKILL
        with pytest.raises(AdapterDied):
            await session.next_stop()


async def test_adapter_that_cannot_start_is_reported_with_its_stderr() -> None:
    with pytest.raises(AdapterDied, match="No module named") as caught:
        async with Session.spawn([sys.executable, "-m", "no_such_module"]):
            pytest.fail("there is nothing to talk to")
    assert caught.value.exit_code == 1


@pytest.mark.thorough
def test_blocking_session_does_the_same(debugpy: list[str]) -> None:
    with BlockingSession(Session.spawn(debugpy)) as session:
        session.add_breakpoint(SUMS, TOTAL)
        session.break_on_exceptions()
        session.launch(launching("sums.py"))
        stop = session.next_stop()
        frame = session.stack_trace(stop.thread_id).stack_frames[0]
        assert session.evaluate("left + right", frame_id=frame.id).result == "10"
        session.clear_breakpoints()
        session.continue_(stop.thread_id)
        with pytest.raises(ProgramEnded, match="exit code 3"):
            session.next_stop()
        assert session.wait_for(ProcessEvent, since=0).name


@pytest.mark.each_adapter
@pytest.mark.parametrize("console", ["internalConsole", "integratedTerminal"])
def test_nothing_is_left_when_we_are_killed(console: str) -> None:
    script = f"""
import anyio, sys
from dapkit.client import Session
async def main():
    async with Session.spawn([sys.executable, "-m", "debugpy.adapter"]) as session:
        await session.add_breakpoint({str(SUMS)!r}, {TOTAL})
        await session.launch({{"program": {str(SUMS)!r}, "console": {console!r}}})
        await session.next_stop()
        print("stopped", flush=True)
        await anyio.sleep_forever()
anyio.run(main)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as ours:
        assert ours.stdout is not None
        assert ours.stdout.readline() == "stopped\n"
        ours.kill()
    # The fixture that watches over every test finds what is left.
