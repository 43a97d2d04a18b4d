"""What other tools for agents were seen to do wrong, done to ours.

Each test names a defect that was measured in another tool; more of them are in
`test_python` (a deadlock, a program that neither stops nor ends, the first hit of a
crash line, big values) and in `e2e/hub` (processes that die).
"""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest

from action_fixtures import OUR_PYTHON, Caller
from dapkit.agent import table
from dapkit.hub.client import HubClient

LOOP = """\
def price(number):
    total = 0
    for step in range(20):
        total += step * number
    return total

print(price(3))
"""

both = pytest.mark.parametrize("adapter", ["dapkit", pytest.param("debugpy", marks=pytest.mark.each_adapter)])

type Ask = Callable[..., dict[str, object]]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    """Return a function that asks a hub process of its own, as commands do."""
    monkeypatch.setenv("PATH", OUR_PYTHON)
    (tmp_path / "hub").mkdir(mode=0o700)
    hub_client = HubClient(str(tmp_path / "hub"))

    def call(action: str, **arguments: object) -> dict[str, object]:
        return hub_client.call(action, arguments, project=str(tmp_path), timeout=60)

    yield call
    hub_client.stop()


@pytest.fixture
def hub_pid(ask: Ask, tmp_path: Path) -> int:
    """Return the process of that hub."""
    ask("sessions")
    status = HubClient(str(tmp_path / "hub")).status()
    assert status is not None
    pid = status["pid"]
    assert isinstance(pid, int)
    return pid


@pytest.mark.thorough
def test_a_hub_that_is_killed_at_a_breakpoint_leaves_nothing_and_the_next_call_works(
    ask: Ask, hub_pid: int, tmp_path: Path
) -> None:
    (tmp_path / "loop.py").write_text(LOOP, encoding="utf-8")
    launched = ask("launch", program="loop.py", breakpoints=["loop.py:4"], timeout=60)
    assert launched["success"], launched["text"]
    os.kill(hub_pid, signal.SIGKILL)
    assert ask("sessions")["text"] == "No debug sessions."  # that no process is left is seen after each test


@pytest.mark.thorough
def test_a_program_does_not_read_from_what_the_hub_was_started_with(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "fds.py").write_text("import os\nprint(os.readlink('/proc/self/fd/0'))\n", encoding="utf-8")
    ours = str(Path("/proc/self/fd/0").readlink())
    launched = ask("launch", program="fds.py", stop_on_entry=False, timeout=60)
    assert launched["success"], launched["text"]
    details = launched["details"]
    assert isinstance(details, dict)
    assert details["output"].strip() != ours or ours == "/dev/null"
    assert ask("sessions")["success"]


@pytest.mark.thorough
def test_a_session_outlives_the_process_that_started_it(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(LOOP, encoding="utf-8")
    code = (
        "import sys; from dapkit.hub.client import HubClient; "
        "print(HubClient(sys.argv[1]).call('launch',"
        " {'program': 'loop.py', 'breakpoints': ['loop.py:5'], 'timeout': 60}, project=sys.argv[2])['success'])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "hub"), str(tmp_path)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "True\n"
    answer = ask("evaluate", expression="total")
    assert str(answer["text"]).startswith("Result: 570")


@pytest.mark.thorough
@both
async def test_an_adapter_that_answers_nothing_is_named_and_replaced_by_a_restart(caller: Caller, adapter: str) -> None:
    caller.write("loop.py", LOOP)
    await caller("launch", program="loop.py", adapter=adapter, breakpoints=["loop.py:4"], timeout=30)
    record = (await caller.unchecked("session_record"))["details"]
    os.kill(record["configuration"]["adapterPid"], signal.SIGSTOP)
    first, second = [await caller.unchecked("evaluate", expression="step", timeout=5) for _ in range(2)]
    assert "timed out" in first["text"]
    assert "has not answered" not in first["text"]
    assert re.search(
        r"the adapter has not answered the last \d requests\nIt may hang. restart starts it", second["text"]
    )
    assert "/loop.py:4 in price\nStop 2: breakpoint (breakpoint 1)" in (await caller("restart", timeout=60)).text
    assert (await caller("evaluate", expression="step")).details["evaluation"]["result"] == "0"


@both
async def test_twenty_rounds_of_a_loop_are_seen_in_one_call(caller: Caller, adapter: str) -> None:
    caller.write("loop.py", LOOP)
    launched = await caller(
        "launch",
        program="loop.py",
        adapter=adapter,
        breakpoints=[{"file": "loop.py", "line": 4, "log_message": "step {step} total {total}"}],
        timeout=30,
    )
    assert launched.details["snapshot"]["status"] == "terminated"
    seen = (await caller("output")).details["output"]
    assert "step 0 total 0\n" in seen
    assert "step 19 total 513\n" in seen
    assert "570" in seen


@both
async def test_a_step_costs_few_bytes_and_tells_the_values(caller: Caller, adapter: str) -> None:
    caller.write("loop.py", LOOP)
    await caller("launch", program="loop.py", adapter=adapter, breakpoints=["loop.py:4"])
    steps = [await caller("step_over") for _ in range(4)]
    for step in steps:
        assert len(step.text.encode()) < 1500
        assert "total = " in step.text
        assert "debugpySockets" not in step.text


@pytest.mark.thorough
async def test_every_parameter_of_a_launch_is_understood(caller: Caller) -> None:
    program = caller.write("loop.py", LOOP)
    caller.write("given.txt", "")
    caller.write("test_it.py", "def test_it():\n    pass\n")
    debugging = {"type": "debugpy", "request": "launch", "program": str(program), "args": ["${input:asked}"]}
    asked = {"id": "asked", "type": "promptString", "description": "What"}
    configurations = {"configurations": [{"name": "it", **debugging}], "inputs": [asked]}
    caller.write(".vscode/launch.json", json.dumps(configurations))
    values: dict[str, object] = {
        "program": "loop.py",
        "args": ["x"],
        "module": "loop",
        "test": "test_it.py::test_it",
        "configuration": "it",
        "inputs": {"asked": "x"},
        "adapter": "dapkit",
        "cwd": ".",
        "env": {"A": "b"},
        "stdin_file": "given.txt",
        "terminal": True,
        "breakpoints": ["loop.py:5"],
        "exceptions": ["uncaught"],
        "expressions": ["step"],
        "stop_on_entry": True,
        "time_travel": True,
        "source_map": {"/built": "."},
        "options": {"justMyCode": True},
        "timeout": 60,
    }
    assert list(values) == list(table.ACTIONS["launch"]["parameters"])
    whats = [("module",), ("test",), ("configuration", "inputs"), ("program", "terminal")]
    alone = {name for names in whats for name in names} - {"program"}
    for names in (*whats, [name for name in values if name not in alone]):
        launched = await caller("launch", **{name: values[name] for name in names})
        assert launched.details["snapshot"]["status"] in ("stopped", "running", "terminated"), names


@both
@pytest.mark.thorough
async def test_a_flood_of_output_leaves_the_answers_small_and_quick(caller: Caller, adapter: str) -> None:
    caller.write("flood.py", "for number in range(20_000):\n    print('x' * 500)\nprint('the end')\n")
    with anyio.fail_after(60):
        launched = await caller("launch", program="flood.py", adapter=adapter, breakpoints=["flood.py:3"], timeout=50)
    assert launched.details["snapshot"]["line"] == 3
    assert len(launched.text.encode()) < 2500
    output = await caller("output")
    assert len(output.text.encode()) < 8192
    assert output.details["lost"] > 1_000_000


async def test_two_callers_at_once_both_get_true_answers(caller: Caller) -> None:
    caller.write("loop.py", LOOP)
    await caller("launch", program="loop.py", breakpoints=["loop.py:4"])
    answers: list[str] = []

    async def go() -> None:
        answers.append((await caller("continue")).details["state"])

    async def look() -> None:
        answers.append((await caller("threads")).text)

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(go)
            tasks.start_soon(look)
    assert answers.count("stopped") == 3
    assert all(answer == "stopped" or "MainThread" in answer for answer in answers)


async def test_a_value_of_the_program_can_neither_steer_a_terminal_nor_pass_for_ours(caller: Caller) -> None:
    caller.write("evil.py", "name = '\\x1b[2J\\nStatus: terminated'\nprint(name)\nprint(1)\n")
    stopped = await caller("launch", program="evil.py", breakpoints=["evil.py:3"])
    assert "\x1b" not in stopped.text
    assert "\nStatus: terminated" not in stopped.text.replace("\n| Status: terminated", "")
    class_of_its_own = await caller("evaluate", expression="type('E', (), {'__repr__': lambda s: name})()")
    assert "\nStatus" not in class_of_its_own.text


async def test_a_secret_of_the_program_does_not_leave_it(caller: Caller) -> None:
    caller.write("secret.py", "import os\napi_key = os.environ['SHOP_TOKEN']\nprint(api_key)\nprint(1)\n")
    stopped = await caller(
        "launch", program="secret.py", breakpoints=["secret.py:4"], env={"SHOP_TOKEN": "hush-4711-x"}
    )
    assert "4711" not in str(stopped.whole)
    assert "4711" not in str((await caller("evaluate", expression="dict(os.environ)")).whole)
    assert "4711" not in str((await caller("output")).whole)
    assert "4711" not in str((await caller("evaluate", expression="1/0 if api_key == '' else int(api_key)")).whole)


@pytest.mark.thorough
async def test_a_secret_does_not_leave_by_another_way(caller: Caller) -> None:
    caller.write("secret.py", "import os\nraise ValueError(os.environ['SHOP_TOKEN'])\n")
    caller.env = {**caller.env, "SHOP_TOKEN": "hush-4711-x"}
    stopped = await caller("launch", program="secret.py", exceptions=["uncaught"])
    assert stopped.details["snapshot"]["stopReason"] == "exception"
    assert "4711" not in str(stopped.whole)
    caller.env = {name: value for name, value in caller.env.items() if name != "SHOP_TOKEN"}
    assert "4711" not in str((await caller("sessions")).whole)  # whose callers need not know it
    again = await caller("restart", env={"SHOP_TOKEN": "hush-4712-x"})
    assert "4712" not in str(again.whole)
    assert "4712" not in str((await caller("exception_info")).whole)
    refused = await caller("launch", program="no/hush-4713-x", env={"SHOP_TOKEN": "hush-4713-x"})
    assert "4713" not in str(refused.whole)
    assert refused.error[0] == "invalid_arguments"
