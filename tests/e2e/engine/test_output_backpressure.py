"""Log messages and output of which the client is told more slowly than they come: the program waits, nothing else."""

import contextlib

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient

LOGS = """
    text = "x" * 999
    for number in range(4000):
        done = number
"""
PRINTS = """
    import os
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for number in range(4000):
        print("x" * 999)
"""
ALL = 4000 * 1000
WINDOW = 1024 * 1024
MOST_AT_ONCE = 64 * 1024
"""How much a program may say over the window before it waits."""


@pytest.fixture(params=["log messages", "redirected output"])
def talkative(start: Start, request: pytest.FixtureRequest) -> EngineClient:
    """Return a program that says four times as much as may be on its way."""
    if request.param == "redirected output":
        peer = start(PRINTS)
        peer.configure(redirectOutput=True)
    else:
        peer = start(LOGS)
        peer.configure(breakpoints=[{"line": 3, "logMessage": "{text}"}])
    return peer


def said(peer: EngineClient) -> int:
    return sum(len(event["body"]["output"]) for event in peer.events() if event["event"] == "output")


def hear(peer: EngineClient, characters: int) -> None:
    """Listen until so much was said in all."""
    while said(peer) < characters:
        peer.event("output")


def take_all(peer: EngineClient) -> None:
    """Listen to the end, and tell what was taken."""
    taken = 0
    while (now := said(peer)) < ALL:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it may have said all, and have ended
            peer.send("dapkit/outputTaken", characters=now - taken)
        taken = now
        peer.event("output")


@pytest.mark.thorough
def test_program_waits_until_what_it_said_was_taken(talkative: EngineClient) -> None:
    hear(talkative, WINDOW)
    assert talkative.silent("exited", 0.3)
    assert said(talkative) < WINDOW + MOST_AT_ONCE
    take_all(talkative)
    assert talkative.event("exited")["exitCode"] == 0
    assert said(talkative) == ALL


@pytest.mark.row("continue, pause")
def test_program_that_waits_can_be_paused_and_goes_on(talkative: EngineClient) -> None:
    hear(talkative, WINDOW)
    assert talkative.ask("threads")["threads"]
    talkative.ask("pause", threadId=1)
    talkative.stopped("pause")
    talkative.wait_until_in_python()
    assert int(talkative.value("number")) < 2000
    talkative.go()
    take_all(talkative)
    assert talkative.event("exited")["exitCode"] == 0
