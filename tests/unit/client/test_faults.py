"""Adapters that fail: silence, death, garbage, late answers, nonsense."""

import anyio
import pytest

from client_fixtures import able, driven
from dapkit.client import AdapterDied, Session, WaitExpired
from dapkit.endpoint import RequestFailed
from dapkit.protocol import InvalidValue, Request, Thread, ThreadsBody
from dapkit.testing import FakeAdapter, die, failure, hold, raw, reply, request
from dapkit.transport import ConversationLost, DeadlineExceeded, memory_pair


def frame(text: str) -> bytes:
    return f"Content-Length: {len(text)}\r\n\r\n{text}".encode()


async def test_silence_is_over_at_the_deadline_and_the_session_goes_on() -> None:
    threads = ThreadsBody(threads=[Thread(id=1, name="main")])
    async with driven(able({"modules": [], "stackTrace": [], "threads": [reply(threads)]})) as both:
        await both.session.launch({})
        with pytest.raises(DeadlineExceeded, match="stackTrace was not answered"):
            await both.session.stack_trace(1, deadline=0.01)
        assert await both.session.threads() == threads


async def test_late_answer_is_not_taken_for_another() -> None:
    late = ThreadsBody(threads=[Thread(id=1, name="late")])
    async with driven(able({"threads": [hold("late"), reply(late)]})) as both:
        await both.session.launch({})
        with pytest.raises(DeadlineExceeded):
            await both.session.threads(deadline=0.01)
        both.adapter.release("late")
        assert await both.session.threads() == late


async def test_silence_at_initialize_ends_the_opening() -> None:
    ours, theirs = memory_pair()
    async with FakeAdapter(theirs, {"initialize": []}):
        with pytest.raises(TimeoutError), anyio.fail_after(0.05):
            async with Session.over(ours):
                pytest.fail("it was not answered")


async def test_death_fails_whoever_waits_for_an_answer() -> None:
    async with driven(able({"threads": [die()]})) as both:
        await both.session.launch({})
        with pytest.raises(AdapterDied, match="threads was not answered"):
            await both.session.threads()


async def test_death_fails_whoever_waits_for_a_stop_or_an_event() -> None:
    async with driven(able({"continue": [die()]})) as both:
        await both.session.launch({})
        await both.session.next_stop()
        with pytest.raises(AdapterDied):
            await both.session.continue_(1)
        with pytest.raises(AdapterDied, match="closed the connection before the program had ended"):
            await both.session.next_stop()
        with pytest.raises(AdapterDied):
            await both.session.wait_until_ended()


async def test_death_in_the_middle_of_a_message_is_said_to_be_that() -> None:
    half = frame('{"seq":0,"type":"event","event":"output","body":{"output":"x"}}')[:-20]
    async with driven(able({"threads": [raw(half), die()]})) as both:
        await both.session.launch({})
        with pytest.raises(AdapterDied, match="in the middle of a message"):
            await both.session.threads()


async def test_garbage_ends_the_session_at_once() -> None:
    async with driven(able({"threads": [raw(b"Traceback (most recent call last):\n")]})) as both:
        await both.session.launch({})
        with pytest.raises(AdapterDied, match="Traceback"):
            await both.session.threads()


async def test_request_after_the_end_fails_at_once() -> None:
    async with driven(able({"threads": [die()]})) as both:
        await both.session.launch({})
        for _ in range(2):
            with pytest.raises(ConversationLost):
                await both.session.threads()


async def test_null_is_absent_in_everything_optional() -> None:
    def stop(_: Request) -> bytes:
        nulls = (
            '"description":null,"threadId":null,"preserveFocusHint":null,"text":null,'
            '"allThreadsStopped":null,"hitBreakpointIds":null'
        )
        body = f'{{"reason":"pause",{nulls}}}'
        return frame(f'{{"seq":0,"type":"event","event":"stopped","body":{body}}}')

    script = able({"configurationDone": [reply(), raw(stop)], "launch": able()["launch"]})
    async with driven(script) as both:
        both.adapter.release("configured")
        await both.session.launch({})
        stopped = await both.session.next_stop()
        assert (stopped.reason, stopped.event.thread_id) == ("pause", None)


async def test_answer_that_makes_no_sense_fails_its_request_alone() -> None:
    def nonsense(asked: Request) -> bytes:
        return frame(
            f'{{"seq":0,"type":"response","request_seq":{asked.seq},"success":true,"command":"threads","body":7}}'
        )

    async with driven(able({"threads": [raw(nonsense)]})) as both:
        await both.session.launch({})
        with pytest.raises(InvalidValue):
            await both.session.threads()
        await both.session.next_stop()


async def test_unknown_reverse_request_is_refused() -> None:
    unknown = frame('{"seq":9,"type":"request","command":"openWindow","arguments":{}}')
    async with driven(able({"threads": [raw(unknown), reply(ThreadsBody(threads=[]))]})) as both:
        await both.session.launch({})
        await both.session.threads()
        await both.timeline.wait_for(failure("openWindow"))


async def test_failed_request_says_what_the_adapter_said() -> None:
    async with driven(able()) as both:
        await both.session.launch({})
        with pytest.raises(RequestFailed, match="evaluate"):
            await both.session.evaluate("1")


async def test_wait_that_expires_leaves_the_session_alone() -> None:
    async with driven(able()) as both:
        await both.session.launch({})
        await both.session.next_stop()
        with pytest.raises(WaitExpired, match="child session 1"):
            await both.session.wait_for_children(deadline=0.01)
        with pytest.raises(WaitExpired, match="a terminal"):
            await both.session.wait_for_terminal(deadline=0.01)
        assert (await both.session.threads()).threads
        both.timeline.expect(request("threads"))


async def test_answer_without_breakpoints_is_told_by_these_and_does_not_fail_the_start() -> None:
    def bare(asked: Request) -> bytes:
        return frame(
            f'{{"seq":99,"type":"response","request_seq":{asked.seq},"success":true,"command":"setFunctionBreakpoints"}}'
        )

    async with driven(able({"setFunctionBreakpoints": [raw(bare)]})) as both:
        wanted = await both.session.add_function_breakpoint("main")
        await both.session.launch({})
        (reported,) = both.session.breakpoints
        assert (reported.number, reported.verified) == (wanted.number, False)
        assert (reported.message or "").startswith("the adapter's answer cannot be read: $.body")
