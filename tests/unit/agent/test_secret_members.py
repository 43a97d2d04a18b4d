"""What is inside a value with a secret name, of an adapter that does not say how its members are reached."""

from dataclasses import replace

from action_fixtures import Caller
from dapkit.agent.handler import ActionHandler
from dapkit.protocol import EvaluateBody, Variable, VariablesBody
from dapkit.sessions.registry import SessionRegistry
from dapkit.testing import Script, reply
from fake_adapters import FILE, script, start

MEMBERS = [
    Variable(name="user", value='"ada4711"', variables_reference=0),
    Variable(name="count", value="3", variables_reference=0),
    Variable(name="more", value="", variables_reference=8),
]
ANSWERS: Script = {
    "evaluate": [reply(EvaluateBody(result="", variables_reference=7))],
    "variables": [reply(VariablesBody(variables=MEMBERS))],
}


async def test_members_of_a_secret_value_are_secret_down_to_the_last(sessions: SessionRegistry) -> None:
    caller = Caller(ActionHandler(sessions), FILE.parent)
    for expression, shown in (("credentials", '"[redacted]"'), ("settings", '"ada4711"')):
        await sessions.open(FILE.parent, start(script(ANSWERS)))
        await caller("wait")
        evaluated = await caller("evaluate", expression=expression)
        assert ("ada4711" in evaluated.text) == (expression == "settings")
        reference = evaluated.details["evaluation"]["variablesReference"]
        for _ in range(2):
            page = (await caller("variables", variable_ref=reference)).details["variables"]
            assert [row["value"] for row in page] == [shown, "3", ""]
            reference = page[-1]["variablesReference"]
        await caller("terminate")


async def test_they_are_shown_where_nothing_is_redacted(sessions: SessionRegistry) -> None:
    await sessions.open(FILE.parent, start(script(ANSWERS)))
    caller = Caller(ActionHandler(sessions), FILE.parent)
    await caller("wait")
    caller.settings = replace(caller.settings, redact_enabled=False)
    reference = (await caller("evaluate", expression="credentials")).details["evaluation"]["variablesReference"]
    page = (await caller("variables", variable_ref=reference)).details["variables"]
    assert page[0]["value"] == '"ada4711"'
