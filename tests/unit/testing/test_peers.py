import anyio
import pytest
from anyio.abc import ByteStream

from dapkit.endpoint import CapabilityMissing, Phase, RequestFailed
from dapkit.protocol import (
    Capabilities,
    InitializeRequestArguments,
    OutputEvent,
    RunInTerminalBody,
    RunInTerminalRequestArguments,
    SetBreakpointsArguments,
    Source,
    SourceBreakpoint,
    StepBackArguments,
    StoppedEvent,
    ThreadsArguments,
    ThreadsBody,
    encode_frame,
)
from dapkit.testing import (
    HANDSHAKES,
    FakeAdapter,
    FakeClient,
    ask,
    blurt,
    die,
    event,
    failure,
    hold,
    never,
    raw,
    refuse,
    reply,
    request,
    response,
    tell,
    tell_custom,
)
from dapkit.transport import ConversationLost, DeadlineExceeded, memory_pair

USUAL = HANDSHAKES["lldb-dap"]


@pytest.fixture
def streams() -> tuple[ByteStream, ByteStream]:
    return memory_pair()


@pytest.mark.parametrize("handshake", HANDSHAKES)
async def test_fake_client_gets_along_with_every_handshake(
    streams: tuple[ByteStream, ByteStream], handshake: str
) -> None:
    breakpoints = SetBreakpointsArguments(source=Source(path="/a"), breakpoints=[SourceBreakpoint(line=3)])
    async with FakeAdapter(streams[1], HANDSHAKES[handshake]), FakeClient(streams[0]) as client:
        await client.start(None, None, breakpoints)
        await client.timeline.wait_for(
            (response("launch") & response("setBreakpoints") & response("configurationDone"))
            >> event("stopped", reason="entry")
        )
        await client.disconnect()
        client.timeline.expect(event("terminated") >> response("disconnect"))
        assert client.endpoint.phase is Phase.OVER
        assert client.timeline.violations() == []


async def test_handshakes_differ_as_the_real_ones_do() -> None:
    orders = {
        "lldb-dap": event("initialized") >> response("configurationDone") >> response("launch"),
        "lldb-dap 19": response("launch") >> event("initialized"),
        "delve": event("initialized") >> never(response("configurationDone")) >> response("launch"),
        "rdbg": event("initialized") >> request("launch"),
        "js-debug": event("initialized") >> event("initialized") >> response("launch"),
        "gdb": event("output") >> response("initialize") >> event("initialized") >> response("launch"),
    }
    for name, order in orders.items():
        ours, theirs = memory_pair()
        async with FakeAdapter(theirs, HANDSHAKES[name]), FakeClient(ours) as client:
            await client.start()
            await client.timeline.wait_for(order)
    assert orders.keys() == HANDSHAKES.keys()


async def test_command_without_steps_is_never_answered(streams: tuple[ByteStream, ByteStream]) -> None:
    async with FakeAdapter(streams[1], {**USUAL, "threads": []}), FakeClient(streams[0]) as client:
        await client.start()
        with pytest.raises(DeadlineExceeded, match=r"threads was not answered within 0\.01 s"):
            await client.request(ThreadsArguments(), deadline=0.01)


async def test_command_that_the_script_does_not_name_is_refused(streams: tuple[ByteStream, ByteStream]) -> None:
    able = Capabilities(supports_configuration_done_request=True, supports_step_back=True)
    script = {**USUAL, "initialize": [reply(able)]}
    async with FakeAdapter(streams[1], script), FakeClient(streams[0]) as client:
        await client.start()
        with pytest.raises(RequestFailed, match="unsupported request: stepBack"):
            await client.request(StepBackArguments(thread_id=1))


async def test_held_answer_comes_when_it_is_released(streams: tuple[ByteStream, ByteStream]) -> None:
    script = {**USUAL, "threads": [hold("threads"), reply(ThreadsBody(threads=[]))]}
    async with FakeAdapter(streams[1], script) as adapter, FakeClient(streams[0]) as client:
        await client.start()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.request, ThreadsArguments())
            await adapter.timeline.wait_for(request("threads"))
            client.timeline.expect(never(response("threads")))
            adapter.release("threads")
        client.timeline.expect(request("threads") >> response("threads"))


async def test_refusal_carries_its_text_and_message(streams: tuple[ByteStream, ByteStream]) -> None:
    script = {**USUAL, "threads": [refuse("The program runs.", message="notStopped")]}
    async with FakeAdapter(streams[1], script), FakeClient(streams[0]) as client:
        await client.start()
        with pytest.raises(RequestFailed, match=r"The program runs\."):
            await client.request(ThreadsArguments())
        client.timeline.expect(failure("threads", "notStopped"))


async def test_blurted_event_overtakes_the_response(streams: tuple[ByteStream, ByteStream]) -> None:
    script = {
        **USUAL,
        "threads": [blurt(StoppedEvent(reason="step")), tell_custom("ours"), reply(ThreadsBody(threads=[]))],
    }
    async with FakeAdapter(streams[1], script), FakeClient(streams[0]) as client:
        await client.start()
        await client.request(ThreadsArguments())
        client.timeline.expect(
            request("threads") >> event("stopped", reason="step") >> (event("ours") & response("threads"))
        )


async def test_raw_bytes_may_be_an_answer_of_any_shape(streams: tuple[ByteStream, ByteStream]) -> None:
    answer = '{"seq":9,"type":"response","request_seq":%d,"success":true,"command":"threads","body":{"threads":[]}}'
    script = {**USUAL, "threads": [raw(lambda asked: encode_frame((answer % asked.seq).encode()))]}
    async with FakeAdapter(streams[1], script), FakeClient(streams[0]) as client:
        await client.start()
        assert await client.request(ThreadsArguments()) == ThreadsBody(threads=[])


async def test_death_ends_the_request_of_the_client(streams: tuple[ByteStream, ByteStream]) -> None:
    script = {**USUAL, "threads": [tell(OutputEvent(output="help")), die()]}
    async with FakeAdapter(streams[1], script), FakeClient(streams[0]) as client:
        await client.start()
        with pytest.raises(ConversationLost):
            await client.request(ThreadsArguments())
        client.timeline.expect(event("output", output="help"))


async def test_adapter_asks_the_client_by_script(streams: tuple[ByteStream, ByteStream]) -> None:
    terminal = RunInTerminalRequestArguments(cwd="/", args=["true"])
    script = {**USUAL, "threads": [ask(terminal), reply(ThreadsBody(threads=[]))]}
    answers = {"runInTerminal": [reply(RunInTerminalBody(process_id=7))]}
    async with FakeAdapter(streams[1], script), FakeClient(streams[0], answers) as client:
        await client.start(client=InitializeRequestArguments(adapter_id="x", supports_run_in_terminal_request=True))
        await client.request(ThreadsArguments())
        client.timeline.expect(
            request("threads") >> request("runInTerminal", args=["true"]) >> response("runInTerminal", process_id=7)
        )


async def test_capabilities_are_checked_as_in_real_life(streams: tuple[ByteStream, ByteStream]) -> None:
    async with FakeAdapter(streams[1], USUAL) as adapter, FakeClient(streams[0]) as client:
        await client.start()
        with pytest.raises(CapabilityMissing):
            await client.request(StepBackArguments(thread_id=1))
        adapter.send_event(OutputEvent(output="ready"))
        await client.timeline.wait_for(event("output", output="ready"))
