"""Every command of the protocol, at every moment, with right, wrong and missing arguments: one answer each."""

import pytest

from dapkit.adapter import HANDLERS, Adapter
from dapkit.protocol import COMMANDS, Direction
from dapkit.python.adapter import PythonAdapter
from e2e.python.raw_client import Message, RawClient, raw_client

ASKED_BY_CLIENTS = [spec.command for spec in COMMANDS.values() if spec.direction is Direction.CLIENT_TO_ADAPTER]
UNASKED = ("disconnect", "terminate", "initialize", "launch", "attach", "configurationDone", "restart")
"""Commands that end or begin something, with tests of their own."""

STATE = [command for command in ASKED_BY_CLIENTS if command not in UNASKED]

PROGRAM = """
import time
numbers = [1, 2, 3]
print('ready', flush=True)
while True:
    time.sleep(0.01)
"""

SOURCE = {"path": "/nowhere/prog.py"}
RIGHT: Message = {
    "threadId": 1,
    "frameId": 1,
    "variablesReference": 1,
    "expression": "numbers",
    "source": SOURCE,
    "sourceReference": 1,
    "breakpoints": [],
    "filters": [],
    "line": 1,
    "column": 1,
    "targetId": 1,
    "name": "numbers",
    "value": "4",
    "text": "nu",
    "memoryReference": "1",
    "count": 1,
    "instructionCount": 1,
    "data": "",
    "locationReference": 1,
    "requestId": 10_000,
}
"""Arguments that are right for one command or another; each takes its own."""

WRONG: Message = {name: {"no": ["such", "value"]} for name in RIGHT}

ARGUMENTS: dict[str, object] = {"right": RIGHT, "wrong": WRONG, "empty": {}, "none": None, "a list": [1]}


async def ask_everything(client: RawClient) -> None:
    """Send every command with all kinds of arguments; every request has to get one answer."""
    first = await client.send("threads")
    last = first
    for arguments in ARGUMENTS.values():
        for command in STATE:
            last = await client.send(command, arguments)
    for seq in range(first, last + 1):
        answer = await client.answer(seq)
        assert answer["success"] or answer["message"]
        assert "internal error" not in str(answer)
    answered = client.answers()
    assert len(answered) == len(set(answered))
    assert set(range(first, last + 1)) <= set(answered)


async def test_every_command_is_answered_once_while_the_program_runs() -> None:
    async with raw_client() as client:
        await client.start(code=PROGRAM)
        await client.event("output", category="stdout")
        await ask_everything(client)


async def test_every_command_is_answered_once_while_the_program_is_stopped() -> None:
    async with raw_client() as client:
        await client.start(code=PROGRAM)
        await client.event("output", category="stdout")
        assert (await client.ask("pause", {"threadId": 1}))["success"]
        await client.event("stopped")
        frames = (await client.ask("stackTrace", {"threadId": 1}))["body"]["stackFrames"]
        assert (await client.ask("scopes", {"frameId": frames[0]["id"]}))["success"]
        await ask_everything(client)


async def test_every_command_is_answered_once_before_launch() -> None:
    async with raw_client() as client:
        await client.initialize()
        await ask_everything(client)


async def test_every_command_is_answered_once_after_the_end() -> None:
    async with raw_client() as client:
        await client.start(code="pass")
        await client.event("terminated")
        await ask_everything(client)


async def test_every_command_is_answered_once_before_initialize() -> None:
    async with raw_client() as client:
        await ask_everything(client)


async def test_commands_that_are_not_supported_are_refused_by_name() -> None:
    unsupported = [command for command in STATE if not is_handled(command)]
    async with raw_client() as client:
        await client.start(code=PROGRAM)
        for command in (*unsupported, "no/such/command"):
            answer = await client.ask(command, RIGHT)
            assert not answer["success"]
            assert command in answer["message"]


def is_handled(command: str) -> bool:
    """Say whether the adapter has a handler of its own for a command, or the SDK answers it."""
    name = HANDLERS.get(command)
    if name is None or command in PythonAdapter.forwards:
        return True
    return getattr(PythonAdapter, name) is not getattr(Adapter, name)


@pytest.mark.thorough
@pytest.mark.parametrize("command", ["initialize", "launch", "attach", "configurationDone"])
async def test_second_beginning_is_refused(command: str) -> None:
    async with raw_client() as client:
        await client.start(code=PROGRAM)
        answer = await client.ask(command, {"adapterID": "python", "code": "print()"})
        assert not answer["success"]
        assert (await client.ask("threads"))["success"]


async def test_second_disconnect_is_answered() -> None:
    async with raw_client() as client:
        await client.start(code=PROGRAM)
        twice = await client.send_at_once(("disconnect", None), ("disconnect", None))
        await client.hear_the_end()
        assert set(twice) <= set(client.answers())


async def test_stale_references_are_refused_with_what_to_do() -> None:
    async with raw_client() as client:
        await client.start(code=PROGRAM)
        await client.event("output", category="stdout")
        for _ in range(2):
            assert (await client.ask("pause", {"threadId": 1}))["success"]
            await client.event("stopped")
            frames = (await client.ask("stackTrace", {"threadId": 1}))["body"]["stackFrames"]
            client.heard.clear()
            assert (await client.ask("continue", {"threadId": 1}))["success"]
        answer = await client.ask("scopes", {"frameId": frames[0]["id"]})
        assert not answer["success"]


async def test_cancel_of_an_evaluation_ends_the_wait_for_it() -> None:
    async with raw_client() as client:
        await client.start(code=PROGRAM)
        await client.event("output", category="stdout")
        assert (await client.ask("pause", {"threadId": 1}))["success"]
        await client.event("stopped")
        frames = (await client.ask("stackTrace", {"threadId": 1}))["body"]["stackFrames"]
        arguments = {"expression": "time.sleep(20)", "frameId": frames[0]["id"], "context": "repl"}
        evaluate = await client.send("evaluate", arguments)
        assert (await client.ask("cancel", {"requestId": evaluate}))["success"]
        assert (await client.answer(evaluate))["message"] == "cancelled"
