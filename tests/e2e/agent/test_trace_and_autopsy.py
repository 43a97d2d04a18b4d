"""The life of a call, and why a program breaks off, in each language."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from anyio.abc import ByteSendStream

from action_fixtures import Caller

pytestmark = pytest.mark.timeout(300)  # for a busy machine

PYTHON = """\
def price(number):
    total = number * 2
    if total > 4:
        total = 1
    return total

def work(numbers):
    missing = None
    for number in numbers:
        price(number)
    return missing.total

work([1, 3])
"""

C = """\
#include <stddef.h>
int price(int number) {
    int total = number * 2;
    if (total > 4) {
        total = 1;
    }
    return total;
}
int work(int *missing) {
    for (int number = 1; number < 4; number += 2) {
        price(number);
    }
    return *missing;
}
int main(void) { return work(NULL); }
"""

GO = """\
package main

func price(number int) int {
	total := number * 2
	if total > 4 {
		total = 1
	}
	return total
}

func work(missing *int) int {
	for number := 1; number < 4; number += 2 {
		price(number)
	}
	return *missing
}

func main() { work(nil) }
"""

NODE = """\
function price(number) {
    let total = number * 2;
    if (total > 4) {
        total = 1;
    }
    return total;
}
function work(missing) {
    for (let number = 1; number < 4; number += 2) {
        price(number);
    }
    return missing.total;
}
work(null);
"""


@dataclass(frozen=True)
class Language:
    """A program in a language, and its adapter.

    Attributes:
        first: the first line of `price` that runs.
        crash: the line on which the program breaks off.
        build: makes the program of the source.

    """

    adapter: str
    source: str
    text: str
    first: int
    crash: int
    program: str
    build: tuple[str, ...] = ()


LANGUAGES = [
    Language("dapkit", "app.py", PYTHON, 2, 11, "app.py"),
    Language("debugpy", "app.py", PYTHON, 2, 11, "app.py"),
    Language("gdb", "app.c", C, 3, 13, "app", ("cc", "-g", "-O0", "-o", "app", "app.c")),
    Language("lldb-dap", "app.c", C, 3, 13, "app", ("cc", "-g", "-O0", "-o", "app", "app.c")),
    Language("dlv", "app.go", GO, 4, 15, "app.go"),
    Language("js-debug-adapter", "app.js", NODE, 2, 12, "app.js"),
]

TOOLS = {"gdb": "gdb", "lldb-dap": "lldb-dap-22", "dlv": "dlv", "js-debug-adapter": "js-debug-adapter"}


@pytest.fixture(
    params=[
        pytest.param(each, id=each.adapter, marks=[] if each.adapter == "dapkit" else [pytest.mark.each_adapter])
        for each in LANGUAGES
    ]
)
def language(request: pytest.FixtureRequest, caller: Caller, require_tool: Callable[[str], Path]) -> Language:
    """Write and build a program, and put its adapter into the caller's PATH."""
    chosen: Language = request.param
    folders = [str(require_tool(TOOLS[chosen.adapter]).parent)] if chosen.adapter in TOOLS else []
    if chosen.adapter == "js-debug-adapter":
        folders.append(str(require_tool("node").parent))
    caller.env = {**caller.env, "PATH": os.pathsep.join([*folders, caller.env["PATH"]])}
    caller.write(chosen.source, chosen.text)
    if chosen.build:
        subprocess.run(chosen.build, check=True, cwd=caller.project)
    return chosen


async def test_life_of_a_call_is_shown(caller: Caller, language: Language) -> None:
    traced = await caller(
        "trace",
        location=f"{language.source}:{language.first}",
        nth=2,
        program=language.program,
        adapter=language.adapter,
        timeout=120,
    )
    details = traced.details
    assert "price" in details["function"]
    assert {row["name"]: row["value"] for row in details["arguments"]}["number"] == "3"
    lines = [(row["line"] - language.first, row.get("branch")) for row in details["rows"] if row["line"]]
    assert lines[:3] == [(0, None), (1, True), (2, None)]
    changes = [
        [(change["name"], change["value"]) for change in row.get("changes", ())]
        for row in details["rows"]
        if row["line"]
    ]
    assert ("total", "6") in changes[0]
    assert ("total", "1") in changes[2]
    assert details["returned"]["value"] == "1"
    first, *rest = traced.text.splitlines()
    assert first.startswith(f"{caller.project / language.source}:{language.first} in ")
    assert "called from" in first
    assert rest[-1] == "Returned: 1"
    assert any("[true]" in line for line in rest)
    assert len(traced.text.encode()) < 4000


async def test_crash_is_explained_in_one_call(caller: Caller, language: Language) -> None:
    answer = await caller("autopsy", program=language.program, adapter=language.adapter, timeout=120)
    frames = answer.details["frames"]
    assert (frames[0]["line"], Path(frames[0]["path"]).name) == (language.crash, language.source)
    assert "work" in frames[0]["function"]
    assert frames[0]["suspicious"] == ["missing"]
    assert frames[0]["variables"][0]["name"] == "missing"  # the suspicious ones come first
    assert len(frames) >= 2
    lines = answer.text.splitlines()
    assert lines[0].startswith(f"{caller.project / language.source}:{language.crash}")
    assert lines[1].startswith(("Exception: ", "Cause: "))
    assert any(line.startswith("   missing = ") and "(!)" in line for line in lines)
    assert (await caller("sessions")).details["sessions"] == []


async def test_calls_below_are_followed_to_a_depth_and_loops_are_folded(caller: Caller) -> None:
    caller.write(
        "loop.py",
        "import json\n\ndef double(n):\n    return n * 2\n\n"
        "def work(count):\n    total = 0\n    for n in range(count):\n        total += double(n)\n"
        "        json.dumps(total)\n    return total\n\nwork(50)\n",
    )
    flat = await caller("trace", location="work", program="loop.py", timeout=120)
    assert flat.details["steps"] == 1 + 3 * 50 + 2
    assert flat.details["returned"]["value"] == "2450"
    assert "more of lines 8 to 10)" in flat.text
    assert len(flat.text.splitlines()) < 20
    deep = await caller("trace", location="work", depth=1, steps=20, program="loop.py", timeout=120)
    functions = {row.get("function") for row in deep.details["rows"]}
    assert functions == {None, "double"}  # and not those of json
    assert deep.details["returned"]["value"] == "2450"
    assert "Only its first 20 lines were followed" in deep.text


async def test_test_that_fails_is_traced_and_explained(caller: Caller) -> None:
    caller.write(
        "test_sums.py",
        "import pytest\n\ndef add(a, b):\n    return a - b\n\nclass TestAdd:\n"
        '    @pytest.mark.parametrize("a", [1, 2])\n    def test_add(self, a):\n        """Adds."""\n'
        "        total = add(a, 1)\n        assert total == a + 1\n",
    )
    traced = await caller("trace", test="test_sums.py::TestAdd::test_add[2]", timeout=120)
    assert [row["line"] for row in traced.details["rows"]] == [10, 11]
    assert "  10  total = add(a, 1)  -> add() = 1, total = 1" in traced.text
    assert "Exception: AssertionError: assert 1 == (2 + 1)" in traced.text
    explained = await caller("autopsy", program="test_sums.py::TestAdd::test_add[2]", timeout=120)
    assert explained.details["stop"]["exception"]["exceptionId"] == "AssertionError"
    assert [(frame["function"], frame["line"]) for frame in explained.details["frames"]] == [("TestAdd.test_add", 11)]
    assert "total = 1" in explained.text
    assert "@py_" not in explained.text
    wrong = await caller("trace", test="test_sums.py::test_other", timeout=120)
    assert wrong.error == (
        "invalid_arguments",
        f"test: {caller.project / 'test_sums.py'} has no test function test_other",
    )


async def test_trace_names_the_line_of_a_def_and_a_session_goes_on_behind_the_call(caller: Caller) -> None:
    caller.write("app.py", PYTHON)
    await caller("launch", program="app.py", breakpoints=["app.py:8"])
    traced = await caller("trace", location="app.py:1", timeout=120)
    assert (traced.details["line"], traced.details["returned"]["value"]) == (2, "2")
    assert (await caller("breakpoints")).details["breakpoints"][0]["line"] == 8
    here = await caller("trace", timeout=120)
    assert here.details["function"] == "work"
    assert "Exception: AttributeError: 'NoneType' object has no attribute 'total'" in here.text
    refused = await caller("trace", program="app.py")
    assert refused.error == ("invalid_arguments", "trace requires location")
    never = await caller("trace", location="app.py:4 if total > 99", program="app.py", timeout=120)
    assert "The program stopped before it came there: " in never.text


async def test_autopsy_of_a_program_that_does_not_crash(caller: Caller) -> None:
    caller.write("fine.py", 'import sys\nprint("fine")\nsys.exit(3)\n')
    ended = await caller("autopsy", program="fine.py", timeout=120)
    assert ended.text.splitlines()[0].endswith("without an exception or a signal that stopped it. Exit code: 3")
    assert ended.text.splitlines()[-1] == "| fine"
    caller.write("stuck.py", "import time\ndef waits():\n    while True:\n        time.sleep(0.05)\nwaits()\n")
    for seconds in (8, 40, 150):  # a busy machine may not have come so far in the first of these times
        late = await caller("autopsy", program="stuck.py", timeout=seconds)
        if "waits @" in late.text:
            break
    assert late.details["seconds"] == seconds
    assert "waits @" in late.text


@pytest.mark.thorough
async def test_recorded_history_says_where_the_bad_value_comes_from(caller: Caller) -> None:
    caller.write(
        "shares.py",
        "def share(total, count):\n    return total / count\n\n"
        "def counts():\n    count = 2\n    for _ in range(2):\n        count -= 1\n    return count\n\n"
        "def work():\n    count = counts()\n    label = 'x'\n    return share(12, count), label\n\nwork()\n",
    )
    answer = await caller("autopsy", program="shares.py", time_travel=True, timeout=300)
    [origin] = answer.details["origins"]
    assert origin["expression"] == "count"
    assert any((step["line"], step["function"]) == (7, "counts") for step in origin["chain"])
    assert [step["line"] for step in answer.details["lastLines"]][-1] == 13
    assert "count = 0 (!)" in answer.text


async def test_secret_of_a_crash_stays_hidden(caller: Caller) -> None:
    caller.write(
        "login.py", 'def log_in(password):\n    retries = 0\n    return 1 / retries\n\nlog_in("hunt" + "er22")\n'
    )
    for answer in (
        await caller("autopsy", program="login.py", timeout=120),
        await caller("trace", location="log_in", program="login.py", timeout=120),
    ):
        assert "password" in answer.text
        assert "hunter22" not in f"{answer.text}{answer.details['rows' if 'rows' in answer.details else 'frames']}"


FACTORIAL = """\
def fact(n):
    if n < 2:
        return 1
    rest = fact(n - 1)
    return n * rest

fact(9)
raise SystemExit(3)
"""

FACTORIAL_IN_C = """\
int fact(int n) {
    if (n < 2)
        return 1;
    int rest = fact(n - 1);
    return n * rest;
}
int main(void) { return fact(9) == 0; }
"""


@pytest.mark.parametrize(
    "adapter",
    ["dapkit", *(pytest.param(each, marks=pytest.mark.each_adapter) for each in ("debugpy", "gdb", "lldb-dap"))],
)
async def test_call_of_a_function_that_calls_itself_is_told_from_the_others(
    caller: Caller, adapter: str, require_tool: Callable[[str], Path]
) -> None:
    program = "fact.py"
    if adapter in TOOLS:
        program, source = "fact", caller.write("fact.c", FACTORIAL_IN_C)
        caller.env = {**caller.env, "PATH": f"{require_tool(TOOLS[adapter]).parent}{os.pathsep}{caller.env['PATH']}"}
        build = [str(require_tool("cc")), "-g", "-O0", "-o", str(source.with_suffix("")), str(source)]
        await anyio.run_process(build)
    else:
        caller.write("fact.py", FACTORIAL)
    location = "fact.c:2" if adapter in TOOLS else "fact.py:2"
    traced = await caller("trace", location=location, nth=6, program=program, adapter=adapter, timeout=120)
    assert {row["name"]: row["value"] for row in traced.details["arguments"]}["n"] == "4"
    assert [row["line"] for row in traced.details["rows"]] == [2, 4, 5]
    assert traced.details["returned"]["value"] == "24"
    never = await caller("trace", location=f"{location} if n > 99", program=program, adapter=adapter, timeout=120)
    assert "never hit: its condition (n > 99) was never met" in never.text
    assert "stop" not in never.details


WAITS_AND_CRASHES = """\
import sys

def boom(names):
    return names["missing"]

print("ready", flush=True)
sys.stdin.readline()
boom({})
"""


@pytest.mark.thorough
async def test_process_is_followed_to_its_crash(caller: Caller) -> None:
    program = [sys.executable, str(caller.write("later.py", WAITS_AND_CRASHES))]
    async with await anyio.open_process(program, stdin=subprocess.PIPE, stderr=None) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert (await process.stdout.receive()).startswith(b"ready")

        async def go_on_once_attached(stdin: ByteSendStream) -> None:
            for _ in range(4000):
                if "waiting for the first stop" in caller.progress:  # so it is attached to
                    break
                await anyio.sleep(0.05)
            await stdin.send(b"\n")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(go_on_once_attached, process.stdin)
            answer = await caller("autopsy", program=str(process.pid), timeout=120)
        assert answer.details["frames"][0]["suspicious"] == ["names"]
        assert "Exception: KeyError: 'missing'" in answer.text
        assert await process.wait() == 1  # it was let go, and has died of its own exception
    refused = await caller("autopsy", program="4711", args=["--timeout", "5"])
    assert refused.error == ("invalid_arguments", "process 4711 takes no arguments")


@pytest.mark.each_adapter
async def test_core_file_is_explained(caller: Caller, require_tool: Callable[[str], Path]) -> None:
    caller.env = {**caller.env, "PATH": f"{require_tool('gdb').parent}{os.pathsep}{caller.env['PATH']}"}
    source = caller.write("app.c", C)
    build = [str(require_tool("cc")), "-g", "-O0", "-o", str(source.with_suffix("")), str(source)]
    await anyio.run_process(build)
    script = "run\ngenerate-core-file core.1\nkill\nquit\n"
    caller.write("make_core.gdb", script)
    await anyio.run_process([str(require_tool("gdb")), "-batch", "-x", "make_core.gdb", "./app"], cwd=caller.project)
    answer = await caller("autopsy", program="app", args=["core.1"], timeout=120)
    assert [(frame["function"], frame["line"]) for frame in answer.details["frames"]] == [("work", 13), ("main", 15)]
    assert answer.details["frames"][0]["suspicious"] == ["missing"]
    assert "addresses are not randomised" not in answer.text


LEDGER = """
rates = {"tea": 4, "salt": None}

class Order:
    def __init__(self, kind):
        self.kind = kind
        self.rate = 0
        self.text = "a long text that says nothing of interest about the order" * 5

def prepare(order):
    order.rate = rates[order.kind]

def invoice(order):
    return 3 * order.rate - 1

order = Order("salt")
prepare(order)
invoice(order)
"""


async def test_member_that_the_line_reads_is_shown_and_followed_to_its_origin(caller: Caller) -> None:
    caller.write("app.py", LEDGER)
    found = await caller("autopsy", program="app.py", time_travel=True, timeout=120)
    assert "order.rate = None (!)" in found.text
    assert "order.rate was last changed at" in found.text
    assert "app.py:11 in prepare" in found.text
    assert "a long text" not in found.text  # the member says more than the whole


@pytest.mark.thorough
async def test_suite_of_tests_is_explained_by_the_test_that_changed_the_state(caller: Caller) -> None:
    caller.write("table.py", "RATES = {'tea': 4}\n")
    caller.write(
        "test_a.py", "import table\n\ndef test_all():\n    table.RATES['tea'] = 1000\n    assert table.RATES\n"
    )
    caller.write("test_b.py", "import table\n\ndef test_tea():\n    assert table.RATES['tea'] == 4\n")
    found = await caller(
        "autopsy", module="pytest", args=["-q", "-p", "no:cacheprovider"], time_travel=True, timeout=120
    )
    assert "test_b.py:4" in found.text
    assert "table.RATES['tea'] = 1000" in found.text
    assert "test_a.py:4 in test_all" in found.text


SECRETS = """
class User:
    def __init__(self, password):
        self.password = password
        self.size = 1

def login(user):
    config = {"password": user.password}
    user.size += 1
    return user.password + user.size

login(User(chr(104) + "unter22"))
"""


@pytest.mark.parametrize("action", ["trace", "autopsy"])
async def test_secrets_in_members_are_left_out(caller: Caller, action: str) -> None:
    caller.write("app.py", SECRETS)
    found = await caller(action, program="app.py", timeout=120, **({"location": "login"} if action == "trace" else {}))
    assert "password" in found.text
    assert "user.size = 2" in found.text or "size = 2" in found.text
    assert "hunter22" not in str(found.whole)
