"""Secrets in the answer of `why`."""

from dapkit.agent.actions.history import without_secrets
from dapkit.protocol.time_travel import WhyBody, WhyInput, WhyStep


def answer(*names: str) -> WhyBody:
    """Return a chain of a value under several names."""
    steps = [
        WhyStep(expression=name, path="/app.py", function="main", line=1, text=f"{name} = 'hunter22'", new="'hunter22'")
        for name in names
    ]
    inputs = [WhyInput(expression="row", value="'hunter22'")]
    return WhyBody(line=1, new="'hunter22'", chain=steps, ends="it is the result of read('hunter22')", inputs=inputs)


def test_a_value_with_a_secret_name_is_removed_under_its_other_names() -> None:
    for names in (("password", "given"), ("given", "password")):
        assert "hunter22" not in repr(without_secrets(answer(*names), names[0]))


def test_a_value_without_a_secret_name_is_shown() -> None:
    assert without_secrets(answer("text", "given"), "text") == answer("text", "given")
