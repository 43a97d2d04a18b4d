"""How a program is started: what runs, where, with what, and in which interpreter."""

import json
import sys
import zipfile

import pytest

from dapkit.client import Ended, StartRefused
from dapkit.protocol import ProcessEvent
from e2e.python.adapter_client import AdapterClient

pytestmark = pytest.mark.row("launch")

REPORT = """
import json, os, sys
json.dump({
    "argv": sys.argv, "name": __name__, "path": sys.path[0], "cwd": os.getcwd(), "version": sys.version_info[:2],
    "theirs": [name for name in sys.modules if name.startswith(("dapkit", "anyio", "msgspec", "threading"))],
    "env": {name: value for name, value in os.environ.items() if name.startswith("DAPKIT_TEST")},
    "dev": sys.flags.dev_mode,
}, sys.stdout)
"""
"""Tells what a program sees of its start."""


async def report(driver: AdapterClient) -> dict[str, object]:
    await driver.session.wait_until_ended()
    told: dict[str, object] = json.loads(driver.output("stdout"))
    return told


@pytest.mark.each_python
async def test_program_runs_as_without_a_debugger(driver: AdapterClient, python: str) -> None:
    await driver.start(REPORT, args=["one", "--two", "drei vier", ""], python=python)
    told = await report(driver)
    assert told["argv"] == [str(driver.file), "one", "--two", "drei vier", ""]
    assert told["name"] == "__main__"
    assert told["path"] == str(driver.folder)
    assert told["cwd"] == str(driver.folder)
    assert told["theirs"] == []


@pytest.mark.each_python
async def test_program_runs_in_the_interpreter_that_is_named(driver: AdapterClient, python: str) -> None:
    await driver.start("import sys\nprint(sys.executable)\n", 2, python=python)
    stop = await driver.session.next_stop()
    await driver.resume()
    assert (stop.reason, driver.output("stdout")) == ("breakpoint", f"{python}\n")


async def test_adapter_runs_the_program_in_its_own_interpreter_by_default(driver: AdapterClient) -> None:
    await driver.run("import sys; print(sys.executable)")
    assert driver.output("stdout") == sys.executable + "\n"


async def test_program_path_is_relative_to_its_folder(driver: AdapterClient) -> None:
    driver.write(REPORT)
    await driver.launch(program="prog.py")
    assert (await report(driver))["argv"] == ["prog.py"]


async def test_module_runs_as_with_m(driver: AdapterClient) -> None:
    (driver.folder / "package").mkdir()
    driver.write("", "package/__init__.py")
    main = driver.write("import sys\nprint(__name__, __package__, sys.argv[1:])\n", "package/__main__.py")
    await driver.session.add_breakpoint(main, 2)
    await driver.launch(module="package", args=["a"])
    stop = await driver.session.next_stop()
    assert (stop.reason, await driver.where()) == ("breakpoint", ("<module>", 2))
    await driver.resume()
    assert driver.output("stdout") == "__main__ package ['a']\n"


async def test_code_runs_as_with_c(driver: AdapterClient) -> None:
    await driver.launch(code=REPORT, args=["a"])
    assert (await report(driver))["argv"] == ["-c", "a"]


async def test_lines_of_code_are_joined(driver: AdapterClient) -> None:
    await driver.launch(code=["for i in range(2):", "    print(i)"])
    await driver.session.wait_until_ended()
    assert driver.output("stdout") == "0\n1\n"


async def test_two_dashes_among_the_arguments_reach_the_program(driver: AdapterClient) -> None:
    await driver.run("import sys; print(sys.argv[1:])", args=["--", "a", "--"])
    assert driver.output("stdout") == "['--', 'a', '--']\n"


async def test_environment_is_changed_and_null_takes_a_variable_away(driver: AdapterClient) -> None:
    unset = {"HOME": None, "DAPKIT_TEST_A": "1", "DAPKIT_TEST_B": "ü"}
    await driver.start(
        REPORT.replace('name.startswith("DAPKIT_TEST")', 'name == "HOME" or name.startswith("DAPKIT_TEST")'), env=unset
    )
    assert (await report(driver))["env"] == {"DAPKIT_TEST_A": "1", "DAPKIT_TEST_B": "ü"}


async def test_interpreter_takes_arguments_of_its_own(driver: AdapterClient) -> None:
    await driver.start(REPORT, pythonArgs=["-X", "dev"])
    assert (await report(driver))["dev"] is True


async def test_interpreter_that_talks_a_lot_before_the_program_does_not_block_it(driver: AdapterClient) -> None:
    await driver.start("print('done')", pythonArgs=["-v"])
    await driver.session.wait_until_ended()
    assert driver.output("stdout") == "done\n"


@pytest.mark.each_python
async def test_stop_on_entry_is_before_the_first_line(driver: AdapterClient, python: str) -> None:
    await driver.start("print('first')\nprint('second')\n", stopOnEntry=True, python=python)
    stop = await driver.session.next_stop()
    assert (stop.reason, await driver.where(), driver.output("stdout")) == ("entry", ("<module>", 1), "")


@pytest.mark.each_python
async def test_stop_on_entry_that_never_comes_is_reported(driver: AdapterClient) -> None:
    await driver.launch(module="this", stopOnEntry=True, justMyCode=False)
    assert await driver.session.wait_until_ended() == Ended(0)
    assert driver.output("stderr") == "stopOnEntry: the program has run no code of its own, only libraries.\n"


async def test_stop_on_entry_is_in_the_program_even_if_library_code_is_shown(
    driver: AdapterClient, python: str
) -> None:
    await driver.start("print('first')\n", stopOnEntry=True, justMyCode=False, python=python)
    stop = await driver.session.next_stop()
    assert (stop.reason, await driver.where()) == ("entry", ("<module>", 1))
    [top, *_] = await driver.frames()
    assert top.source is not None
    assert top.source.path == str(driver.file)


async def test_my_code_only_is_stepped_into(driver: AdapterClient) -> None:
    program = "import json\njson.dumps({})\nprint()\n"
    await driver.start(program, 2)
    await driver.session.next_stop()
    await driver.session.step_in(1)
    await driver.session.next_stop()
    assert await driver.where() == ("<module>", 3)


async def test_library_code_is_stepped_into_where_that_is_wanted(driver: AdapterClient) -> None:
    program = "import json\njson.dumps({})\nprint()\n"
    await driver.start(program, 2, justMyCode=False)
    await driver.session.next_stop()
    await driver.session.step_in(1)
    await driver.session.next_stop()
    assert (await driver.where())[0] == "dumps"


async def test_program_without_debugging_does_not_stop(driver: AdapterClient) -> None:
    await driver.start("print(1 / 0)", 1, noDebug=True, stopOnEntry=True)
    ended = await driver.session.wait_until_ended()
    [breakpoint_] = driver.session.breakpoints
    assert ended.exit_code == 1
    assert not breakpoint_.verified
    assert "ZeroDivisionError" in driver.output("stderr")


async def test_process_event_names_the_program_and_its_process(driver: AdapterClient) -> None:
    await driver.start("import os; print(os.getpid())")
    process = await driver.session.wait_for(ProcessEvent)
    await driver.session.wait_until_ended()
    assert process.name == str(driver.file)
    assert driver.output("stdout") == f"{process.system_process_id}\n"


async def test_unknown_launch_arguments_are_told_once(driver: AdapterClient) -> None:
    keys = {"stopAtEntry": True, "listen": 1, "name": "x", "type": "python", "__sessionId": "1", "colour": "blue"}
    await driver.run("print()", **keys)
    told = driver.output("console")
    assert told == (
        'Launch arguments that dapkit does not know: "stopAtEntry" (did you mean "stopOnEntry"?), '
        '"listen" (it is for attach), "colour"\n'
    )


async def test_zip_file_with_a_main_runs(driver: AdapterClient) -> None:
    driver.write("print('main', __file__)", "__main__.py")
    with zipfile.ZipFile(driver.folder / "app.pyz", "w") as archive:
        archive.write(driver.folder / "__main__.py", "__main__.py")
    await driver.launch(program="app.pyz")
    await driver.session.wait_until_ended()
    assert driver.output("stdout").endswith("app.pyz/__main__.py\n")


async def test_launch_can_be_tried_again_after_it_was_refused(driver: AdapterClient) -> None:
    with pytest.raises(StartRefused):
        await driver.launch(program="missing.py")
    await driver.start("print('here')", 1)
    assert (await driver.session.next_stop()).reason == "breakpoint"
