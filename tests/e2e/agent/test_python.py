"""The actions on Python programs, by our own adapter and by debugpy."""

import os

import pytest

from action_fixtures import Caller

SHOP = """\
def unit_price(amount, divisor):
    share = amount / divisor
    return share


def main(count):
    total = 0
    for divisor in range(count, -1, -1):
        total += unit_price(12, divisor)
        print("total", total)


main(3)
"""

both = pytest.mark.parametrize("adapter", ["dapkit", pytest.param("debugpy", marks=pytest.mark.each_adapter)])


@both
async def test_one_call_tells_where_why_and_what_changed(caller: Caller, adapter: str) -> None:
    caller.write("shop.py", SHOP)
    launched = await caller("launch", program="shop.py", adapter=adapter, breakpoints=["shop.py:3"])
    stop = launched.details["stop"]
    assert (stop["reason"], stop["number"], stop["hitBreakpoints"]) == ("breakpoint", 1, [1])
    assert [line["line"] for line in stop["sourceLines"]] == [1, 2, 3, 4, 5]
    assert {variable["name"]: variable["value"] for variable in stop["locals"]} == {
        "amount": "12",
        "divisor": "3",
        "share": "4.0",
    }
    assert [frame["name"] for frame in stop["frames"]][:2] == ["unit_price", "main"]

    continued = await caller("continue")
    stop = continued.details["stop"]
    changed = {variable["name"]: variable["was"] for variable in stop["locals"] if variable.get("changed")}
    assert changed == {"divisor": "3", "share": "4.0"}
    assert stop["output"] == f"total 4.0{os.linesep}"
    project = caller.project
    assert continued.text.startswith(
        f"{project / 'shop.py'}:3 in unit_price\nStop 2: breakpoint (breakpoint 1), thread MainThread\n"
        "   1  def unit_price(amount, divisor):\n"
    )
    assert "-> 3      return share\n" in continued.text
    assert "- divisor = 2 [was 3]\n" in continued.text
    assert "\n| total 4.0" in continued.text


@both
async def test_an_uncaught_exception_is_reported_with_its_values(caller: Caller, adapter: str) -> None:
    caller.write("shop.py", SHOP)
    launched = await caller("launch", program="shop.py", adapter=adapter, exceptions=["uncaught"])
    stop = launched.details["stop"]
    assert stop["reason"] == "exception"
    assert stop["exception"]["message"] == "division by zero"
    assert launched.details["snapshot"]["line"] == 2
    assert {variable["name"]: variable["value"] for variable in stop["locals"]} == {"amount": "12", "divisor": "0"}
    assert "division by zero" in launched.text


@both
@pytest.mark.thorough
async def test_a_program_is_run_step_by_step(caller: Caller, adapter: str) -> None:
    caller.write("shop.py", SHOP)
    await caller("launch", program="shop.py", adapter=adapter, breakpoints=["shop.py:9"])
    assert (await caller("step_in")).details["snapshot"]["frameName"] == "unit_price"
    assert (await caller("step_over")).details["snapshot"]["line"] == 3
    assert (await caller("step_out")).details["snapshot"]["frameName"] == "main"
    ran = await caller("run_to", file="shop.py", text='print("total"')
    assert ran.details["snapshot"]["line"] == 10
    assert [placed["line"] for placed in (await caller("breakpoints")).details["breakpoints"]] == [9]


@both
async def test_values_are_shown_and_changed(caller: Caller, adapter: str) -> None:
    caller.write("shop.py", SHOP)
    await caller("launch", program="shop.py", adapter=adapter, breakpoints=["shop.py:3"])
    assert (await caller("evaluate", expression="share * 2")).text == "Result: 8.0"
    assert (await caller("evaluate", expression="divisor", frame=1)).text == "Result: 3"
    assert (await caller("set_variable", name="share", value="7.5")).text.startswith("share was set.\nValue: 7.5")
    assert (await caller("evaluate", expression="share")).details["evaluation"]["result"] == "7.5"
    scope = (await caller("scopes")).details["scopes"][0]
    shown = await caller("variables", scope_id=scope["variablesReference"], match="shar")
    assert shown.text == "Variables:\n- share = 7.5"


@both
@pytest.mark.thorough
async def test_a_reference_of_an_earlier_stop_is_refused(caller: Caller, adapter: str) -> None:
    caller.write("shop.py", SHOP)
    await caller("launch", program="shop.py", adapter=adapter, breakpoints=["shop.py:3"])
    frame = (await caller("stack_trace")).details["stackFrames"][0]["id"]
    await caller("continue")
    code, message = (await caller("evaluate", expression="share", frame_id=frame)).error
    assert code == "stale_reference"
    assert "reference from stop 1, now at stop 2" in message


@both
async def test_output_of_a_short_program_is_not_lost(caller: Caller, adapter: str) -> None:
    caller.write("short.py", "print('only this')\n")
    launched = await caller("launch", program="short.py", adapter=adapter, stop_on_entry=False)
    assert launched.details["snapshot"]["status"] == "terminated"
    assert launched.details["output"] == f"only this{os.linesep}"
    assert (await caller("output")).text == "| only this"


@pytest.mark.thorough
@both
async def test_a_program_that_neither_stops_nor_ends_is_told_as_running(caller: Caller, adapter: str) -> None:
    caller.write("busy.py", "import time\nwhile True:\n    time.sleep(0.05)\n")
    caller.settings = type(caller.settings)(session_initial_stop_seconds=0.5)
    launched = await caller("launch", program="busy.py", adapter=adapter, stop_on_entry=False)
    assert launched.details["snapshot"]["status"] == "running"
    assert launched.details["notes"] == ["it runs, and has not stopped within 0.5 s: wait waits on"]
    went = await caller("continue", timeout=5)
    assert went.text.endswith("Program is still running after 5s. Use pause to interrupt and inspect state.")
    assert (went.details["state"], went.details["timedOut"]) == ("running", True)
    paused = await caller("pause")
    assert "\nStop 1: pause" in paused.text
    assert paused.details["snapshot"]["source"]["path"].endswith("busy.py")
    while not (shown := await caller("evaluate", expression="1 + 1")).whole["success"]:
        assert "inside native code" in shown.text  # it sleeps, or gets no processor
    assert shown.text.startswith("Result: 2")


async def test_expression_is_evaluated_while_the_program_runs(caller: Caller) -> None:
    caller.write("busy.py", "import time\nn = 7\nwhile True:\n    time.sleep(0.01)\n")
    caller.settings = type(caller.settings)(session_initial_stop_seconds=0.2)
    launched = await caller("launch", program="busy.py", adapter="dapkit", stop_on_entry=False)
    assert launched.details["snapshot"]["status"] == "running"
    while not (shown := await caller("evaluate", expression="n")).whole["success"]:
        assert "NameError" in shown.text  # the program has only begun
    assert shown.text.startswith("Result: 7")
    assert "| Evaluated in MainThread." in shown.text
    assert "running" in (await caller("evaluate", expression="n", frame=0)).text
    assert (await caller("sessions")).details["sessions"][0]["status"] == "running"


@both
@pytest.mark.thorough
async def test_a_deadlock_is_seen_in_one_call(caller: Caller, adapter: str) -> None:
    caller.write(
        "lock.py",
        "import threading\n"
        "first, second, both = threading.Lock(), threading.Lock(), threading.Barrier(2)\n"
        "def transfer(mine, other):\n"
        "    with mine:\n"
        "        both.wait()\n"
        "        with other:\n"
        "            pass\n"
        "one = threading.Thread(target=transfer, args=(first, second), name='worker-ab', daemon=True)\n"
        "two = threading.Thread(target=transfer, args=(second, first), name='worker-ba', daemon=True)\n"
        "one.start(); two.start(); print('started', flush=True); one.join()\n",
    )
    caller.settings = type(caller.settings)(session_initial_stop_seconds=1.0)
    launched = await caller("launch", program="lock.py", adapter=adapter, stop_on_entry=False)
    assert launched.details["snapshot"]["status"] == "running"
    at: dict[str, list[tuple[str, int]]] = {}
    while any(("transfer", 6) not in at.get(name, []) for name in ("worker-ab", "worker-ba")):
        seen = await caller("threads", levels=4)  # again, as long as they start, or debugpy does not know their names
        stacks = {stack["threadId"]: stack["frames"] for stack in seen.details["stacks"]}
        at = {
            thread["name"]: [(frame["name"], frame["line"]) for frame in stacks[thread["id"]]]
            for thread in seen.details["threads"]
        }


@both
@pytest.mark.thorough
async def test_the_crash_line_that_was_passed_before_does_not_pass_for_the_crash(caller: Caller, adapter: str) -> None:
    caller.write("shop.py", SHOP)
    launched = await caller(
        "launch", program="shop.py", adapter=adapter, breakpoints=["shop.py:2"], exceptions=["uncaught"]
    )
    assert launched.details["stop"]["reason"] == "breakpoint"
    await caller("breakpoints", do="clear")
    crashed = await caller("continue")
    assert crashed.details["stop"]["reason"] == "exception"
    assert {variable["name"]: variable["value"] for variable in crashed.details["stop"]["locals"]}["divisor"] == "0"


@both
@pytest.mark.thorough
async def test_big_values_are_cut_everywhere(caller: Caller, adapter: str) -> None:
    caller.write("big.py", "text = 'x' * 10_000_000\nitems = list(range(1_000_000))\nprint(len(text))\n")
    launched = await caller("launch", program="big.py", adapter=adapter, breakpoints=["big.py:3"])
    assert len(launched.text) < 2500
    evaluated = await caller("evaluate", expression="text")
    assert len(evaluated.text) < 8192
    [items] = [variable for variable in launched.details["stop"]["locals"] if variable["name"] == "items"]
    page = await caller("variables", variable_ref=items["variablesReference"])
    assert len(page.text.encode()) < 8192
    assert "start=" in page.text


@both
@pytest.mark.thorough
async def test_breakpoints_follow_their_text_through_a_restart(caller: Caller, adapter: str) -> None:
    caller.write("shop.py", SHOP)
    await caller(
        "launch", program="shop.py", adapter=adapter, breakpoints=[{"file": "shop.py", "text": "return share"}]
    )
    caller.write("shop.py", "# one line more\n" + SHOP)
    again = await caller("restart")
    assert again.details["snapshot"]["line"] == 4
    listed = (await caller("breakpoints")).text
    assert "line 4: verified" in listed


@both
@pytest.mark.thorough
async def test_conditions_hit_counts_and_log_messages_work(caller: Caller, adapter: str) -> None:
    caller.write("count.py", "for number in range(10):\n    double = number * 2\n    print(double)\n")
    await caller("launch", program="count.py", adapter=adapter, breakpoints=["count.py:2 if number == 4"])
    assert (await caller("evaluate", expression="number")).details["evaluation"]["result"] == "4"
    await caller("breakpoints", do="clear")
    await caller("set_breakpoint", file="count.py", line=3, log_message="at {number}")
    await caller("set_breakpoint", file="count.py", line=2, hit_condition="3")
    assert (await caller("continue")).details["snapshot"]["line"] == 2
    assert (await caller("evaluate", expression="number")).details["evaluation"]["result"] == "7"
    assert "at 6\n" in (await caller("output")).details["output"]


NODES = """\
class Node:
    def __init__(self, number, following):
        self.number = number
        self.following = following

    @property
    def price(self):
        print("asked for the price")
        return 1


def walk(first):
    return first


walk(Node(1, Node(2, None)))
print("walked")
"""


@both
async def test_stop_shows_what_is_inside_of_objects_and_runs_none_of_their_properties(
    caller: Caller, adapter: str
) -> None:
    caller.write("nodes.py", NODES)
    launched = await caller("launch", program="nodes.py", adapter=adapter, breakpoints=["nodes.py:13"])
    first = launched.details["stop"]["locals"][0]
    if adapter == "dapkit":  # debugpy would run the property
        assert first["contents"].startswith("{number = 1, following = <__main__.Node object at 0x")
        assert first["contents"].endswith("{number = 2, following = None}}")
    assert (await caller("continue")).details["state"] == "terminated"
    output = (await caller("output")).text
    assert "walked" in output
    assert "asked for the price" not in output


@pytest.mark.thorough
async def test_why_and_timeline_tell_of_a_recorded_history(caller: Caller) -> None:
    caller.write("shop.py", SHOP)
    launched = await caller("launch", program="shop.py", exceptions=["uncaught"], options={"timeTravel": True})
    assert launched.details["stop"]["reason"] == "exception"
    found = await caller("why", expression="total", frame=1)
    assert found.text == (
        f"total was last changed at {caller.project / 'shop.py'}:9 in main (clock {found.details['clock']}).\n"
        "Before: 10.0\nAfter: 22.0"
    )
    shown = await caller("timeline")
    [stop] = shown.details["stops"]
    assert (stop["reason"], stop["output"]) == (
        "exception",
        len("total 4.0\ntotal 10.0\ntotal 22.0\n"),
    )
    assert shown.details["now"] == shown.details["live"] == stop["clock"] > shown.details["beginning"]
    assert [each["output"] for each in shown.details["checkpoints"]][:1] == [0]
    before = shown.details["checkpoints"][0]["time"]
    assert before <= stop["time"]

    assert (await caller("step_back")).details["stop"]["reason"] == "step"
    back = await caller("timeline")
    assert back.details["now"] < back.details["live"] == shown.details["live"]
    assert back.text.startswith(f"Timeline: clock {back.details['beginning']} to {back.details['live']}; shown: ")
    into = await caller("step_back", into=True)
    assert (await caller("timeline")).details["now"] == back.details["now"] - 1
    assert into.details["stop"]["reason"] == "step"
    went = await caller("travel_to", clock=found.details["clock"])
    assert went.details["stop"]["reason"] == "goto"
    assert f"{caller.project / 'shop.py'}:9" in went.text
    outside = await caller("travel_to", clock=shown.details["live"] + 1)
    assert "is not in the recorded history" in outside.text
    never = await caller("why", expression="nothing_of_this_name")
    assert "nothing_of_this_name: it has no value here, and had none before" in never.text


async def test_a_program_without_a_recorded_history_says_how_to_have_one(caller: Caller) -> None:
    caller.write("shop.py", SHOP)
    await caller("launch", program="shop.py", breakpoints=["shop.py:3"])
    for action, arguments in (("why", {"expression": "share"}), ("timeline", {}), ("travel_to", {"clock": 1})):
        refused = await caller(action, **arguments)
        assert refused.error == ("unsupported", "Current adapter does not support a recorded history")
        assert refused.text.endswith("in a shell: dapkit launch --time-travel PROGRAM.")
    for action, what in (("step_back", "stepping back"), ("reverse_continue", "running backwards")):
        refused = await caller(action)
        assert refused.error == ("unsupported", f"Current adapter does not support {what}")
        assert refused.text.endswith("in a shell: dapkit launch --time-travel PROGRAM.")


async def test_time_travel_is_a_parameter_of_launch(caller: Caller) -> None:
    caller.write("shop.py", SHOP)
    await caller("launch", program="shop.py", breakpoints=["shop.py:3"], time_travel=True)
    assert (await caller("step_back")).details["stop"]["reason"] == "step"
    refused = await caller("launch", program="shop.py", adapter="debugpy", time_travel=True)
    assert refused.text.startswith("time_travel: adapter debugpy keeps no history; adapter dapkit does")
