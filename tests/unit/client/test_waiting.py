"""No event comes too early, and none is lost between a request and a wait."""

import anyio
import pytest

from client_fixtures import able, driven
from dapkit.client import CustomEvent, Ended, ProgramEnded, Running, Stopped, WaitExpired
from dapkit.endpoint import OutOfOrder, RequestFailed
from dapkit.protocol import (
    ContinueArguments,
    ContinueBody,
    ExitedEvent,
    NextArguments,
    OutputEvent,
    StoppedEvent,
    TerminatedEvent,
    ThreadEvent,
)
from dapkit.testing import blurt, hold, refuse, reply, tell, tell_custom

STEP = StoppedEvent(reason="step", thread_id=1, all_threads_stopped=True)


async def test_stop_that_came_before_the_wait_is_found() -> None:
    async with driven(able({"next": [reply(), tell(STEP)]})) as both:
        await both.session.launch({})
        first = await both.session.next_stop()
        await both.session.next(first.thread_id)
        await both.session.wait_for(StoppedEvent)
        stop = await both.session.next_stop()
        assert (stop.reason, stop.epoch) == ("step", first.epoch + 1)


async def test_stop_before_a_resumption_is_never_taken_for_the_next() -> None:
    async with driven(able({"next": [reply(), hold("slow"), tell(STEP)]})) as both:
        await both.session.launch({})
        first = await both.session.next_stop()
        await both.session.next(first.thread_id)
        with pytest.raises(WaitExpired):
            await both.session.wait_for(StoppedEvent, deadline=0.01)
        with pytest.raises(WaitExpired, match="a stop did not come"):
            await both.session.next_stop(deadline=0.01)
        both.adapter.release("slow")
        assert (await both.session.wait_for(StoppedEvent)).reason == "step"


async def test_stop_that_overtakes_the_response_is_the_result_of_the_resumption() -> None:
    async with driven(able({"continue": [blurt(STEP), reply(ContinueBody())]})) as both:
        await both.session.launch({})
        await both.session.next_stop()
        assert await both.session.resume() == Stopped(STEP, epoch=2)
        assert [violation.problem for violation in both.session.violations][-1].startswith(
            "came before the response to"
        )


async def test_custom_request_that_resumes_counts() -> None:
    elsewhere = StoppedEvent(reason="goto", thread_id=2, all_threads_stopped=True)
    async with driven(able({"dapkit/travelTo": [reply(), tell(elsewhere)]})) as both:
        await both.session.launch({})
        await both.session.next_stop()
        await both.session.request_custom("dapkit/travelTo", {"clock": 5})
        assert await both.session.next_stop() == Stopped(elsewhere, epoch=2)


async def test_custom_request_that_is_refused_leaves_the_stop() -> None:
    async with driven(able({"continue": [refuse("no")]})) as both:
        await both.session.launch({})
        first = await both.session.next_stop()
        with pytest.raises(RequestFailed, match="no"):
            await both.session.request_custom("continue", {"threadId": 1})
        assert await both.session.next_stop() == first


async def test_stop_that_somebody_else_resumes_at_once_is_not_missed() -> None:
    async with driven(able({"next": [reply(), tell(STEP)], "continue": [reply(ContinueBody())]})) as both:
        await both.session.launch({})
        await both.session.next_stop()
        results: list[object] = []

        async def step() -> None:
            results.append(await both.session.resume(NextArguments(thread_id=1)))

        async def intrude() -> None:
            await both.session.wait_for(StoppedEvent, where=lambda stop: stop.reason == "step", since=0)
            await both.session.continue_(1)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(intrude)
            tasks.start_soon(step)
        assert results == [Stopped(STEP, epoch=2)]
        assert both.session.state == Running()


async def test_resumption_that_neither_stops_nor_ends_is_still_running_at_the_deadline() -> None:
    async with driven(able({"continue": [reply(ContinueBody())]})) as both:
        await both.session.launch({})
        await both.session.next_stop()
        # the deadline holds for the answer, too, which a busy machine may take a while for
        assert await both.session.resume(deadline=1) == Running()


async def test_refused_resumption_leaves_the_program_standing() -> None:
    async with driven(able({"next": [refuse("not now")]})) as both:
        await both.session.launch({})
        stop = await both.session.next_stop()
        with pytest.raises(RequestFailed, match="not now"):
            await both.session.resume(NextArguments(thread_id=1))
        assert both.session.state == stop


async def test_resumption_without_a_stop_is_refused_here() -> None:
    async with driven(able()) as both:
        with pytest.raises(OutOfOrder, match="the program is starting"):
            await both.session.resume()


async def test_wait_for_the_end_names_the_stop_that_keeps_it_from_coming() -> None:
    async with driven(able()) as both:
        await both.session.launch({})
        await both.session.next_stop()
        with pytest.raises(WaitExpired, match=r"the end of the program did not come within 0.01 s: it is stopped \("):
            await both.session.wait_until_ended(deadline=0.01)


async def test_end_instead_of_a_stop_carries_the_exit_code() -> None:
    ends = tell(ExitedEvent(exit_code=3), TerminatedEvent())
    script = able({"continue": [reply(ContinueBody()), ends], "disconnect": [reply()]})
    async with driven(script) as both:
        await both.session.launch({})
        await both.session.next_stop()
        await both.session.continue_(1)
        with pytest.raises(ProgramEnded, match="ended with exit code 3") as caught:
            await both.session.next_stop()
        assert caught.value.exit_code == 3
        assert await both.session.wait_until_ended() == Ended(3)


async def test_every_listener_gets_every_event() -> None:
    events = [ThreadEvent(reason="started", thread_id=number) for number in range(2, 5)]
    async with driven(able({"threads": [tell(*events)]})) as both:
        await both.session.launch({})
        await both.session.next_stop()
        early, late = both.session.events(since=0), both.session.events()
        for event in events:
            both.adapter.send_event(event)
        assert [await late.next(ThreadEvent) for _ in events] == events
        assert [await early.next(ThreadEvent) for _ in events] == events


async def test_custom_event_is_plain_json() -> None:
    script = able({"continue": [tell_custom("debugpySockets", {"sockets": []}), reply(ContinueBody())]})
    async with driven(script) as both:
        await both.session.launch({})
        await both.session.next_stop()
        await both.session.request(ContinueArguments(thread_id=1))
        found = await both.session.wait_for(CustomEvent)
        assert found == CustomEvent("debugpySockets", {"sockets": []})


async def test_flood_of_one_kind_pushes_no_other_out() -> None:
    async with driven(able()) as both:
        await both.session.launch({})
        await both.session.next_stop()
        for number in range(2000):
            both.adapter.send_event(ThreadEvent(reason="started", thread_id=number))
        await both.session.wait_for(ThreadEvent, where=lambda event: event.thread_id == 1999)
        assert (await both.session.wait_for(StoppedEvent, since=0)).reason == "entry"


async def test_events_end_with_the_conversation() -> None:
    async with driven(able()) as both:
        await both.session.launch({})
        await both.session.next_stop()
        stream = both.session.events()
        both.adapter.send_event(OutputEvent(output="last words"))
        await both.session.disconnect()
        await both.adapter.die()
        heard = [event async for event in stream]
        assert heard == [OutputEvent(output="last words"), TerminatedEvent()]


async def test_output_is_kept_by_category_and_read_by_position() -> None:
    async with driven(able()) as both:
        await both.session.launch({})
        both.adapter.send_event(OutputEvent(output="one\n", category="stdout"))
        both.adapter.send_event(OutputEvent(output="oh\n", category="stderr"))
        both.adapter.send_event(OutputEvent(output="two\n", category="stdout"))
        await both.session.wait_for(OutputEvent, where=lambda event: event.output == "two\n")
        assert both.session.output.read().text == "one\noh\ntwo\n"
        assert both.session.output.read("stdout", since=4).text == "two\n"
