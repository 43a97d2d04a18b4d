"""Programs in a terminal of the client's: a real pseudo-terminal, opened by our own client."""

import pytest

from dapkit.client import Ended, Terminal
from dapkit.protocol import ProcessEvent
from e2e.python.adapter_client import AdapterClient
from e2e.python.processes import descendants, ended, process_of
from e2e.python.raw_client import raw_client

ASKS = """
import os, sys
name = input("name? ")
print(f"hello {name}", sys.stdout.isatty(), os.environ.get("DAPKIT_TEST"))
sys.exit(3)
"""


async def in_terminal(driver: AdapterClient, text: str, *lines: int, **launch: object) -> Terminal:
    await driver.start(text, *lines, **{"console": "integratedTerminal", **launch})
    return await driver.session.wait_for_terminal()


@pytest.mark.thorough
@pytest.mark.each_python
@pytest.mark.parametrize("console", ["integratedTerminal", "externalTerminal"])
async def test_program_reads_what_is_typed_and_its_exit_code_is_told(
    driver: AdapterClient, console: str, python: str
) -> None:
    await driver.session.break_on_exceptions()
    terminal = await in_terminal(driver, ASKS, 3, console=console, python=python, env={"DAPKIT_TEST": "yes"})
    await terminal.wait_for_output("name? ")
    await terminal.send_input("Ada\n")
    await driver.session.next_stop()
    assert (await driver.locals())["name"].value == "'Ada'"
    assert await driver.resume() == Ended(3)
    assert "hello Ada True yes" in (await terminal.wait_for_output("yes")).text
    assert driver.output("stdout") == ""


async def test_output_of_the_terminal_is_told_as_well_if_that_is_wanted(driver: AdapterClient, python: str) -> None:
    terminal = await in_terminal(driver, "print('hello')\nx = 1\n", 2, python=python, redirectOutput=True)
    await driver.session.next_stop()
    assert driver.output("stdout") == "hello\n"
    assert "hello" in (await terminal.wait_for_output("hello")).text
    assert await driver.resume() == Ended(0)


async def test_ctrl_c_in_the_terminal_interrupts_the_program(driver: AdapterClient) -> None:
    # Short sleeps: a signal that comes just before a long one is looked at after it.
    terminal = await in_terminal(driver, "import time\nprint('ready')\nwhile True: time.sleep(0.1)\n")
    await driver.session.break_on_exceptions()
    await terminal.wait_for_output("ready")
    await terminal.send_input("\x03")
    assert await driver.session.wait_until_ended() == Ended(130)


async def test_terminate_cleans_up_in_the_terminal(driver: AdapterClient) -> None:
    terminal = await in_terminal(
        driver, "import time\ntry:\n    print('ready')\n    time.sleep(60)\nfinally:\n    print('cleaned up')\n"
    )
    await terminal.wait_for_output("ready")
    await driver.session.terminate()
    await driver.session.wait_until_ended()
    assert "cleaned up" in (await terminal.wait_for_output("cleaned up")).text


async def test_second_terminate_kills_the_program_in_the_terminal(driver: AdapterClient) -> None:
    program = """
        import subprocess, time
        child = subprocess.Popen(["sleep", "60"])
        print("ready")
        while True:
            try:
                time.sleep(60)
            except KeyboardInterrupt:
                pass
    """
    terminal = await in_terminal(driver, program)
    await terminal.wait_for_output("ready")
    family = descendants(await process_of(driver))
    await driver.session.terminate()
    await driver.session.terminate()
    await driver.session.wait_until_ended()
    await ended(await process_of(driver), *family)


async def test_disconnect_ends_the_program_in_the_terminal(driver: AdapterClient) -> None:
    terminal = await in_terminal(driver, "print('ready')\nwhile True: pass\n")
    await terminal.wait_for_output("ready")
    await driver.session.disconnect()
    await ended(await process_of(driver))


async def test_released_program_runs_on_in_its_terminal(driver: AdapterClient) -> None:
    program = "import os\nprint('ready')\nwhile not os.path.exists('go'): pass\nopen('done', 'w')\n"
    terminal = await in_terminal(driver, program, 4)
    await terminal.wait_for_output("ready")
    await driver.session.detach()
    (driver.folder / "go").touch()
    await ended((await driver.session.wait_for(ProcessEvent, since=0)).system_process_id or 0)
    assert (driver.folder / "done").exists()


async def test_disconnect_while_the_terminal_is_awaited_ends_the_session() -> None:
    async with raw_client() as client:
        await client.initialize(supportsRunInTerminalRequest=True)
        launch = await client.send("launch", {"code": "print()", "console": "integratedTerminal"})
        wanted = await client.until(lambda message: message.get("command") == "runInTerminal")
        assert wanted["arguments"]["kind"] == "integrated"
        disconnect = await client.send("disconnect")
        await client.hear_the_end()
        assert client.answers()[-2:] == [launch, disconnect]


async def test_client_that_cannot_open_the_terminal_is_quoted() -> None:
    async with raw_client() as client:
        await client.initialize(supportsRunInTerminalRequest=True)
        launch = await client.send("launch", {"code": "print()", "console": "integratedTerminal"})
        wanted = await client.until(lambda message: message.get("command") == "runInTerminal")
        await client.refuse(wanted, "no terminal here")
        assert (await client.answer(launch))["message"] == "no terminal here"


async def test_variables_to_remove_come_before_those_to_set() -> None:
    # VS Code makes `env NAME=VALUE -u NAME` of the other order, and env takes -u for the program.
    async with raw_client() as client:
        await client.initialize(supportsRunInTerminalRequest=True)
        env = {"DAPKIT_A": "1", "DAPKIT_B": None, "DAPKIT_C": "2", "DAPKIT_D": None}
        await client.send("launch", {"code": "print()", "console": "integratedTerminal", "env": env})
        wanted = await client.until(lambda message: message.get("command") == "runInTerminal")
        values = list(wanted["arguments"]["env"].values())
        assert values.count(None) >= 2
        assert None not in values[values.count(None) :]
        await client.refuse(wanted, "no terminal here")
