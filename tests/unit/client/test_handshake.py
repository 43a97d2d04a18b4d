"""Every order in which adapters take the steps of a start, and every way in which it fails."""

import pytest

from client_fixtures import able, driven
from dapkit.client import AdapterDied, StartRefused, Stopped
from dapkit.protocol import Capabilities, InitializedEvent, StoppedEvent
from dapkit.testing import HANDSHAKES, Script, die, event, hold, never, refuse, release, reply, request, response, tell


@pytest.mark.parametrize("adapter", HANDSHAKES)
async def test_session_starts_in_the_order_of(adapter: str) -> None:
    async with driven(HANDSHAKES[adapter]) as both:
        await both.session.add_breakpoint("/p/main.c", 3)
        await both.session.launch({"program": "/p/main"})
        stop = await both.session.next_stop()
        assert stop.reason == "entry"
        assert [known.verified for known in both.session.breakpoints] == [True]
        both.timeline.expect(
            request("initialize")
            >> response("initialize")
            >> (request("launch", program="/p/main") & (event("initialized") >> request("setBreakpoints")))
            >> request("configurationDone")
            >> event("stopped")
        )
        both.timeline.expect(never(request("setBreakpoints")) >> event("initialized"))


@pytest.mark.parametrize("adapter", HANDSHAKES)
async def test_attach_takes_the_same_order_as_launch_in(adapter: str) -> None:
    async with driven(HANDSHAKES[adapter]) as both:
        await both.session.attach({"pid": 7})
        assert isinstance(await both.session.settled(), Stopped)
        both.timeline.expect(request("attach", pid=7) & request("configurationDone"))


async def test_second_initialized_event_changes_nothing() -> None:
    async with driven(HANDSHAKES["js-debug"]) as both:
        await both.session.launch({})
        await both.session.next_stop()
        both.timeline.expect(request("configurationDone") >> never(request("configurationDone")) >> event("stopped"))


async def test_adapter_that_never_says_initialized_is_configured_once_its_program_runs() -> None:
    script = able({"launch": [reply(), tell(StoppedEvent(reason="entry", thread_id=1))]})
    async with driven(script) as both:
        await both.session.add_breakpoint("/p/main.c", 3)
        await both.session.launch({})
        both.timeline.expect(event("stopped") >> request("setBreakpoints") >> request("configurationDone"))


async def test_adapter_that_never_says_initialized_is_configured_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dapkit.client.limits.INITIALIZED_SECONDS", 0.01)
    async with driven(able({"launch": [reply()]})) as both:
        await both.session.add_breakpoint("/p/main.c", 3)
        await both.session.launch({})
        both.timeline.expect(response("launch") >> request("setBreakpoints") >> request("configurationDone"))


async def test_refused_launch_ends_the_wait_for_initialized() -> None:
    async with driven(able({"launch": [refuse("no such program")]})) as both:
        with pytest.raises(StartRefused, match="launch failed: no such program"):
            await both.session.launch({})


async def test_refused_attach_says_attach() -> None:
    async with driven(able({"attach": [refuse("no such process")]})) as both:
        with pytest.raises(StartRefused, match="attach failed: no such process"):
            await both.session.attach({})


_LATE_REFUSAL: Script = {
    "launch": [tell(InitializedEvent()), hold("configured"), refuse("not an executable")],
    "configurationDone": [refuse("nothing to configure"), release("configured")],
}


async def test_error_of_launch_stands_before_that_of_the_configuration() -> None:
    async with driven(able(_LATE_REFUSAL)) as both:
        with pytest.raises(StartRefused) as caught:
            await both.session.launch({})
        assert str(caught.value) == (
            "launch failed: not an executable\nconfigurationDone also failed: nothing to configure"
        )


async def test_launch_that_fails_while_breakpoints_are_sent_is_not_waited_out() -> None:
    script = able(
        {
            "launch": [tell(InitializedEvent()), hold("asked"), refuse("crashed")],
            "setBreakpoints": [release("asked")],  # and no answer
        }
    )
    async with driven(script) as both:
        await both.session.add_breakpoint("/p/main.c", 3)
        with pytest.raises(StartRefused, match="crashed"):
            await both.session.launch({})


async def test_adapter_that_dies_in_the_handshake_is_reported_as_dead() -> None:
    async with driven(able({"launch": [die()]})) as both:
        with pytest.raises(AdapterDied):
            await both.session.launch({})


async def test_refused_launch_leaves_the_session_ready_for_another_start() -> None:
    async with driven(able({"launch": [refuse("busy")], "attach": HANDSHAKES["lldb-dap"]["attach"]})) as both:
        with pytest.raises(StartRefused):
            await both.session.launch({})
        await both.session.attach({})
        assert isinstance(await both.session.settled(), Stopped)


async def test_launch_arguments_reach_the_adapter_as_they_are() -> None:
    configuration = {"program": "/p", "noDebug": False, "__restart": {"port": 1}, "env": {"A": None}, "own": [1, 2.5]}
    async with driven(able()) as both:
        await both.session.launch(configuration)
        [moment] = both.timeline.expect(request("launch"))
        assert moment.fields == configuration


async def test_configuration_without_configuration_done_ends_with_exceptions() -> None:
    async with driven(able(capabilities=Capabilities(), script={"launch": HANDSHAKES["delve"]["launch"]})) as both:
        both.adapter.release("configured")
        await both.session.launch({})
        both.timeline.expect(request("setExceptionBreakpoints", filters=[]))
