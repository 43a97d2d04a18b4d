"""Adapters of every order, and adapters that fail, as a caller of actions sees them."""

import json
from collections.abc import Mapping

import anyio
import pytest

from action_fixtures import Caller
from dapkit import limits
from dapkit.agent.handler import ActionHandler
from dapkit.client import BreakpointSpec, SourceLocation
from dapkit.protocol import (
    Capabilities,
    EvaluateArguments,
    EvaluateBody,
    Event,
    ExceptionInfoBody,
    LoadedSourcesBody,
    ModulesBody,
    OutputEvent,
    ProtocolObject,
    Request,
    ScopesBody,
    Source,
    StackTraceBody,
    VariablesBody,
    encode,
    encode_frame,
)
from dapkit.sessions.registry import SessionRegistry
from dapkit.testing import HANDSHAKES, FakePeer, Script, Step, die, raw, reply, tell_custom
from dapkit.testing.samples import with_nulls
from fake_adapters import FILE, script, stack, start, stopping

CAPABLE = Capabilities(
    supports_configuration_done_request=True,
    supports_exception_info_request=True,
    supports_loaded_sources_request=True,
    supports_modules_request=True,
)


async def calling(
    sessions: SessionRegistry, answers: Script, *, breakpoints: tuple[BreakpointSpec, ...] = ()
) -> Caller:
    """Start a program under an adapter that follows a script, and return somebody who has actions performed on it."""
    await sessions.open(FILE.parent, start(answers, breakpoints=breakpoints))
    caller = Caller(ActionHandler(sessions), FILE.parent)
    assert (await caller("wait")).details["state"] == "stopped"
    return caller


@pytest.mark.parametrize("order", HANDSHAKES)
async def test_a_program_stops_and_shows_its_breakpoints_whatever_the_order_of_the_handshake(
    sessions: SessionRegistry, order: str
) -> None:
    answers = {**HANDSHAKES[order], "stackTrace": [stack(1)]}
    caller = await calling(sessions, answers, breakpoints=(BreakpointSpec(SourceLocation(FILE, 3)),))
    shown = (await caller("breakpoints")).details
    assert (shown["snapshot"]["line"], shown["snapshot"]["stopReason"]) == (1, "entry")
    assert [(placed["line"], placed["verified"]) for placed in shown["breakpoints"]] == [(3, True)]


async def test_silence_is_a_timeout_and_the_next_action_is_done(
    sessions: SessionRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ACTION_SECONDS_LEAST", 0.05)
    caller = await calling(sessions, script({"evaluate": []}))
    code, message = (await caller("evaluate", expression="x", timeout=0.05)).error
    assert (code, message[:29]) == ("timeout", "DAP request evaluate timed ou")
    assert (await caller("threads")).text == "Threads:\n- 1: main"


async def test_death_in_the_middle_of_a_message_is_told_and_the_session_is_over(sessions: SessionRegistry) -> None:
    half = b'Content-Length: 60\r\n\r\n{"seq":0,"type":"event"'
    caller = await calling(sessions, script({"evaluate": [raw(half), die()]}))
    code, message = (await caller("evaluate", expression="x")).error
    assert code == "adapter_failed"
    assert "in the middle of a message" in message
    assert (await caller("wait")).details["state"] == "terminated"
    assert "the debug adapter is gone" in (await caller("threads")).text


async def test_garbage_ends_the_session_and_is_shown(sessions: SessionRegistry) -> None:
    caller = await calling(sessions, script({"continue": [raw(b"Traceback (most recent call last):\n")]}))
    ended = await caller("continue")
    assert ended.details["state"] == "terminated"
    assert "Traceback" in ended.text


async def test_a_flood_of_events_leaves_the_answers_short_and_the_session_alive(sessions: SessionRegistry) -> None:
    count = 20_000  # more text than is kept
    events = (Event(0, "output", OutputEvent(output=f"line {number}\n")) for number in range(count))
    flood = raw(b"".join(encode_frame(encode(event)) for event in events))
    caller = await calling(sessions, script({"evaluate": [flood, reply(_value("1"))]}))
    evaluated = await caller("evaluate", expression="x")
    assert evaluated.text.startswith("Result: 1\nOutput since 0:\n| (... ")
    assert len(evaluated.text) < 2000
    written = await caller("output")
    assert written.text.rstrip().endswith(f"line {count - 1}")
    assert len(written.text) < caller.settings.text_bytes
    assert written.details["lost"] > 0
    assert (await caller("stack_trace")).details["snapshot"]["status"] == "stopped"


async def test_answers_out_of_order_reach_who_asked(sessions: SessionRegistry) -> None:
    def expression(asked: Request) -> str:
        assert isinstance(asked.arguments, EvaluateArguments)
        return asked.arguments.expression

    async def first_last(peer: FakePeer, asked: Request) -> None:
        if expression(asked) == "first":
            await peer.gate("second").wait()
        else:
            peer.release("second")
        await reply(_value(expression(asked)))(peer, asked)

    caller = await calling(sessions, script({"evaluate": [first_last]}))
    answers: dict[str, str] = {}

    async def ask(text: str) -> None:
        answers[text] = (await caller("evaluate", expression=text)).text

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, "first")
        tasks.start_soon(ask, "second")
    assert answers == {"first": "Result: first", "second": "Result: second"}


async def test_events_that_nobody_knows_change_nothing(sessions: SessionRegistry) -> None:
    unknown = tell_custom("acme/telemetry", {"deep": [None, {"x": 1}]})
    caller = await calling(sessions, script({"evaluate": [unknown, reply(_value("1"))]}))
    before = (await caller("threads")).details["snapshot"]
    after = (await caller("evaluate", expression="x")).details["snapshot"]
    assert {**before, "lastUsedAt": ""} == {**after, "lastUsedAt": ""}


NULLED: Mapping[str, type[ProtocolObject]] = {
    "stackTrace": StackTraceBody,
    "scopes": ScopesBody,
    "variables": VariablesBody,
    "evaluate": EvaluateBody,
    "exceptionInfo": ExceptionInfoBody,
    "modules": ModulesBody,
    "loadedSources": LoadedSourcesBody,
}


async def test_null_for_everything_optional_is_absent(sessions: SessionRegistry) -> None:
    answers_with_nulls = {command: [_answer(with_nulls(kind))] for command, kind in NULLED.items()}
    caller = await calling(sessions, script(answers_with_nulls, CAPABLE))
    scopes = await caller("scopes")
    answers = [
        await caller("stack_trace"),
        scopes,
        await caller("variables", scope_id=scopes.details["scopes"][0]["variablesReference"]),
        await caller("evaluate", expression="x"),
        await caller("exception_info"),
        await caller("modules"),
        await caller("loaded_sources"),
    ]
    assert "null" not in json.dumps([answer.details for answer in answers])


def _answer(body: object) -> Step:
    """Answer with JSON that we would not write."""

    def response(asked: Request) -> bytes:
        answer = {"seq": 0, "type": "response", "request_seq": asked.seq, "success": True, "command": asked.command}
        return encode_frame(json.dumps({**answer, "message": None, "body": body}).encode())

    return raw(response)


async def test_an_exception_that_the_adapter_names_only_once_is_shown_again(sessions: SessionRegistry) -> None:
    named = ExceptionInfoBody(exception_id="FATAL_ERROR", break_mode="always", description="no more")
    told = iter([named])

    def once(_: Request) -> ExceptionInfoBody:
        return next(told, ExceptionInfoBody(exception_id="", break_mode="never"))

    answers: Script = {"continue": [reply(), stopping("exception")], "exceptionInfo": [reply(once)]}
    caller = await calling(sessions, script(answers, CAPABLE))
    assert (await caller("continue")).details["stop"]["exception"]["exceptionId"] == "FATAL_ERROR"
    assert (await caller("exception_info")).text == "Exception: FATAL_ERROR: no more\nBreak mode: always"
    await caller("continue")
    assert (await caller("exception_info")).details["exception"]["exceptionId"] == ""


async def test_an_exception_without_a_break_mode_is_shown_without(sessions: SessionRegistry) -> None:
    delves = _answer({"exceptionId": "panic", "breakMode": ""})
    caller = await calling(sessions, script({"exceptionInfo": [delves]}, CAPABLE))
    assert (await caller("exception_info")).text == "Exception: panic"


async def test_an_adapter_without_exception_filters_is_asked_neither_for_some_nor_for_none(
    sessions: SessionRegistry,
) -> None:
    caller = await calling(sessions, script({}))
    for filters in (["raised"], []):
        error = (await caller("set_exception_breakpoints", filters=filters)).error
        assert error == ("unsupported", "Current adapter does not support exception breakpoints")


async def test_sources_of_the_users_own_come_before_those_that_are_cut(sessions: SessionRegistry) -> None:
    others = [Source(name=f"{number}.h", path=f"/usr/include/{number}.h") for number in range(5000)]
    body = LoadedSourcesBody(sources=[*others, Source(name="main.c", path=str(FILE))])
    caller = await calling(sessions, script({"loadedSources": [reply(body)]}, CAPABLE))
    shown = (await caller("loaded_sources")).details
    assert [source["name"] for source in shown["sources"][:2]] == ["main.c", "0.h"]
    assert shown["more"] == 5001 - len(shown["sources"])


def _value(text: str) -> EvaluateBody:
    return EvaluateBody(result=text, variables_reference=0)
