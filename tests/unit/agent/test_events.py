"""What adapters tell by themselves, by events, shows in what a caller sees next."""

import itertools

from action_fixtures import Caller
from dapkit.agent.handler import ActionHandler
from dapkit.protocol import (
    Breakpoint,
    BreakpointEvent,
    Capabilities,
    CapabilitiesEvent,
    EvaluateBody,
    EventBody,
    InvalidatedEvent,
    LoadedSourceEvent,
    MemoryEvent,
    Module,
    ModuleEvent,
    ProcessEvent,
    ProgressEndEvent,
    ProgressStartEvent,
    Request,
    SetBreakpointsBody,
    Source,
    ThreadEvent,
)
from dapkit.sessions.registry import SessionRegistry
from dapkit.testing import FakePeer, Script, reply, tell
from fake_adapters import FILE, script, stack, start, stopping, until

ABLE = Capabilities(supports_configuration_done_request=True)


async def telling(sessions: SessionRegistry, *events: EventBody, more: Script | None = None) -> Caller:
    """Start a program whose adapter tells events with each evaluation, and have one evaluated."""
    evaluated = [tell(*events), reply(EvaluateBody(result="1", variables_reference=0))]
    await sessions.open(FILE.parent, start(script({"evaluate": evaluated, **(more or {})}, ABLE)))
    caller = Caller(ActionHandler(sessions), FILE.parent)
    assert (await caller("wait")).details["state"] == "stopped"
    await caller("set_breakpoint", file=str(FILE), line=3)
    await caller("evaluate", expression="1")
    return caller


async def test_breakpoint_that_is_verified_later_is_shown_so(sessions: SessionRegistry) -> None:
    pending = SetBreakpointsBody(breakpoints=[Breakpoint(id=4, verified=False, reason="pending")])
    verified = BreakpointEvent(reason="changed", breakpoint=Breakpoint(id=4, verified=True, line=5))
    caller = await telling(sessions, verified, more={"setBreakpoints": [reply(pending)]})
    [shown] = (await caller("breakpoints")).details["breakpoints"]
    assert (shown["line"], shown["verified"], shown["requestedLine"]) == (5, True, 3)


async def test_breakpoint_that_the_debugger_set_itself_is_listed_until_it_is_removed(sessions: SessionRegistry) -> None:
    new = BreakpointEvent(
        reason="new", breakpoint=Breakpoint(id=9, verified=True, source=Source(path="/p/x.c"), line=7)
    )
    caller = await telling(sessions, new)
    assert (await caller("breakpoints")).text.endswith("Set by the debugger itself:\n- /p/x.c line 7: verified")
    await caller("terminate")
    removed = BreakpointEvent(reason="removed", breakpoint=Breakpoint(id=9, verified=True))
    caller = await telling(sessions, new, removed)
    assert (await caller("breakpoints")).details["foreignBreakpoints"] == []


async def test_ability_that_is_told_later_can_be_used(sessions: SessionRegistry) -> None:
    able = CapabilitiesEvent(capabilities=Capabilities(supports_step_back=True))
    steps: Script = {"stepBack": [reply(), stopping("step")], "stackTrace": [stack(1)]}
    caller = await telling(sessions, more=steps)
    assert (await caller("step_back")).error[0] == "unsupported"
    await caller("terminate")
    caller = await telling(sessions, able, more=steps)
    assert (await caller("step_back")).details["state"] == "stopped"


async def test_modules_and_sources_of_events_are_shown_where_they_cannot_be_asked_for(
    sessions: SessionRegistry,
) -> None:
    caller = await telling(
        sessions,
        ModuleEvent(reason="new", module=Module(id=1, name="libc")),
        ModuleEvent(reason="new", module=Module(id=2, name="libm")),
        ModuleEvent(reason="removed", module=Module(id=1, name="libc")),
        LoadedSourceEvent(reason="new", source=Source(path="/p/a.js")),
        LoadedSourceEvent(reason="new", source=Source(path="/p/b.js")),
        LoadedSourceEvent(reason="removed", source=Source(path="/p/a.js")),
    )
    assert [module["name"] for module in (await caller("modules")).details["modules"]] == ["libm"]
    assert [source["path"] for source in (await caller("loaded_sources")).details["sources"]] == ["/p/b.js"]


async def test_modules_and_sources_of_an_adapter_that_tells_none_are_not_supported(sessions: SessionRegistry) -> None:
    caller = await telling(sessions)
    assert (await caller("modules")).error == ("unsupported", "Current adapter does not support module introspection")
    assert (await caller("loaded_sources")).error[0] == "unsupported"


async def test_process_of_the_program_is_told(sessions: SessionRegistry) -> None:
    caller = await telling(sessions, ProcessEvent(name="p", system_process_id=4711))
    assert (await caller("sessions")).details["sessions"][0]["processId"] == 4711


async def test_thread_that_is_told_is_known_by_its_id(sessions: SessionRegistry) -> None:
    caller = await telling(sessions, ThreadEvent(reason="started", thread_id=7))
    [session] = sessions.of(caller.project)
    assert 7 in session.state.target.session.known_threads


async def test_progress_is_told_while_an_action_waits_for_it(sessions: SessionRegistry) -> None:
    progress = ProgressStartEvent(progress_id="1", title="Indexing"), ProgressEndEvent(progress_id="1")
    caller = await telling(sessions, *progress)
    assert "Indexing" in caller.progress


async def test_stack_that_is_said_to_be_another_is_shown_anew_and_changed_memory_is_counted(
    sessions: SessionRegistry,
) -> None:
    changed = InvalidatedEvent(areas=["stacks"]), MemoryEvent(memory_reference="0x1", offset=0, count=4)
    lines = itertools.chain([1], itertools.repeat(9))

    async def next_line(peer: FakePeer, request: Request) -> None:
        await stack(next(lines))(peer, request)

    caller = await telling(sessions, *changed, more={"stackTrace": [next_line]})
    [session] = sessions.of(caller.project)
    await until(lambda: session.state.stop is not None and session.state.stop.line == 9)
    assert (await caller("sessions")).details["sessions"][0]["line"] == 9
    assert (session.event_state.memory, session.event_state.invalidated) == (1, 1)
