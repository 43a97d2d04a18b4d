"""lldb-dap 22 on C programs with threads, on stdio and over TCP; its death, attach and terminal."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from client_fixtures import PROGRAMS, line_of
from dapkit.client import AdapterDied, Ended, Session, StartRefused, Stopped
from dapkit.protocol import ContinueArguments, NextArguments, StackTraceBody

type Compiled = Callable[[str], Path]
type Running = Callable[[list[str]], subprocess.Popen[str]]

SQUARES = PROGRAMS / "squares.c"
RESULT = line_of("squares.c", "int result =")
COUNTED = line_of("squares.c", "counter += 1")


async def stack(session: Session, stop: Stopped) -> StackTraceBody:
    return await session.stack_trace(stop.thread_id, levels=2)


async def whole_session(session: Session, program: Path) -> None:
    """Breakpoint, stop, stack, variables, evaluate, step, continue, end."""
    await session.add_breakpoint(SQUARES, COUNTED)
    await session.launch({"program": str(program)})
    stop = await session.next_stop()
    assert stop.reason == "breakpoint"
    assert [(one.verified, one.line) for one in session.breakpoints] == [(True, COUNTED)]

    frame = (await stack(session, stop)).stack_frames[0]
    assert (frame.name, frame.line) == ("square", COUNTED)
    scopes = (await session.scopes(frame.id)).scopes
    variables = (await session.variables(scopes[0].variables_reference)).variables
    assert {one.name: one.value for one in variables} == {"number": "1", "result": "1"}
    assert (await session.evaluate("number + 41", frame_id=frame.id)).result == "42"

    stepped = await session.resume(NextArguments(thread_id=stop.thread_id))
    assert isinstance(stepped, Stopped)
    assert stepped.reason == "step"
    assert (await stack(session, stepped)).stack_frames[0].line == COUNTED + 1
    await session.clear_breakpoints()
    assert await session.resume() == Ended(5)
    assert "total 14 other 49" in session.output.read("stdout").text


@pytest.mark.thorough
async def test_full_session(lldb_dap: list[str], compiled: Compiled) -> None:
    async with Session.spawn(lldb_dap) as session:
        await whole_session(session, compiled("squares.c"))
        assert session.violations == ()


@pytest.mark.thorough
async def test_full_session_over_tcp(lldb_dap: list[str], compiled: Compiled) -> None:
    command = [*lldb_dap, "--connection", "listen://127.0.0.1:${port}"]
    async with Session.spawn_listening(command) as session:
        await whole_session(session, compiled("squares.c"))


async def test_breakpoint_in_another_thread(lldb_dap: list[str], compiled: Compiled) -> None:
    async with Session.spawn(lldb_dap) as session:
        await session.add_function_breakpoint("work")
        await session.launch({"program": str(compiled("squares.c"))})
        stop = await session.next_stop()
        await session.threads()
        assert session.known_threads[stop.thread_id].stopped
        assert (await stack(session, stop)).stack_frames[0].name == "work"
        assert await session.resume() == Ended(5)


@pytest.mark.thorough
async def test_conditions_and_hit_conditions(lldb_dap: list[str], compiled: Compiled) -> None:
    async with Session.spawn(lldb_dap) as session:
        await session.add_breakpoint(SQUARES, COUNTED, condition="number == 3")
        await session.launch({"program": str(compiled("squares.c"))})
        stop = await session.next_stop()
        frame = (await stack(session, stop)).stack_frames[0]
        assert (await session.evaluate("number", frame_id=frame.id)).result == "3"


async def test_data_breakpoint_stops_at_the_write(lldb_dap: list[str], compiled: Compiled) -> None:
    async with Session.spawn(lldb_dap) as session:
        await session.add_breakpoint(SQUARES, RESULT)
        await session.launch({"program": str(compiled("squares.c"))})
        stop = await session.next_stop()
        frame = (await stack(session, stop)).stack_frames[0]
        watched = await session.data_breakpoint_info("&counter", frame_id=frame.id)
        assert watched.data_id is not None
        await session.clear_breakpoints()
        placed = await session.add_data_breakpoint(watched.data_id, access_type="write")
        assert placed.verified
        hit = await session.resume(ContinueArguments(thread_id=stop.thread_id))
        assert isinstance(hit, Stopped)
        assert (await stack(session, hit)).stack_frames[0].line in (COUNTED, COUNTED + 1)


async def test_instruction_breakpoint_and_disassembly(lldb_dap: list[str], compiled: Compiled) -> None:
    async with Session.spawn(lldb_dap) as session:
        await session.add_breakpoint(SQUARES, RESULT)
        await session.launch({"program": str(compiled("squares.c"))})
        stop = await session.next_stop()
        here = (await stack(session, stop)).stack_frames[0].instruction_pointer_reference
        assert here is not None
        code = (await session.disassemble(here, 3)).instructions
        await session.clear_breakpoints()
        placed = await session.add_instruction_breakpoint(code[1].address)
        assert placed.verified
        hit = await session.resume()
        assert isinstance(hit, Stopped)
        assert (await stack(session, hit)).stack_frames[0].instruction_pointer_reference == code[1].address


async def test_program_that_does_not_exist_is_refused(lldb_dap: list[str]) -> None:
    async with Session.spawn(lldb_dap) as session:
        with pytest.raises(StartRefused, match=r"launch failed: .*no such program"):
            await session.launch({"program": "/no such program"})


@pytest.mark.thorough
async def test_program_in_a_terminal(lldb_dap: list[str], compiled: Compiled) -> None:
    async with Session.spawn(lldb_dap) as session:
        await session.add_breakpoint(SQUARES, COUNTED, condition="number == 3")
        # or it asks servers for the symbols of its own libraries, which without a network takes most of its 20 s
        offline = ["?settings clear plugin.symbol-locator.debuginfod.server-urls"]
        program = str(compiled("squares.c"))
        await session.launch({"program": program, "console": "integratedTerminal", "preRunCommands": offline})
        await session.next_stop()
        terminal = await session.wait_for_terminal()
        assert await session.resume() == Ended(5)
        await terminal.wait_for_output("total 14 other 49")


@pytest.mark.thorough
async def test_attached_program_survives_its_session(lldb_dap: list[str], compiled: Compiled, running: Running) -> None:
    program = running([str(compiled("waiting.c"))])
    async with Session.spawn(lldb_dap) as session:
        await session.add_breakpoint(PROGRAMS / "waiting.c", line_of("waiting.c", "ticks++"))
        await session.attach({"pid": program.pid})
        while (stop := await session.next_stop()).reason != "breakpoint":
            await session.continue_(stop.thread_id)
        assert (await stack(session, stop)).stack_frames[0].name == "main"


async def test_adapter_that_is_killed_is_reported_and_its_program_ends(lldb_dap: list[str], compiled: Compiled) -> None:
    async with Session.spawn(lldb_dap) as session:
        await session.add_breakpoint(SQUARES, COUNTED)
        await session.launch({"program": str(compiled("squares.c"))})
        stop = await session.next_stop()
        assert session.adapter_pid is not None
        os.kill(session.adapter_pid, signal.SIGKILL)
        with pytest.raises(AdapterDied) as caught:
            await session.stack_trace(stop.thread_id)
        assert caught.value.exit_code == -signal.SIGKILL


@pytest.mark.thorough
async def test_error_in_the_block_leaves_no_process(lldb_dap: list[str], compiled: Compiled) -> None:
    with pytest.raises(ZeroDivisionError):  # noqa: PT012 - the block is what is tested
        async with Session.spawn(lldb_dap) as session:
            await session.add_breakpoint(SQUARES, COUNTED)
            await session.launch({"program": str(compiled("squares.c"))})
            await session.next_stop()
            _ = 1 / 0


@pytest.mark.thorough
def test_nothing_is_left_when_we_are_killed(lldb_dap: list[str], compiled: Compiled) -> None:
    script = f"""
import anyio
from dapkit.client import Session
async def main():
    async with Session.spawn({lldb_dap!r}) as session:
        await session.add_breakpoint({str(SQUARES)!r}, {COUNTED})
        await session.launch({{"program": {str(compiled("squares.c"))!r}}})
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
