"""`attach`: to programs that listen, and by programs that connect; again and again."""

import json
import shutil
import signal
import sys
from pathlib import Path

import anyio
import pytest

from dapkit.client import Session, StartRefused
from dapkit.protocol import (
    DisassembleArguments,
    DisconnectArguments,
    OutputEvent,
    ProcessEvent,
    StoppedEvent,
    TerminatedEvent,
    ThreadEvent,
)
from e2e.python.listening_program import SOURCES, Listening, client, running
from e2e.python.processes import ended
from e2e.python.raw_client import raw_client
from e2e.taken_descriptors import TAKES_ALL

pytestmark = pytest.mark.row("attach")

LOOP = """
    import os, sys, time
    import dapkit

    dapkit.listen()
    count = 0
    while not os.path.exists("go"):
        count += 1
        time.sleep(0.01)
    tool = sys.monitoring.get_tool(3)
    print("tool", tool, "threads", len(sys._current_frames()), flush=True)
    print("events", sys.monitoring.get_events(3) if tool else 0, flush=True)
"""
INSIDE = 7
"""A line in the loop."""


async def attach(session: Session, program: Listening, *lines: int, **more: object) -> None:
    for line in lines:
        await session.add_breakpoint(program.file, line)
    await session.attach({**program.connect, **more})


async def top(session: Session) -> tuple[str, int]:
    [frame, *_] = (await session.stack_trace(1)).stack_frames
    return frame.name, frame.line


async def value(session: Session, expression: str) -> str:
    """Evaluate in the frame of the module; the newest one may be in a function of a library."""
    [*_, frame] = (await session.stack_trace(1)).stack_frames
    return (await session.evaluate(expression, frame_id=frame.id)).result


@pytest.mark.each_python
async def test_program_is_attached_to_several_times_and_runs_on_each_time(tmp_path: Path, python: str) -> None:
    counts = []
    with running(LOOP, tmp_path, python) as program:
        program.read_place()
        for _ in range(3):
            async with client() as session:
                await attach(session, program, INSIDE)
                assert (await session.next_stop()).reason == "breakpoint"
                assert await top(session) == ("<module>", INSIDE)
                counts.append(int(await value(session, "count")))
                await session.detach()
        program.go()
        assert program.line() == "tool None threads 1"
        assert program.line() == "events 0"
        assert program.process.wait(30) == 0
    assert counts == sorted(counts)
    assert len(set(counts)) == 3


@pytest.mark.each_python
async def test_debugger_of_a_program_that_waits_reads_no_file_when_a_client_comes(tmp_path: Path, python: str) -> None:
    package = tmp_path / "lib" / "dapkit"
    shutil.copytree(SOURCES / "dapkit", package, ignore=shutil.ignore_patterns("__pycache__"))
    with running(LOOP, tmp_path, python, env={"PYTHONPATH": str(package.parent)}) as program:
        program.read_place()
        shutil.rmtree(package.parent, ignore_errors=True)  # Windows keeps what is loaded: the extension
        assert not list(package.rglob("*.py"))
        async with client() as session:
            await attach(session, program, INSIDE)
            await session.next_stop()
            [frame, *_] = (await session.stack_trace(1)).stack_frames
            assert (await value(session, "count")).isdecimal()
            assert (await session.completions("cou", 4, frame_id=frame.id)).targets[0].label == "count"
            place = frame.instruction_pointer_reference
            code = await session.request(DisassembleArguments(memory_reference=str(place), instruction_count=1))
            assert code.instructions[0].address == place
            await session.detach()
        program.go()
        assert program.process.wait(30) == 0


@pytest.mark.thorough
async def test_program_whose_folder_was_removed_is_attached_to(tmp_path: Path) -> None:
    moved = LOOP.replace("import dapkit\n", "import dapkit\n    home = os.getcwd()\n", 1)
    moved = moved.replace("dapkit.listen()", "os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); dapkit.listen()")
    moved = moved.replace('exists("go")', 'exists(home + "/go")')
    with running(moved, tmp_path, sys.executable) as program:
        program.read_place()
        async with client() as session:
            await attach(session, program, INSIDE + 1)
            assert (await session.next_stop()).reason == "breakpoint"
            assert await top(session) == ("<module>", INSIDE + 1)
            await session.detach()
        program.go()
        assert program.line() == "tool None threads 1"


@pytest.mark.thorough
async def test_program_and_its_threads_are_told_of_before_it_stops(tmp_path: Path) -> None:
    """An editor takes a thread that it is told of for one that runs."""
    busy = LOOP.replace("time.sleep(0.01)", "pass")
    with running(busy, tmp_path, sys.executable) as program:
        program.read_place()
        async with raw_client() as raw:
            await raw.ask("initialize", {"adapterID": "dapkit"})
            await raw.send("attach", program.connect)
            await raw.event("initialized")
            place = {"source": {"path": str(program.file)}, "breakpoints": [{"line": INSIDE}]}
            await raw.ask("setBreakpoints", place)
            await raw.ask("configurationDone")
            await raw.event("stopped")
            await raw.event("thread")
            events = [message["event"] for message in raw.heard if message["type"] == "event"]
            wanted = [event for event in events if event in ("process", "thread", "stopped")]
            assert wanted == ["process", "thread", "stopped"]
        program.go()
        assert program.process.wait(30) == 0


async def test_values_are_shown_by_the_presenters_that_attach_names(tmp_path: Path) -> None:
    (tmp_path / "shown.py").write_text("PRESENTERS = {'sys.version_info': lambda version: f'Python {version[0]}'}\n")
    with running(LOOP, tmp_path, sys.executable) as program:
        program.read_place()
        async with client() as session:
            await attach(session, program, INSIDE, presenters=[str(tmp_path / "shown.py")])
            assert (await session.next_stop()).reason == "breakpoint"
            assert await value(session, "sys.version_info") == "Python 3"


async def test_client_that_leaves_lets_the_program_run_on_by_default(tmp_path: Path, python: str) -> None:
    with running(LOOP, tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            await attach(session, program, INSIDE)
            await session.next_stop()
        program.go()
        assert program.process.wait(30) == 0


@pytest.mark.thorough
async def test_program_that_a_signal_has_stopped_is_reported(tmp_path: Path) -> None:
    with running(LOOP, tmp_path, sys.executable) as program:
        program.read_place()
        async with raw_client() as raw:
            await raw.initialize()
            await raw.send("attach", program.connect)
            await raw.event("initialized")
            await raw.ask("configurationDone")
            program.process.send_signal(signal.SIGSTOP)
            await raw.event("output", category="important")
            assert "is stopped by a signal" in (await raw.ask("threads"))["message"]
            program.process.send_signal(signal.SIGCONT)
            await raw.event("output", output="The program was continued.\n")
            assert (await raw.ask("threads"))["success"]


@pytest.mark.thorough
async def test_client_may_leave_a_program_that_a_signal_has_stopped(tmp_path: Path) -> None:
    with running(LOOP, tmp_path, sys.executable) as program:
        program.read_place()
        async with raw_client() as raw:
            await raw.initialize()
            await raw.send("attach", program.connect)
            await raw.event("initialized")
            await raw.ask("configurationDone")
            program.process.send_signal(signal.SIGSTOP)
            await raw.event("output", category="important")
            assert (await raw.ask("disconnect"))["success"]
            await raw.event("terminated")
        program.process.send_signal(signal.SIGCONT)
        program.go()
        assert program.process.wait(30) == 0


@pytest.mark.thorough
async def test_adapter_that_is_killed_lets_the_program_run_on(tmp_path: Path) -> None:
    with running(LOOP, tmp_path, sys.executable) as program:
        program.read_place()
        async with raw_client() as raw:
            await raw.initialize()
            await raw.send("attach", program.connect)
            await raw.event("initialized")
            await raw.ask("configurationDone")
            await raw.ask("pause", {"threadId": 1})
            await raw.event("stopped")
            raw.kill()
            await raw.adapter.wait()
        program.go()
        assert program.process.wait(30) == 0


@pytest.mark.thorough
async def test_what_is_attached_to_is_told(tmp_path: Path) -> None:
    with running(LOOP, tmp_path, sys.executable) as program:
        program.read_place()
        async with client() as session:
            await attach(session, program)
            process = await session.wait_for(ProcessEvent, since=0)
            thread = await session.wait_for(ThreadEvent, since=0)
    assert (process.start_method, process.system_process_id) == ("attach", program.process.pid)
    assert (thread.reason, thread.thread_id) == ("started", 1)


async def test_end_of_the_program_ends_the_session(tmp_path: Path, python: str) -> None:
    with running(LOOP, tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            await attach(session, program)
            program.go()
            await session.wait_for(TerminatedEvent)
        assert program.process.wait(30) == 0
        assert not program.token_file.exists()


@pytest.mark.thorough
async def test_disconnect_can_end_the_program(tmp_path: Path) -> None:
    with running(LOOP, tmp_path, sys.executable) as program:
        program.read_place()
        async with client() as session:
            await attach(session, program)
            await session.disconnect(terminate_debuggee=True)
        await ended(program.process.pid)


@pytest.mark.each_python
async def test_terminate_interrupts_the_program(tmp_path: Path, python: str) -> None:
    with running(LOOP, tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            await attach(session, program)
            await session.terminate()
            await session.wait_until_ended()
        assert program.process.wait(30) == -signal.SIGINT
        assert "KeyboardInterrupt" in (program.process.stderr.read() if program.process.stderr else "")


async def test_restart_attaches_again(tmp_path: Path, python: str) -> None:
    with running(LOOP, tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            await attach(session, program, INSIDE)
            await session.next_stop()
            before = int(await value(session, "count"))
            await session.restart()
            await session.next_stop()
            assert int(await value(session, "count")) > before


@pytest.mark.thorough
async def test_program_stays_suspended_until_the_next_client(tmp_path: Path, python: str) -> None:
    with running(LOOP, tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            await attach(session, program, INSIDE)
            await session.next_stop()
            before = await value(session, "count")
            await session.request(DisconnectArguments(suspend_debuggee=True))
        async with client() as session:
            await attach(session, program)
            stop = await session.next_stop()
            assert (stop.reason, await top(session)) == ("pause", ("<module>", INSIDE))
            assert await value(session, "count") == before
            await session.next(1)
            await session.next_stop()
            assert await top(session) == ("<module>", INSIDE + 1)
        program.go()
        assert program.process.wait(30) == 0


@pytest.mark.thorough
async def test_program_that_was_left_suspended_in_breakpoint_runs_on_after_the_next_client(
    tmp_path: Path, python: str
) -> None:
    text = """
        import dapkit
        dapkit.listen()
        dapkit.wait_for_client()
        dapkit.breakpoint()
        x = 1
    """
    with running(text, tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            await session.attach(program.connect)
            assert (await session.next_stop()).reason == "breakpoint"
            await session.request(DisconnectArguments(suspend_debuggee=True))
        async with client() as session:
            await session.attach(program.connect)
            assert (await session.next_stop()).reason == "pause"
            await session.detach()
        assert program.process.wait(30) == 0


@pytest.mark.thorough
async def test_running_program_can_be_left_suspended_too(tmp_path: Path, python: str) -> None:
    with running(LOOP, tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            await attach(session, program)
            await session.request(DisconnectArguments(suspend_debuggee=True))
        program.go()
        async with client() as session:
            await attach(session, program)
            assert (await session.next_stop()).reason == "pause"
        assert program.process.wait(30) == 0


@pytest.mark.thorough
async def test_threads_that_stop_alone_stay_suspended_with_all_others(tmp_path: Path, python: str) -> None:
    text = """
        import threading, os, time
        import dapkit

        dapkit.listen()
        counts = [0, 0]
        def work():
            while not os.path.exists("go"):
                counts[0] += 1
                time.sleep(0.001)
        thread = threading.Thread(target=work)
        thread.start()
        while not os.path.exists("go"):
            counts[1] += 1
            time.sleep(0.001)
        thread.join()
    """
    with running(text, tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            await attach(session, program, 8, stopAllThreads=False)
            stop = await session.next_stop()
            assert (stop.reason, stop.event.all_threads_stopped) == ("breakpoint", False)
            await session.request(DisconnectArguments(suspend_debuggee=True))
        async with client() as session:
            await attach(session, program)
            stop = await session.next_stop()
            assert (stop.reason, stop.event.all_threads_stopped) == ("pause", True)
            before = await value(session, "counts")
            assert await value(session, "counts") == before
            await session.request(DisconnectArguments(suspend_debuggee=True))
        async with client() as session:
            await attach(session, program, stopAllThreads=False)
            seen = session.events(since=0)
            stops = [await seen.next(StoppedEvent) for _ in range(2)]
            assert [stop.all_threads_stopped for stop in stops] == [False, False]
            assert len({stop.thread_id for stop in stops}) == 2
        program.go()
        assert program.process.wait(30) == 0


@pytest.mark.thorough
async def test_second_client_is_refused_while_one_is_attached(tmp_path: Path) -> None:
    with running(LOOP, tmp_path, sys.executable) as program:
        program.read_place()
        async with client() as first, client() as second:
            await attach(first, program, INSIDE)
            await first.next_stop()
            with pytest.raises(StartRefused, match="another client is attached to the program, and only one can be"):
                await attach(second, program)
            assert await top(first) == ("<module>", INSIDE)


@pytest.mark.thorough
async def test_another_tool_in_the_place_of_the_debugger_is_named(tmp_path: Path) -> None:
    text = "import sys\nsys.monitoring.use_tool_id(4, 'another')\n" + LOOP.replace("\n    ", "\n")
    with running(text, tmp_path, sys.executable) as program:
        program.read_place()
        async with client() as session:
            with pytest.raises(StartRefused, match=r"in use by another \(another\)"):
                await attach(session, program)
        program.go()
        assert program.process.wait(30) == 0


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("snippet", "remark"),
    [
        (
            '{"name": "A", "type": "debugpy", "request": "attach", "connect": {"host": "localhost", "port": PORT}}',
            "",
        ),
        ('{"type": "python", "request": "attach", "host": "127.0.0.1", "port": PORT, "justMyCode": true}', ""),
        (
            """{"name": "Python Debugger: Remote Attach", "type": "debugpy", "request": "attach",
            "connect": {"host": "localhost", "port": PORT},
            "pathMappings": [{"localRoot": "FOLDER", "remoteRoot": "."}], "justMyCode": false,
            "subProcess": false, "django": true, "presentation": {"hidden": false}, "__sessionId": "1"}""",
            "",
        ),
    ],
)
async def test_configurations_for_debugpy_work_unchanged(
    tmp_path: Path, snippet: str, remark: str, python: str
) -> None:
    with running(LOOP, tmp_path, python) as program:
        program.read_place()
        configuration = json.loads(snippet.replace("PORT", str(program.port)).replace("FOLDER", str(tmp_path)))
        async with client() as session:
            await session.add_breakpoint(program.file, INSIDE)
            await session.attach(configuration)
            await session.next_stop()
            assert await top(session) == ("<module>", INSIDE)
            assert session.output.read("console").text == remark


async def test_paths_of_the_program_are_those_of_the_client(tmp_path: Path) -> None:
    with running(LOOP, tmp_path, sys.executable) as program:
        program.read_place()
        mapping = [{"localRoot": "/elsewhere", "remoteRoot": "."}]
        async with client() as session:
            await session.add_breakpoint("/elsewhere/prog.py", INSIDE)
            await session.attach({**program.connect, "pathMappings": mapping})
            await session.next_stop()
            [frame, *_] = (await session.stack_trace(1)).stack_frames
            assert frame.source is not None
            assert frame.source.path == "/elsewhere/prog.py"


async def test_output_is_told_if_that_is_wanted(tmp_path: Path, python: str) -> None:
    text = """
        import os, time
        import dapkit
        dapkit.listen()
        dapkit.wait_for_client()
        print("hello", flush=True)
        while not os.path.exists("go"):
            time.sleep(0.01)
        print("end", flush=True)
    """
    with running(text, tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            await attach(session, program, redirectOutput=True)
            heard = session.events(since=0)
            while not session.output.read("stdout").text.endswith("\n"):
                await heard.next(OutputEvent)
            await session.detach()
        program.go()
        assert (program.line(), program.line()) == ("hello", "end")
        assert program.process.wait(30) == 0
        assert session.output.read("stdout").text == "hello\n"


# The other way round


async def test_program_connects_to_an_adapter_that_waits(tmp_path: Path, python: str) -> None:
    text = """
        import sys, dapkit
        dapkit.connect(int(sys.argv[1]))
        x = 1
        print("done")
    """
    async with client() as session, anyio.create_task_group() as tasks:
        await session.add_breakpoint(tmp_path / "prog.py", 3)
        tasks.start_soon(session.attach, {"listen": {"port": 0}})
        told = await session.wait_for(OutputEvent, since=0)
        port = told.output.partition("127.0.0.1', ")[2].partition(")")[0]
        with running(text, tmp_path, python, port) as program:
            assert (await session.next_stop()).reason == "breakpoint"
            await session.resume()
            assert program.process.wait(30) == 0


@pytest.mark.each_python
async def test_program_that_connects_does_not_hang_when_its_debugger_goes(tmp_path: Path, python: str) -> None:
    text = """
        import sys, dapkit
        try:
            dapkit.connect(int(sys.argv[1]))
        except RuntimeError as error:
            print(error)
    """
    async with raw_client() as raw:
        await raw.initialize()
        await raw.send("attach", {"listen": {"port": 0}})
        told = await raw.event("output")
        port = told["output"].partition("127.0.0.1', ")[2].partition(")")[0]
        with running(text, tmp_path, python, port) as program:
            await raw.event("initialized")
            assert program.process.poll() is None  # it waits
            await raw.ask("disconnect")
            assert program.line() == "the debugger left before it had configured its session"
            assert program.process.wait(30) == 0


@pytest.mark.thorough
async def test_waiting_for_a_program_is_a_progress_that_can_be_cancelled() -> None:
    async with raw_client() as raw:
        await raw.initialize(supportsProgressReporting=True)
        attach = await raw.send("attach", {"listen": {"port": 0}})
        progress = await raw.event("progressStart")
        assert progress["title"] == "Waiting for the program"
        assert progress["requestId"] == attach
        assert progress["cancellable"] is True
        await raw.ask("cancel", {"progressId": progress["progressId"]})
        answer = await raw.answer(attach)
        assert (answer["success"], answer["message"]) == (False, "cancelled")
        assert (await raw.event("progressEnd"))["progressId"] == progress["progressId"]
        launch = await raw.send("launch", {"code": "print(1)"})
        await raw.event("initialized")
        await raw.ask("configurationDone")
        assert (await raw.answer(launch))["success"]


@pytest.mark.thorough
async def test_cancelled_launch_leaves_nothing_behind() -> None:
    async with raw_client() as raw:
        await raw.initialize()
        launch = await raw.send("launch", {"code": "import time; time.sleep(60)"})
        await raw.event("initialized")
        await raw.ask("cancel", {"requestId": launch})
        answer = await raw.answer(launch)
        assert (answer["success"], answer["message"]) == (False, "cancelled")
        assert not (await raw.ask("threads"))["success"]
        raw.heard.clear()
        again = await raw.send("launch", {"code": "print('again')"})
        await raw.event("initialized")
        await raw.ask("configurationDone")
        assert (await raw.answer(again))["success"]
        await raw.event("terminated")
        assert raw.output("stdout") == "again\n"


async def test_program_that_closes_all_descriptors_while_it_listens_goes_on_and_keeps_its_files(
    tmp_path: Path, python: str
) -> None:
    text = (
        "import os, resource, dapkit\ndapkit.listen(0)\n"
        + TAKES_ALL
        + "print(os.fstat(file).st_size, len({os.fstat(number).st_ino for number in numbers}))\n"
    )
    with running(text, tmp_path, python) as program:
        program.read_place()
        assert program.process.wait(30) == 0
        assert program.line() == "0 1"
