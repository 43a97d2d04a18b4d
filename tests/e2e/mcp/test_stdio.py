"""The official client talks to `dapkit mcp` on its standard streams, and debugs a real program."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import mcp
import pytest
from mcp import Client, StdioServerParameters

from dapkit.agent.skill import opening, text
from e2e.mcp.answer_data import DETAILS

IMPATIENT = {"DAPKIT_SESSION_INITIAL_STOP_SECONDS": "1"}
"""For a program that does not stop."""


@asynccontextmanager
async def connected(project: Path, *options: str, mode: str = "auto", **env: str) -> AsyncIterator[Client]:
    slow = {"DAPKIT_SESSION_INITIAL_STOP_SECONDS": "30"}
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "dapkit.cli", "mcp", *options],
        cwd=project,
        env={**os.environ, **slow, **env},
    )
    async with Client(command, mode=mode) as client:
        yield client


async def debug(client: Client, action: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever an action takes
    """Do an action that works, and return its details."""
    result = await client.call_tool("debug", {"action": action, **arguments}, meta=DETAILS)
    assert not result.is_error, result
    assert result.structured_content is not None
    details: dict[str, Any] = result.structured_content["details"]
    return details


@pytest.fixture(params=["legacy", "auto"])
def mode(request: pytest.FixtureRequest) -> str:
    """Return how the client begins: by a handshake, or by asking what there is."""
    how: str = request.param
    return how


@pytest.mark.thorough
@pytest.mark.usefixtures("runtime")
async def test_program_is_debugged_from_launch_to_its_end(project: Path, mode: str) -> None:
    async with connected(project, mode=mode) as client:
        check_classes_of_approval((await client.list_tools()).tools)
        await check_refusals(client)
        started = await debug(client, "launch", program="app.py", breakpoints=["app.py:5"])
        assert (started["snapshot"]["status"], started["snapshot"]["line"]) == ("stopped", 5)
        assert (await debug(client, "evaluate", expression="price"))["evaluation"]["result"] == "1"
        assert (await evaluated_by_a_command(project, "result")) == "0"
        await debug(client, "remove_breakpoint", file="app.py", line=5)
        usual = await client.call_tool("debug", {"action": "evaluate", "expression": "price"})
        assert usual.structured_content is None  # a model would be shown that alone, at several times the cost
        assert usual.content == [mcp.types.TextContent(text="Result: 1")]
        ended = await debug(client, "continue")
        assert (ended["state"], ended["snapshot"]["exitCode"]) == ("terminated", 0)
        assert "6" in (await debug(client, "output", session=ended["snapshot"]["id"]))["output"]


def check_classes_of_approval(tools: list[mcp.types.Tool]) -> None:
    executes, looks = tools
    assert (executes.name, looks.name) == ("debug", "debug_look")
    assert executes.annotations is not None
    assert not executes.annotations.read_only_hint
    assert looks.annotations is not None
    assert looks.annotations.read_only_hint
    actions, reads = (set(tool.input_schema["properties"]["action"]["enum"]) for tool in tools)
    assert actions & reads == {"help"}
    assert {"stack_trace", "variables"} <= reads
    assert {"evaluate", "launch"} <= actions


WRONG_CALLS: list[tuple[dict[str, object], str]] = [
    ({}, "action is required"),
    ({"action": 3}, "action is required"),
    ({"action": "fly"}, "Unsupported debug action: fly"),
    ({"action": "launch", "parameters": 3}, 'A right call: {"action": "launch", "parameters": {"program": "app.py"'),
    ({"action": "set_breakpoint"}, 'A right call: {"action": "set_breakpoint", "parameters": {"file": "app.py"'),
    ({"action": "step_over"}, "No active debug session. Launch or attach first."),
]


async def check_refusals(client: Client) -> None:
    """Make calls that are wrong: each is answered with what was expected and what to do."""
    for arguments, expected in WRONG_CALLS:
        result = await client.call_tool("debug", arguments, meta=DETAILS)
        assert result.is_error
        assert isinstance(result.content[0], mcp.types.TextContent)
        assert expected in result.content[0].text
    assert result.structured_content is not None
    assert result.structured_content["error"]["code"] == "no_session"
    refused = await client.call_tool("debug_look", {"action": "terminate"})
    assert refused.is_error
    assert text_of(refused) == "debug_look only looks, and terminate does more.\nThe tool debug does it."
    with pytest.raises(mcp.MCPError, match="there is no tool"):
        await client.call_tool("other", {})


def text_of(result: mcp.types.CallToolResult) -> str:
    """Return the text of an answer."""
    assert isinstance(result.content[0], mcp.types.TextContent)
    return result.content[0].text


@pytest.mark.usefixtures("runtime")
async def test_a_model_is_taught_on_demand(project: Path, mode: str) -> None:
    async with connected(project, mode=mode) as client:
        assert client.instructions == opening()
        [prompt] = (await client.list_prompts()).prompts
        taught = await client.get_prompt(prompt.name, {"problem": "the sum is negative"})
        assert isinstance(taught.messages[0].content, mcp.types.TextContent)
        assert taught.messages[0].content.text == f"{text()}\nFind this fault with it: the sum is negative\n"
        with pytest.raises(mcp.MCPError, match="there is no prompt other, but debug"):
            await client.get_prompt("other")
        for tool in ("debug", "debug_look"):
            about = text_of(await client.call_tool(tool, {"action": "help", "parameters": {"name": "set_breakpoint"}}))
            assert about.startswith("set_breakpoint: Set or change a breakpoint")
            assert "\n- condition (string): " in about
            assert '\nExample: {"action": "set_breakpoint", "parameters": {"file": "app.py"' in about
        assert "\nevaluate: Evaluate an expression" in text_of(await client.call_tool("debug_look", {"action": "help"}))
        wrong = await client.call_tool("debug", {"action": "help", "parameters": {"name": "set_breakpoints"}})
        assert text_of(wrong).startswith("Unsupported debug action: set_breakpoints. Near: set_breakpoint,")


@pytest.mark.usefixtures("runtime")
async def test_parameters_may_stand_in_an_object_or_beside_the_action(project: Path) -> None:
    async with connected(project) as client:
        launch = {"program": "app.py", "breakpoints": ["app.py:5"]}
        started = await client.call_tool("debug", {"action": "launch", "parameters": launch})
        assert "app.py:5" in text_of(started)
        looked = await client.call_tool("debug_look", {"action": "stack_trace", "levels": 1})
        assert "app.py:5" in text_of(looked)
        beside = await client.call_tool("debug", {"action": "stack_trace", "parameters": {"levels": 1}})
        assert text_of(beside) == text_of(looked)
        assert not (await client.call_tool("debug", {"action": "terminate"})).is_error


async def evaluated_by_a_command(project: Path, expression: str) -> str:
    """Have the command line evaluate in the session of the server."""
    command = [sys.executable, "-m", "dapkit.cli", "evaluate", expression, "--json"]
    shown = await anyio.to_thread.run_sync(
        lambda: subprocess.run(command, cwd=project, capture_output=True, check=True)
    )
    result: str = json.loads(shown.stdout)["details"]["evaluation"]["result"]
    return result


@pytest.mark.thorough
@pytest.mark.usefixtures("runtime")
async def test_output_sources_and_the_reference_of_actions_are_resources(project: Path) -> None:
    made = "def made():\n    return stop()\n"
    program = f"def stop():\n    return 1\nprint('making')\nexec(compile({made!r}, '<made>', 'exec'))\nmade()\n"
    (project / "makes.py").write_text(program)
    async with connected(project) as client:
        await debug(client, "launch", program="makes.py", breakpoints=["makes.py:2"])
        listed = {str(resource.uri): resource for resource in (await client.list_resources()).resources}
        output = next(uri for uri in listed if uri.endswith("/output"))
        assert await read_text(client, output) == "| making"
        assert "set_data_breakpoint" in await read_text(client, "dapkit://actions")
        with pytest.raises(mcp.MCPError, match="there is no resource"):
            await client.read_resource("dapkit://nothing")

        frames = (await debug(client, "stack_trace", start=1, levels=1))["stackFrames"]
        reference = frames[0]["source"]["sourceReference"]
        templates = (await client.list_resource_templates()).resource_templates
        [template] = [template.uri_template for template in templates if template.name == "source"]
        uri = template.replace("{session}", "debug-1").replace("{reference}", str(reference))
        assert "def made():\n" in await read_text(client, uri)
        with pytest.raises(mcp.MCPError, match="4711"):
            await client.read_resource(uri.replace(str(reference), "4711"))


@pytest.mark.thorough
@pytest.mark.usefixtures("runtime")
async def test_routes_of_diagnostics_that_only_look_are_resources(project: Path) -> None:
    async with connected(project) as client:
        await debug(client, "launch", program="app.py", breakpoints=["app.py:5"])
        listed = {str(resource.uri) for resource in (await client.list_resources()).resources}
        assert {"dapkit://system", "dapkit://logs"} <= listed
        assert "architecture" in await read_text(client, "dapkit://system")
        assert "launch of debug-1" in await read_text(client, "dapkit://logs")
        templates = {
            template.name: template for template in (await client.list_resource_templates()).resource_templates
        }
        expected = {"transcript": "Debug session of `app.py`", "wire": "initialize", "artifacts": "Nothing was written"}
        for name, text in expected.items():
            uri = templates[name].uri_template.replace("{session}", "debug-1")
            assert text in await read_text(client, uri)
            with pytest.raises(mcp.MCPError, match="nowhere"):
                await client.read_resource(uri.replace("debug-1", "nowhere"))


async def read_text(client: Client, uri: str) -> str:
    read = (await client.read_resource(uri)).contents[0]
    assert isinstance(read, mcp.types.TextResourceContents)
    return read.text


@pytest.mark.thorough
@pytest.mark.usefixtures("runtime")
async def test_long_call_reports_progress_and_can_be_given_up(project: Path) -> None:
    reports: list[str | None] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001 - as the client has it
        reports.append(message)
        calls.cancel()

    async with connected(project, **IMPATIENT) as client:
        await debug(client, "launch", program="app.py", args=["wait"], stop_on_entry=False)
        with anyio.CancelScope() as calls:
            await client.call_tool("debug", {"action": "wait", "timeout": 300}, progress_callback=on_progress)
        assert calls.cancelled_caught
        assert reports
        assert (await debug(client, "pause"))["snapshot"]["status"] == "stopped"  # the session has lost nothing


@pytest.mark.thorough
@pytest.mark.usefixtures("runtime")
async def test_read_only_server_offers_only_what_looks(project: Path) -> None:
    async with connected(project, "--read-only") as client:
        (tool,) = (await client.list_tools()).tools
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        actions = tool.input_schema["properties"]["action"]["enum"]
        assert "stack_trace" in actions
        assert "evaluate" not in actions
        result = await client.call_tool("debug", {"action": "launch", "program": "app.py"}, meta=DETAILS)
        assert result.structured_content is not None
        assert result.structured_content["error"]["code"] == "refused"


@pytest.mark.usefixtures("runtime")
@pytest.mark.thorough
async def test_tool_is_not_offered_where_debugging_is_switched_off(project: Path) -> None:
    async with connected(project, DAPKIT_DEBUG_ENABLED="off") as client:
        assert (await client.list_tools()).tools == []


@pytest.mark.thorough
@pytest.mark.usefixtures("runtime")
async def test_program_reads_what_the_agent_types_and_not_what_it_says(project: Path) -> None:
    (project / "reads.py").write_text("import sys\nprint('read', repr(sys.stdin.read(1)))\n")
    (project / "asks.py").write_text("print('hello', input('name? '))\n")
    async with connected(project) as client:
        started = await debug(client, "launch", program="reads.py", stop_on_entry=False)
        await debug(client, "wait", session=started["snapshot"]["id"], timeout=20)
        assert "read ''" in (await debug(client, "output", session=started["snapshot"]["id"]))["output"]
        assert (await client.list_tools()).tools  # and none of what the agent says is lost

    async with connected(project, **IMPATIENT) as client:
        in_terminal = {"console": "integratedTerminal"}
        started = await debug(client, "launch", program="asks.py", stop_on_entry=False, options=in_terminal)
        await debug(client, "stdin", input="Ada\n", session=started["snapshot"]["id"])
        await debug(client, "wait", session=started["snapshot"]["id"], timeout=20)
        assert "hello Ada" in (await debug(client, "output", session=started["snapshot"]["id"]))["output"]
