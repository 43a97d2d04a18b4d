"""How a program ends, by itself or because it is asked to, and what the client hears of it."""

import signal
from pathlib import Path

import pytest

from dapkit.client import Ended, Session
from dapkit.endpoint import RequestFailed
from dapkit.protocol import OutputEvent, TerminatedEvent
from e2e.python.adapter_client import ADAPTER, AdapterClient, adapter_client
from e2e.python.processes import command_line, computing, descendants, ended, kill, only_line, process_of, runs
from e2e.python.raw_client import raw_client

WAITS = """
    import time
    try:
        print("ready", flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        print("interrupted")
    finally:
        print("cleaned up")
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("pass", 0),
        ("import sys; sys.exit(3)", 3),
        ("raise SystemExit('why')", 1),
        ("1 / 0", 1),
        ("import os; os._exit(7)", 7),
        ("import os; os.kill(os.getpid(), 9)", 137),
        ("import os; os.abort()", 134),
        ("import threading, os; threading.Thread(target=lambda: os._exit(5)).start(); threading.Event().wait()", 5),
        ("raise KeyboardInterrupt", 130),
        ("1 +", 1),
    ],
)
async def test_exit_code_is_that_of_a_shell(driver: AdapterClient, program: str, code: int) -> None:
    await driver.session.break_on_exceptions()
    assert await driver.run(program) == Ended(code)


@pytest.mark.each_python
async def test_exit_code_is_told_in_each_python_version(driver: AdapterClient, python: str) -> None:
    await driver.session.break_on_exceptions()
    assert await driver.run("import sys; sys.exit(3)", python=python) == Ended(3)


@pytest.mark.each_python
async def test_interpreter_ends_as_usual_after_an_uncaught_exception(driver: AdapterClient, python: str) -> None:
    # CPython uses the dict of its own `__main__` once more there. A collection frees it; freed memory is overwritten;
    # without many free dicts it would be kept for the next one.
    frees = "import gc; x = [{} for _ in range(1000)]\ndel x; gc.set_threshold(1)\n1 / 0\n"
    await driver.start(frees, 2, python=python, env={"PYTHONMALLOC": "debug"})
    await driver.session.next_stop()
    await driver.resume()  # to the exception
    assert await driver.resume() == Ended(1)
    assert driver.output("stderr").splitlines()[0] == "Traceback (most recent call last):"
    assert driver.output("stderr").splitlines()[-1] == "ZeroDivisionError: division by zero"


async def test_signal_that_ended_the_program_is_told_in_words(driver: AdapterClient) -> None:
    await driver.run("import os; os.kill(os.getpid(), 11)")
    assert driver.output("console") == (
        "The program was ended by SIGSEGV. "
        "With PYTHONFAULTHANDLER=1 in its environment, Python writes its stack to stderr before that.\n"
    )


async def test_syntax_error_is_reported_as_without_a_debugger(driver: AdapterClient) -> None:
    assert await driver.run("x = = 1\n") == Ended(1)
    assert driver.output("stderr").startswith(f'  File "{driver.file}", line 1\n    x = = 1\n')
    assert driver.output("stderr").endswith("SyntaxError: invalid syntax\n")


async def test_all_output_comes_before_exited_and_that_before_terminated() -> None:
    async with raw_client() as client:
        await client.start(code="import os; print('a' * 300_000); os.write(1, b'end')")
        await client.event("terminated")
    assert [message["event"] for message in client.heard if message["type"] == "event"][-3:] == [
        "output",
        "exited",
        "terminated",
    ]
    assert client.output("stdout") == "a" * 300_000 + "\nend"


@pytest.mark.each_python
async def test_terminate_interrupts_and_the_program_cleans_up(driver: AdapterClient, python: str) -> None:
    await driver.start(WAITS, python=python)
    await only_line(driver)
    await driver.session.terminate()
    await driver.session.wait_until_ended()
    assert driver.output("stdout") == "ready\ninterrupted\ncleaned up\n"


@pytest.mark.usefixtures("in_background")
@pytest.mark.parametrize("console", ["internalConsole", "integratedTerminal"])
@pytest.mark.thorough
async def test_terminate_interrupts_the_program_of_an_editor_in_the_background(tmp_path: Path, console: str) -> None:
    async with adapter_client(tmp_path) as driver:
        await driver.start(WAITS, console=console, redirectOutput=True)
        await only_line(driver)
        await driver.session.terminate()
        await driver.session.wait_until_ended()
        assert driver.output("stdout") == "ready\ninterrupted\ncleaned up\n"


async def test_program_ignores_no_signal_that_its_adapter_ignores(tmp_path: Path) -> None:
    ignoring = ["/bin/sh", "-c", "trap '' INT QUIT HUP; exec \"$@\"", "sh"]
    async with Session.spawn([*ignoring, *ADAPTER]) as session:
        driver = AdapterClient(session, tmp_path)
        await driver.run("from signal import *; print([getsignal(n) == SIG_DFL for n in (SIGQUIT, SIGHUP)])")
        assert driver.output("stdout") == "[True, True]\n"


async def test_terminate_at_a_breakpoint_cleans_up_without_another_stop(driver: AdapterClient) -> None:
    await driver.start("try:\n    x = 1\nfinally:\n    print('cleaned up')\n", 2, 4)
    await driver.session.next_stop()
    await driver.session.terminate()
    assert await driver.session.wait_until_ended() == Ended(130)
    assert driver.output("stdout") == "cleaned up\n"


@pytest.mark.each_python
async def test_interruption_of_ours_is_not_reported(driver: AdapterClient, python: str) -> None:
    await driver.start("x = 1\n", 1, python=python)
    await driver.session.next_stop()
    await driver.session.terminate()
    assert await driver.session.wait_until_ended() == Ended(130)
    assert driver.output("stdout", "stderr", "console") == ""


async def test_program_may_report_the_interruption_itself(driver: AdapterClient) -> None:
    text = "import sys\nsys.excepthook = lambda kind, *_: print('end by', kind.__name__)\nx = 1\n"
    await driver.start(text, 3)
    await driver.session.next_stop()
    await driver.session.terminate()
    assert await driver.session.wait_until_ended() == Ended(130)
    assert driver.output("stdout") == "end by KeyboardInterrupt\n"


async def test_second_terminate_kills(driver: AdapterClient) -> None:
    await driver.start("""
        import time
        while True:
            try:
                print("ready", flush=True)
                time.sleep(60)
            except KeyboardInterrupt:
                pass
    """)
    await only_line(driver)
    await driver.session.terminate()
    await driver.session.terminate()
    assert await driver.session.wait_until_ended() == Ended(137)


@pytest.mark.row("restart, terminate, disconnect")
async def test_program_that_ignores_interrupts_gets_sigterm(driver: AdapterClient, python: str) -> None:
    program = """
        import signal, sys, time
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
        print("ready", flush=True)
        while True:  # a signal just before a long sleep would be handled after it
            time.sleep(0.05)
    """
    await driver.start(program, python=python)
    await only_line(driver)
    await driver.session.terminate()
    assert await driver.session.wait_until_ended() == Ended(5)


@pytest.mark.thorough
@pytest.mark.each_python
@pytest.mark.row("restart, terminate, disconnect")
@pytest.mark.parametrize(
    "native",
    [
        "sum(range(10 ** 11))",  # keeps all other threads from running, too
        "hashlib.pbkdf2_hmac('sha256', b'', b'', 10 ** 9)",  # does not
    ],
)
async def test_program_inside_native_code_gets_sigterm_after_a_second(
    driver: AdapterClient, python: str, native: str
) -> None:
    program = f"""
        import hashlib
        print("ready", flush=True)
        {native}
    """
    await driver.start(program, python=python)
    await only_line(driver)
    await computing(await process_of(driver))
    await driver.session.terminate()
    assert await driver.session.wait_until_ended() == Ended(143)


@pytest.mark.thorough
@pytest.mark.row("restart, terminate, disconnect")
async def test_program_that_takes_long_to_clean_up_gets_the_time(driver: AdapterClient, python: str) -> None:
    program = """
        import time
        try:
            print("ready", flush=True)
            time.sleep(60)
        finally:
            time.sleep(1.5)
            print("cleaned up")
    """
    await driver.start(program, python=python)
    await only_line(driver)
    await driver.session.terminate()
    await driver.session.wait_until_ended()
    assert driver.output("stdout") == "ready\ncleaned up\n"


@pytest.mark.each_python
async def test_interrupt_that_a_wait_has_not_noticed_is_sent_again(driver: AdapterClient, python: str) -> None:
    program = """
        import ctypes, os, signal, threading
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # which comes soon after the second interrupt
        signal.alarm(20)  # if that does not come
        received, sent = os.pipe()
        os.set_blocking(sent, False)
        signal.set_wakeup_fd(sent)

        def until_it_was_sent_twice():
            os.read(received, 1)
            os.read(received, 1)

        thread = threading.Thread(target=until_it_was_sent_twice)
        try:
            thread.start()
            print("ready", flush=True)
            ctypes.CDLL(None).pthread_join(ctypes.c_ulong(thread.ident), None)
            threading.Event().wait(60)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            os._exit(7)
    """
    await driver.start(program, python=python)
    await only_line(driver)
    await driver.session.terminate()
    assert await driver.session.wait_until_ended() == Ended(7)
    assert driver.output("stdout") == "ready\ninterrupted\n"


async def test_program_that_ignores_all_that_can_be_ignored_is_killed_by_the_second_terminate(
    driver: AdapterClient,
) -> None:
    await driver.start("""
        import signal, time
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("ready", flush=True)
        time.sleep(60)
    """)
    await only_line(driver)
    with pytest.raises(RequestFailed, match=r"ignores interrupts \(SIGINT\) and SIGTERM; ask again"):
        await driver.session.terminate()
    await driver.session.terminate()
    assert await driver.session.wait_until_ended() == Ended(137)


@pytest.mark.thorough
async def test_terminate_ends_what_the_program_started(driver: AdapterClient) -> None:
    await driver.start("""
        import subprocess, sys
        child = subprocess.Popen(["sleep", "60"])
        print(child.pid, flush=True)
        child.wait()
    """)
    pid = await only_line(driver)
    await driver.session.terminate()
    await driver.session.wait_until_ended()
    await ended(int(pid))


async def test_terminate_before_the_program_was_configured_ends_it() -> None:
    async with raw_client() as client:
        await client.initialize()
        await client.send("launch", {"code": "import time; time.sleep(60)"})
        await client.event("initialized")
        assert (await client.ask("terminate"))["success"]
        await client.event("terminated")
        assert (await client.ask("disconnect"))["success"]


async def test_launch_is_answered_when_the_program_ends_before_it_was_configured() -> None:
    async with raw_client() as client:
        await client.initialize()
        launch = await client.send("launch", {"code": "import time; time.sleep(60)"})
        await client.event("initialized")
        [program] = [pid for pid in descendants(client.adapter.pid) if "entry.py" in command_line(pid)]
        kill(program)
        answer = await client.answer(launch)
        assert not answer["success"]
        assert "ended" in answer["message"]


STATES = {
    "running": ("import time; print(1, flush=True); time.sleep(60)", []),
    "stopped": ("print(1)\n", [1]),
    "busy in C": ("print(1, flush=True); sum(range(10 ** 11))", []),
}


@pytest.mark.parametrize("state", STATES)
async def test_disconnect_ends_the_program(driver: AdapterClient, state: str) -> None:
    program, lines = STATES[state]
    await driver.start(program, *lines)
    if lines:
        await driver.session.next_stop()
    else:
        await only_line(driver)
    await driver.session.disconnect()
    await ended(await process_of(driver))


@pytest.mark.thorough
async def test_disconnect_before_the_program_was_configured_ends_it() -> None:
    async with raw_client() as client:
        await client.initialize()
        launch = await client.send("launch", {"code": "import time; time.sleep(60)"})
        await client.event("initialized")
        disconnect = await client.send("disconnect")
        await client.hear_the_end()
        assert client.answers()[-2:] == [launch, disconnect]


async def test_disconnect_during_launch_ends_it() -> None:
    async with raw_client() as client:
        await client.initialize()
        launch = await client.send("launch", {"code": "import time; time.sleep(60)"})
        disconnect = await client.send("disconnect")
        await client.hear_the_end()
        assert client.answers() == [1, launch, disconnect]


RELEASED = """
    import os, sys, time
    print("ready", flush=True)
    while not os.path.exists("go"):
        time.sleep(0.01)
    for _ in range(1000):
        print("a" * 1000)
    x = 1
    with open("done", "w") as file:
        file.write(str(os.getpid()))
"""


@pytest.mark.parametrize("stopped", [False, True])
@pytest.mark.thorough
async def test_disconnect_that_releases_lets_the_program_run_to_its_end(
    driver: AdapterClient, *, stopped: bool
) -> None:
    await driver.start(RELEASED, *([2, 7] if stopped else [7]))
    if stopped:
        await driver.session.next_stop()
    else:
        await only_line(driver)
    await driver.session.detach()
    (driver.folder / "go").touch()
    await ended(await process_of(driver))
    assert (driver.folder / "done").exists()


async def test_program_that_is_released_while_it_writes_much_runs_on(driver: AdapterClient) -> None:
    await driver.start("""
        import os
        while not os.path.exists("go"):
            os.write(1, b"x" * 100_000)
        open("done", "w")
    """)
    await driver.session.wait_for(OutputEvent)
    await driver.session.detach()
    (driver.folder / "go").touch()
    await ended(await process_of(driver))
    assert (driver.folder / "done").exists()


async def test_client_that_released_the_program_hears_terminated(driver: AdapterClient) -> None:
    await driver.start(RELEASED)
    await driver.session.detach()
    await driver.session.wait_for(TerminatedEvent)
    (driver.folder / "go").touch()


async def test_child_that_outlives_its_parent_runs_on_if_it_is_not_debugged(driver: AdapterClient) -> None:
    text = """
        import os, subprocess, sys
        wait = "import os, time\\nprint(os.getpid(), flush=True)\\nwhile not os.path.exists('go'): time.sleep(0.01)"
        child = subprocess.Popen([sys.executable, "-c", wait + "\\nprint('a' * 100_000)\\nopen('done', 'w')"])
        print(child.pid)
    """
    await driver.run(text, subProcess=False)
    pid = int(driver.output("stdout").split()[0])
    await driver.session.disconnect()
    assert runs(pid)
    (driver.folder / "go").touch()
    await ended(pid)
    assert (driver.folder / "done").exists()


MUCH_OPEN = """\
import os, resource
most = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 200_000)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
kept = [os.dup2(os.pipe()[0], number) for number in range(5_000, most, 4)]  # so that its end takes a while
print()
"""


async def test_death_of_the_program_in_mid_request_answers_the_request(driver: AdapterClient) -> None:
    await driver.start(MUCH_OPEN, 5)
    await driver.session.next_stop()
    frame = (await driver.frames())[0].id
    with pytest.raises(RequestFailed, match="evaluate: the program ended before it could answer"):
        await driver.session.evaluate("os._exit(4)", frame_id=frame, context="repl")
    assert await driver.session.wait_until_ended() == Ended(4)


async def test_program_killed_from_outside_while_stopped_is_told(driver: AdapterClient) -> None:
    await driver.start("print()\n", 1)
    await driver.session.next_stop()
    kill(await process_of(driver))
    assert await driver.session.wait_until_ended() == Ended(137)


CLOSES_ALL = """
    import os, sys, time
    def f(i):
        return i
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            try:
                os.close(int(name))
            except OSError:
                continue  # that of the listing
    f(1)
    until = time.monotonic() + 60
    while not os.path.exists("go") and time.monotonic() < until:
        time.sleep(0.01)
    f(2)
    print("to the end")
    sys.exit(7)
"""


@pytest.mark.thorough
@pytest.mark.parametrize("asked", ["", "terminate"])
async def test_program_that_closes_all_descriptors_runs_on_and_that_is_reported(
    driver: AdapterClient, asked: str
) -> None:
    await driver.start(CLOSES_ALL, 3)
    said = await driver.session.wait_for(OutputEvent, where=lambda event: "connection" in event.output, since=0)
    assert said.category == "important"
    assert said.output == "The program has closed the connection of the debugger, and runs on without it.\n"
    with pytest.raises(RequestFailed, match="the program runs on without the debugger"):
        await driver.session.threads()
    if asked:
        await driver.session.terminate()
        assert await driver.session.wait_until_ended() == Ended(128 + signal.SIGTERM)
    else:
        driver.write("", "go")
        assert await driver.session.wait_until_ended() == Ended(7)
        assert driver.output("stdout") == "to the end\n"


async def test_program_that_has_closed_all_descriptors_is_released(driver: AdapterClient) -> None:
    await driver.start(CLOSES_ALL, 3)
    await driver.session.wait_for(OutputEvent, where=lambda event: "connection" in event.output, since=0)
    await driver.session.detach()
    await driver.session.wait_for(TerminatedEvent, since=0)
    driver.write("", "go")
    await ended(await process_of(driver))
