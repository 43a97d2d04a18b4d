"""What a program writes: all of it, by category, in any amount, and never in the way of the debugger."""

from pathlib import Path

import anyio
import psutil
import pytest

from dapkit.client import Ended
from e2e.python.adapter_client import AdapterClient
from e2e.python.processes import ended
from e2e.python.raw_client import RawClient, raw_client

MEGABYTE = 1024 * 1024


async def test_output_has_its_category(driver: AdapterClient) -> None:
    await driver.run("import sys; print('out'); print('err', file=sys.stderr)")
    assert (driver.output("stdout"), driver.output("stderr")) == ("out\n", "err\n")


async def test_last_line_without_its_end_is_kept(driver: AdapterClient) -> None:
    await driver.run("import os, sys; sys.stdout.write('end'); sys.stderr.write('err')")
    assert (driver.output("stdout"), driver.output("stderr")) == ("end", "err")


async def test_bytes_that_are_no_text_are_shown_as_escapes(driver: AdapterClient) -> None:
    await driver.run(r"import os; os.write(1, b'caf\xe9 \xff\x00 \x1b[31m\n')")
    assert driver.output("stdout") == "caf\\xe9 \\xff\0 \x1b[31m\n"


async def test_character_that_comes_in_two_pieces_is_one(driver: AdapterClient) -> None:
    await driver.run(r"import os, time; os.write(1, '€'.encode()[:1]); time.sleep(0.05); os.write(1, '€'.encode()[1:])")
    assert driver.output("stdout") == "€"


async def test_output_of_children_is_that_of_the_program(driver: AdapterClient) -> None:
    await driver.run("import subprocess; subprocess.run(['echo', 'child'])")
    assert driver.output("stdout") == "child\n"


async def test_input_is_at_its_end(driver: AdapterClient) -> None:
    await driver.run("print(repr(__import__('sys').stdin.read()))")
    assert driver.output("stdout") == "''\n"


async def test_program_that_closes_its_output_runs_on(driver: AdapterClient) -> None:
    assert await driver.run("import os\nprint(1, flush=True)\nos.close(1)\nos.close(2)\nos._exit(3)") == Ended(3)
    assert driver.output("stdout") == "1\n"


async def test_program_that_closes_all_descriptors_but_its_own_ends_orderly(driver: AdapterClient) -> None:
    await driver.session.break_on_exceptions()
    ended = await driver.run("import sys; sys.stdout.close(); sys.stderr.close(); sys.stdin.close(); sys.exit(4)")
    assert ended == Ended(4)


async def test_child_that_holds_the_pipes_does_not_hold_up_the_end(driver: AdapterClient) -> None:
    wait = "while [ ! -e go ]; do sleep 0.05; done"
    ended_so = await driver.run(f"""
        import subprocess
        print(subprocess.Popen(["sh", "-c", {wait!r}]).pid)
    """)
    assert ended_so == Ended(0)
    (driver.folder / "go").touch()
    await ended(int(driver.output("stdout")))


async def test_fork_goes_on_undebugged_in_a_child_that_is_left_alone(driver: AdapterClient) -> None:
    await driver.start(
        """
        import os, sys
        pid = os.fork()
        if pid == 0:
            print("child", flush=True)
            os._exit(3)
        print("parent", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    """,
        4,
        6,
        subProcess=False,
    )
    await driver.session.next_stop()
    assert await driver.where() == ("<module>", 6)
    assert await driver.resume() == Ended(0)
    assert driver.output("stdout") == "child\nparent 3\n"


FLOOD = "import os\nline = b'x' * 1023 + b'\\n'\nfor _ in range({lines}):\n    os.write(1, line)\n"


@pytest.mark.thorough
@pytest.mark.timeout(120)
async def test_hundred_megabytes_come_complete_with_bounded_memory() -> None:
    size = 100 * MEGABYTE
    async with raw_client() as client:
        await client.start(code=FLOOD.format(lines=100 * 1024))
        received, most = len(client.output("stdout")), 0  # what came before the start was answered counts, too
        while not any(message.get("event") == "terminated" for message in client.heard):
            client.heard.clear()
            await client._hear()
            received += len(client.output("stdout"))
            most = max(most, resident(client.adapter.pid))
    assert received == size
    assert most < 120 * MEGABYTE


def resident(pid: int) -> int:
    """Return the memory of a process in bytes."""
    return int(psutil.Process(pid).memory_info().rss)


async def test_pause_is_answered_during_a_flood() -> None:
    async with raw_client() as client:
        await client.start(code=FLOOD.format(lines=10**9))
        await client.event("output", category="stdout")
        assert (await client.ask("pause", {"threadId": 1}))["success"]
        await client.event("stopped")


async def test_client_that_reads_nothing_holds_up_the_program_and_not_the_adapter() -> None:
    async with raw_client() as client:
        await client.start(code=FLOOD.format(lines=10**9))
        process = (await client.event("process"))["systemProcessId"]
        await held_up(process)
        assert resident(client.adapter.pid) < 100 * MEGABYTE
        assert (await client.ask("threads"))["success"]


LOGS = """
import os
text = "x" * 999
place = os.open("place", os.O_WRONLY | os.O_CREAT)
for number in range({count}):
    os.lseek(place, 0, 0)
    os.write(place, b"%d" % number)
    done = number
"""


async def start_logging(client: RawClient, folder: Path, count: int) -> None:
    """Start a program that logs a thousand characters so many times."""
    file = folder / "prog.py"
    file.write_text(LOGS.format(count=count))
    await client.initialize()
    await client.send("launch", {"program": str(file), "cwd": str(folder)})
    await client.event("initialized")
    breakpoints = [{"line": line_of(file, "done ="), "logMessage": "{text}"}]
    await client.ask("setBreakpoints", {"source": {"path": str(file)}, "breakpoints": breakpoints})
    assert (await client.ask("configurationDone"))["success"]


def line_of(file: Path, text: str) -> int:
    """Return the first line of a file that holds a text."""
    return next(number for number, line in enumerate(file.read_text().splitlines(), 1) if text in line)


def content(file: Path) -> str:
    """Return what is in a file that may not be there yet."""
    return file.read_text() if file.exists() else ""


async def stands(file: Path) -> int:
    """Wait until the number in a file is the same for a while."""
    same, before = 0, ""
    with anyio.fail_after(50):
        while same < 30:
            now = content(file)
            same, before = (same + 1 if now and now == before else 0), now
            await anyio.sleep(0.01)
    return int(before)


async def test_log_messages_for_a_client_that_reads_nothing_hold_up_the_program_alone(tmp_path: Path) -> None:
    async with raw_client() as client:
        await start_logging(client, tmp_path, 10**6)
        await client.event("process")
        before = resident(client.adapter.pid)
        logged = await stands(tmp_path / "place")
        assert logged < 10_000
        assert resident(client.adapter.pid) - before < 32 * MEGABYTE
        assert (await client.ask("pause", {"threadId": 1}))["success"]
        await client.event("stopped")
        assert (await client.ask("evaluate", {"expression": "number", "context": "repl"}))["success"]


@pytest.mark.thorough
async def test_log_messages_come_complete(tmp_path: Path) -> None:
    async with raw_client() as client:
        await start_logging(client, tmp_path, 20_000)
        received = len(client.output("console"))
        while not any(message.get("event") == "terminated" for message in client.heard):
            client.heard.clear()
            await client._hear()
            received += len(client.output("console"))
            assert resident(client.adapter.pid) < 100 * MEGABYTE
    assert received == 20_000 * 1000


def place_in_kernel(pid: int) -> str:
    """Return the name of the kernel's function in which a process waits."""
    return Path(f"/proc/{pid}/wchan").read_text()


async def held_up(pid: int) -> None:
    """Wait until a process waits for a reader of its output, and goes on doing so."""
    in_a_row = 0
    with anyio.fail_after(30):
        while in_a_row < 20:
            in_a_row = in_a_row + 1 if "pipe_write" in place_in_kernel(pid) else 0
            await anyio.sleep(0.01)


async def test_lines_that_a_program_wrote_come_before_its_stop(driver: AdapterClient, python: str) -> None:
    buffered = {"PYTHONUNBUFFERED": None}
    await driver.start("for i in range(5):\n    print(i)\n    i = -1\n", 3, python=python, env=buffered)
    for number in range(5):
        await driver.session.next_stop()
        assert driver.output("stdout").endswith(f"{number}\n")
        await driver.resume()


@pytest.mark.thorough
@pytest.mark.each_python
async def test_log_messages_and_output_come_in_the_order_of_the_program(driver: AdapterClient, python: str) -> None:
    async with raw_client() as client:
        driver.write("""
            import sys
            for i in range(500):
                x = i
                print("out", i)
                if i % 3 == 0:
                    y = i
                    print("error", i, file=sys.stderr)
                z = i
            x = i
        """)
        await client.initialize()
        await client.send("launch", {"program": str(driver.file), "python": python})
        await client.event("initialized")
        messages = [{"line": 3, "logMessage": "x {i}"}, {"line": 6, "logMessage": "y {i}"}]
        messages += [{"line": 8, "logMessage": "z {i}"}, {"line": 9}]
        source = {"path": str(driver.file)}
        await client.ask("setBreakpoints", {"source": source, "breakpoints": messages})
        await client.ask("configurationDone")
        await client.event("stopped")
        bodies = [message["body"] for message in client.heard if message.get("event") in ("output", "stopped")]
        written = "".join(body["output"] for body in bodies[:-1] if body["category"] != "telemetry")
        expected = []
        for i in range(500):
            expected += [f"x {i}", f"out {i}", *([f"y {i}", f"error {i}"] if i % 3 == 0 else []), f"z {i}"]
        assert written.splitlines() == expected
        await client.send("disconnect")
        await client.hear_the_end()


@pytest.mark.thorough
async def test_output_that_a_wrapper_sends_elsewhere_has_no_marks_of_log_messages(
    driver: AdapterClient, python: str
) -> None:
    wrapper = driver.write(
        f"""
        #!/bin/sh
        exec {python} "$@" 2>written
    """,
        "wrapper",
    )
    wrapper.chmod(0o755)
    file = driver.write("import sys\nfor i in range(3):\n    print(i)\n    print(i, file=sys.stderr)\n    i = -1\n")
    await driver.session.add_breakpoint(file, 5, log_message="log {i}")
    await driver.launch(program=str(file), python=str(wrapper))
    assert await driver.session.wait_until_ended() == Ended(0)
    assert (driver.folder / "written").read_text() == "0\n1\n2\n"
    assert (driver.output("stdout"), driver.output("console")) == ("0\n1\n2\n", "log 0\nlog 1\nlog 2\n")
