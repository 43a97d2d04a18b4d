"""Adapters of every order, and adapters that fail, as a session of the hub sees them."""

from pathlib import Path

import anyio
import pytest

from dapkit.client import AdapterDied, BreakpointSpec, SourceLocation
from dapkit.protocol import (
    EvaluateArguments,
    EvaluateBody,
    Event,
    OutputEvent,
    Request,
    ThreadsArguments,
    encode,
    encode_frame,
)
from dapkit.sessions.errors import StartExpired, StartFailed
from dapkit.sessions.registry import SessionRegistry
from dapkit.settings import Settings
from dapkit.testing import HANDSHAKES, FakePeer, Step, die, hold, raw, reply, request, tell, tell_custom
from dapkit.transport import DeadlineExceeded
from fake_adapters import FILE, Scripted, script, stack, start

P = Path("/p")


@pytest.mark.parametrize("order", HANDSHAKES)
async def test_handshake_of_any_order_sets_breakpoints_before_the_first_stop(
    sessions: SessionRegistry, order: str
) -> None:
    wanted = start(
        {**HANDSHAKES[order], "stackTrace": [stack(1)]}, breakpoints=[BreakpointSpec(SourceLocation(FILE, 3))]
    )
    session = await sessions.open(P, wanted)
    stop = (await session.execution.wait()).stop
    assert stop is not None
    assert (stop.reason, stop.line) == ("entry", 1)
    assert [placed.verified for placed in session.breakpoints] == [True]
    assert isinstance(wanted.route, Scripted)
    wanted.route.adapters[0].timeline.expect(request("setBreakpoints") >> request("configurationDone"))


async def test_adapter_that_is_silent_from_the_start_is_given_up() -> None:
    async with SessionRegistry(Settings(adapter_ready_seconds=0.05)) as sessions:
        with pytest.raises(StartFailed, match=r"fake was not ready within 0\.05 s"):
            await sessions.open(P, start({"initialize": []}))
        assert sessions.all == ()


async def test_launch_that_is_not_answered_fails_at_the_deadline_with_what_was_said(sessions: SessionRegistry) -> None:
    said = tell(OutputEvent(output="waiting for gdb\n", category="console"))
    with pytest.raises(StartExpired, match=r"DAP request launch timed out after 50ms\nwaiting for gdb"):
        await sessions.open(P, start(script({"launch": [said]})), deadline=0.05)
    assert sessions.all == ()


async def test_adapter_that_dies_in_the_middle_of_a_message_ends_its_session(sessions: SessionRegistry) -> None:
    half = b'Content-Length: 60\r\n\r\n{"seq":0,"type":"event"'
    session = await sessions.open(P, start(script({"evaluate": [raw(half), die()]})))
    stop = (await session.execution.wait()).stop
    assert stop is not None
    with pytest.raises(AdapterDied, match="in the middle of a message"):
        await session.requests.ask(EvaluateArguments(expression="x", frame_id=stop.frame_id))
    assert (await session.execution.wait()).state == "terminated"


async def test_garbage_ends_the_session_and_says_what_it_was(sessions: SessionRegistry) -> None:
    session = await sessions.open(P, start(script({"continue": [raw(b"Traceback (most recent call last):\n")]})))
    await session.execution.wait()
    outcome = await session.execution.resume()
    assert outcome.state == "terminated"
    assert outcome.failure is not None
    assert "Traceback" in outcome.failure


async def test_flood_of_events_keeps_the_end_of_the_output_and_the_session_alive(sessions: SessionRegistry) -> None:
    count = 20_000  # more text than is kept
    events = (Event(0, "output", OutputEvent(output=f"line {number}\n")) for number in range(count))
    flood = raw(b"".join(encode_frame(encode(event)) for event in events))
    session = await sessions.open(P, start(script({"evaluate": [flood, reply(_value("1"))]})))
    stop = (await session.execution.wait()).stop
    assert stop is not None
    assert (await session.requests.ask(EvaluateArguments(expression="x", frame_id=stop.frame_id))).result == "1"
    read = session.output.read()
    assert read.text.endswith(f"line {count - 1}\n")
    assert len(read.text) == session.settings.output_bytes
    assert session.state.stop == stop


async def test_answers_out_of_order_reach_who_asked(sessions: SessionRegistry) -> None:
    def by_expression(asked: Request) -> EvaluateBody:
        assert isinstance(asked.arguments, EvaluateArguments)
        return _value(asked.arguments.expression)

    async def first_last(peer: FakePeer, asked: Request) -> None:
        assert isinstance(asked.arguments, EvaluateArguments)
        if asked.arguments.expression == "first":
            await peer.gate("second").wait()
        else:
            peer.release("second")
        await reply(by_expression)(peer, asked)

    session = await sessions.open(P, start(script({"evaluate": [first_last]})))
    await session.execution.wait()
    answers: dict[str, str] = {}

    async def ask(expression: str) -> None:
        answers[expression] = (await session.requests.ask(EvaluateArguments(expression=expression))).result

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, "first")
        tasks.start_soon(ask, "second")
    assert answers == {"first": "first", "second": "second"}


async def test_events_that_nobody_knows_change_nothing(sessions: SessionRegistry) -> None:
    unknown = tell_custom("acme/telemetry", {"deep": [None, {"x": 1}]})
    session = await sessions.open(P, start(script({"evaluate": [unknown, reply(_value("1"))]})))
    stop = (await session.execution.wait()).stop
    await session.requests.ask(EvaluateArguments(expression="x"))
    assert session.state.stop == stop


async def test_null_for_everything_optional_is_absent(sessions: SessionRegistry) -> None:
    def stopped(asked: Request) -> bytes:
        frame = (
            '{"id":7,"name":"f","line":3,"column":1,"source":null,"endLine":null,"canRestart":null,'
            '"instructionPointerReference":null,"moduleId":null,"presentationHint":null}'
        )
        text = (
            f'{{"seq":0,"type":"response","request_seq":{asked.seq},"success":true,"command":"stackTrace",'
            f'"message":null,"body":{{"stackFrames":[{frame}],"totalFrames":null}}}}'
        )
        return f"Content-Length: {len(text)}\r\n\r\n{text}".encode()

    session = await sessions.open(P, start(script({"stackTrace": [raw(stopped)]})))
    stop = (await session.execution.wait()).stop
    assert stop is not None
    assert (stop.frame_name, stop.path, stop.line, stop.instruction_pointer) == ("f", None, 3, None)


async def test_slow_request_does_not_hold_up_another(sessions: SessionRegistry) -> None:
    slow: Step = hold("never")
    session = await sessions.open(P, start(script({"evaluate": [slow]})))
    await session.execution.wait()
    with pytest.raises(DeadlineExceeded):
        await session.requests.ask(EvaluateArguments(expression="x"), deadline=0.01)
    assert [thread.name for thread in (await session.requests.ask(ThreadsArguments())).threads] == ["main"]


def _value(text: str) -> EvaluateBody:
    return EvaluateBody(result=text, variables_reference=0)
