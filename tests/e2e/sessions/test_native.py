"""Sessions with LLDB and delve: threads, data breakpoints, pauses, attach, and what these adapters do differently."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from client_fixtures import PROGRAMS, line_of
from dapkit.catalog import Traits
from dapkit.client import BreakpointSpec, DataLocation, FunctionLocation, InstructionLocation, SourceLocation
from dapkit.client.routes import Listening, Spawned
from dapkit.endpoint import CapabilityMissing
from dapkit.protocol import (
    DataBreakpointInfoArguments,
    EvaluateArguments,
    ReadMemoryArguments,
    ScopesArguments,
    VariablesArguments,
)
from dapkit.sessions.errors import CannotRestart, StartFailed
from dapkit.sessions.registry import SessionRegistry
from dapkit.sessions.start_spec import StartSpec

type Compiled = Callable[[str], Path]
type Running = Callable[[list[str]], subprocess.Popen[str]]

SQUARES = PROGRAMS / "squares.c"
COUNTED = line_of("squares.c", "counter += 1")
MODULE = PROGRAMS / "squares"

BUILD_SECONDS = 120.0
"""The first build of a machine compiles Go's own library."""


def lldb_start(lldb_dap: list[str], program: Path, *breakpoints: BreakpointSpec, **configuration: object) -> StartSpec:
    return StartSpec(
        adapter="lldb-dap",
        route=Spawned(lldb_dap),
        request="launch",
        configuration={"program": str(program), **configuration},
        cwd=program.parent,
        program=str(program),
        traits=Traits(pause_signals=("SIGSTOP",)),
        breakpoints=breakpoints,
    )


@pytest.mark.thorough
async def test_whole_session_with_lldb(
    sessions: SessionRegistry, tmp_path: Path, lldb_dap: list[str], compiled: Compiled
) -> None:
    start = lldb_start(lldb_dap, compiled("squares.c"), BreakpointSpec(SourceLocation(SQUARES, text="counter += 1")))
    session = await sessions.open(tmp_path, start)
    stop = (await session.execution.wait()).stop
    assert stop is not None
    assert (stop.reason, stop.line, stop.frame_name, stop.hit_breakpoints) == ("breakpoint", COUNTED, "square", (1,))
    assert stop.instruction_pointer is not None

    frame = await session.requests.frame()
    scopes = (await session.requests.ask(ScopesArguments(frame_id=frame))).scopes
    locals_ = await session.requests.ask(VariablesArguments(variables_reference=scopes[0].variables_reference))
    assert {one.name: one.value for one in locals_.variables} == {"number": "1", "result": "1"}

    watched = await session.requests.ask(DataBreakpointInfoArguments(name="&counter", frame_id=frame))
    assert watched.data_id is not None
    await session.breakpoints.clear()
    placed = await session.breakpoints.set(BreakpointSpec(DataLocation(watched.data_id, "write")))
    assert placed.verified
    hit = (await session.execution.resume()).stop
    assert hit is not None
    assert hit.hit_breakpoints in ((placed.number,), ())
    await session.breakpoints.clear()

    function = await session.breakpoints.set(BreakpointSpec(FunctionLocation("work")))
    other = (await session.execution.resume()).stop
    assert other is not None
    assert (other.frame_name, other.hit_breakpoints) == ("work", (function.number,))
    await session.breakpoints.clear()

    pointer = (
        await session.requests.ask(EvaluateArguments(expression="&counter", frame_id=await session.requests.frame()))
    ).result
    memory = await session.requests.ask(ReadMemoryArguments(memory_reference=pointer.split()[-1], count=4))
    assert memory.data
    ended = await session.execution.resume()
    assert (ended.state, ended.exit_code) == ("terminated", 5)
    assert "total 14 other 49" in session.output.read("stdout").text


async def test_function_breakpoint_logs_though_the_protocol_has_no_messages_for_it(
    sessions: SessionRegistry, tmp_path: Path, lldb_dap: list[str], compiled: Compiled
) -> None:
    spec = BreakpointSpec(FunctionLocation("square"), condition="number > 1", log_message="square of {number}")
    session = await sessions.open(tmp_path, lldb_start(lldb_dap, compiled("squares.c"), spec))
    ended = await session.execution.wait()
    assert (ended.state, ended.exit_code) == ("terminated", 5)
    logged = [line for line in session.output.read("console").text.splitlines() if line.startswith("square of")]
    assert logged == ["square of 2", "square of 3", "square of 7"]
    assert session.state.stops == 0
    assert session.breakpoints.get(1).hits == 3


async def test_pause_with_lldb_is_a_pause(
    sessions: SessionRegistry, tmp_path: Path, lldb_dap: list[str], compiled: Compiled
) -> None:
    session = await sessions.open(tmp_path, lldb_start(lldb_dap, compiled("waiting.c")))
    await session.wait_for_output("ready")
    paused = await session.execution.pause()
    assert paused.stop is not None
    assert (paused.stop.reason, paused.stop.description) == ("pause", "signal SIGSTOP")
    await session.terminate()
    assert session.state.status == "terminated"


async def test_whole_session_with_gdb(
    sessions: SessionRegistry, tmp_path: Path, gdb: list[str], compiled: Compiled
) -> None:
    program = compiled("squares.c")
    start = StartSpec(
        adapter="gdb",
        route=Spawned(gdb),
        request="launch",
        configuration={"program": str(program)},
        cwd=program.parent,
        breakpoints=[
            BreakpointSpec(SourceLocation(SQUARES, text="counter += 1"), condition="number == 2"),
            BreakpointSpec(FunctionLocation("work")),
            BreakpointSpec(SourceLocation(SQUARES, text="int result ="), log_message="n={number}\n"),
        ],
    )
    session = await sessions.open(tmp_path, start)
    stop = (await session.execution.wait()).stop
    assert stop is not None
    assert (stop.reason, stop.line, stop.frame_name, stop.hit_breakpoints) == ("breakpoint", COUNTED, "square", (1,))
    # They began as pending, and gdb has verified them by events.
    assert [(placed.verified, placed.remarks) for placed in session.breakpoints] == [(True, ())] * 3
    # A `repl` would be a command of gdb.
    asked = EvaluateArguments(expression="number + 40", frame_id=await session.requests.frame(), context="watch")
    assert (await session.requests.ask(asked)).result == "42"
    stepped = (await session.execution.resume("next")).stop
    assert stepped is not None
    assert (stepped.reason, stepped.line) == ("step", COUNTED + 1)
    other = (await session.execution.resume()).stop
    assert other is not None
    assert (other.frame_name, other.thread_id, other.hit_breakpoints) == ("work", 2, (2,))
    assert sorted(thread.id for thread in await session.requests.threads()) == [1, 2]
    ended = await session.execution.resume()
    assert (ended.state, ended.exit_code) == ("terminated", 5)
    shown = session.output.read("console", "stdout").text
    assert "n=1" in shown
    assert "total 14 other 49" in session.output.read().text


LATE_READER = """python
def _has_output(milliseconds=None, before=_has_output):
    return threading.Event().wait() if milliseconds is None else before(milliseconds)
"""
"""Has the thread of gdb's adapter that reads the output take no more than one piece of it, as on a busy machine."""


@pytest.mark.parametrize("words", [[], ["-iex", LATE_READER]], ids=["", "reader is late"])
async def test_output_under_gdb_is_whole_when_the_program_has_ended(
    sessions: SessionRegistry, tmp_path: Path, gdb: list[str], compiled: Compiled, words: list[str]
) -> None:
    program = compiled("unended.c")
    start = StartSpec("gdb", Spawned([*gdb, *words]), "launch", {"program": str(program)}, cwd=program.parent)
    session = await sessions.open(tmp_path, start)
    assert (await session.execution.wait()).state == "terminated"
    assert session.output.read("stdout").text == "a line\nanother line\n\ufffd and no line end"


async def test_running_program_under_gdb_is_paused_without_a_list_of_threads(
    sessions: SessionRegistry, tmp_path: Path, gdb: list[str], compiled: Compiled
) -> None:
    program = compiled("spinning.c")
    start = StartSpec("gdb", Spawned(gdb), "launch", {"program": str(program)}, cwd=program.parent)
    session = await sessions.open(tmp_path, start)
    assert (await session.execution.resume(deadline=0.05)).timed_out
    paused = await session.execution.pause()
    assert paused.stop is not None
    assert paused.stop.reason == "pause"
    await session.terminate()


@pytest.mark.thorough
async def test_instruction_breakpoint_does_not_survive_a_restart(
    sessions: SessionRegistry, tmp_path: Path, lldb_dap: list[str], compiled: Compiled
) -> None:
    start = lldb_start(lldb_dap, compiled("squares.c"), BreakpointSpec(SourceLocation(SQUARES, COUNTED)))
    session = await sessions.open(tmp_path, start)
    first = (await session.execution.wait()).stop
    assert first is not None
    assert first.instruction_pointer is not None
    placed = await session.breakpoints.set(BreakpointSpec(InstructionLocation(first.instruction_pointer)))
    assert placed.verified
    await session.restart()
    stop = (await session.execution.wait()).stop
    assert stop is not None
    assert (stop.number, stop.reason, stop.line) == (2, "breakpoint", COUNTED)
    assert "earlier run" in session.breakpoints.get(placed.number).remarks[0]
    await session.terminate()


async def test_attached_program_is_released_by_terminate(
    sessions: SessionRegistry, tmp_path: Path, lldb_dap: list[str], compiled: Compiled, running: Running
) -> None:
    program = running([str(compiled("waiting.c"))])
    start = StartSpec("lldb-dap", Spawned(lldb_dap), "attach", {"pid": program.pid}, cwd=tmp_path)
    session = await sessions.open(tmp_path, start)
    assert (await session.execution.pause()).stop is not None
    with pytest.raises(CannotRestart):
        await session.restart()
    await session.terminate()
    assert (session.state.status, session.state.ending) == ("terminated", "the program was released")
    assert program.poll() is None


@pytest.mark.timeout(180)
async def test_whole_session_with_delve(
    sessions: SessionRegistry, tmp_path: Path, require_tool: Callable[[str], Path]
) -> None:
    require_tool("go")
    dlv = str(require_tool("dlv"))
    start = StartSpec(
        adapter="dlv",
        route=Listening([dlv, "dap", "--listen=127.0.0.1:${port}"], MODULE),
        request="launch",
        configuration={"program": ".", "mode": "debug", "output": str(tmp_path / "squares")},
        cwd=MODULE,
        breakpoints=[BreakpointSpec(SourceLocation(MODULE / "main.go", text="return result"), condition="number == 3")],
    )
    session = await sessions.open(tmp_path, start, deadline=BUILD_SECONDS)
    stop = (await session.execution.wait()).stop
    assert stop is not None
    assert (stop.reason, stop.frame_name, stop.hit_breakpoints) == ("breakpoint", "main.square", (1,))
    asked = EvaluateArguments(expression="result", frame_id=await session.requests.frame(), context="watch")
    assert (await session.requests.ask(asked)).result == "9"
    with pytest.raises(CapabilityMissing):
        await session.requests.ask(ReadMemoryArguments(memory_reference="0x0", count=1))
    await session.breakpoints.clear()
    assert (await session.execution.resume()).state == "terminated"
    assert "total 14" in session.output.read().text


@pytest.mark.timeout(180)
async def test_errors_of_a_build_stand_in_the_error_of_the_start(
    sessions: SessionRegistry, tmp_path: Path, require_tool: Callable[[str], Path]
) -> None:
    require_tool("go")
    dlv = str(require_tool("dlv"))
    (tmp_path / "go.mod").write_text("module broken\n")
    (tmp_path / "main.go").write_text("package main\n\nfunc main() { undefinedName() }\n")
    start = StartSpec(
        adapter="dlv",
        route=Listening([dlv, "dap", "--listen=127.0.0.1:${port}"], tmp_path),
        request="launch",
        configuration={"program": ".", "mode": "debug", "output": str(tmp_path / "broken")},
        cwd=tmp_path,
    )
    with pytest.raises(StartFailed, match="undefined: undefinedName"):
        await sessions.open(tmp_path, start, deadline=BUILD_SECONDS)
