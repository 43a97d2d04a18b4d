"""Changes by the client: of the past, from which the program goes on ("pastWrites": "branch"), and of the program."""

import json
import os
import re
import signal
from collections.abc import Mapping

import pytest

from dapkit.client import Ended, Stopped
from dapkit.endpoint import RequestFailed
from dapkit.protocol import (
    ContinueArguments,
    GotoArguments,
    GotoTargetsArguments,
    ProcessEvent,
    ReverseContinueArguments,
    SetExpressionArguments,
    SetVariableArguments,
    Source,
    StepBackArguments,
    StoppedEvent,
    TerminateArguments,
)
from e2e.python.adapter_client import AdapterClient

pytestmark = pytest.mark.each_python

SUMS = """
    import os

    total = 0
    file = open("sums.txt", "w")
    for i in range(5):
        total += i
        file.write(f"{total}\\n")
        file.flush()
        print("at", i, total, flush=True)
    file.close()
    ended = True
    print("end", total, os.path.getsize("sums.txt"), flush=True)
    raise SystemExit(total)
"""
PRINTS = 9
ENDS = 11


@pytest.fixture
def launch(python: str) -> Mapping[str, object]:
    """Return launch arguments for each Python version."""
    return {"python": python, "timeTravel": {"pastWrites": "branch"}}


async def value(driver: AdapterClient, expression: str) -> str:
    """Return what an expression is in the newest frame."""
    [top, *_] = await driver.frames()
    return (await driver.session.evaluate(expression, frame_id=top.id)).result


async def change(driver: AdapterClient, name: str, new: str) -> None:
    """Give a variable of the newest frame another value."""
    [top, *_] = await driver.frames()
    [scope, *_] = (await driver.session.scopes(top.id)).scopes
    await driver.session.request(
        SetVariableArguments(variables_reference=scope.variables_reference, name=name, value=new)
    )


async def back(driver: AdapterClient, *, step: bool = False) -> str:
    """Go back to the stop before, or by a step; return the reason of the stop."""
    position = driver.session.position
    arguments = StepBackArguments(thread_id=1) if step else ReverseContinueArguments(thread_id=1)
    await driver.session.request(arguments)
    return (await driver.session.wait_for(StoppedEvent, since=position)).reason


async def go_to_sums(driver: AdapterClient, launch: Mapping[str, object], times: int = 2) -> None:
    """Start the sums, run to their end, and go back to where they print so many times before it."""
    await driver.start(SUMS, ENDS, **launch)
    await driver.session.next_stop()
    await driver.session.add_breakpoint(driver.file, PRINTS)
    for _ in range(times):
        assert await back(driver) == "breakpoint"


async def exit_code(driver: AdapterClient) -> int | None:
    """Run to the end, over its SystemExit."""
    state = await driver.resume()
    ended = await driver.resume() if isinstance(state, Stopped) else state
    assert isinstance(ended, Ended)
    return ended.exit_code


@pytest.mark.thorough
async def test_what_writes_to_the_past_has_the_program_go_on_from_there(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await go_to_sums(driver, launch)
    assert await value(driver, "(i, total)") == "(3, 6)"
    before = driver.session.debugged_process
    await change(driver, "total", "100")
    assert await value(driver, "(i, total)") == "(3, 100)"
    assert "its later history is dropped" in driver.output("important")
    await driver.resume()
    assert await value(driver, "(i, total)") == "(4, 104)"
    assert driver.output("stdout") == "at 0 0\nat 1 1\nat 2 3\nat 3 6\nat 4 10\nat 3 100\n"
    await driver.resume()
    assert await driver.where() == ("<module>", ENDS)
    process = driver.session.debugged_process
    assert process is not None
    assert before is not None
    assert process.system_process_id != before.system_process_id
    assert await exit_code(driver) == 104
    assert driver.output("stdout").endswith("at 3 100\nat 4 104\nend 104 12\n")
    assert (driver.folder / "sums.txt").read_text() == "0\n1\n3\n6\n104\n"


@pytest.mark.thorough
async def test_the_history_of_a_program_that_has_gone_on_from_its_past(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await go_to_sums(driver, launch)
    await change(driver, "total", "100")
    for _ in range(2):
        await driver.resume()
    assert await back(driver) == "breakpoint"
    assert await value(driver, "(i, total)") == "(4, 104)"
    assert await back(driver) == "breakpoint"
    assert await value(driver, "(i, total)") == "(3, 100)"
    assert await back(driver, step=True) == "step"
    assert await value(driver, "(i, total)") == "(3, 6)"
    assert await back(driver) == "breakpoint"
    assert await value(driver, "(i, total)") == "(2, 3)"
    changed = await driver.resume()
    assert isinstance(changed, Stopped)
    assert changed.event.description == "Changed by the client"
    assert await value(driver, "(i, total)") == "(3, 100)"
    await driver.resume()
    assert await value(driver, "(i, total)") == "(4, 104)"
    await driver.resume()
    assert await driver.where() == ("<module>", ENDS)
    assert driver.output("stdout").count("at 4 104") == 1


@pytest.mark.thorough
async def test_a_branch_of_a_branch(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    await go_to_sums(driver, launch)
    await change(driver, "total", "100")
    await driver.resume()
    await driver.resume()
    assert await back(driver) == "breakpoint"
    await change(driver, "total", "1000")
    await driver.resume()
    assert await back(driver) == "breakpoint"
    assert await value(driver, "(i, total)") == "(4, 1000)"
    await driver.resume()
    assert await exit_code(driver) == 1000 % 256
    assert driver.output("stdout").endswith("at 3 100\nat 4 104\nat 4 1000\nend 1000 12\n")


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["setExpression", "console", "goto"])
async def test_other_ways_to_write(driver: AdapterClient, launch: Mapping[str, object], how: str) -> None:
    await go_to_sums(driver, launch)
    [top, *_] = await driver.frames()
    if how == "setExpression":
        await driver.session.request(SetExpressionArguments(expression="total", value="50", frame_id=top.id))
    elif how == "console":
        assert await value(driver, "total") == "6"
        await driver.session.evaluate("total", frame_id=top.id, context="repl")
        assert "dropped" not in driver.output("important")
        await driver.session.evaluate("total = 50", frame_id=top.id, context="repl")
    else:
        [target, *_] = (
            await driver.session.request(GotoTargetsArguments(source=Source(path=str(driver.file)), line=PRINTS + 4))
        ).targets
        position = driver.session.position
        await driver.session.request(GotoArguments(thread_id=1, target_id=target.id))
        await driver.session.wait_for(StoppedEvent, since=position)
        assert await driver.where() == ("<module>", PRINTS + 4)
    assert "dropped" in driver.output("important")
    await driver.session.set_breakpoints(Source(path=str(driver.file)), breakpoints=[])
    assert await exit_code(driver) == (6 if how == "goto" else 54)


async def test_without_the_setting_what_writes_is_refused(driver: AdapterClient, python: str) -> None:
    await go_to_sums(driver, {"python": python, "timeTravel": True})
    with pytest.raises(RequestFailed, match="readOnlyPast"):
        await change(driver, "total", "100")
    assert await value(driver, "total") == "6"


WORLD = """
    import json
    import os
    import signal
    import socket
    import subprocess
    import sys
    import threading

    seen = []

    def check():
        result = {"cwd": os.path.basename(os.getcwd()), "umask": os.umask(0o077)}
        os.kill(os.getpid(), signal.SIGUSR1)
        result["signals"] = [int(number) for number in seen]
        result["masked"] = [int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, set())]
        result["second"] = lines.readline()
        result["pipe"] = os.read(reader, 100).decode()
        result["kept"] = os.write(kept, b"kept") and os.path.getsize("../kept.txt")
        command = [sys.executable, "-c", "print(6 * 7)"]
        result["child"] = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        worker = threading.Thread(target=lambda: seen.append("thread"))
        worker.start()
        worker.join()
        result["thread"] = seen[-1]
        try:
            far.send(b"x")
        except OSError as error:
            result["socket"] = error.strerror
        return result

    reader, writer = os.pipe()
    os.mkdir("inner")
    near, far = socket.socketpair()
    signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    os.chdir("inner")
    os.umask(0o077)
    lines = open("lines.txt", "w+")
    lines.write("one\\ntwo\\nthree\\n")
    lines.seek(0)
    first = lines.readline()
    kept = os.open("../kept.txt", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o644)
    checks = False
    if checks:
        print(json.dumps(check()), flush=True)
    else:
        near.close()
        lines.close()
        os.write(writer, b"later")
        os.close(kept)
        os.chdir("..")
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    ended = True
"""


@pytest.mark.thorough
async def test_a_branch_has_what_the_program_had(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    lines = WORLD.strip("\n").splitlines()
    await driver.start(WORLD, len(lines), **launch)
    await driver.session.next_stop()
    await driver.session.add_breakpoint(driver.file, lines.index("    if checks:") + 1)
    assert await back(driver) == "breakpoint"
    await change(driver, "checks", "True")
    assert re.fullmatch(
        r"The program goes on from .*\nDescriptor \d+ was closed since, and cannot be had again: it is closed\.\n",
        driver.output("important"),
    )
    await driver.resume()
    assert json.loads(driver.output("stdout")) == {
        "cwd": "inner",
        "umask": 0o077,
        "signals": [signal.SIGUSR1],
        "masked": [signal.SIGUSR2],
        "second": "two\n",
        "pipe": "later",
        "kept": 4,
        "child": "42\n",
        "thread": "thread",
        "socket": "Broken pipe",
    }
    assert isinstance(await driver.resume(), Ended)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("begins", "reason"),
    [
        ("import threading, time\n    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()", "thread"),
        ("import mmap\n    shared = mmap.mmap(-1, 4096)", "shared memory"),
    ],
)
async def test_no_branch_of_what_cannot_be_had_again(
    driver: AdapterClient, launch: Mapping[str, object], begins: str, reason: str
) -> None:
    await driver.start(f"\n    {begins}\n    done = 1\n    ended = 2\n", 4, **launch)
    await driver.session.next_stop()
    assert await back(driver, step=True) == "step"
    with pytest.raises(RequestFailed, match=f"readOnlyPast: .*{reason}"):
        await change(driver, "begins", "1")
    assert await driver.where() == ("<module>", 3)
    stopped = await driver.resume()
    assert isinstance(stopped, Stopped)
    assert await driver.where() == ("<module>", 4)


WAITS = """
    import time

    number = 1
    try:
        while number > 0:
            time.sleep(0.01)
            number += 1
        ended = True
    finally:
        print("cleaned up", flush=True)
"""


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["terminate", "kill"])
async def test_a_branch_ends_as_the_program_would(
    driver: AdapterClient, launch: Mapping[str, object], how: str
) -> None:
    await driver.start(WAITS, 7, **launch)
    await driver.session.next_stop()
    assert await back(driver, step=True) == "step"
    position = driver.session.position
    await change(driver, "number", "5")
    process = await driver.session.wait_for(ProcessEvent, since=position)  # it may come after the answer
    await driver.session.set_breakpoints(Source(path=str(driver.file)), breakpoints=[])
    assert process.system_process_id is not None
    await driver.session.request(ContinueArguments(thread_id=1))
    if how == "terminate":
        await driver.session.request(TerminateArguments())
    else:
        os.kill(process.system_process_id, signal.SIGKILL)
    ended = await driver.session.wait_until_ended()
    assert ended.exit_code == 128 + (signal.SIGINT if how == "terminate" else signal.SIGKILL)
    assert driver.output("stdout") == ("cleaned up\n" if how == "terminate" else "")


LOOPS = """
    total = 0
    for i in range(4):
        total += i
        print(i, total, flush=True)
    ended = True
"""


@pytest.mark.thorough
async def test_what_the_client_changes_in_the_live_program_is_part_of_its_history(
    driver: AdapterClient, python: str
) -> None:
    await driver.start(LOOPS, 4, python=python, timeTravel=True)
    await driver.session.next_stop()
    await driver.resume()
    await change(driver, "total", "100")
    await driver.resume()
    await driver.resume()
    assert await value(driver, "(i, total)") == "(3, 105)"
    for seen in ("(2, 102)", "(1, 100)", "(0, 0)"):
        assert await back(driver) == "breakpoint"
        assert await value(driver, "(i, total)") == seen
    changed = await driver.resume()
    assert isinstance(changed, Stopped)
    assert changed.event.description == "Changed by the client"
    assert await value(driver, "(i, total)") == "(1, 100)"
    assert await back(driver, step=True) == "step"
    assert await driver.where() == ("<module>", 3)
    assert await value(driver, "(i, total)") == "(1, 0)"
    for seen in ("(1, 100)", "(2, 102)", "(3, 105)"):
        await driver.resume()
        assert await value(driver, "(i, total)") == seen
    assert isinstance(await driver.resume(), Ended)
    assert driver.output("stdout") == "0 0\n1 100\n2 102\n3 105\n"
