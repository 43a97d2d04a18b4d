"""Programs and adapters that make it hard: killed, deadlocked, very loud, let go."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import pytest

from client_fixtures import PROGRAMS
from dapkit.client import AdapterDied, BreakpointSpec, SourceLocation
from dapkit.client.routes import Spawned
from dapkit.protocol import EvaluateArguments, ScopesArguments, Source, StackTraceArguments, VariablesArguments
from dapkit.sessions.registry import SessionRegistry
from dapkit.sessions.session import DebugSession
from dapkit.sessions.start_spec import StartSpec
from dapkit.settings import Settings
from e2e.python.processes import kill
from fake_adapters import until
from hub_fixtures import DEBUGPY, OURS, at_text, python_start

SUMS = PROGRAMS / "sums.py"

both = pytest.mark.parametrize(
    "command", [OURS, pytest.param(DEBUGPY, marks=pytest.mark.each_adapter)], ids=["ours", "debugpy"]
)


async def value(session: DebugSession, expression: str, frame: int) -> str:
    asked = EvaluateArguments(expression=expression, frame_id=frame, context="watch")
    return (await session.requests.ask(asked)).result


@pytest.mark.thorough
@both
async def test_adapter_that_is_killed_ends_its_session_and_no_other(
    sessions: SessionRegistry, tmp_path: Path, command: Sequence[str]
) -> None:
    start = python_start(SUMS, at_text("sums.py", "total = left"), command=command)
    session = await sessions.open(tmp_path, start)
    await session.execution.wait()
    pid = session.state.target.session.adapter_pid
    assert pid is not None
    frame = await session.requests.frame()
    kill(pid)
    with pytest.raises(AdapterDied):
        await value(session, "left", frame)
    outcome = await session.execution.resume()
    assert outcome.state == "terminated"
    assert outcome.failure is not None
    assert "exit code -9" in outcome.failure
    other = await sessions.open(tmp_path, start)
    assert (await other.execution.wait()).state == "stopped"


async def test_program_that_is_killed_ends_its_session(sessions: SessionRegistry, tmp_path: Path) -> None:
    start = python_start(SUMS, at_text("sums.py", "total = left"))
    session = await sessions.open(tmp_path, start)
    await session.execution.wait()
    process = session.state.target.session.debugged_process
    assert process is not None
    assert process.system_process_id is not None
    kill(process.system_process_id)
    outcome = await session.execution.resume()
    assert (outcome.state, outcome.failure) == ("terminated", None)


@pytest.mark.thorough
async def test_loud_program_leaves_the_end_of_its_output(sessions: SessionRegistry, tmp_path: Path) -> None:
    program = tmp_path / "loud.py"
    program.write_text("line = 'x' * 99\nfor number in range(200_000):\n    print(line)\nprint('the end')\n")
    session = await sessions.open(tmp_path, python_start(program))
    assert (await session.execution.wait()).state == "terminated"
    read = session.output.read("stdout")
    assert read.text.endswith("the end\n")
    assert (len(read.text), read.lost) == (session.settings.output_bytes, 20_000_008 - session.settings.output_bytes)


DEADLOCK = """\
import threading

one, other = threading.Lock(), threading.Lock()
met = threading.Barrier(2)


def take(first, second):
    with first:
        met.wait()
        print("waiting\\n", end="", flush=True)
        with second:
            pass


threads = [threading.Thread(target=take, args=pair) for pair in ((one, other), (other, one))]
for thread in threads:
    thread.daemon = True
    thread.start()
for thread in threads:
    thread.join()
"""


async def test_deadlock_shows_where_each_thread_stands(sessions: SessionRegistry, tmp_path: Path) -> None:
    program = tmp_path / "deadlock.py"
    program.write_text(DEADLOCK)
    session = await sessions.open(tmp_path, python_start(program))
    assert "waiting\nwaiting\n" in (await session.wait_for_output("waiting\nwaiting\n")).text
    assert (await session.execution.pause()).state == "stopped"
    standing = []
    for thread in await session.requests.threads():
        frames = (await session.requests.ask(StackTraceArguments(thread_id=thread.id))).stack_frames
        standing += [frame.line for frame in frames if frame.name.startswith("take")]
    assert standing == [11, 11]
    await session.terminate()


TWO = """\
import threading


def work(number):
    met.wait()
    print("at", number, flush=True)
    return number


met = threading.Barrier(2)
threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


async def test_threads_that_stop_one_by_one_are_all_met(sessions: SessionRegistry, tmp_path: Path) -> None:
    program = tmp_path / "two.py"
    program.write_text(TWO)
    session = await sessions.open(
        tmp_path, python_start(program, BreakpointSpec(SourceLocation(program, 6)), stopAllThreads=False)
    )
    first = (await session.execution.wait()).stop
    assert first is not None
    await until(lambda: session.state.stop is not None and len(session.state.stop.remarks) == 1)
    stepped = (await session.execution.resume("next")).stop
    assert stepped is not None
    assert (stepped.reason, stepped.thread_id) == ("step", first.thread_id)
    second = (await session.execution.resume()).stop
    assert second is not None
    assert (second.reason, second.line, second.remarks) == ("breakpoint", 6, ())
    assert second.thread_id != first.thread_id
    assert (await session.execution.resume()).state == "terminated"


async def test_big_values_come_in_pages(sessions: SessionRegistry, tmp_path: Path) -> None:
    program = tmp_path / "big.py"
    program.write_text("numbers = list(range(1_000_000))\ntext = 'x' * 10_000_000\nprint(len(text))\n")
    session = await sessions.open(tmp_path, python_start(program, BreakpointSpec(SourceLocation(program, 3))))
    await session.execution.wait()
    scopes = (await session.requests.ask(ScopesArguments(frame_id=await session.requests.frame()))).scopes
    shown = await session.requests.ask(VariablesArguments(variables_reference=scopes[0].variables_reference))
    numbers = next(one for one in shown.variables if one.name == "numbers")
    assert numbers.indexed_variables == 1_000_000
    page = VariablesArguments(
        variables_reference=numbers.variables_reference, filter="indexed", start=999_990, count=10
    )
    assert [one.value for one in (await session.requests.ask(page)).variables][-1] == "999999"
    await session.terminate()


async def test_goto_moves_the_point_of_execution(sessions: SessionRegistry, tmp_path: Path) -> None:
    program = tmp_path / "jump.py"
    program.write_text("x = 1\nx = 2\nx = 3\nprint(x)\n")
    session = await sessions.open(tmp_path, python_start(program, BreakpointSpec(SourceLocation(program, 2))))
    await session.execution.wait()
    stop = (await session.execution.goto(Source(path=str(program)), 4)).stop
    assert stop is not None
    assert (stop.reason, stop.line) == ("goto", 4)
    await session.execution.resume()
    assert session.output.read("stdout").text == "1\n"


async def test_launched_program_that_is_let_go_runs_on(sessions: SessionRegistry, tmp_path: Path) -> None:
    program, done = tmp_path / "later.py", tmp_path / "done"
    program.write_text(f"go = 1\nopen({str(done)!r}, 'w').write('done')\n")
    session = await sessions.open(tmp_path, python_start(program, BreakpointSpec(SourceLocation(program, 2))))
    await session.execution.wait()
    await session.detach()
    assert (session.state.status, session.state.ending) == ("terminated", "the program was released")
    with anyio.fail_after(30):
        while not await anyio.Path(done).exists():  # noqa: ASYNC110 - a program that nobody holds tells nobody
            await anyio.sleep(0.01)


LISTENING = """\
import sys, dapkit
dapkit.listen({socket!r})
print("ready", flush=True)
dapkit.wait_for_client()
count = 0
while sys.stdin.readline():
    count += 1
print("done")
"""


async def test_attached_python_program_survives_terminate(
    sessions: SessionRegistry, tmp_path: Path, running: Callable[[list[str]], subprocess.Popen[str]]
) -> None:
    program, socket = tmp_path / "listening.py", str(tmp_path / "socket")
    program.write_text(LISTENING.format(socket=socket))
    process = running([sys.executable, str(program)])
    start = StartSpec(
        "python",
        Spawned(OURS),
        "attach",
        {"socket": socket},
        cwd=tmp_path,
        breakpoints=[BreakpointSpec(SourceLocation(program, text="count += 1"))],
    )
    session = await sessions.open(tmp_path, start)
    assert process.stdin is not None
    process.stdin.write("one line\n")
    process.stdin.flush()
    stop = (await session.execution.wait()).stop
    assert stop is not None
    assert stop.line == 7
    await session.terminate()
    assert session.state.ending == "the program was released"


@pytest.mark.thorough
async def test_adapter_whose_streams_others_hold_open_is_noticed_when_it_is_killed(tmp_path: Path) -> None:
    command = ["/bin/sh", "-c", f"sleep 60 & exec {sys.executable} -m dapkit.python"]
    start = python_start(SUMS, at_text("sums.py", "total = left"), command=command)
    async with SessionRegistry(Settings(session_heartbeat_seconds=0.1)) as sessions:
        session = await sessions.open(tmp_path, start)
        await session.execution.wait()
        pid = session.state.target.session.adapter_pid
        assert pid is not None
        kill(pid)
        outcome = await session.execution.resume()
        assert outcome.state == "terminated"
        assert outcome.failure is not None
        assert "exit code -9" in outcome.failure
