"""Expressions for which the program runs a while, as adapters report it that resume it for calls."""

import pytest

from action_fixtures import Caller, have_patience
from dapkit.agent.handler import ActionHandler
from dapkit.protocol import ContinuedEvent, EvaluateBody
from dapkit.sessions import limits
from dapkit.sessions.registry import SessionRegistry
from dapkit.testing import Script, refuse, reply, tell
from fake_adapters import FILE, script, start, stopping

RUNS = tell(ContinuedEvent(thread_id=1))
VALUE = reply(EvaluateBody(result="3", variables_reference=0))


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    have_patience(monkeypatch)


async def stopped(sessions: SessionRegistry, answers: Script) -> Caller:
    """Stop a program under an adapter that answers like this."""
    await sessions.open(FILE.parent, start(script(answers)))
    caller = Caller(ActionHandler(sessions), FILE.parent)
    assert (await caller("wait")).details["state"] == "stopped"
    return caller


async def test_a_call_is_answered_when_the_program_stands_again(sessions: SessionRegistry) -> None:
    for evaluate in ([RUNS, stopping("function call"), VALUE], [RUNS, VALUE, stopping("function call")]):
        caller = await stopped(sessions, {"evaluate": evaluate})
        for _ in range(2):
            assert (await caller("evaluate", expression="f()")).text == "Result: 3"
        assert (await caller("stack_trace")).details["stackFrames"]
        await caller("terminate")


async def test_a_call_that_fails_is_answered_when_the_program_stands_again(sessions: SessionRegistry) -> None:
    caller = await stopped(sessions, {"evaluate": [RUNS, refuse("it stopped in f"), stopping("breakpoint")]})
    assert (await caller("evaluate", expression="f()")).error == ("adapter_failed", "it stopped in f")
    [session] = (await caller("sessions")).details["sessions"]
    assert (session["status"], session["stopReason"]) == ("stopped", "breakpoint")


async def test_a_program_that_runs_since_an_evaluation_is_said_to(
    sessions: SessionRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CALL_STOP_SECONDS", 0.1)
    caller = await stopped(sessions, {"evaluate": [RUNS, VALUE]})
    evaluated = await caller("evaluate", expression="f('text')")
    assert evaluated.details["resumed"]
    assert evaluated.text.startswith("Result: 3\nProgram is running. ")
