"""Child sessions: on their parent's route, with its breakpoints, and let go if nobody wants them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import pytest

from client_fixtures import able
from dapkit.client import Session, Stopped
from dapkit.client.routes import Reached
from dapkit.protocol import SourceBreakpoint, StartDebuggingRequestArguments, TerminatedEvent, ThreadsBody
from dapkit.testing import FakeAdapter, Script, ask, never, refuse, reply, request, response, tell, tell_custom
from dapkit.transport import memory_pair

CHILD = StartDebuggingRequestArguments(request="attach", configuration={"pid": 7})


@dataclass
class Server:
    """A route to an adapter that takes any number of sessions; the first script is the parent's."""

    scripts: list[Script]
    adapters: list[FakeAdapter] = field(default_factory=list)
    closed: anyio.Event = field(default_factory=anyio.Event)
    asked_for_child: anyio.Event = field(default_factory=anyio.Event)
    lets_child_in: anyio.Event | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Reached]:
        if self.adapters:
            self.asked_for_child.set()
            if self.lets_child_in is not None:
                await self.lets_child_in.wait()
        ours, theirs = memory_pair()
        script = self.scripts[len(self.adapters)]
        async with FakeAdapter(theirs, script) as adapter:
            self.adapters.append(adapter)
            try:
                yield Reached(ours, again=self)
            finally:
                if adapter is not self.adapters[0]:
                    self.closed.set()


def parent(child: StartDebuggingRequestArguments = CHILD) -> Script:
    """Start a child when the client asks for threads."""
    return able({"threads": [ask(child), reply(ThreadsBody(threads=[]))]})


async def test_child_gets_the_breakpoints_of_its_parent() -> None:
    server = Server([parent(), able()])
    async with Session(server) as session:
        placed = await session.add_breakpoint("/p/main.c", 3)
        await session.launch({})
        await session.threads()
        [child] = await session.wait_for_children()
        assert isinstance(await child.settled(), Stopped)
        assert [known.number for known in child.breakpoints] == [placed.number]
        server.adapters[1].timeline.expect(
            request("attach", pid=7) & (request("setBreakpoints") >> request("configurationDone"))
        )


async def test_breakpoint_that_is_added_later_reaches_the_child_too() -> None:
    server = Server([parent(), able()])
    async with Session(server) as session:
        await session.launch({})
        await session.threads()
        [child] = await session.wait_for_children()
        await child.settled()
        placed = await session.add_breakpoint("/p/main.c", 3)
        timeline = server.adapters[1].timeline
        timeline.expect(request("setBreakpoints", breakpoints=[SourceBreakpoint(line=3)]))
        await session.remove_breakpoint(placed.number)
        timeline.expect(request("setBreakpoints", breakpoints=[]))


async def test_breakpoint_that_is_added_while_a_child_is_reached_is_not_lost() -> None:
    server = Server([parent(), able()], lets_child_in=anyio.Event())
    assert server.lets_child_in is not None
    async with Session(server) as session:
        await session.launch({})
        await session.threads()
        await server.asked_for_child.wait()
        await session.add_breakpoint("/p/main.c", 3)
        server.lets_child_in.set()
        [child] = await session.wait_for_children()
        await child.settled()
        server.adapters[1].timeline.expect(request("setBreakpoints", breakpoints=[SourceBreakpoint(line=3)]))


async def test_breakpoint_that_is_added_after_a_child_has_ended_is_set_in_its_parent() -> None:
    server = Server([parent(), able({"threads": [tell(TerminatedEvent()), reply(ThreadsBody(threads=[]))]})])
    async with Session(server) as session:
        await session.launch({})
        await session.threads()
        [child] = await session.wait_for_children()
        await child.settled()
        await child.threads()
        await child.wait_until_ended()
        placed = await session.add_breakpoint("/p/main.c", 3)
        assert placed.verified
        await session.remove_breakpoint(placed.number)


async def test_breakpoint_that_is_added_later_reaches_the_child_of_a_child() -> None:
    server = Server([parent(), parent(), able()])
    async with Session(server) as session:
        await session.launch({})
        await session.threads()
        [child] = await session.wait_for_children()
        await child.settled()
        await child.threads()
        [grandchild] = await child.wait_for_children()
        await grandchild.settled()
        await session.add_breakpoint("/p/main.c", 3)
        server.adapters[2].timeline.expect(request("setBreakpoints", breakpoints=[SourceBreakpoint(line=3)]))


async def test_child_of_a_launched_program_ends_with_it_and_before_it() -> None:
    server = Server([parent(), able()])
    async with Session(server) as session:
        await session.launch({})
        await session.threads()
        [child] = await session.wait_for_children()
        await child.settled()
    server.adapters[1].timeline.expect(request("disconnect", terminate_debuggee=True) >> response("disconnect"))


async def test_detaching_lets_the_child_go_first() -> None:
    server = Server([parent(), able()])
    async with Session(server) as session:
        await session.launch({})
        await session.threads()
        [child] = await session.wait_for_children()
        await child.settled()
        await session.detach()
    for adapter in server.adapters:
        adapter.timeline.expect(request("disconnect", terminate_debuggee=False) >> never(request("disconnect")))


async def test_child_that_is_not_wanted_is_attached_to_without_breakpoints_and_let_go() -> None:
    server = Server([parent(), able()])
    async with Session(server, adopts=lambda wanted: wanted != CHILD) as session:
        await session.add_breakpoint("/p/main.c", 3)
        await session.launch({})
        await session.threads()
        await server.closed.wait()
        assert session.children == ()
        server.adapters[1].timeline.expect(
            never(request("setBreakpoints"))
            >> request("configurationDone")
            >> request("disconnect", terminate_debuggee=False)
        )


async def test_child_that_cannot_be_started_leaves_its_parent_alone() -> None:
    server = Server([parent(), able({"attach": [refuse("gone already")]})])
    async with Session(server) as session:
        await session.launch({})
        await session.threads()
        await server.closed.wait()
        assert isinstance(await session.settled(), Stopped)


async def test_event_of_old_debugpy_starts_a_child_as_well() -> None:
    script = able({"threads": [tell_custom("debugpyAttach", {"pid": 8}), reply(ThreadsBody(threads=[]))]})
    server = Server([script, able()])
    async with Session(server) as session:
        await session.launch({})
        await session.threads()
        await session.wait_for_children()
        await server.adapters[1].timeline.wait_for(request("attach", pid=8))


async def test_child_is_not_asked_for_on_a_stream_that_takes_one_session(caplog: pytest.LogCaptureFixture) -> None:
    ours, theirs = memory_pair()
    async with FakeAdapter(theirs, parent()), Session.over(ours) as session:
        await session.launch({})
        await session.threads()
    assert "takes no second session" in caplog.text
