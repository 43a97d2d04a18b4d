"""The mock adapter as a process of its own, over every transport: what the SDK promises, end to end."""

import base64
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import pytest

from dapkit.endpoint import RequestFailed
from dapkit.protocol import (
    BreakpointEvent,
    CancelArguments,
    CompletionsArguments,
    ContinueArguments,
    DataBreakpoint,
    DataBreakpointInfoArguments,
    DisassembleArguments,
    DisconnectArguments,
    EvaluateArguments,
    ExceptionFilterOptions,
    ExceptionInfoArguments,
    ExitedEvent,
    InstructionBreakpoint,
    LaunchRequestArguments,
    LoadedSourceEvent,
    LoadedSourcesArguments,
    MemoryEvent,
    NextArguments,
    OutputEvent,
    PauseArguments,
    ProgressEndEvent,
    ProgressStartEvent,
    ReadMemoryArguments,
    ReverseContinueArguments,
    ScopesArguments,
    SetBreakpointsArguments,
    SetDataBreakpointsArguments,
    SetExceptionBreakpointsArguments,
    SetInstructionBreakpointsArguments,
    SetVariableArguments,
    Source,
    SourceBreakpoint,
    StackFrame,
    StackTraceArguments,
    StepBackArguments,
    StepInArguments,
    StepInTargetsArguments,
    StepOutArguments,
    StoppedEvent,
    TerminateArguments,
    TerminatedEvent,
    Variable,
    VariablesArguments,
    WriteMemoryArguments,
)
from dapkit.transport import spawn, spawn_listening
from sdk_client import Client, talking

EXAMPLE = Path(__file__).parents[3] / "examples" / "mock_adapter"
SHOPPING = EXAMPLE / "shopping.md"
PAYING = EXAMPLE / "paying.md"
BURNING = EXAMPLE / "burning.md"
COMMAND = [sys.executable, str(EXAMPLE)]


@asynccontextmanager
async def client_over(transport: str) -> AsyncIterator[Client]:
    """Be the client of a fresh adapter, which has to end after `disconnect`, or when a server is told to."""
    async with AsyncExitStack() as stack:
        match transport:
            case "stdio":
                child = await stack.enter_async_context(spawn(COMMAND))
            case "tcp":
                child = await stack.enter_async_context(spawn_listening([*COMMAND, "--listen", "127.0.0.1:${port}"]))
            case _:
                child = await stack.enter_async_context(spawn_listening([*COMMAND, "--socket", "${socket}"]))
        talker = await stack.enter_async_context(talking(child.stream))
        yield talker
        assert talker.connection.endpoint.violations.kept == []
        if talker.connection.ended is None:
            await talker.request(DisconnectArguments())
        if transport != "stdio":
            os.kill(child.pid, signal.SIGTERM)
        with anyio.fail_after(30):
            assert await child.wait() == 0


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    """Return a client where the transport makes no difference: what answers is the same."""
    async with client_over("stdio") as client:
        yield client


@pytest.fixture(params=["stdio", "tcp", "unix"])
async def each_client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    """Return a client over each transport, for the ways of a session: start, stop, long requests, end."""
    async with client_over(request.param) as client:
        yield client


def launch(program: Path = SHOPPING, **options: object) -> LaunchRequestArguments:
    return LaunchRequestArguments(extra={"program": str(program), **options})


def breakpoints(path: Path, *wanted: SourceBreakpoint) -> SetBreakpointsArguments:
    return SetBreakpointsArguments(source=Source(path=str(path)), breakpoints=list(wanted))


async def stopped_on_entry(client: Client, program: Path = SHOPPING) -> Client:
    await client.start(launch(program, stopOnEntry=True))
    assert (await client.event(StoppedEvent)).reason == "entry"
    return client


async def top(client: Client) -> StackFrame:
    return (await client.request(StackTraceArguments(thread_id=1))).stack_frames[0]


async def where(client: Client) -> tuple[str, int]:
    frame = await top(client)
    return frame.name, frame.line


async def variables(client: Client) -> dict[str, Variable]:
    scopes = await client.request(ScopesArguments(frame_id=(await top(client)).id))
    body = await client.request(VariablesArguments(variables_reference=scopes.scopes[0].variables_reference))
    return {variable.name: variable for variable in body.variables}


async def evaluated(client: Client, expression: str) -> str:
    return (await client.request(EvaluateArguments(expression=expression))).result


async def run_on(client: Client) -> StoppedEvent:
    await client.request(ContinueArguments(thread_id=1))
    return await client.event(StoppedEvent)


async def step(client: Client) -> tuple[str, int]:
    await client.request(NextArguments(thread_id=1))
    assert (await client.event(StoppedEvent)).reason == "step"
    return await where(client)


# From start to end


async def test_a_program_runs_to_its_end_and_its_output_comes_before_terminated(each_client: Client) -> None:
    await each_client.start(launch())
    outputs = [(await each_client.event(OutputEvent)).output]
    assert (await each_client.event(ExitedEvent)).exit_code == 0
    await each_client.event(TerminatedEvent)
    outputs += [event.output for event in each_client.events if isinstance(event, OutputEvent)]
    assert "".join(outputs) == "going shopping\ntwo more apples\n5\n"


@pytest.mark.thorough
async def test_a_program_that_is_missing_is_a_clear_error(each_client: Client) -> None:
    await each_client.initialize()
    with pytest.raises(RequestFailed, match=r"cannot read /no/such\.md: No such file or directory"):
        await each_client.request(launch(Path("/no/such.md")))


async def test_a_launch_without_program_says_what_is_missing(client: Client) -> None:
    await client.initialize()
    with pytest.raises(RequestFailed, match=r"launch: \$\.arguments\.program: required field is missing"):
        await client.request(LaunchRequestArguments())


async def test_a_step_without_a_program_is_refused(client: Client) -> None:
    await client.initialize()
    with pytest.raises(RequestFailed, match="nothing was launched yet"):
        await client.request(NextArguments(thread_id=1))


async def test_terminate_ends_the_program(each_client: Client) -> None:
    await stopped_on_entry(each_client)
    await each_client.request(TerminateArguments())
    await each_client.event(TerminatedEvent)


# Breakpoints


async def test_a_breakpoint_moves_to_the_next_line_with_code_and_is_hit(client: Client) -> None:
    await client.initialize()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.request, launch())
        await client.event(LoadedSourceEvent)
        body = await client.request(breakpoints(SHOPPING, SourceBreakpoint(line=3)))
        assert [(placed.verified, placed.line) for placed in body.breakpoints] == [(True, 5)]
        tasks.cancel_scope.cancel()


async def test_a_breakpoint_stops_before_its_line_and_is_named(client: Client) -> None:
    await client.start(launch(), breakpoints(SHOPPING, SourceBreakpoint(line=8)))
    stop = await client.event(StoppedEvent)
    assert (stop.reason, stop.hit_breakpoint_ids) == ("breakpoint", [1])
    assert await where(client) == ("main", 8)


async def test_a_column_chooses_one_of_several_statements_of_a_line(client: Client) -> None:
    await client.start(launch(), breakpoints(SHOPPING, SourceBreakpoint(line=5, column=30)))
    await client.event(StoppedEvent)
    assert (await top(client)).column > 30
    assert await evaluated(client, "apples") == "3"


async def test_a_breakpoint_in_a_file_that_is_loaded_later_is_verified_then(client: Client) -> None:
    await client.start(launch(), breakpoints(PAYING, SourceBreakpoint(line=4)))
    event = await client.event(BreakpointEvent)
    assert (event.reason, event.breakpoint.verified, event.breakpoint.line) == ("changed", True, 4)
    assert (await client.event(StoppedEvent)).hit_breakpoint_ids == [event.breakpoint.id]
    assert await where(client) == ("paying", 4)
    sources = (await client.request(LoadedSourcesArguments())).sources
    assert [source.name for source in sources] == ["shopping.md", "paying.md"]


async def test_conditions_and_hit_conditions_decide_about_a_stop(client: Client) -> None:
    await client.start(
        launch(),
        breakpoints(
            SHOPPING,
            SourceBreakpoint(line=8, condition="apples == 4"),
            SourceBreakpoint(line=13, condition="apples == 3"),
            SourceBreakpoint(line=18, hit_condition="2"),
        ),
    )
    await client.event(StoppedEvent)
    assert await where(client) == ("buying", 13)
    await client.request(ContinueArguments(thread_id=1))
    await client.event(TerminatedEvent)


async def test_a_log_point_prints_and_does_not_stop(client: Client) -> None:
    await client.start(launch(), breakpoints(SHOPPING, SourceBreakpoint(line=9, log_message="{apples} apples")))
    await client.event(TerminatedEvent)
    logged = [event for event in client.events if isinstance(event, OutputEvent) and event.category == "console"]
    assert [event.output for event in logged] == ["5 apples\n"]


async def test_a_log_message_that_cannot_be_worked_out_is_printed_as_it_is(client: Client) -> None:
    await client.start(launch(), breakpoints(SHOPPING, SourceBreakpoint(line=9, log_message="{pears} pears")))
    await client.event(TerminatedEvent)
    logged = [event for event in client.events if isinstance(event, OutputEvent) and event.category == "console"]
    assert [event.output for event in logged] == ["{pears} pears\n"]


async def test_a_data_breakpoint_stops_after_the_write(client: Client) -> None:
    await stopped_on_entry(client)
    await step(client)
    info = await client.request(DataBreakpointInfoArguments(name="apples"))
    assert info.data_id is not None
    await client.request(SetDataBreakpointsArguments(breakpoints=[DataBreakpoint(data_id=info.data_id)]))
    assert (await run_on(client)).reason == "data breakpoint"
    assert await evaluated(client, "apples") == "5"


async def test_an_unknown_variable_cannot_be_watched(client: Client) -> None:
    await stopped_on_entry(client)
    assert (await client.request(DataBreakpointInfoArguments(name="pears"))).data_id is None


async def test_an_instruction_breakpoint_stops_at_its_address(client: Client) -> None:
    await stopped_on_entry(client)
    address = (await top(client)).instruction_pointer_reference
    assert address is not None
    wanted = InstructionBreakpoint(instruction_reference=address, offset=2)
    await client.request(SetInstructionBreakpointsArguments(breakpoints=[wanted]))
    assert (await run_on(client)).reason == "breakpoint"
    assert await where(client) == ("main", 6)


# Exceptions


async def stopped_in_toaster(client: Client, *options: ExceptionFilterOptions, filters: list[str]) -> StoppedEvent:
    chosen = SetExceptionBreakpointsArguments(filters=filters, filter_options=list(options) or None)
    await client.start(launch(BURNING, stopOnEntry=True), chosen)
    await client.event(StoppedEvent)
    await client.request(NextArguments(thread_id=1, granularity="instruction"))
    await client.event(StoppedEvent)  # before it waits: what comes next pauses the wait
    await client.request(ContinueArguments(thread_id=1))
    await client.request(PauseArguments(thread_id=1))
    assert (await client.event(StoppedEvent)).reason == "pause"
    return await run_on(client)


async def test_an_exception_stops_before_it_ends_the_program(client: Client) -> None:
    stop = await stopped_in_toaster(client, filters=["raised"])
    assert (stop.reason, stop.text) == ("exception", "Burnt")
    info = await client.request(ExceptionInfoArguments(thread_id=1))
    assert (info.exception_id, info.break_mode) == ("Burnt", "always")
    await client.request(ContinueArguments(thread_id=1))
    assert (await client.event(ExitedEvent)).exit_code == 1


async def test_a_filter_with_a_condition_stops_on_that_exception(client: Client) -> None:
    stop = await stopped_in_toaster(client, ExceptionFilterOptions(filter_id="raised", condition="Burnt"), filters=[])
    assert stop.reason == "exception"


async def test_exception_info_without_an_exception_is_refused(client: Client) -> None:
    await stopped_on_entry(client)
    with pytest.raises(RequestFailed, match="did not stop on an exception"):
        await client.request(ExceptionInfoArguments(thread_id=1))


# Stepping


async def test_next_goes_from_line_to_line_and_over_calls(each_client: Client) -> None:
    await stopped_on_entry(each_client)
    assert [await step(each_client) for _ in range(3)] == [("main", 6), ("main", 8), ("main", 9)]


async def test_step_in_enters_the_first_call_and_step_out_returns(client: Client) -> None:
    await client.start(launch(), breakpoints(SHOPPING, SourceBreakpoint(line=8)))
    await client.event(StoppedEvent)
    await client.request(StepInArguments(thread_id=1))
    await client.event(StoppedEvent)
    frames = (await client.request(StackTraceArguments(thread_id=1))).stack_frames
    assert [(frame.name, frame.line) for frame in frames] == [("buying", 13), ("main", 8)]
    await client.request(StepOutArguments(thread_id=1))
    await client.event(StoppedEvent)
    assert await where(client) == ("main", 8)


async def test_step_in_enters_the_call_that_was_chosen(client: Client) -> None:
    await client.start(launch(), breakpoints(SHOPPING, SourceBreakpoint(line=8)))
    await client.event(StoppedEvent)
    targets = (await client.request(StepInTargetsArguments(frame_id=(await top(client)).id))).targets
    assert [target.label for target in targets] == ["#buying", "paying.md#paying"]
    await client.request(StepInArguments(thread_id=1, target_id=targets[1].id))
    await client.event(StoppedEvent)
    assert await where(client) == ("paying", 3)


async def test_a_step_of_one_instruction_stays_in_the_line(client: Client) -> None:
    await stopped_on_entry(client)
    await client.request(NextArguments(thread_id=1, granularity="instruction"))
    await client.event(StoppedEvent)
    assert await where(client) == ("main", 5)
    assert list(await variables(client)) == ["apples"]


async def test_step_back_undoes_a_line_and_what_it_did(client: Client) -> None:
    await stopped_on_entry(client)
    await step(client)
    await step(client)
    await client.request(StepBackArguments(thread_id=1))
    await client.event(StoppedEvent)
    assert await where(client) == ("main", 6)


async def test_a_step_back_from_the_beginning_stays_there(client: Client) -> None:
    await stopped_on_entry(client)
    await client.request(StepBackArguments(thread_id=1))
    assert (await client.event(StoppedEvent)).reason == "entry"
    assert await where(client) == ("main", 5)


async def test_reverse_continue_stops_at_a_breakpoint(client: Client) -> None:
    await stopped_on_entry(client)
    assert [await step(client) for _ in range(3)][-1] == ("main", 9)
    await client.request(breakpoints(SHOPPING, SourceBreakpoint(line=6)))
    await client.request(ReverseContinueArguments(thread_id=1))
    assert (await client.event(StoppedEvent)).reason == "breakpoint"
    assert await where(client) == ("main", 6)


async def test_reverse_continue_goes_back_to_the_beginning(client: Client) -> None:
    await client.start(launch(), breakpoints(SHOPPING, SourceBreakpoint(line=9)))
    await client.event(StoppedEvent)
    await client.request(ReverseContinueArguments(thread_id=1))
    assert (await client.event(StoppedEvent)).reason == "entry"
    assert await variables(client) == {}


async def test_pause_stops_a_program_that_waits(each_client: Client) -> None:
    await each_client.start(launch(BURNING))
    await each_client.request(PauseArguments(thread_id=1))
    assert (await each_client.event(StoppedEvent)).reason == "pause"
    assert await evaluated(each_client, "slices") == "2"


# Looking


async def test_variables_are_paged_and_lists_have_children(client: Client) -> None:
    await stopped_on_entry(client)
    await step(client)
    basket = (await variables(client))["basket"]
    assert (basket.value, basket.indexed_variables) == ("['bread', 'milk']", 2)
    body = await client.request(VariablesArguments(variables_reference=basket.variables_reference, start=1, count=1))
    assert [(item.name, item.value) for item in body.variables] == [("1", "'milk'")]


async def test_a_frame_of_an_earlier_stop_is_refused(client: Client) -> None:
    await stopped_on_entry(client)
    old = await top(client)
    await step(client)
    with pytest.raises(RequestFailed, match=f"frame {old.id} belongs to stop 1; the program is at stop 2"):
        await client.request(ScopesArguments(frame_id=old.id))


async def test_set_variable_changes_what_the_program_sees(client: Client) -> None:
    await stopped_on_entry(client)
    await step(client)
    scopes = await client.request(ScopesArguments(frame_id=(await top(client)).id))
    reference = scopes.scopes[0].variables_reference
    body = await client.request(SetVariableArguments(variables_reference=reference, name="apples", value="40 + 2"))
    assert body.value == "42"
    assert await evaluated(client, "apples") == "42"


async def test_an_expression_that_cannot_be_worked_out_is_an_error(client: Client) -> None:
    await stopped_on_entry(client)
    with pytest.raises(RequestFailed, match="there is no pears"):
        await evaluated(client, "pears + 1")


async def test_completions_are_names_of_variables(client: Client) -> None:
    await stopped_on_entry(client)
    await step(client)
    body = await client.request(CompletionsArguments(text="1 + ap", column=7))
    assert [target.label for target in body.targets] == ["apples"]


async def test_memory_is_read_and_written(client: Client) -> None:
    await client.start(launch(), breakpoints(SHOPPING, SourceBreakpoint(line=9)))
    await client.event(StoppedEvent)
    reference = (await variables(client))["bought"].memory_reference
    assert reference is not None
    data = (await client.request(ReadMemoryArguments(memory_reference=reference, offset=1, count=10))).data
    assert base64.b64decode(data or "") == b"es"
    new = base64.b64encode(b"ar").decode()
    await client.request(WriteMemoryArguments(memory_reference=reference, offset=1, data=new))
    assert await client.event(MemoryEvent) == MemoryEvent(memory_reference=reference, offset=1, count=2)
    assert await evaluated(client, "bought") == "'yar'"


async def test_disassembly_marks_what_is_outside_of_the_program(client: Client) -> None:
    await stopped_on_entry(client)
    body = await client.request(
        DisassembleArguments(memory_reference="0x0", instruction_offset=-1, instruction_count=3)
    )
    assert [(it.instruction, it.presentation_hint) for it in body.instructions] == [
        ("", "invalid"),
        ("set apples 3", None),
        ('set basket ["bread", "milk"]', None),
    ]


# Taking long


@pytest.mark.thorough
async def test_progress_is_shown_and_can_be_cancelled(each_client: Client) -> None:
    await stopped_on_entry(each_client)
    async with anyio.create_task_group() as tasks:

        async def cancel() -> None:
            start = await each_client.event(ProgressStartEvent)
            await each_client.request(CancelArguments(progress_id=start.progress_id))

        tasks.start_soon(cancel)
        assert (await evaluated(each_client, "count 100000")).startswith("counted to ")
    await each_client.event(ProgressEndEvent)


async def test_a_request_that_takes_long_is_cancelled(client: Client) -> None:
    await stopped_on_entry(client)
    async with anyio.create_task_group() as tasks:

        async def cancel() -> None:
            start = await client.event(ProgressStartEvent)
            await client.request(CancelArguments(request_id=start.request_id))

        tasks.start_soon(cancel)
        with pytest.raises(RequestFailed, match="cancelled"):
            await evaluated(client, "count 100000")
    await client.event(ProgressEndEvent)


async def test_columns_count_utf_16_units(client: Client, tmp_path: Path) -> None:
    program = tmp_path / "faces.md"
    program.write_text("\N{GRINNING FACE} `apples = 1`\n\n\N{GRINNING FACE}+ `say apples`\n", encoding="utf-8")
    await stopped_on_entry(client, program)
    assert (await top(client)).column == 4
    await step(client)
    assert (await top(client)).column == 5
    text = "'\N{GRINNING FACE}' + ap"
    body = await client.request(CompletionsArguments(text=text, column=len(text) + 2))
    assert [target.label for target in body.targets] == ["apples"]
