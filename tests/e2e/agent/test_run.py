"""A whole run in one call, as an agent asks for it."""

import os

import pytest

from action_fixtures import Caller

LOOP = """\
def share(total, count):
    part = total / count
    return part

for count in (3, 2, 1):
    print(share(12, count))
"""

STUCK = """\
import threading, time
event = threading.Event()
def waits():
    event.wait()
for _ in range(3):
    threading.Thread(target=waits, daemon=True).start()
print("begun", flush=True)
while True:
    time.sleep(0.1)
"""

both = pytest.mark.parametrize("adapter", ["dapkit", pytest.param("debugpy", marks=pytest.mark.each_adapter)])


@both
async def test_expressions_are_evaluated_at_their_own_breakpoint_or_at_all(caller: Caller, adapter: str) -> None:
    caller.write("loop.py", LOOP)
    answer = await caller(
        "run",
        program="loop.py",
        adapter=adapter,
        breakpoints=[{"breakpoint": "loop.py:2 if count < 3", "expressions": ["count"]}, "loop.py:3"],
        expressions=["part"],
        timeout=60,
    )
    values = [
        [(each["expression"], each.get("evaluation", each)) for each in stop["values"]]
        for stop in answer.details["stops"]
    ]
    assert [[name for name, _ in stop] for stop in values] == [
        ["part"],
        ["part", "count"],
        ["part"],
        ["part", "count"],
        ["part"],
    ]
    assert [stop[-1][1]["result"] for stop in values if stop[-1][0] == "count"] == ["2", "1"]
    assert answer.details["exitCode"] == 0
    assert answer.text.startswith(f"{caller.project / 'loop.py'}:3 in share, called from line 6\n  part = 4.0\n")
    assert f"{caller.project / 'loop.py'}:3 in share, called from line 6 (hit 2)\n  part = 6.0\n" in answer.text
    assert answer.text.endswith("Output:\n4.0\n6.0\n12.0\n\nExit code: 0")
    assert (await caller("sessions")).details["sessions"] == []


@both
@pytest.mark.timeout(400)
async def test_threads_of_a_program_whose_time_is_over_are_shown(caller: Caller, adapter: str) -> None:
    caller.write("stuck.py", STUCK)
    for seconds in (5, 30, 120):  # a busy machine may not have come so far in the first of these times
        answer = await caller("run", program="stuck.py", adapter=adapter, timeout=seconds)
        details = answer.details if answer.whole["success"] else {}
        if len(details.get("threads") or ()) >= 4 and details["output"]:
            break
    assert answer.details["seconds"] == seconds
    stacks = {thread["name"]: thread["frames"] for thread in answer.details["threads"]}
    assert "<module>" in stacks["MainThread"][0]["name"] or "<module>" in stacks["MainThread"][1]["name"]
    waiting = [name for name, frames in stacks.items() if any("waits" in frame["name"] for frame in frames)]
    assert len(waiting) == 3
    assert " (3): " in answer.text  # their stack is shown once
    assert f"The program still ran when {seconds} s were over, and is ended." in answer.text
    assert (await caller("sessions")).details["sessions"] == []


async def test_condition_that_cannot_be_evaluated_is_named_at_the_end(caller: Caller) -> None:
    caller.write("loop.py", LOOP)
    answer = await caller("run", program="loop.py", breakpoints=["loop.py:2 if nowhere > 1"], timeout=60)
    assert answer.details["stops"] == []
    assert "its condition raised NameError: name 'nowhere' is not defined" in answer.text


async def test_module_and_interpreter_are_run(caller: Caller) -> None:
    caller.write("pkg/__init__.py", "")
    caller.write("pkg/__main__.py", "import sys\nprint(sys.argv[1:])\n")
    answer = await caller("run", module="pkg", args=["a b"], breakpoints=["pkg/__main__.py:2"], timeout=60)
    assert answer.details["stops"][0]["stop"]["frames"][0]["line"] == 2
    assert answer.details["output"] == f"['a b']{os.linesep}"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "program is required"),
        ({"program": "loop.py", "stops": 0}, "stops must be 1 or more"),
        ({"program": "loop.py", "breakpoints": [{"breakpoint": "loop.py:2", "expressions": "n"}]}, "a list of strings"),
        ({"program": "loop.py", "breakpoints": [{"breakpoint": 3}]}, "breakpoint"),
    ],
)
async def test_wrong_arguments_start_nothing(caller: Caller, arguments: dict[str, object], words: str) -> None:
    caller.write("loop.py", LOOP)
    code, message = (await caller("run", **arguments)).error
    assert (code, words in message) == ("invalid_arguments", True), message
    assert (await caller("sessions")).text == "No debug sessions."


@both
async def test_two_runs_are_compared_stop_by_stop(caller: Caller, adapter: str) -> None:
    caller.write("loop.py", LOOP.replace("(3, 2, 1)", "map(int, __import__('sys').argv[1:])"))
    common = {"program": "loop.py", "adapter": adapter, "breakpoints": ["loop.py:3"], "timeout": 120}
    other_each_time = ["[object()]", "__import__('threading').current_thread()"]
    common |= {"expressions": ["part", *other_each_time]}
    compared = await caller("compare_runs", **common, args=["3", "2", "1"], other={"args": ["3", "6", "1", "4"]})
    place = f"{caller.project / 'loop.py'}:3 in share, called from line 6"
    assert compared.text.startswith("Stops of the first run: 3, of the second: 4, alike: 2.\nAfter stop 1:\n")
    assert f"\n- {place}\n-   part = 6.0\n" in compared.text
    assert f"\n+ {place}\n+   part = 2.0\n" in compared.text
    assert f"\nAfter stop 3:\n+ {place}\n+   part = 3.0\n" in compared.text
    assert compared.text.endswith("\nFirst line of output that differs:\n- | 6.0\n+ | 2.0\nExit code: 0")
    same = await caller("compare_runs", **common, args=["3"], other={})
    assert (
        same.text == "Stops of the first run: 1, of the second: 1, alike: 1.\nTheir outputs are the same.\nExit code: 0"
    )
    details = (await caller("sessions")).details
    assert (details["sessions"], details["endedRuns"]) == ([], 4)  # two comparisons


async def test_second_run_cannot_have_other_breakpoints(caller: Caller) -> None:
    caller.write("loop.py", LOOP)
    code, message = (await caller("compare_runs", program="loop.py", other={"breakpoints": ["loop.py:2"]})).error
    assert (code, message) == ("invalid_arguments", "compare_runs: other has breakpoints")
    assert (await caller("compare_runs", program="loop.py", other={"env": 3})).error[0] == "invalid_arguments"
    assert (await caller("sessions")).text == "No debug sessions."
