"""A client that says whatever it is told to, right or wrong, and keeps all that it hears."""

import json
import re
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import ByteStream

from dapkit.protocol import FrameDecoder, encode_frame
from dapkit.transport import ChildProcess, spawn
from e2e.python.adapter_client import ADAPTER
from e2e.python.processes import kill

DEADLINE = 240.0

type Message = dict[str, Any]


class RawConversation:
    """One end of a conversation with an adapter, without any rules.

    Attributes:
        stream: to the adapter.
        heard: every message that came.

    """

    def __init__(self, stream: ByteStream) -> None:
        self.stream = stream
        self.heard: list[Message] = []
        self._frames = FrameDecoder()
        self._seq = 0

    async def send(self, command: str, arguments: object = None) -> int:
        """Send a request; return its number."""
        [number] = await self.send_at_once((command, arguments))
        return number

    async def send_at_once(self, *asked: tuple[str, object]) -> list[int]:
        """Send requests in one write: the adapter has all before it acts on one; return their numbers."""
        requests: list[Message] = []
        for command, arguments in asked:
            self._seq += 1
            requests.append({"seq": self._seq, "type": "request", "command": command})
            if arguments is not None:
                requests[-1]["arguments"] = arguments
        await self._say(*requests)
        return [request["seq"] for request in requests]

    async def accept(self, request: Message) -> None:
        """Answer a request of the adapter with success."""
        await self._respond(request, {"success": True, "body": {}})

    async def refuse(self, request: Message, reason: str) -> None:
        """Answer a request of the adapter with an error."""
        await self._respond(request, {"success": False, "message": reason})

    async def _respond(self, request: Message, outcome: Message) -> None:
        self._seq += 1
        answer = {"seq": self._seq, "type": "response", "request_seq": request["seq"], "command": request["command"]}
        await self._say({**answer, **outcome})

    async def _say(self, *messages: Message) -> None:
        await self.stream.send(b"".join(encode_frame(json.dumps(message).encode()) for message in messages))

    async def until(self, wanted: Callable[[Message], bool]) -> Message:
        """Return the first message of a kind, whether it came already or is still to come."""
        position = 0
        with anyio.fail_after(DEADLINE):
            while True:
                for message in self.heard[position:]:
                    if wanted(message):
                        return message
                position = len(self.heard)
                await self._hear()

    async def _hear(self) -> None:
        try:
            data = await self.stream.receive()
        except anyio.EndOfStream:
            raise AssertionError(f"the adapter said no more; the last was {self.heard[-3:]}") from None
        self.heard += [json.loads(payload) for payload in self._frames.feed(data)]

    async def answer(self, seq: int) -> Message:
        """Return the response to a request."""
        return await self.until(lambda message: message.get("request_seq") == seq and message["type"] == "response")

    async def ask(self, command: str, arguments: object = None) -> Message:
        """Send a request and return its response."""
        return await self.answer(await self.send(command, arguments))

    async def event(self, name: str, **body: object) -> Message:
        """Return the body of an event with these values, whether it came already or is still to come."""

        def wanted(message: Message) -> bool:
            return message.get("event") == name and body.items() <= message.get("body", {}).items()

        found: Message = (await self.until(wanted)).get("body", {})
        return found

    async def until_stopped(self, times: int) -> None:
        """Wait until so many stops were told of since the session began."""
        with anyio.fail_after(DEADLINE):
            while sum(message.get("event") == "stopped" for message in self.heard) < times:
                await self._hear()

    async def hear_the_end(self) -> None:
        """Take all that still comes."""
        with anyio.fail_after(DEADLINE):
            while True:
                try:
                    data = await self.stream.receive()
                except anyio.EndOfStream:
                    return
                self.heard += [json.loads(payload) for payload in self._frames.feed(data)]

    def answers(self) -> list[int]:
        """Return the numbers of the requests that were answered, in the order of the answers."""
        return [message["request_seq"] for message in self.heard if message["type"] == "response"]

    def output(self, category: str) -> str:
        """Return all output of a category, with one character at the end of a line on all systems."""
        bodies = [message["body"] for message in self.heard if message.get("event") == "output"]
        text = "".join(body["output"] for body in bodies if body.get("category") == category)
        return text.replace("\r\n", "\n") if sys.platform == "win32" else text

    async def initialize(self, **arguments: object) -> Message:
        """Introduce the client; return the adapter's capabilities."""
        able = {"supportsVariableType": True, "supportsMemoryReferences": True}
        answer = await self.ask("initialize", {"adapterID": "python", "pathFormat": "path", **able, **arguments})
        capabilities: Message = answer["body"]
        return capabilities

    async def start(self, **launch: object) -> None:
        """Get a program to run."""
        await self.initialize()
        await self.send("launch", launch)
        await self.event("initialized")
        assert (await self.ask("configurationDone"))["success"]


class RawClient(RawConversation):
    """A conversation with an adapter that was started for it.

    Attributes:
        adapter: the process.

    """

    def __init__(self, adapter: ChildProcess) -> None:
        super().__init__(adapter.stream)
        self.adapter = adapter

    def kill(self) -> None:
        """Kill the adapter."""
        kill(self.adapter.pid)


@asynccontextmanager
async def raw_client(
    command: Sequence[str] = ADAPTER, *, log: str = "", env: Mapping[str, str] | None = None
) -> AsyncIterator[RawClient]:
    """Start an adapter and be its raw client, of one that logs what the pattern says: nothing."""
    async with spawn(command, env=env) as adapter:
        yield RawClient(adapter)
    logged = adapter.stderr_tail()
    assert re.fullmatch(log, logged, re.DOTALL), logged
