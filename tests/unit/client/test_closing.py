"""How a session ends: politely, whatever happened, and with the error that did."""

import anyio
import pytest

from client_fixtures import able, driven
from dapkit.client import Session
from dapkit.endpoint import CapabilityMissing
from dapkit.protocol import Capabilities, StoppedEvent
from dapkit.testing import FakeAdapter, event, never, refuse, reply, request, response, tell
from dapkit.transport import memory_pair


async def test_launched_program_is_terminated_at_the_end() -> None:
    async with driven(able()) as both:
        await both.session.launch({})
    both.timeline.expect(request("disconnect", terminate_debuggee=True) >> response("disconnect"))


async def test_attached_program_is_released_at_the_end() -> None:
    async with driven(able()) as both:
        await both.session.attach({})
    both.timeline.expect(request("disconnect", terminate_debuggee=False))


async def test_adapter_that_knows_no_choice_is_given_none() -> None:
    async with driven(able(capabilities=Capabilities(supports_configuration_done_request=True))) as both:
        await both.session.launch({})
    [moment] = both.timeline.expect(request("disconnect"))
    assert moment.fields == {}


async def test_session_that_was_disconnected_is_not_disconnected_again() -> None:
    async with driven(able()) as both:
        await both.session.launch({})
        await both.session.disconnect()
    both.timeline.expect(request("disconnect") >> never(request("disconnect")))


async def test_detach_releases_a_launched_program() -> None:
    async with driven(able()) as both:
        await both.session.launch({})
        await both.session.detach()
    both.timeline.expect(request("disconnect", terminate_debuggee=False) >> never(request("disconnect")))


async def test_detach_from_a_launched_program_needs_an_adapter_that_can() -> None:
    async with driven(able(capabilities=Capabilities(supports_configuration_done_request=True))) as both:
        await both.session.launch({})
        with pytest.raises(CapabilityMissing, match="detach from a launched program"):
            await both.session.detach()


async def test_error_in_the_block_comes_out_as_it_is_and_the_session_ends_politely() -> None:
    ours, theirs = memory_pair()
    async with FakeAdapter(theirs, able()) as adapter:
        with pytest.raises(ZeroDivisionError):  # noqa: PT012 - the block is what is tested
            async with Session.over(ours) as session:
                await session.launch({})
                _ = 1 / 0
        adapter.timeline.expect(request("disconnect"))


async def test_cancelled_block_ends_politely_too() -> None:
    ours, theirs = memory_pair()
    async with FakeAdapter(theirs, able()) as adapter:
        with anyio.CancelScope() as scope:
            async with Session.over(ours) as session:
                await session.launch({})
                scope.cancel()
                await anyio.sleep_forever()
        assert scope.cancelled_caught
        adapter.timeline.expect(request("disconnect") >> response("disconnect"))


async def test_adapter_that_does_not_answer_disconnect_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dapkit.limits.CLOSE_SECONDS", 0.01)
    async with driven(able({"disconnect": []})) as both:
        await both.session.launch({})


async def test_adapter_that_refuses_disconnect_changes_nothing() -> None:
    async with driven(able({"disconnect": [refuse("no")]})) as both:
        await both.session.launch({})


async def test_events_during_disconnect_are_kept() -> None:
    stopped = StoppedEvent(reason="pause", thread_id=1)
    async with driven(able({"disconnect": [tell(stopped), reply()]})) as both:
        await both.session.launch({})
        await both.session.next_stop()
    assert await both.session.wait_for(StoppedEvent, where=lambda event: event.reason == "pause") == stopped
    both.timeline.expect(event("stopped", reason="pause"))
