"""What diagnostics asks of the hub: messages, the record of a session, and which sessions live."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from action_fixtures import Caller, patient_caller
from dapkit.settings import Settings

PLANTED = "hunter-22-tooth"


@pytest.fixture
async def caller(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Caller]:
    async with patient_caller(monkeypatch, tmp_path, Settings(session_initial_stop_seconds=50)) as caller:
        yield caller


async def stopped(caller: Caller) -> None:
    text = f"import os\npassword = '{PLANTED}'\nprint('token=' + os.environ['API_TOKEN'])\nfound = 1\nfound = 2\n"
    program = caller.write("app.py", text)
    await caller(
        "launch",
        program=str(program),
        breakpoints=["app.py:5"],
        cwd=str(caller.project),
        env={"API_TOKEN": PLANTED[::-1]},
        args=["--password", PLANTED],
    )


@pytest.mark.thorough
async def test_messages_of_a_session_come_in_order_without_secrets(caller: Caller) -> None:
    await stopped(caller)
    await caller("variables", variable_ref=(await caller("scopes")).details["scopes"][0]["variablesReference"])
    found = (await caller.unchecked("wire_records"))["details"]
    records = found["records"]
    assert [record["number"] for record in records] == list(range(1, found["total"] + 1))
    assert [(record["kind"], record["name"]) for record in records[:2]] == [
        ("request", "initialize"),
        ("response", "initialize"),
    ]
    [launch] = [record for record in records if record["name"] == "launch" and record["kind"] == "request"]
    arguments = json.loads(launch["text"])["arguments"]
    assert arguments["args"] == ["--password", "[redacted]"]
    assert "API_TOKEN" in arguments["env"]
    assert any(record["name"] == "variables" and "'[redacted]'" in record["text"] for record in records)
    assert PLANTED not in json.dumps(records)
    assert PLANTED[::-1] not in json.dumps(records)
    later = (await caller.unchecked("wire_records", after=found["total"] - 1))["details"]["records"]
    assert [record["number"] for record in later] == [found["total"]]


async def test_follower_gets_the_next_message_when_it_passes(caller: Caller) -> None:
    await stopped(caller)
    before = (await caller.unchecked("wire_records"))["details"]["total"]
    followed: list[object] = []

    async def follow() -> None:
        answer = await caller.unchecked("wire_records", after=before, follow=True, timeout=60)
        followed.extend(record["name"] for record in answer["details"]["records"])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow)
        await anyio.wait_all_tasks_blocked()
        assert followed == []
        await caller("threads")
    assert followed[:1] == ["threads"]


@pytest.mark.thorough
async def test_record_has_every_action_with_its_answer_and_no_secret(caller: Caller) -> None:
    await stopped(caller)
    await caller("evaluate", expression="password")
    await caller("evaluate", expression="nowhere")
    await caller.unchecked("wire_records")
    record = (await caller.unchecked("session_record"))["details"]
    entries = record["entries"]
    assert [(entry["number"], entry["action"], entry["success"]) for entry in entries] == [
        (1, "launch", True),
        (2, "evaluate", True),
        (3, "evaluate", False),
    ]
    assert entries[0]["details"]["stop"]["reason"] == "breakpoint"
    assert entries[0]["arguments"]["args"] == ["--password", "[redacted]"]
    assert all(entry["time"] >= record["created"] - 60 and entry["seconds"] >= 0 for entry in entries)
    assert record["configuration"]["request"] == "launch"
    assert record["configuration"]["command"][-2:] == ["-m", "dapkit.python"]
    assert record["output"] == "token=[redacted]\n"
    assert [entry["text"] for entry in entries if PLANTED in entry["text"]] == []
    assert PLANTED not in json.dumps(record)
    assert PLANTED[::-1] not in json.dumps(record)


@pytest.mark.thorough
async def test_sessions_that_live_are_those_of_all_projects(caller: Caller) -> None:
    await stopped(caller)
    [live] = (await caller.unchecked("live_sessions"))["details"]["sessions"]
    assert (live["project"], live["session"]) == (str(caller.project), "debug-1")
    await caller("terminate")
    assert (await caller.unchecked("live_sessions"))["details"]["sessions"] == []
