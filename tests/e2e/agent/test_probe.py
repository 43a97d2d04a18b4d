"""The hits of a place, as a table."""

import pytest

from action_fixtures import Caller

pytestmark = pytest.mark.timeout(300)  # for a busy machine

SUMS = """\
import threading

def add(total, price):
    total += price
    return total

def work(count):
    total = 0
    for price in range(count):
        total = add(total, price)
    return total

thread = threading.Thread(target=work, args=(3,), name="other")
thread.start()
thread.join()
print(work(9))
1 / 0
"""

both = pytest.mark.parametrize("adapter", ["dapkit", pytest.param("debugpy", marks=pytest.mark.each_adapter)])


def _values(details: dict[str, object]) -> list[list[str]]:
    """Return the values of each row of a table."""
    return [[value["evaluation"]["result"] for value in row["values"]] for row in details["rows"]]  # type: ignore[attr-defined]


@both
async def test_hits_of_a_program_are_one_table(caller: Caller, adapter: str) -> None:
    caller.write("sums.py", SUMS)
    answer = await caller(
        "probe", location="sums.py:4", expressions=["total", "price"], program="sums.py", adapter=adapter, timeout=120
    )
    table = answer.details["table"]
    assert _values(table) == [["0", "0"], ["0", "1"], ["1", "2"], *([str(sum(range(at))), str(at)] for at in range(9))]
    assert [row["hit"] for row in table["rows"]] == [*range(1, 13)]
    assert [row["thread"] for row in table["rows"]] == ["other"] * 3 + ["MainThread"] * 9
    seconds = [row["seconds"] for row in table["rows"]]
    assert seconds[0] == 0
    assert seconds == sorted(seconds)
    assert answer.details["exitCode"] == 1
    assert answer.details["stop"]["exception"]["exceptionId"].split()[0] == "ZeroDivisionError"
    lines = answer.text.splitlines()
    assert lines[0] == "sums.py:4: 12 hits"
    assert lines[1].split() == ["hit", "ms", "thread", "total", "price"]
    assert lines[2].split() == ["1", "0", "other", "0", "0"]
    assert lines[14].startswith("Stopped at /")
    assert lines[-1] == "Exit code: 1"


@both
async def test_condition_and_every_kth_hit(caller: Caller, adapter: str) -> None:
    caller.write("sums.py", SUMS)
    answer = await caller(
        "probe",
        location="sums.py:4 if price > 1",
        expressions=["price"],
        every=2,
        hits=3,
        program="sums.py",
        adapter=adapter,
        timeout=120,
    )
    table = answer.details["table"]
    assert ([row["hit"] for row in table["rows"]], _values(table)) == ([2, 4, 6], [["2"], ["4"], ["6"]])
    assert answer.details["limited"] is True


@both
async def test_session_is_left_at_the_last_hit_with_its_own_breakpoints(caller: Caller, adapter: str) -> None:
    caller.write("sums.py", SUMS)
    await caller("launch", program="sums.py", adapter=adapter, breakpoints=["sums.py:8", "sums.py:10 if price == 5"])
    answer = await caller("probe", location="sums.py:10", expressions=["price"], hits=2, timeout=120)
    assert _values(answer.details["table"]) == [["0"], ["1"]]
    assert answer.text.endswith("The program is stopped at the last of these hits.")
    rows = [(row["line"], row.get("condition")) for row in (await caller("breakpoints")).details["breakpoints"]]
    assert rows == [(8, None), (10, "price == 5")]
    answer = await caller("probe", location="add", expressions=["total"], timeout=120)
    assert _values(answer.details["table"]) == [["0"], ["1"]]
    assert f"Stopped at {caller.project / 'sums.py'}:8 in work: breakpoint" in answer.text


async def test_probes_are_read_back_by_their_tag(caller: Caller) -> None:
    caller.write("sums.py", SUMS)
    for price in (1, 2):
        location = f"sums.py:4 if price == {price}"
        await caller("probe", location=location, expressions=["total"], program="sums.py", tag=f"H{price}", timeout=120)
    answer = await caller("probe", tag="H2")
    assert [_values(table) for table in answer.details["tables"]] == [[["1"], ["1"]]]
    assert answer.text.startswith("[H2] sums.py:4 if price == 2: 2 hits\n")
    assert (await caller("probe", tag="H3")).text == "Nothing is kept under the tag H3."


async def test_place_without_a_hit_has_its_reason(caller: Caller) -> None:
    caller.write("sums.py", SUMS)
    beyond = await caller("probe", location="sums.py:99", expressions=["total"], program="sums.py", timeout=120)
    assert "was not set: there is no code at or after line 99" in beyond.text
    never = await caller("probe", location="sums.py:4 if price > 99", program="sums.py", timeout=120)
    assert "was never hit: its condition (price > 99) was never met" in never.text
    missing = await caller("probe", location="sums.py:4", expressions=["prices"], program="sums.py", timeout=120)
    assert missing.text.count("(NameError: name 'prices' is not defined)") == 12
    refused = await caller("probe", expressions=["total"])
    assert refused.error == ("invalid_arguments", "probe requires location")


async def test_secret_stays_hidden(caller: Caller) -> None:
    caller.write("login.py", 'for password in ("hunter21", "hunter22"):\n    print(len(password))\n')
    answer = await caller("probe", location="login.py:2", expressions=["password"], program="login.py", timeout=120)
    assert len(answer.details["table"]["rows"]) == 2
    assert "hunter2" not in f"{answer.text}{answer.details}"


VALUES = """\
import enum, sys

class Color(enum.Enum):
    RED = 1

class User:
    def __repr__(self):
        return "<User: bob>"

class Odd:
    def __repr__(self):
        return "a\x1fb"

def look(value):
    return value

for value in (1, Color.RED, User(), None, Odd(), 2):
    look(value)
sys.exit(3)
"""


@both
@pytest.mark.parametrize("location", ["values.py:15", "look"])
async def test_texts_of_values_are_not_taken_for_errors(caller: Caller, adapter: str, location: str) -> None:
    caller.write("values.py", VALUES)
    answer = await caller(
        "probe",
        location=location,
        expressions=["value", "value.name"],
        program="values.py",
        adapter=adapter,
        timeout=120,
    )
    rows = answer.details["table"]["rows"]
    assert [row["hit"] for row in rows] == [1, 2, 3, 4, 5, 6]
    shown = [row["values"][0].get("evaluation", {}).get("result", "") for row in rows]
    assert [shown[0], shown[2], shown[3], shown[5]] == ["1", "<User: bob>", "None", "2"]
    assert "RED" in shown[1]
    assert [("evaluation" in row["values"][1], "problem" in row["values"][1]) for row in rows][:3] == [
        (False, True),
        (True, False),
        (False, True),
    ]
    assert answer.details["exitCode"] == 3
    assert "stop" not in answer.details  # a program that ends itself does not break off
