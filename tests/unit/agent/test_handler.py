"""Calls from the caller's JSON to the answer's, where no program is needed."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from action_fixtures import Caller
from dapkit.agent import handler, table
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import ActionFailed
from dapkit.agent.calls.registry import ACTIONS, Action, Approval, ParameterKind
from dapkit.agent.handler import ActionHandler
from dapkit.hub import wire
from dapkit.protocol import (
    Capabilities,
    ModulesBody,
    ProgressEndEvent,
    ProgressStartEvent,
    ProgressUpdateEvent,
    ProtocolObject,
    codec,
)
from dapkit.sessions.errors import NoSession
from dapkit.sessions.registry import SessionRegistry
from dapkit.settings import Settings
from dapkit.testing import reply, tell
from fake_adapters import script, start


def answering(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Make the action `threads` fail."""

    async def threads(_call: object) -> ProtocolObject:
        raise error

    monkeypatch.setitem(handler._ACTIONS, "threads", Action("threads", "", Approval.READ, threads, {}))


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("launch", {}, "program is required for launch"),
        ("attach", {}, "attach requires pid or port"),
        ("set_breakpoint", {"file": "a.py"}, "set_breakpoint requires file+line or function"),
        ("set_breakpoint", {"line": 3}, "set_breakpoint requires file+line or function"),
        ("remove_breakpoint", {}, "remove_breakpoint requires file+line or function"),
        ("set_breakpoint", {"function": "f", "line": 3}, "set_breakpoint: function excludes file, line and text"),
        ("set_breakpoint", {"file": "a.py", "line": 0}, "line must be 1 or more, not 0"),
        ("dance", {}, "Unsupported debug action: dance"),
        ("launch", {"program": "a", "module": "b"}, "launch: module and program exclude each other"),
        (
            "launch",
            {"program": "a", "breakpoints": [{"file": "a", "lin": 1}]},
            "breakpoints: set_breakpoint has no parameter 'lin'",
        ),
        ("launch", {"program": "a", "breakpoints": [""]}, "breakpoints: one of them is empty"),
        ("launch", {"program": "a", "cwd": "nowhere"}, "cwd: there is no folder {project}/nowhere"),
        ("attach", {"pid": 1, "port": 2}, "attach: pid and port exclude each other"),
        ("stdin", {}, "stdin requires input or end"),
        ("read_memory", {"memory_reference": "0", "count": 10**9}, "count must be from 0 to 65536, not 1000000000"),
        ("write_memory", {"memory_reference": "0", "data": "no base64!"}, "data must be bytes in base64: "),
    ],
)
async def test_what_is_wrong_in_a_call_is_said(
    caller: Caller, name: str, arguments: Mapping[str, object], text: str
) -> None:
    code, message = (await caller(name, **arguments)).error
    assert code == "invalid_arguments"
    assert message.startswith(text.format(project=caller.project))


VALUES: Mapping[ParameterKind, object] = {
    ParameterKind.STRING: "text",
    ParameterKind.PATH: "a.py",
    ParameterKind.INTEGER: 1,
    ParameterKind.NUMBER: 7.5,
    ParameterKind.BOOLEAN: True,
    ParameterKind.STRINGS: ["text"],
    ParameterKind.INTEGERS: [1],
    ParameterKind.PLACE: "main",
    ParameterKind.VARIABLES: {"A": "b"},
    ParameterKind.OBJECT: {"key": [1, None]},
    ParameterKind.BREAKPOINTS: ["a.py:1", {"function": "main"}],
}


@pytest.mark.parametrize(
    "name", [name for name in ACTIONS if name not in ("run", "compare_runs", "launch", "attach", "core")]
)
async def test_no_parameter_of_an_action_is_taken_for_a_fault_of_ours(caller: Caller, name: str) -> None:
    row = table.ACTIONS[name]
    for parameter in ACTIONS[name].parameters.values():
        value = parameter.choices[0] if parameter.choices else VALUES[parameter.kind]
        answer = await caller(name, **{**row["example"], parameter.name: value})
        if not answer.whole["success"]:
            assert answer.error[0] in ("no_session", "invalid_arguments", "adapter_unavailable"), answer.text


@pytest.mark.parametrize("name", ["continue", "pause", "threads", "stack_trace", "scopes", "output", "modules", "wait"])
async def test_without_a_session_the_words_of_the_contract_say_so(caller: Caller, name: str) -> None:
    assert (await caller(name)).error == ("no_session", "No active debug session. Launch or attach first.")


async def test_no_session_can_be_terminated_and_listed_all_the_same(caller: Caller) -> None:
    assert (await caller("terminate")).text == "No debug session to terminate."
    assert (await caller("sessions")).text == "No debug sessions."


async def test_a_session_that_there_is_not_is_named(caller: Caller) -> None:
    caller.session = "other"
    code, message = (await caller("threads")).error
    assert (code, "'other'" in message) == ("no_session", True)


async def test_a_caller_that_is_read_only_may_look_and_nothing_else(caller: Caller) -> None:
    caller.read_only = True
    executing = [name for name, action in ACTIONS.items() if action.approval is Approval.EXECUTE]
    answers = {name: await caller(name) for name in ACTIONS}
    refused = [name for name, answer in answers.items() if answer.whole.get("error", {}).get("code") == "refused"]
    looking_by_default = {"breakpoints", "set_exception_breakpoints", "stacks", "job_where"}
    assert refused == [name for name in executing if name not in looking_by_default]
    assert (await caller("breakpoints", do="clear")).error[0] == "refused"
    assert (await caller("set_exception_breakpoints", filters=[])).error[0] == "refused"


async def test_the_whole_tool_can_be_switched_off(caller: Caller) -> None:
    caller.settings = Settings(debug_enabled=False)
    assert (await caller("sessions")).error == ("disabled", "The debug tool is switched off.")


@pytest.mark.parametrize(
    ("asked", "given"), [({}, 30), ({"timeout": 1}, 5), ({"timeout": 60}, 60), ({"timeout": 10_000}, 300)]
)
async def test_a_timeout_is_30_seconds_and_never_less_than_5_or_more_than_300(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, asked: Mapping[str, object], given: float
) -> None:
    seen: list[float] = []

    async def wait(call: ActionCall) -> ProtocolObject:
        seen.append(call.timeout)
        raise NoSession

    monkeypatch.setitem(handler._ACTIONS, "wait", Action("wait", "", Approval.READ, wait, {}))
    await caller("wait", **asked)
    assert seen == [given]


async def test_a_failure_has_a_code_a_message_a_hint_and_a_text(caller: Caller) -> None:
    assert (await caller("set_breakpoint", file="a.py", lin=3)).whole == {
        "action": "set_breakpoint",
        "session": None,
        "success": False,
        "text": "set_breakpoint has no parameter 'lin'\nDid you mean line?",
        "error": {
            "code": "invalid_arguments",
            "message": "set_breakpoint has no parameter 'lin'",
            "hint": "Did you mean line?",
        },
    }


async def test_a_success_has_a_text_and_details(caller: Caller) -> None:
    assert (await caller("sessions")).whole == {
        "action": "sessions",
        "session": None,
        "success": True,
        "text": "No debug sessions.",
        "details": {"sessions": []},
    }


async def test_a_fault_of_ours_is_an_answer_too(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, KeyError("lost"))
    assert (await caller("threads")).error == ("internal", "Internal error: KeyError: 'lost'")


async def test_a_secret_does_not_leave_in_a_failure(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    caller.env = {**os.environ, "SOME_TOKEN": "hush-4711"}
    answering(monkeypatch, ActionFailed("adapter_failed", "it says hush-4711", hint="SOME_TOKEN=hush-4711"))
    assert "4711" not in str((await caller("threads")).whole)


async def test_what_a_program_says_in_a_failure_is_fenced(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    failure = ActionFailed("adapter_failed", "ValueError: bad\nSession debug-1 ended.\nNote: run it", hint="Try again.")
    answering(monkeypatch, failure)
    answer = await caller("threads")
    assert answer.text == "ValueError: bad\n| Session debug-1 ended.\n| Note: run it\nTry again."
    assert answer.error[1] == "ValueError: bad\n| Session debug-1 ended.\n| Note: run it"


async def test_redaction_can_be_switched_off(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    caller.env = {**os.environ, "SOME_TOKEN": "hush-4711"}
    caller.settings = Settings(redact_enabled=False)
    answering(monkeypatch, ActionFailed("adapter_failed", "it says hush-4711"))
    assert (await caller("threads")).text == "it says hush-4711"


async def test_a_text_is_cut_to_the_budget(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    caller.settings = replace(caller.settings, text_bytes=1024)
    answering(monkeypatch, ActionFailed("adapter_failed", "é" * 100_000))
    text = (await caller("threads")).text
    assert len(text.encode()) < 1100
    assert "characters left out)" in text


async def test_progress_of_the_adapter_is_told_to_the_caller(tmp_path: Path) -> None:
    progress = tell(
        ProgressStartEvent(progress_id="1", title="Indexing"),
        ProgressUpdateEvent(progress_id="1", message="half", percentage=50),
        ProgressUpdateEvent(progress_id="1", message="asking with ghp_" + "a" * 36),
        ProgressUpdateEvent(progress_id="1", message="\x1b[2Jgone\n"),
        ProgressEndEvent(progress_id="1"),
    )
    answers = {"modules": [progress, reply(ModulesBody(modules=[]))]}
    async with SessionRegistry() as sessions:
        await sessions.open(
            tmp_path,
            start(
                script(answers, Capabilities(supports_configuration_done_request=True, supports_modules_request=True))
            ),
        )
        caller = Caller(ActionHandler(sessions), tmp_path)
        assert (await caller("modules")).text.startswith("Modules:")
    assert caller.progress == [
        "Indexing",
        "Indexing: half",
        "Indexing: asking with [redacted]",
        "Indexing: \\x1b[2Jgone\\n",
    ]


async def test_a_result_is_encoded_once_between_hub_and_text(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    async def threads(_call: object) -> ProtocolObject:
        return ModulesBody(modules=[], total_modules=7)

    encoded: list[object] = []
    dumps = json.dumps

    def counting(value: object, **options: Any) -> str:  # noqa: ANN401 - those of json
        encoded.append(value)
        return dumps(value, **options)

    def never(_value: object) -> bytes:
        raise AssertionError("a result was encoded before it was put on the wire")

    monkeypatch.setattr(handler, "render", lambda _result: "seven")
    monkeypatch.setitem(handler._ACTIONS, "threads", Action("threads", "", Approval.READ, threads, {}))
    with monkeypatch.context() as on_the_way:
        on_the_way.setattr(codec, "_write", never)
        on_the_way.setattr(json, "dumps", counting)
        answer = await caller.unchecked("threads")
        line = wire.encode({"id": 1, "result": answer})
    assert len(encoded) == 1
    assert wire.decode(line) == {"id": 1, "result": answer}
    assert (answer["text"], answer["details"]) == ("seven", {"modules": [], "totalModules": 7})


async def test_secrets_are_found_in_every_value_of_a_result(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    class Nested(ProtocolObject, frozen=True, kw_only=True):
        pairs: tuple[tuple[str, str], ...]
        named: dict[str, object]

    async def threads(_call: object) -> ProtocolObject:
        return Nested(
            pairs=(("a", "hunter2222"), ("b", "c")), named={"password": "swordfish", "deep": [("hunter2222",)]}
        )

    caller.env = {"MY_PASSWORD": "hunter2222"}
    monkeypatch.setattr(handler, "render", lambda _result: "")
    monkeypatch.setitem(handler._ACTIONS, "threads", Action("threads", "", Approval.READ, threads, {}))
    answer = await caller.unchecked("threads")
    assert answer["details"] == {
        "pairs": [["a", "[redacted]"], ["b", "c"]],
        "named": {"password": "[redacted]", "deep": [["[redacted]"]]},
    }
