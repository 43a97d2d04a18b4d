"""Sessions in which Windows differs: its paths, ends of lines, encodings, exit codes, and ends of processes."""

import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest

from dapkit.client import Ended
from dapkit.python.debuggee.children.windows_command_line import split
from e2e.python.adapter_client import AdapterClient, adapter_client
from e2e.python.processes import only_line

pytestmark = pytest.mark.timeout(300)

PATIENCE = 60.0
COUNTS = """
total = 0
for i in range(3):
    total += i
print(total)
"""


@pytest.fixture
async def driver(tmp_path: Path) -> AsyncIterator[AdapterClient]:
    """Return a client of a new adapter."""
    async with adapter_client(tmp_path) as driver:
        yield driver


@pytest.mark.parametrize(
    "form",
    [str.lower, str.upper, lambda path: path.replace("\\", "/"), lambda path: "\\\\?\\" + path],
    ids=["small letters", "capitals", "slashes", "long paths"],
)
async def test_breakpoint_is_hit_however_its_path_is_written(driver: AdapterClient, form: Callable[[str], str]) -> None:
    file = driver.write(COUNTS)
    await driver.session.add_breakpoint(form(str(file)), 3)
    await driver.launch(program=str(file))
    await driver.session.next_stop(deadline=PATIENCE)
    assert await driver.where() == ("<module>", 3)


async def test_output_is_as_the_program_wrote_it(driver: AdapterClient) -> None:
    await driver.start(
        "print('f\\xfcnf', flush=True)\nimport sys; sys.stdout.buffer.write('sechs \\u20ac\\n'.encode())"
    )
    assert await driver.session.wait_until_ended(deadline=PATIENCE) == Ended(0)
    assert driver.session.output.read("stdout").text == "fünf\r\nsechs €\n"


async def test_exit_code_of_a_crash_fits_into_the_protocol(driver: AdapterClient) -> None:
    assert await driver.run("import os; os._exit(0xC0000005 - (1 << 32))") == Ended(0xC0000005 - (1 << 32))


async def test_terminate_interrupts_the_program(driver: AdapterClient) -> None:
    await driver.start(
        """
        import time
        try:
            print("ready", flush=True)
            while True:  # an interrupt just before a long sleep would not end it
                time.sleep(0.05)
        except KeyboardInterrupt:
            print("interrupted")
        """
    )
    await only_line(driver)
    await driver.session.terminate()
    await driver.session.wait_until_ended(deadline=PATIENCE)
    assert driver.output("stdout") == "ready\ninterrupted\n"


@pytest.mark.parametrize("victim", ["adapter", "parent"])
async def test_nothing_is_left_when_a_process_is_killed(tmp_path: Path, victim: str) -> None:
    async with adapter_client(tmp_path) as driver:
        await driver.start(
            """
            import subprocess, sys, time
            child = subprocess.Popen([sys.executable, "-S", "-E", "-c", "import time; time.sleep(300)"])
            print("ready", flush=True)
            time.sleep(300)
            """
        )
        await only_line(driver)
        [adapter] = [process for process in psutil.Process().children() if process.name() == "python.exe"]
        family = [process for process in adapter.children(recursive=True) if process.name() == "python.exe"]
        assert len(family) == 3  # the parent, the program, and its child
        killed = adapter if victim == "adapter" else family[0]
        killed.kill()
        _, alive = psutil.wait_procs(family, PATIENCE)
        assert alive == []


def test_arguments_in_one_text_are_split_as_programs_there_split_them() -> None:
    line = subprocess.list2cmdline(["a b", 'c"d', "e\\", "f\\\\g", ""])
    assert split(line) == ["a b", 'c"d', "e\\", "f\\\\g", ""]
