"""Every request of the schema, stopped and running, legal and not: one answer each, and nothing is wedged by it.

What is asked is made from the classes of the protocol: arguments that are right for the program at hand, the
smallest and the fullest that the schema allows, those with null wherever that is tolerated, each with one
fault in every place that can have one, no object, and none.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dapkit.endpoint.receiver import INSTEAD_OF_NOTHING
from dapkit.protocol import COMMANDS, CommandSpec, Direction
from dapkit.testing import samples
from e2e.python.raw_client import Message, RawClient, raw_client
from e2e.python.test_every_command import is_handled

ASKED = [spec for spec in COMMANDS.values() if spec.direction is Direction.CLIENT_TO_ADAPTER]
ENDING = ("terminate", "disconnect", "restart")
"""Commands that end what runs, if they are right."""
BEGINNING = ("initialize", "launch", "attach", "configurationDone")
"""Commands that are refused the second time, however right they are."""
STOPPING = ("next", "stepIn", "stepOut", "goto", "restartFrame", "pause")
"""Commands after which the program stops, if they succeed."""
GOING = ("continue", "next", "stepIn", "stepOut")
"""Commands after which the program runs, if they succeed."""
NOT_HERE = ("exceptionInfo", "terminateThreads", "stepBack", "reverseContinue")
"""Commands that have to be refused in this program: there is no exception, no thread but the main one, no history."""

PROGRAM = """\
import time
data = bytearray(b"abc")
def work(n):
    total = n + len(data)
    return total
while True:
    work(1)
    time.sleep(0.001)
"""
LINE = 4


class Debugged:
    """A program that can be stopped in `work`, and set going, from any state."""

    def __init__(self, client: RawClient, file: Path) -> None:
        self.client = client
        self.file = file
        self.source = {"name": file.name, "path": str(file)}

    async def stop(self) -> None:
        """Have the program stand at the breakpoint."""
        answer = await self._set_breakpoints(LINE)
        if self._is_stopped():
            answer = await self._continue()
        await self.stopped_after(answer)

    async def run(self) -> None:
        """Have the program run, with nothing that would stop it."""
        await self._set_breakpoints()
        if self._is_stopped():
            await self._continue()

    def forget(self) -> None:
        """Forget what was heard; the program is stopped."""
        self.client.heard.clear()

    async def _set_breakpoints(self, *lines: int) -> Message:
        arguments = {"source": self.source, "breakpoints": [{"line": line} for line in lines]}
        return await self._succeed("setBreakpoints", arguments)

    async def _continue(self) -> Message:
        return await self._succeed("continue", {"threadId": 1})

    async def _succeed(self, command: str, arguments: Message) -> Message:
        answer = await self.client.ask(command, arguments)
        assert answer["success"], answer
        return answer

    def _is_stopped(self) -> bool:
        """Say whether the last that was heard of the program is that it stopped."""
        for said in reversed(self.client.heard):
            if said.get("event") in ("stopped", "continued", "process"):
                return bool(said["event"] == "stopped")
            if said.get("command") in GOING and said["success"]:
                return False
        return True

    async def stopped_after(self, answer: Message) -> None:
        """Wait for a stop that is told after an answer."""
        place = self.client.heard.index(answer)
        await self.client.until(lambda said: said.get("event") == "stopped" and said in self.client.heard[place:])

    async def right(self) -> dict[str, Message | None]:
        """Return arguments, by command, that name what is there at this stop."""
        client = self.client
        frame = (await client.ask("stackTrace", {"threadId": 1}))["body"]["stackFrames"][0]
        at, thread, line = {"frameId": frame["id"]}, {"threadId": 1}, {"source": self.source, "line": LINE}
        [scope, *_] = (await client.ask("scopes", at))["body"]["scopes"]
        values = {"variablesReference": scope["variablesReference"]}
        data = (await client.ask("evaluate", {"expression": "data", **at}))["body"]
        memory = {"memoryReference": data["memoryReference"]}
        work = (await client.ask("evaluate", {"expression": "work", **at}))["body"]
        [target, *_] = (await client.ask("gotoTargets", line))["body"]["targets"]
        return {
            **dict.fromkeys(("continue", "next", "stepIn", "stepOut", "pause", "stackTrace", "exceptionInfo"), thread),
            **dict.fromkeys(("scopes", "stepInTargets", "restartFrame"), at),
            "setDataBreakpoints": {"breakpoints": []},
            "setInstructionBreakpoints": {"breakpoints": []},
            **dict.fromkeys(("breakpointLocations", "gotoTargets"), line),
            "completions": {"text": "da", "column": 3, **at},
            "dataBreakpointInfo": {**values, "name": "n"},
            "disassemble": {"memoryReference": frame["instructionPointerReference"], "instructionCount": 3},
            "evaluate": {"expression": "n + 1", "context": "watch", **at},
            "goto": {**thread, "targetId": target["id"]},
            "locations": {"locationReference": work["valueLocationReference"]},
            "readMemory": {**memory, "count": 3},
            "setBreakpoints": {"source": self.source, "breakpoints": [{"line": LINE}]},
            "setExceptionBreakpoints": {"filters": ["uncaught"]},
            "setExpression": {"expression": "n", "value": "3", **at},
            "setFunctionBreakpoints": {"breakpoints": [{"name": "nowhere"}]},
            "setVariable": {**values, "name": "n", "value": "2"},
            "source": {"source": frame["source"], "sourceReference": 0},
            "variables": values,
            "writeMemory": {**memory, "data": "QUJD"},
        }


@pytest.fixture
async def debugged(tmp_path: Path, python: str) -> AsyncIterator[Debugged]:
    """Return a running program."""
    file = tmp_path / "prog.py"
    file.write_text(PROGRAM)
    async with raw_client() as client:
        await client.start(program=str(file), python=python)
        yield Debugged(client, file)


def legal(spec: CommandSpec) -> list[object]:
    """Return arguments that the schema allows, whatever they mean."""
    kind = spec.arguments
    return [] if spec.command in ENDING else [samples.smallest(kind), samples.fullest(kind), samples.with_nulls(kind)]


def illegal(spec: CommandSpec) -> list[object]:
    """Return arguments that have to be refused."""
    forgiven = INSTEAD_OF_NOTHING.get(spec.command, {})
    faults = [
        fault.value
        for fault in samples.faulty(spec.arguments, "$.arguments")
        if not any(fault.value.get(name) is None for name in forgiven)
    ]
    return [*faults, [1], "text", 7]


async def check(debugged: Debugged, spec: CommandSpec, *, stopped: bool) -> None:
    """Ask one command in every way; the program is in the same state each time."""
    client, command = debugged.client, spec.command
    get_ready = debugged.stop if stopped else debugged.run

    async def answered(arguments: object) -> Message:
        answer = await client.ask(command, arguments)
        assert answer["success"] or answer["message"], (command, arguments)
        assert "internal error" not in str(answer), (command, arguments)
        if answer["success"] and command in STOPPING and not (command == "pause" and stopped):
            await debugged.stopped_after(answer)
        return answer

    if command not in ENDING:
        await debugged.stop()
        right = (await debugged.right()).get(command, samples.smallest(spec.arguments))
        if not stopped:
            await debugged.run()
        answer = await answered(right)
        if stopped:
            refused = command in (*NOT_HERE, *BEGINNING) or not is_handled(command)
            assert answer["success"] is not refused, answer
    for arguments in (*legal(spec), *((None,) if command not in ENDING else ())):
        await get_ready()
        await answered(arguments)
    await get_ready()
    for seq in [await client.send(command, arguments) for arguments in illegal(spec)]:
        answer = await client.answer(seq)
        assert not answer["success"], answer
        assert answer["message"], answer
    assert (await client.ask("threads"))["success"]


@pytest.mark.thorough
@pytest.mark.timeout(120)
@pytest.mark.parametrize("stopped", [True, False], ids=["stopped", "running"])
async def test_every_request_gets_one_answer_and_wedges_nothing(debugged: Debugged, *, stopped: bool) -> None:
    client = debugged.client
    for spec in ASKED:
        await check(debugged, spec, stopped=stopped)
        answered = client.answers()
        assert len(answered) == len(set(answered)), spec.command
        await debugged.stop()
        debugged.forget()
    assert (await client.ask("restart"))["success"]
    await debugged.stop()
    assert (await client.ask("disconnect"))["success"]


@pytest.mark.parametrize("arguments", [None, {}], ids=["without arguments", "with empty ones"])
@pytest.mark.parametrize("command", ["terminate", "disconnect"])
@pytest.mark.parametrize("stopped", [True, False], ids=["stopped", "running"])
async def test_end_is_answered_and_comes(
    debugged: Debugged, command: str, arguments: Message | None, *, stopped: bool
) -> None:
    if stopped:
        await debugged.stop()
    assert (await debugged.client.ask(command, arguments))["success"]
    if command == "terminate":
        await debugged.client.event("terminated")
