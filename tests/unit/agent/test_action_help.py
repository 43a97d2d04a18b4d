"""The description of an action that a model asks for."""

import json

import pytest

from dapkit.agent.action_help import action_help, example_call, unknown_action
from dapkit.agent.table import ACTIONS


@pytest.mark.parametrize("name", ACTIONS)
def test_description_is_short_and_names_every_parameter(name: str) -> None:
    text = action_help(name)
    assert len(text) <= 1000
    assert text.startswith(f"{name}: {ACTIONS[name]['summary']}")
    for parameter in ACTIONS[name]["parameters"]:
        assert parameter in text
    assert text.endswith(example_call(name))
    assert json.loads(example_call(name)) == {"action": name, "parameters": ACTIONS[name]["example"]}


def test_all_actions_are_listed_and_a_wrong_one_is_near_a_right_one() -> None:
    assert [line.partition(":")[0] for line in action_help(None).splitlines()] == list(ACTIONS)
    assert "evaluate" in action_help("eval")
    assert unknown_action("zzzz") == 'Unsupported debug action: zzzz. The action "help" lists all.'
