"""What is done for adapters that lack conditions, hit counts or log messages."""

from dataclasses import replace
from pathlib import Path

import pytest

from dapkit.catalog import Traits
from dapkit.client import BreakpointSpec, FunctionLocation, SourceLocation
from dapkit.endpoint import RequestFailed
from dapkit.protocol import Capabilities
from dapkit.sessions.breakpoints.emulation import (
    NOTHING,
    Emulated,
    Judgement,
    interpolate,
    is_true,
    judge,
    split,
)

SPEC = BreakpointSpec(
    SourceLocation(Path("/p/main.c"), 3), condition="x > 1", hit_condition="2", log_message="x is {x}"
)
ABLE = Capabilities(
    supports_conditional_breakpoints=True, supports_hit_conditional_breakpoints=True, supports_log_points=True
)

COUNTING = Traits(counts_hits=True)


async def evaluate(expression: str) -> str:
    if expression == "broken":
        raise RequestFailed("no such name")
    return {"x > 1": "true", "x > 9": "false", "x": "7"}[expression]


def test_able_adapter_does_everything() -> None:
    assert split(SPEC, ABLE, COUNTING) == (SPEC, NOTHING)


def test_adapter_without_conditions_is_left_with_the_place() -> None:
    able = Capabilities(supports_hit_conditional_breakpoints=True, supports_log_points=True)
    native, emulated = split(SPEC, able, COUNTING)
    assert native == BreakpointSpec(SPEC.location)
    assert emulated == Emulated("x > 1", "2", "x is {x}")


def test_adapter_without_hit_counts_keeps_the_condition() -> None:
    able = Capabilities(supports_conditional_breakpoints=True, supports_log_points=True)
    native, emulated = split(SPEC, able, COUNTING)
    assert (native.condition, native.hit_condition, native.log_message) == ("x > 1", None, None)
    assert emulated == Emulated(None, "2", "x is {x}")


def test_hits_are_counted_for_an_adapter_whose_hit_conditions_mean_something_else() -> None:
    native, emulated = split(SPEC, ABLE, Traits())
    assert (native.condition, native.hit_condition, native.log_message) == ("x > 1", None, None)
    assert emulated == Emulated(None, "2", "x is {x}")


def test_functions_have_no_log_messages_in_the_protocol() -> None:
    spec = BreakpointSpec(FunctionLocation("main"), log_message="here")
    assert split(spec, ABLE, COUNTING) == (replace(spec, log_message=None), Emulated(log_message="here"))


def test_emulation_says_what_it_does() -> None:
    assert str(Emulated("x", "2")) == (
        "dapkit does the condition and the hit count itself: the program stops there each time, and goes on"
    )


@pytest.mark.parametrize(
    "value", ["false", "False", "0", "0.0", "0x0", "0 '\\000'", "None", "nil", "null", "''", '""', "[]", "{}", "OFF"]
)
def test_values_that_are_not_true(value: str) -> None:
    assert not is_true(value)


@pytest.mark.parametrize("value", ["true", "True", "1", "-1", "0.5", "'0'", "'False'", "[0]", "0x7ffe", "Offer", "00a"])
def test_values_that_are_true(value: str) -> None:
    assert is_true(value)


async def test_false_condition_goes_on_and_counts_nothing() -> None:
    assert await judge(Emulated(condition="x > 9"), hits=4, evaluate=evaluate) == Judgement(stop=False, hits=4)


async def test_condition_that_cannot_be_evaluated_stops_and_says_why() -> None:
    judgement = await judge(Emulated(condition="broken"), hits=0, evaluate=evaluate)
    assert judgement.stop
    assert judgement.remark == "condition 'broken' failed: no such name"


async def test_hits_count_where_the_condition_holds() -> None:
    emulated = Emulated("x > 1", "2")
    assert await judge(emulated, hits=0, evaluate=evaluate) == Judgement(stop=False, hits=1)
    assert await judge(emulated, hits=1, evaluate=evaluate) == Judgement(stop=True, hits=2)


async def test_log_message_is_made_and_the_program_goes_on() -> None:
    judgement = await judge(Emulated(log_message="x is {x}"), hits=0, evaluate=evaluate)
    assert judgement == Judgement(stop=False, hits=1, log="x is 7")


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("plain", "plain"),
        ("{x} and {x}", "7 and 7"),
        ("{{x}}", "{x}"),
        ("{broken}!", "<no such name>!"),
        ("open {x", "open {x"),
    ],
)
async def test_log_messages(message: str, shown: str) -> None:
    assert await interpolate(message, evaluate) == shown
