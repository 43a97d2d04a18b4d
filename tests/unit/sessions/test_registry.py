"""The sessions of a hub: names, projects, idling, ends, many at once."""

from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from dapkit.client import BreakpointSpec, DataLocation, SourceLocation
from dapkit.endpoint import CapabilityMissing
from dapkit.protocol import (
    Breakpoint,
    Capabilities,
    DataBreakpoint,
    DataBreakpointInfoArguments,
    DataBreakpointInfoBody,
    ExceptionBreakpointsFilter,
    FunctionBreakpoint,
    InitializedEvent,
    Module,
    ModuleEvent,
    OutputEvent,
    ProgressEndEvent,
    ProgressStartEvent,
    ProgressUpdateEvent,
    SetBreakpointsBody,
    SetDataBreakpointsBody,
    SetFunctionBreakpointsArguments,
    StartDebuggingRequestArguments,
    TerminatedEvent,
    ThreadsArguments,
)
from dapkit.sessions import limits
from dapkit.sessions.errors import AmbiguousSession, NameTaken, NoSession, SessionOver, StartFailed, UnknownSession
from dapkit.sessions.event_state import ProgressReport
from dapkit.sessions.registry import SessionRegistry
from dapkit.settings import Settings
from dapkit.testing import ask, hold, never, refuse, release, reply, request, tell
from fake_adapters import FILE, Scripted, script, start, until

P = Path("/p")


async def test_names_are_counted_within_a_project(sessions: SessionRegistry) -> None:
    names = [(await sessions.open(folder, start(script({})))).name for folder in (P, P, Path("/q"))]
    assert names == ["debug-1", "debug-2", "debug-1"]
    assert [session.name for session in sessions.of(P)] == ["debug-1", "debug-2"]


async def test_project_without_a_session_names_those_of_the_folders_around_and_below(
    sessions: SessionRegistry,
) -> None:
    outer = await sessions.open(P, start(script({})), name="outer")
    await sessions.open(Path("/other"), start(script({})), name="other")
    inner = P / "part" / "inner"
    with pytest.raises(NoSession, match=r"Session outer belongs to /p \(--project /p\)\.$"):
        sessions.find(P / "part")
    await sessions.open(inner, start(script({})), name="inner")
    assert sessions.near(P / "part") == [("outer", P), ("inner", inner)]
    assert sessions.near(P) == [("inner", inner)]
    await outer.terminate()
    assert sessions.near(P / "part") == [("inner", inner)]


async def test_only_session_is_the_default(sessions: SessionRegistry) -> None:
    with pytest.raises(NoSession, match=r"No active debug session\. Launch or attach first\."):
        sessions.find(P)
    one = await sessions.open(P, start(script({})), name="one")
    assert sessions.find(P) is one
    other = await sessions.open(P, start(script({})), name="other")
    with pytest.raises(AmbiguousSession, match="one, other"):
        sessions.find(P)
    await one.terminate()
    assert sessions.find(P) is other
    await other.terminate()
    assert sessions.find(P) is other
    assert sessions.find(P, "one") is one
    with pytest.raises(UnknownSession, match="it has: one, other"):
        sessions.find(P, "third")


async def test_name_of_a_live_session_is_taken_and_that_of_a_dead_one_is_free(sessions: SessionRegistry) -> None:
    first = await sessions.open(P, start(script({})), name="mine")
    with pytest.raises(NameTaken, match="Debug session mine is still active"):
        await sessions.open(P, start(script({})), name="mine")
    await first.terminate()
    assert await sessions.open(P, start(script({})), name="mine") is sessions.find(P)


async def test_refused_start_says_what_the_adapter_said_before(sessions: SessionRegistry) -> None:
    said = tell(OutputEvent(output="main.c:3: no semicolon\n", category="stderr"))
    with pytest.raises(StartFailed, match=r"^DAP launch failed: the build failed\nmain\.c:3: no semicolon"):
        await sessions.open(P, start(script({"launch": [said, refuse("the build failed")]})))
    assert sessions.all == ()


async def test_refused_start_names_both_failures(sessions: SessionRegistry) -> None:
    late = {
        "launch": [tell(InitializedEvent()), hold("configured"), refuse("not an executable")],
        "configurationDone": [refuse("nothing to configure"), release("configured")],
    }
    with pytest.raises(StartFailed) as raised:
        await sessions.open(P, start(script(late)))
    assert str(raised.value) == (
        "DAP launch failed: not an executable\nDAP configurationDone also failed: nothing to configure"
    )


async def test_cancelled_start_leaves_nothing(sessions: SessionRegistry) -> None:
    wanted = start(script({"launch": []}))
    assert isinstance(wanted.route, Scripted)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(sessions.open, P, wanted)
        await until(lambda: bool(sessions.all and sessions.all[0].state.targets))
        await wanted.route.adapters[0].timeline.wait_for(request("launch"))
        tasks.cancel_scope.cancel()
    assert sessions.all == ()
    wanted.route.adapters[0].timeline.expect(request("disconnect"))


async def test_over_session_answers_no_requests(sessions: SessionRegistry) -> None:
    session = await sessions.open(P, start(script({})))
    await session.terminate()
    with pytest.raises(SessionOver, match="debug-1 is over: it was terminated"):
        await session.requests.ask(ThreadsArguments())
    assert (await session.execution.resume()).state == "terminated"


async def test_idle_session_is_ended_and_forgotten() -> None:
    settings = Settings(session_idle_seconds=0.01, session_sweep_seconds=0.01)
    async with SessionRegistry(settings) as sessions:
        session = await sessions.open(P, start(script({})))
        with session.in_use():
            await anyio.sleep(0.05)
            assert not session.state.over
        with anyio.fail_after(30):
            await session.execution.wait()
            await until(lambda: not sessions.all)
        assert session.state.ending == "it was not used for 0.01 s"


async def test_terminate_asks_first_where_the_adapter_can(sessions: SessionRegistry) -> None:
    able = Capabilities(supports_configuration_done_request=True, supports_terminate_request=True)
    wanted = start(script({"terminate": [refuse("it will not end")]}, able))
    session = await sessions.open(P, wanted)
    await session.terminate()
    assert isinstance(wanted.route, Scripted)
    wanted.route.adapters[0].timeline.expect(request("terminate") >> request("disconnect"))
    forced = start(script({"terminate": [refuse("it will not end")]}, able))
    await (await sessions.open(P, forced)).terminate(force=True)
    assert isinstance(forced.route, Scripted)
    forced.route.adapters[0].timeline.expect(never(request("terminate")) >> request("disconnect"))


async def test_adapter_is_told_once_that_a_session_is_over(sessions: SessionRegistry) -> None:
    let_go, ended = start(script({})), start(script({"continue": [reply(), tell(TerminatedEvent())]}))
    await (await sessions.open(P, let_go)).detach()
    session = await sessions.open(P, ended)
    await session.execution.wait()
    await session.execution.resume()
    await session.terminate()
    for wanted in (let_go, ended):
        assert isinstance(wanted.route, Scripted)
        once = request("disconnect") >> never(request("disconnect"))
        wanted.route.adapters[0].timeline.expect(once)


async def test_launched_program_that_cannot_be_let_go_stays(sessions: SessionRegistry) -> None:
    able = Capabilities(supports_configuration_done_request=True)
    session = await sessions.open(P, start(script({}, able)))
    with pytest.raises(CapabilityMissing, match="supportTerminateDebuggee"):
        await session.detach()
    assert not session.state.over


async def test_breakpoints_and_filters_are_there_before_the_program_runs(sessions: SessionRegistry) -> None:
    able = Capabilities(
        supports_configuration_done_request=True,
        exception_breakpoint_filters=[ExceptionBreakpointsFilter(filter="raised", label="Raised")],
    )
    steps = {"setExceptionBreakpoints": [reply()]}
    wanted = start(script(steps, able), breakpoints=[BreakpointSpec(SourceLocation(FILE, 3))])
    session = await sessions.open(P, wanted)
    await session.breakpoints.break_on_exceptions(["raised"])
    await session.restart()
    assert isinstance(wanted.route, Scripted)
    first, second = wanted.route.adapters
    first.timeline.expect(request("setBreakpoints") >> request("configurationDone"))
    second.timeline.expect(
        request("setBreakpoints")
        >> request("setExceptionBreakpoints", filters=["raised"])
        >> request("configurationDone")
    )
    assert [placed.number for placed in session.breakpoints] == [1]


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (None, ("moved from line 3 to line 5, where the adapter could set it",)),
        ("there is no code before", ()),
        ("line 5 is the next with code", ()),
    ],
)
async def test_breakpoint_that_moved_is_explained_once(
    sessions: SessionRegistry, message: str | None, said: tuple[str, ...]
) -> None:
    answer = SetBreakpointsBody(breakpoints=[Breakpoint(id=1, verified=True, line=5, message=message)])
    wanted = start(script({"setBreakpoints": [reply(answer)]}), breakpoints=[BreakpointSpec(SourceLocation(FILE, 3))])
    session = await sessions.open(P, wanted)
    [kept] = session.breakpoints
    assert (kept.asked_line, kept.line, kept.moved, kept.message, kept.remarks) == (3, 5, True, message, said)


async def test_breakpoint_has_one_number_in_the_session_and_its_client(sessions: SessionRegistry) -> None:
    session = await sessions.open(P, start(script({})))
    await session.breakpoints.set(BreakpointSpec(SourceLocation(FILE, 3)))
    second = await session.breakpoints.set(BreakpointSpec(SourceLocation(FILE, 4)))
    await session.breakpoints.remove(1)
    await session.requests.ask(SetFunctionBreakpointsArguments(breakpoints=[FunctionBreakpoint(name="by hand")]))
    await session.breakpoints.set(BreakpointSpec(SourceLocation(FILE, 5)))
    client = session.state.targets[0].session
    assert [(known.number, known.line) for known in client.breakpoints] == [(2, 4), (3, None), (4, 5)]
    assert [kept.number for kept in session.breakpoints] == [second.number, 4]


async def test_data_breakpoint_is_set_again_if_its_id_lasts(sessions: SessionRegistry) -> None:
    info = DataBreakpointInfoBody(data_id="global:count", description="count", can_persist=True)
    answers = {
        "dataBreakpointInfo": [reply(info)],
        "setDataBreakpoints": [reply(SetDataBreakpointsBody(breakpoints=[]))],
    }
    wanted = start(script(answers))
    session = await sessions.open(P, wanted)
    await session.requests.ask(DataBreakpointInfoArguments(name="count"))
    await session.breakpoints.set(BreakpointSpec(DataLocation("global:count", "write")))
    await session.breakpoints.set(BreakpointSpec(DataLocation("0x1000", "write")))
    await session.restart()
    assert isinstance(wanted.route, Scripted)
    lasting = [DataBreakpoint(data_id="global:count", access_type="write")]
    wanted.route.adapters[1].timeline.expect(request("setDataBreakpoints", breakpoints=lasting))
    assert "earlier run" in session.breakpoints.get(2).remarks[0]


async def test_adapter_that_asks_for_a_restart_gets_its_data_back(sessions: SessionRegistry) -> None:
    wanted = start(script({"continue": [reply(), tell(TerminatedEvent(restart={"port": 7}))]}))
    session = await sessions.open(P, wanted)
    await session.execution.wait()
    assert (await session.execution.resume()).state == "terminated"
    await session.restart()
    assert isinstance(wanted.route, Scripted)
    wanted.route.adapters[1].timeline.expect(request("launch", restart_data={"port": 7}))


async def test_session_that_was_used_last_is_the_default_when_none_lives(sessions: SessionRegistry) -> None:
    one = await sessions.open(P, start(script({})), name="one")
    other = await sessions.open(P, start(script({})), name="other")
    await other.terminate()
    with one.in_use():
        await one.terminate()
    assert sessions.find(P) is one


async def test_progress_is_told_while_the_program_starts(sessions: SessionRegistry) -> None:
    progress = tell(
        ProgressStartEvent(progress_id="1", title="Building"),
        ProgressUpdateEvent(progress_id="1", message="half", percentage=50),
        ProgressEndEvent(progress_id="1"),
        InitializedEvent(),
    )
    heard: list[ProgressReport] = []
    await sessions.open(P, start(script({"launch": [progress, reply()]})), on_progress=heard.append)
    assert [str(one) for one in heard] == ["Building", "Building: half", "Building: half"]
    assert (heard[1].percentage, heard[2].over) == (50, True)


async def test_modules_are_known_from_events(sessions: SessionRegistry) -> None:
    loaded = tell(ModuleEvent(reason="new", module=Module(id=1, name="libc")), InitializedEvent())
    session = await sessions.open(P, start(script({"launch": [loaded, reply()]})))
    assert [module.name for module in session.event_state.modules.values()] == ["libc"]


async def test_child_that_stops_is_the_foreground_until_it_ends(sessions: SessionRegistry) -> None:
    child = StartDebuggingRequestArguments(request="attach", configuration={"pid": 7})
    parent = script({"configurationDone": [reply(), release("configured"), ask(child)]})
    session = await sessions.open(P, start(parent, script({"continue": [reply()]})))
    stop = (await session.execution.wait()).stop
    assert stop is not None
    assert (stop.target, session.state.target.number) == (1, 1)
    assert (await session.execution.resume(deadline=0.01)).state == "running"
    assert session.state.target.number == 1


async def test_name_is_taken_while_its_session_is_started(sessions: SessionRegistry) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: sessions.open(P, start(script({"launch": []})), name="mine"))
        await until(lambda: bool(sessions.all))
        with pytest.raises(NameTaken):
            await sessions.open(P, start(script({})), name="mine")
        assert sessions.find(P).state.status == "launching"
        tasks.cancel_scope.cancel()


async def test_start_that_hangs_is_given_up_by_terminate(sessions: SessionRegistry) -> None:
    async def give_up() -> None:
        await until(lambda: bool(sessions.all and sessions.all[0].state.targets))
        await sessions.all[0].terminate()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(give_up)
        with pytest.raises(StartFailed, match="given up: the session was terminated"):
            await sessions.open(P, start(script({"launch": []})))
    assert sessions.all == ()


async def test_latest_ended_sessions_stay_and_names_are_not_given_twice(sessions: SessionRegistry) -> None:
    for _ in range(limits.ENDED_SESSIONS_KEPT + 2):
        await (await sessions.open(P, start(script({})))).terminate()
    live = await sessions.open(P, start(script({})))
    names = [session.name for session in sessions.of(P)]
    assert (len(names), names[0], names[-1]) == (limits.ENDED_SESSIONS_KEPT + 1, "debug-3", live.name)


async def test_fifty_sessions_at_once(sessions: SessionRegistry) -> None:
    async with anyio.create_task_group() as tasks:
        for _ in range(50):
            tasks.start_soon(sessions.open, P, start(script({})))
    assert len({session.name for session in sessions.live}) == 50
    for session in sessions.live:
        assert (await session.execution.wait()).state == "stopped"
    await sessions.close_all()
    assert sessions.live == ()
