"""What a user's own definition says is peculiar about an adapter is heeded, whatever that is called."""

import os

import msgspec
import pytest

from action_fixtures import Caller
from client_fixtures import ABLE
from dapkit.protocol import (
    Breakpoint,
    ContinueBody,
    DataBreakpointInfoBody,
    EvaluateBody,
    ExceptionBreakpointsFilter,
    OutputEvent,
    ScopesBody,
    SetDataBreakpointsBody,
    SetExceptionBreakpointsBody,
    SetFunctionBreakpointsBody,
    TerminatedEvent,
)
from dapkit.testing import Script, never, refuse, reply, request, tell
from fake_adapters import stopping
from unit.agent.scripted_sessions import debugging, listening


@pytest.mark.parametrize(("traits", "code"), [([r"exit_message = 'it said (-?\d+)\.'"], 7), ([], None)])
async def test_exit_code_is_read_from_the_console(caller: Caller, traits: list[str], code: int | None) -> None:
    said = OutputEvent(output="it said 7.", category="console")
    ending: Script = {"continue": [reply(ContinueBody()), tell(said, TerminatedEvent())]}
    async with debugging(caller, ending, *traits):
        ended = await caller("continue")
        assert (ended.details["state"], ended.details["snapshot"].get("exitCode")) == ("terminated", code)


EXIT_LINE = r"exit_line = '\[ended with (-?\d+)\]'"


@pytest.mark.parametrize(
    ("output", "code"),
    [
        (["a\n", "[ended with 3]\n"], 3),
        (["a\n[ended with 3]\n[ended with 4]\r\n", "b"], 4),
        (["a [ended with 3]\n", "[ended wi", "th 5]\n"], 5),  # as a pipe may cut it
        (["a [ended with 3]\n"], None),
        (["[ended with honour]\n"], None),
    ],
)
async def test_exit_code_is_read_from_the_last_exit_line(caller: Caller, output: list[str], code: int | None) -> None:
    said = [OutputEvent(output=text, category="stderr") for text in output]
    ending: Script = {"continue": [reply(ContinueBody()), tell(*said, TerminatedEvent())]}
    async with debugging(caller, ending, EXIT_LINE):
        ended = await caller("continue")
        assert (ended.details["state"], ended.details["snapshot"].get("exitCode")) == ("terminated", code)


async def test_lines_of_the_debugger_are_not_output_of_the_program(caller: Caller) -> None:
    said = OutputEvent(output="a\nGDB: b\nc GDB: d\n[ended with 0]\ne", category="stdout")
    greeting = OutputEvent(output="GDB: hello\na log message\n", category="console")
    ending: Script = {"continue": [reply(ContinueBody()), tell(said, greeting, TerminatedEvent())]}
    async with debugging(caller, ending, EXIT_LINE, "debugger_lines = '(GDB: .*)'"):
        await caller("continue")
        assert (await caller("output", category="program")).details["output"] == "a\nc GDB: d\ne"
        assert (await caller("output", category="console")).details["output"] == "a log message\n"
        ours = (await caller("output", category="telemetry")).details["output"]
        assert ours == "GDB: b\n[ended with 0]\nGDB: hello\n"
        assert "GDB: b" not in (await caller("output")).details["output"]


@pytest.mark.parametrize(("traits", "total"), [(["total_frames_is_guess = true"], None), ([], 1)])
async def test_guessed_number_of_frames_is_not_told(caller: Caller, traits: list[str], total: int | None) -> None:
    async with debugging(caller, {}, *traits):
        assert (await caller("stack_trace")).details.get("totalFrames") == total


COMMAND_LINE = "repl_is_command_line = true"


@pytest.mark.parametrize(
    ("traits", "asked", "sent"),
    [
        ([], ("x", None), ("x", "repl")),
        ([], ("`x`", None), ("`x`", "repl")),
        ([COMMAND_LINE], ("x", None), ("x", "watch")),
        ([COMMAND_LINE], ("x", "repl"), ("x", "repl")),
        ([COMMAND_LINE], ("x", "variables"), ("x", "variables")),
        ([COMMAND_LINE], ("`bt", None), ("bt", "repl")),
        ([COMMAND_LINE], ("`bt", "repl"), ("bt", "repl")),
        ([COMMAND_LINE, "command_mark = '>'"], ("` bt", None), (">bt", "repl")),
    ],
)
async def test_only_what_is_marked_goes_to_a_command_line(
    caller: Caller, traits: list[str], asked: tuple[str, str | None], sent: tuple[str, str]
) -> None:
    value: Script = {"evaluate": [reply(EvaluateBody(result="1", variables_reference=0))]}
    async with debugging(caller, value, *traits) as timeline:
        chosen = {} if asked[1] is None else {"context": asked[1]}
        assert (await caller("evaluate", expression=asked[0], **chosen)).text.startswith("Result: 1")
        timeline.expect(request("evaluate", expression=sent[0], context=sent[1]))


async def test_failed_expression_is_not_sent_again_as_a_command(caller: Caller) -> None:
    refusal: Script = {"evaluate": [refuse("no symbol d")]}
    async with debugging(caller, refusal, COMMAND_LINE) as timeline:
        failed = await caller("evaluate", expression="d")
        assert failed.error == ("adapter_failed", "no symbol d")
        assert failed.whole["error"]["hint"] == ""
        timeline.expect(request("evaluate", context="watch") >> never(request("evaluate")))


async def test_failed_text_that_may_be_a_command_has_a_hint(caller: Caller) -> None:
    async with debugging(caller, {"evaluate": [refuse("no symbol info")]}, COMMAND_LINE):
        failed = await caller("evaluate", expression="info locals")
        assert failed.whole["error"]["hint"] == "A command of the debugger begins with a backtick, as `bt."


@pytest.mark.parametrize(("action", "stopped_at"), [("launch", "function breakpoint"), ("attach", "entry")])
async def test_only_a_program_that_begins_is_run_on_to_its_entry_function(
    caller: Caller, action: str, stopped_at: str
) -> None:
    set_there = SetFunctionBreakpointsBody(breakpoints=[Breakpoint(id=1, verified=True)])
    answers: Script = {
        "setFunctionBreakpoints": [reply(set_there)],
        "continue": [reply(ContinueBody()), stopping("function breakpoint", 1)],
    }
    traits = ["[mine.attach_to_pid]", "request = 'attach'", "[mine.traits]", "entry_function = 'main'"]
    program = {"program": "program.mine"} if action == "launch" else {"pid": os.getpid()}
    async with listening(caller, answers, *traits):
        started = await caller(action, adapter="mine", **program)
        if started.details["snapshot"]["status"] != "stopped":  # attach does not wait long
            started = await caller("wait")
        assert started.details["stop"]["reason"] == stopped_at


@pytest.mark.parametrize(("traits", "name"), [(["watches_addresses = true"], "&(items[0])"), ([], "items[0]")])
async def test_address_of_an_expression_is_watched(caller: Caller, traits: list[str], name: str) -> None:
    info = DataBreakpointInfoBody(data_id="0x10/4", description="4 bytes at 0x10")
    watchable: Script = {"scopes": [reply(ScopesBody(scopes=[]))], "dataBreakpointInfo": [reply(info)]}
    async with debugging(caller, watchable, *traits) as timeline:
        told = (await caller("data_breakpoint_info", name="items[0]")).details["dataBreakpointInfo"]
        assert told["dataId"] == "0x10/4"
        timeline.expect(request("dataBreakpointInfo", name=name))


async def test_data_that_the_adapter_does_not_watch_is_an_error(caller: Caller) -> None:
    refused = Breakpoint(verified=False, message="could not find symbol value for nosuch")
    unwatched: Script = {"setDataBreakpoints": [reply(SetDataBreakpointsBody(breakpoints=[refused]))]}
    async with debugging(caller, unwatched):
        code, message = (await caller("set_data_breakpoint", data_id="nosuch")).error
        assert (code, message) == (
            "adapter_failed",
            "nosuch cannot be watched: could not find symbol value for nosuch",
        )
        assert (await caller("breakpoints")).details["dataBreakpoints"] == []


@pytest.mark.parametrize("data_id", ["", "items", "0x10", "/4", "10/0", "10/x"])
async def test_data_that_is_no_address_is_refused_by_us(caller: Caller, data_id: str) -> None:
    verified: Script = {"setDataBreakpoints": [reply(SetDataBreakpointsBody(breakpoints=[Breakpoint(verified=True)]))]}
    async with debugging(caller, verified, "watches_addresses = true"):
        code, message = (await caller("set_data_breakpoint", data_id=data_id)).error
        assert code == "invalid_arguments"
        assert message == f"data_id must be ADDRESS/SIZE, such as 7FFE3C10/4, not {data_id!r}"
        assert "10/4: verified" in (await caller("set_data_breakpoint", data_id="10/4")).text
    async with debugging(caller, verified):
        assert "items: verified" in (await caller("set_data_breakpoint", data_id="items")).text


async def test_program_runs_in_a_terminal_as_the_definition_says_and_so_it_does_again(caller: Caller) -> None:
    async with listening(caller, {}, "launch_in_terminal = { tty = true }") as said:
        assert (await caller("launch", program="program.mine", adapter="mine", terminal=True)).details
        assert (await caller("restart", args=["again"])).details
        assert len(said) == 2
        for timeline in said:
            timeline.expect(request("launch", tty=True))


async def test_terminal_is_refused_where_the_definition_says_nothing_of_it(caller: Caller) -> None:
    async with listening(caller, {}):
        code, message = (await caller("launch", program="program.mine", adapter="mine", terminal=True)).error
        assert (code, message) == ("unsupported", "mine cannot run programs in a terminal, which typed input needs")


@pytest.mark.parametrize(
    ("traits", "chosen", "sent"),
    [
        ([], {}, ["throw"]),
        (["default_filters = []"], {}, []),
        (["default_filters = []"], {"exceptions": ["throw"]}, ["throw"]),
        (["default_filters = ['throw']"], {"exceptions": []}, []),
    ],
)
async def test_definition_may_choose_the_default_filters(
    caller: Caller, traits: list[str], chosen: dict[str, object], sent: list[str]
) -> None:
    filters = [ExceptionBreakpointsFilter(filter="throw", label="Throw", default=True)]
    able_to: Script = {
        "initialize": [reply(msgspec.structs.replace(ABLE, exception_breakpoint_filters=filters))],
        "setExceptionBreakpoints": [reply(SetExceptionBreakpointsBody())],
    }
    async with listening(caller, able_to, "[mine.traits]", *traits) as said:
        launched = await caller("launch", program="program.mine", adapter="mine", stop_on_entry=True, **chosen)
        assert launched.details["adapter"] == "mine"
        said[0].expect(request("setExceptionBreakpoints", filters=sent))
        [offer] = (await caller("set_exception_breakpoints")).details["exceptionFilters"]
        assert offer["enabled"] == bool(sent)
