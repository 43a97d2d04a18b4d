"""Looking at a stopped Python program from every side, by our own adapter."""

import os

import pytest

from action_fixtures import Caller

PRICES = """\
import json

class Item:
    def __init__(self, name, price):
        self.name = name
        self.price = price

def cost(items):
    total = 0
    for item in items:
        total += item.price
    return total

def outer(items):
    return round(cost(items)) + len(json.dumps([item.name for item in items]))

goods = [Item("a", 1), Item("b", 2)]
print(outer(goods))
"""


@pytest.fixture
async def stopped(caller: Caller) -> Caller:
    """Return a caller whose program stands in a loop."""
    caller.write("prices.py", PRICES)
    assert (await caller("launch", program="prices.py", breakpoints=["prices.py:11"])).details
    return caller


async def test_what_an_evaluation_prints_comes_in_its_answer_and_not_again(stopped: Caller) -> None:
    printed = await stopped("evaluate", expression="print('here', total)")
    assert printed.text == "Result: (none)\nOutput since 0:\n| here 0"
    assert (await stopped("evaluate", expression="total")).text == "Result: 0"
    assert "here" not in (await stopped("continue")).text
    ended = await stopped("terminate")
    assert ended.text.endswith("Debug session debug-1 terminated.")  # without a word of how it was interrupted
    again = await stopped("terminate")
    code = again.details["snapshot"].get("exitCode")  # 130, unless it is too slow to notice the interrupt
    ending = "" if code is None else f" with exit code {code}"
    assert again.text == f"Debug session debug-1 had ended already{ending}."
    assert (await stopped("output")).text == "| here 0"


async def test_variables_without_a_reference_are_the_locals_of_the_stop(stopped: Caller) -> None:
    local = await stopped("variables")
    assert [row["name"] for row in local.details["variables"]] == ["items", "total", "item"]
    assert local.text.startswith("Variables:\n")
    await stopped("continue")
    await stopped("terminate")
    code, _ = (await stopped("variables")).error
    assert code == "not_stopped"


@pytest.mark.thorough
async def test_sessions_are_listed_live_ones_first(stopped: Caller) -> None:
    await stopped("terminate")
    await stopped("launch", program="prices.py", breakpoints=["prices.py:11"])
    rows = (await stopped("sessions")).details["sessions"]
    assert [(row["id"], row["status"]) for row in rows] == [("debug-2", "stopped"), ("debug-1", "terminated")]


async def test_frames_come_in_pages(stopped: Caller) -> None:
    page = await stopped("stack_trace", levels=1)
    assert [frame["name"] for frame in page.details["stackFrames"]] == ["cost"]
    assert page.details["more"] is True
    assert page.text.endswith("start=1 shows them)")
    rest = await stopped("stack_trace", start=1)
    assert [(frame["index"], frame["name"]) for frame in rest.details["stackFrames"]] == [(1, "outer"), (2, "<module>")]


@pytest.mark.thorough
async def test_frames_of_libraries_are_left_out_on_request(caller: Caller) -> None:
    caller.write("deep.py", "import json\ndef hook(pairs):\n    return 1\njson.loads('{}', object_pairs_hook=hook)\n")
    await caller("launch", program="deep.py", breakpoints=["deep.py:3"])
    assert len((await caller("stack_trace")).details["stackFrames"]) > 2
    own = await caller("stack_trace", own_code=True)
    assert [frame["name"] for frame in own.details["stackFrames"]] == ["hook", "<module>"]


async def test_variables_come_in_pages(stopped: Caller) -> None:
    items = await stopped("evaluate", expression="list(range(1000))")
    reference = items.details["evaluation"]["variablesReference"]
    page = await stopped("variables", variable_ref=reference, start=10, count=2)
    assert [variable["value"] for variable in page.details["variables"]][:2] == ["10", "11"]
    assert page.details["more"] >= 988
    assert "start=12 shows them)" in page.text


async def test_variables_are_filtered(stopped: Caller) -> None:
    pair = await stopped("evaluate", expression="[7, 8]")
    reference = pair.details["evaluation"]["variablesReference"]
    indexed = await stopped("variables", variable_ref=reference, filter="indexed")
    assert [variable["value"] for variable in indexed.details["variables"]] == ["7", "8"]


async def test_a_frame_is_chosen_by_its_place_or_by_its_id(stopped: Caller) -> None:
    frame = (await stopped("stack_trace")).details["stackFrames"][2]["id"]
    assert "Locals" in (await stopped("scopes", frame=1)).text
    by_id = await stopped("evaluate", expression="len(goods)", frame_id=frame)
    assert by_id.details["evaluation"]["result"] == "2"
    assert (await stopped("scopes", frame=-1)).error == ("invalid_arguments", "frame must be 0 or more, not -1")
    assert (await stopped("scopes", frame=9)).error[0] == "not_stopped"


async def test_a_frame_is_chosen_by_all_that_the_stack_shows(stopped: Caller) -> None:
    number = (await stopped("stack_trace")).details["stackFrames"][1]["id"]
    for name in (1, "1", f"#{number}", "outer"):
        assert (await stopped("evaluate", expression="sorted(locals())", frame=name)).text.startswith(
            "Result: ['items'"
        )
    refused = await stopped("scopes", frame="nowhere")
    assert refused.error == ("invalid_arguments", "frame: no frame of the stack is of a function 'nowhere'")
    assert (await stopped("scopes", frame="#99999")).error[0] == "stale_reference"


async def test_a_thread_is_chosen_by_its_place(stopped: Caller) -> None:
    assert (await stopped("stack_trace", thread=0)).details["stackFrames"][0]["name"] == "cost"
    assert not (await stopped("stack_trace", thread=7)).whole["success"]


async def test_an_expression_is_assigned_to(stopped: Caller) -> None:
    assert (await stopped("set_expression", expression="item.price", value="40")).text.startswith("item.price was set.")
    await stopped("breakpoints", do="clear")
    await stopped("run_to", file="prices.py", text="return total")
    assert (await stopped("evaluate", expression="total")).details["evaluation"]["result"] == "42"


async def test_an_exception_is_shown_with_its_causes(caller: Caller) -> None:
    caller.write(
        "cause.py", "try:\n    {}['price']\nexcept KeyError as error:\n    raise ValueError('no price') from error\n"
    )
    stopped = await caller("launch", program="cause.py", exceptions=["uncaught"])
    assert "\nException: ValueError: no price\nCaused by: KeyError: 'price'\n" in stopped.text
    shown = await caller("exception_info")
    assert shown.text.startswith("Exception: ValueError: no price\nCaused by: KeyError: 'price'\nBreak mode: ")


@pytest.mark.thorough
async def test_what_an_adapter_cannot_do_is_refused_with_what_it_lacks(caller: Caller) -> None:
    caller.write("prices.py", PRICES)
    await caller("launch", program="prices.py", adapter="debugpy", breakpoints=["prices.py:12"])
    for action, what in (("step_back", "stepping back"), ("reverse_continue", "running backwards")):
        refused = await caller(action)
        assert refused.error == ("unsupported", f"Current adapter does not support {what}")
        assert refused.text.endswith("It lacks supportsStepBack.")


async def test_completions_are_shown(stopped: Caller) -> None:
    assert "- price" in (await stopped("completions", expression="item.pr")).text


async def test_the_source_around_the_stop_or_elsewhere_is_shown(stopped: Caller) -> None:
    around = await stopped("source", count=3)
    assert around.text == (
        f"{stopped.project / 'prices.py'}, lines 10 to 12 of 18:\n"
        "   10      for item in items:\n-> 11          total += item.price\n   12      return total"
    )
    beginning = await stopped("source", file="prices.py", line=1, count=2)
    assert beginning.details["content"] == "import json\n"


async def test_a_call_of_the_line_is_stepped_into(caller: Caller) -> None:
    caller.write("prices.py", PRICES)
    await caller("launch", program="prices.py", breakpoints=["prices.py:15"])
    code, message = (await caller("step_in", target="nothing")).error
    assert (code, "no call of this line" in message) == ("invalid_arguments", True)
    assert (await caller("step_in", target="cost")).details["snapshot"]["frameName"] == "cost"


async def test_several_expressions_are_evaluated_at_once_and_a_long_value_is_cut(stopped: Caller) -> None:
    answer = await stopped("evaluate", expression="total", expressions=["nowhere", "'x' * 5000", "list(range(9))"])
    total, missing, text, items = answer.text.splitlines()
    assert (total, items) == ("total = 0", "list(range(9)) = [0, 1, 2, 3, 4, 5, 6, 7, 8]")
    assert missing == "nowhere = (NameError: name 'nowhere' is not defined)"
    assert len(text) < 300
    assert "(cut, 5000 items)" in text
    nested = "{'a': [1, (2, {'b': [3]})], 'c': ([4], [5])}"
    assert (await stopped("evaluate", expression=nested)).text == f"Result: {nested}"
    assert len((await stopped("evaluate", expression="'x' * 5000", width=2000)).text) > 2000
    assert len((await stopped("evaluate", expression="'x' * 5000")).text) < 1100
    assert (await stopped("evaluate", expression="1", width=0)).error[0] == "invalid_arguments"


async def test_expressions_are_kept_and_each_report_of_a_stop_has_their_values(caller: Caller) -> None:
    caller.write("prices.py", PRICES)
    launched = await caller(
        "launch", program="prices.py", breakpoints=["prices.py:11"], expressions=["total * 2", "nowhere"]
    )
    expected = "Expressions:\n- total * 2 = 0\n- nowhere = (NameError: name 'nowhere' is not defined)\nLocals:\n"
    assert expected in launched.text
    added = await caller("watch", expressions=["len(items)"])
    assert added.text.endswith("\n- len(items) = 2")
    assert "\n- len(items) = 2\nLocals:" in (await caller("step_over")).text
    assert (await caller("watch", clear=True)).text == "Expressions:\n(none)"
    assert "Expressions" not in (await caller("step_over")).text


async def test_several_steps_show_each_line_with_its_changes(stopped: Caller) -> None:
    await stopped("breakpoints", do="clear")
    stepped = await stopped("step_over", count=4)
    assert stepped.text.startswith(
        f"{stopped.project / 'prices.py'} in cost\n  11  total += item.price  -> total = 1\n"
        "  10  for item in items:  -> item = Item {name = 'b', price = 2}\n"
        "  11  total += item.price  -> total = 3\n  10  for item in items:\n"
        f"{stopped.project / 'prices.py'}:12 in cost\nStop 5: step, thread MainThread\nLocals:\n"
    )
    assert [step["line"] for step in stepped.details["steps"]] == [11, 10, 11, 10]
    ended = await stopped("step_over", count=100)
    assert ended.details["state"] == "terminated"
    last_step = [f"{stopped.project / 'prices.py'} in cost", "  12  return total  -> cost() = 3"]
    assert ended.text.splitlines()[:2] == last_step
    assert (await stopped("step_over", count=0)).error[0] in ("invalid_arguments", "no_session")


async def test_several_steps_end_at_a_breakpoint(stopped: Caller) -> None:
    stepped = await stopped("step_over", count=9)
    assert [step["line"] for step in stepped.details["steps"]] == [11, 10]
    assert stepped.details["snapshot"]["stopReason"] == "breakpoint"


async def test_variables_of_a_calling_frame_are_shown(stopped: Caller) -> None:
    names = [
        [row["name"] for row in (await stopped("variables", **where)).details["variables"]]
        for where in ({"frame": "outer"}, {"frame": 1}, {})
    ]
    assert names == [["items"], ["items"], ["items", "total", "item"]]
    assert (await stopped("variables", frame=1, variable_ref=1)).error[0] == "invalid_arguments"


async def test_another_line_is_gone_to(stopped: Caller) -> None:
    gone = await stopped("goto", file="prices.py", line=9)
    assert gone.details["snapshot"]["line"] == 9
    assert gone.text.startswith(f"{stopped.project / 'prices.py'}:9 in cost\nStop 2: goto")


async def test_data_is_watched(stopped: Caller) -> None:
    info = await stopped("data_breakpoint_info", name="total")
    data_id = info.details["dataBreakpointInfo"]["dataId"]
    assert (await stopped("set_data_breakpoint", data_id=data_id)).details["dataBreakpoints"][0]["verified"]
    await stopped("breakpoints", do="disable", numbers=[1])
    changed = await stopped("continue")
    assert changed.details["snapshot"]["stopReason"] == "data breakpoint"
    assert (await stopped("remove_data_breakpoint", data_id=data_id)).text == "Data breakpoints:\n(none)"


async def test_breakpoints_are_disabled_enabled_and_cleared_by_number(stopped: Caller) -> None:
    await stopped("set_breakpoint", function="outer")
    disabled = await stopped("breakpoints", do="disable", numbers=[1])
    assert f"- #1 {stopped.project / 'prices.py'} line 11: disabled" in disabled.text
    assert "- #2 outer: verified" in disabled.text
    await stopped("breakpoints", do="enable")
    cleared = await stopped("breakpoints", do="clear", numbers=[2])
    assert (len(cleared.details["breakpoints"]), cleared.details["functionBreakpoints"]) == (1, [])
    assert (await stopped("breakpoints", do="clear", numbers=[1, 9])).error[0] == "invalid_arguments"
    assert len((await stopped("breakpoints")).details["breakpoints"]) == 1


async def test_a_breakpoint_is_removed_by_its_line_or_its_text(stopped: Caller) -> None:
    await stopped("set_breakpoint", file="prices.py", text="return total")
    left = await stopped("remove_breakpoint", file="prices.py", line=11)
    assert left.text.startswith(f"Breakpoints for {stopped.project / 'prices.py'}:\n- line 12: verified")
    none = await stopped("remove_breakpoint", file="prices.py", text="return total")
    assert none.text == f"Breakpoints for {stopped.project / 'prices.py'}:\n(none)"
    assert (await stopped("remove_breakpoint", file="prices.py", line=11)).error[0] == "invalid_arguments"


async def test_exception_filters_are_shown_and_chosen(stopped: Caller) -> None:
    offered = await stopped("set_exception_breakpoints")
    assert offered.text.startswith("Exception breakpoints:\n- ")
    chosen = await stopped("set_exception_breakpoints", filters=["raised"])
    assert {row["filter"]: row["enabled"] for row in chosen.details["exceptionFilters"]}["raised"]
    assert (await stopped("set_exception_breakpoints", filters=["nothing"])).error[0] == "invalid_arguments"


@pytest.mark.thorough
async def test_any_request_can_be_sent(stopped: Caller) -> None:
    answer = await stopped("custom_request", command="threads")
    assert answer.text.startswith('threads response:\n{\n  "threads": [\n')
    assert (await stopped("custom_request", command="noSuchThing")).error[0] == "adapter_failed"


async def test_output_is_read_from_a_position_on(stopped: Caller) -> None:
    await stopped("breakpoints", do="clear")
    await stopped("continue")
    first = await stopped("output")
    assert first.details["output"].endswith("\n")
    again = await stopped("output", since=first.details["next"])
    assert again.text == "(no output captured)"
    assert (await stopped("output", category="stderr")).text == "(no output captured)"


async def test_an_ended_session_says_how_it_ended(stopped: Caller) -> None:
    await stopped("breakpoints", do="clear")
    await stopped("continue")
    code, message = (await stopped("step_over")).error
    assert (code, "ended with exit code 0" in message) == ("no_session", True)


CART = """\
class Cart:
    def __init__(self):
        self.items = []
        self.password = "hunter22"

cart = Cart()
for n in range(3):
    cart.items.append(n)
    print("n", n)
    last = n
"""


@pytest.mark.parametrize("adapter", ["dapkit", pytest.param("debugpy", marks=pytest.mark.each_adapter)])
async def test_two_stops_are_compared(caller: Caller, adapter: str) -> None:
    caller.write("cart.py", CART)
    await caller("launch", program="cart.py", adapter=adapter, breakpoints=["cart.py:8"])
    assert (await caller("diff")).error == ("invalid_arguments", "there are no two stops to compare")
    for _ in range(2):
        await caller("continue")
    later = await caller("diff")
    changes = {(each["name"], each["before"]["value"], each["after"]["value"]) for each in later.details["changes"]}
    assert {("n", "1", "2"), ("last", "0", "1")} <= changes
    assert later.details["output"] == f"n 1{os.linesep}"
    whole = await caller("diff", first=1, second=2)
    assert whole.text.startswith(f"Stop 1 ({caller.project / 'cart.py'}:8 in <module>) -> Stop 2 (")
    assert {"- n: 0 -> 1", "- last = 0 [new]", "| n 0"} <= {*whole.text.splitlines()}
    assert "hunter22" not in f"{whole.text}{whole.details}"
    assert ("items = [0]" in whole.text) == (adapter == "dapkit")  # debugpy reads members by running code
    assert (await caller("diff", first=7)).error == ("invalid_arguments", "there is no stop 7 to compare")


@pytest.mark.parametrize("adapter", ["dapkit", pytest.param("debugpy", marks=pytest.mark.each_adapter)])
async def test_value_that_a_call_returns_is_shown_after_a_step_out(caller: Caller, adapter: str) -> None:
    caller.write("half.py", "def half(n):\n    return n / 2\n\nx = half(5)\nprint(x)\n")
    await caller("launch", program="half.py", adapter=adapter, breakpoints=["half.py:2"])
    out = await caller("step_out")
    assert [(each["name"], each["value"]) for each in out.details["stop"]["returned"]] == [("half", "2.5")]
    assert "Returned: half() = 2.5" in out.text.splitlines()
    assert "(return)" not in out.text


async def test_variables_of_the_function_around_are_in_the_report(caller: Caller) -> None:
    inner = "    rate = 1\n    def make(n):\n        return n * rate\n    rate = 3\n    return make\n"
    text = f"def makers():\n{inner}\nmakers()(2)\n"
    caller.write("makers.py", text)
    stopped = await caller("launch", program="makers.py", breakpoints=["makers.py:4"])
    assert [(row["name"], row["value"]) for row in stopped.details["stop"]["locals"]] == [("n", "2"), ("rate", "3")]
    rows = (await caller("variables")).details["variables"]
    assert [(row["name"], row["value"]) for row in rows] == [("n", "2"), ("rate", "3")]


async def test_line_alone_is_one_of_the_present_file_and_restart_takes_breakpoints(caller: Caller) -> None:
    caller.write("cart.py", CART)
    await caller("launch", program="cart.py", breakpoints=["cart.py:3"])
    assert (await caller("run_to", line="9")).details["snapshot"]["line"] == 9
    assert (await caller("set_breakpoint", line=10)).details["breakpoints"][-1]["line"] == 10
    again = await caller("restart", breakpoints=["cart.py:6"])
    assert again.details["snapshot"]["line"] == 6
    assert [row["line"] for row in again.details["breakpoints"]] == [3, 6, 10]
