"""The registry, and what is generated from it."""

import subprocess
import sys
from typing import Annotated

import pytest

from dapkit.agent import table
from dapkit.agent.actions import in_order
from dapkit.agent.calls.registry import ACTIONS, Action, Approval, ParameterKind, action, vocabulary
from dapkit.protocol import ProtocolObject

SEED = [
    "launch",
    "attach",
    "set_breakpoint",
    "remove_breakpoint",
    "set_instruction_breakpoint",
    "remove_instruction_breakpoint",
    "data_breakpoint_info",
    "set_data_breakpoint",
    "remove_data_breakpoint",
    "continue",
    "step_over",
    "step_in",
    "step_out",
    "pause",
    "evaluate",
    "stack_trace",
    "threads",
    "scopes",
    "variables",
    "disassemble",
    "read_memory",
    "write_memory",
    "modules",
    "loaded_sources",
    "custom_request",
    "output",
    "terminate",
    "sessions",
]

READING = [
    "output",
    "threads",
    "stack_trace",
    "scopes",
    "variables",
    "disassemble",
    "read_memory",
    "loaded_sources",
    "modules",
    "sessions",
]


def test_all_28_actions_of_the_contract_are_there() -> None:
    assert set(SEED) <= set(ACTIONS)
    assert len(SEED) == 28


def test_the_contract_says_which_actions_only_read() -> None:
    assert [name for name in SEED if ACTIONS[name].approval is Approval.READ] == sorted(READING, key=SEED.index)


@pytest.mark.thorough
def test_the_table_is_what_the_registry_says() -> None:
    subprocess.run([sys.executable, "tools/generate_actions.py", "--check"], check=True)


def test_the_table_is_imported_without_what_carries_the_actions_out() -> None:
    code = 'import sys, dapkit.agent.table; print({"msgspec", "anyio", "asyncio"} & set(sys.modules))'
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"


@pytest.mark.parametrize("name", list(ACTIONS))
def test_an_example_names_only_parameters_of_its_action(name: str) -> None:
    row = table.ACTIONS[name]
    assert set(row["example"]) <= set(row["parameters"])
    assert set(row["required"]) <= set(row["example"])


def test_every_action_has_a_summary_and_a_timeout() -> None:
    for registered in in_order().values():
        assert registered.summary.endswith(".")
        assert registered.parameters["timeout"].kind is ParameterKind.NUMBER


def test_a_name_that_means_two_things_is_refused() -> None:
    async def first(call: object, *, depth: Annotated[int, "How deep."]) -> ProtocolObject:
        raise NotImplementedError

    async def second(call: object, *, depth: Annotated[str, "How deep."]) -> ProtocolObject:
        raise NotImplementedError

    actions = [Action(coroutine.__name__, "", Approval.READ, coroutine, {}) for coroutine in (first, second)]
    with pytest.raises(TypeError, match="second has a parameter"):
        vocabulary(actions)


def test_an_action_cannot_be_registered_twice() -> None:
    async def wait(call: object) -> ProtocolObject:
        raise NotImplementedError

    with pytest.raises(ValueError, match="two actions wait"):
        action(Approval.READ)(wait)
