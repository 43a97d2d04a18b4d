"""Stops and the answers to requests to go on, in the order in which the engine said them."""

import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.abc import ByteStream

from dapkit.adapter.session import current_request
from dapkit.endpoint import Endpoint, EventReceived, Happening, Phase, ResponseReceived, Role
from dapkit.protocol import (
    ConfigurationDoneArguments,
    ContinueArguments,
    FrameDecoder,
    InitializeRequestArguments,
    LaunchRequestArguments,
    Request,
    encode_frame,
)
from dapkit.python.adapter import PythonAdapter
from dapkit.python.adapter.children.children import Children
from dapkit.python.adapter.configuration.arguments import PythonAttach, PythonLaunch
from dapkit.python.adapter.configuration.paths import PathTranslation
from dapkit.python.adapter.engine.debuggee import Debuggee
from dapkit.python.adapter.engine.marked_output import MarkedOutput
from dapkit.python.adapter.engine.resume_order import ResumeOrder
from dapkit.python.adapter.session.run import DebuggeeRun
from dapkit.transport import Connection, background_tasks, memory_pair

STOPPED = {"type": "event", "event": "stopped", "body": {"reason": "breakpoint", "threadId": 1}}

BODIES = {"initialize": {"supportsConfigurationDoneRequest": True}, "continue": {"allThreadsContinued": True}}


class Engine:
    """The far end of the link: answers everything with success, and says what it is told to around that."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._seq = 0
        self.before: dict[str, list[dict[str, Any]]] = {}
        """What to say in one breath with the answer to a command, before it."""
        self.after: dict[str, list[dict[str, Any]]] = {}

    async def serve(self) -> None:
        frames = FrameDecoder()
        with contextlib.suppress(anyio.EndOfStream):
            while True:
                for payload in frames.feed(await self._stream.receive()):
                    await self._answer(json.loads(payload))

    async def _answer(self, request: dict[str, Any]) -> None:
        command = request["command"]
        answer = {"type": "response", "request_seq": request["seq"], "command": command, "success": True}
        said = [*self.before.pop(command, []), {**answer, "body": BODIES.get(command)}, *self.after.pop(command, [])]
        await self._stream.send(b"".join(map(self._frame, said)))

    def _frame(self, message: dict[str, Any]) -> bytes:
        self._seq += 1
        return encode_frame(json.dumps({"seq": self._seq, **message}).encode())


class SlowProcess:
    """A process whose output, which comes before a stop, takes a while to be told."""

    returncode = None

    def __init__(self) -> None:
        self.is_reported = anyio.Event()
        self.marked = MarkedOutput()

    async def wait(self) -> None:
        await anyio.sleep_forever()

    async def report_output(self) -> None:
        await self.is_reported.wait()

    def runs(self) -> bool:
        return True

    async def stopped(self) -> str:
        await anyio.sleep_forever()
        raise AssertionError

    async def continued(self) -> None: ...

    def resume(self) -> bool:
        return False

    def interrupted(self) -> None: ...

    def send_term(self) -> None: ...

    async def kill(self) -> None: ...

    def release(self) -> None: ...


class Adapter(PythonAdapter):
    """The adapter, with an engine and a process of the test."""

    def __init__(self) -> None:
        super().__init__()
        ours, theirs = memory_pair()
        self._stream = ours
        self.engine = Engine(theirs)
        self.program = SlowProcess()

    def _new_run(self, args: PythonLaunch | PythonAttach) -> DebuggeeRun:
        children = Children(self, args, lambda _ends, _token: Adapter(), end_with_us=False)
        return DebuggeeRun(self, self._connect, children, remembered=self.remembered, is_ours=False)

    @asynccontextmanager
    async def _connect(self, _run: DebuggeeRun) -> AsyncIterator[Debuggee]:
        self.start_soon(self.engine.serve)
        order = ResumeOrder()
        async with Connection(self._stream, Endpoint(Role.CLIENT), watch=order.observe) as link:
            await link.request(InitializeRequestArguments(adapter_id="dapkit"))
            yield Debuggee(link, order, self.program, PathTranslation((), "/"))


class Heard:
    """A client, and what it hears of stops and of going on, in order."""

    def __init__(self, adapter: Adapter, stream: ByteStream) -> None:
        self.adapter = adapter
        self.endpoint = Endpoint(Role.CLIENT)
        self.connection = Connection(stream, self.endpoint, watch=self._hear)
        self.order: list[str] = []

    def _hear(self, happening: Happening) -> None:
        match happening:
            case EventReceived(event) if event.event == "stopped":
                self.order.append("stopped")
            case ResponseReceived(request) if request.command == "continue":
                self.order.append("answer")

    async def go_on(self) -> None:
        """Ask to go on while the output before a stop is still being told."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.connection.request, ContinueArguments(thread_id=1))
            await anyio.wait_all_tasks_blocked()
            self.adapter.program.is_reported.set()
        await anyio.wait_all_tasks_blocked()


@pytest.fixture
async def heard() -> AsyncIterator[Heard]:
    adapter = Adapter()
    theirs, ours = memory_pair()
    async with background_tasks() as tasks:
        tasks.start_soon(adapter.serve_stream, theirs)
        heard = Heard(adapter, ours)
        async with heard.connection as connection:
            await connection.request(InitializeRequestArguments(adapter_id="test"))
            async with anyio.create_task_group() as start:
                start.start_soon(connection.request, LaunchRequestArguments(extra={"code": "pass"}))
                await anyio.wait_all_tasks_blocked()
                await connection.request(ConfigurationDoneArguments())
            yield heard


async def test_stop_that_came_before_the_answer_to_continue_is_heard_before_it(heard: Heard) -> None:
    heard.adapter.engine.before["continue"] = [STOPPED]
    await heard.go_on()
    assert heard.order == ["stopped", "answer"]
    assert heard.endpoint.phase is Phase.RUNNING


async def test_stop_that_came_after_the_answer_is_heard_after_it(heard: Heard) -> None:
    heard.adapter.engine.after["continue"] = [STOPPED]
    await heard.go_on()
    assert heard.order == ["answer", "stopped"]
    assert heard.endpoint.phase is Phase.STOPPED


async def test_stops_on_both_sides_of_an_answer_stay_there(heard: Heard) -> None:
    heard.adapter.engine.before["continue"] = [STOPPED, STOPPED]
    heard.adapter.engine.after["continue"] = [STOPPED]
    await heard.go_on()
    assert heard.order == ["stopped", "stopped", "answer", "stopped"]
    assert heard.endpoint.phase is Phase.STOPPED


async def test_answers_do_not_wait_for_stops_when_the_program_is_over(heard: Heard) -> None:
    heard.adapter.engine.before["continue"] = [STOPPED]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(heard.connection.request, ContinueArguments(thread_id=1))
        await anyio.wait_all_tasks_blocked()
        assert heard.order == []
        assert heard.adapter.run is not None
        await heard.adapter.run.end(kill=False)
    assert "answer" in heard.order


async def test_stop_does_not_overtake_an_answer_on_its_way_to_the_client() -> None:
    """Between the engine's answer and ours come other messages, such as the end of a progress."""
    order = ResumeOrder()
    first, second = Request(3, "goto", None), Request(4, "goto", None)

    async def answered() -> None:
        """Answer as the engine, at once."""

    current_request.set(first)
    await order.answer("goto", answered())
    assert not order.has_stop_before(first)
    assert order.has_stop_before(second)
