"""Attaching to a running process of Node, which listens for a debugger once it is asked to."""

import json
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import Process

from action_fixtures import Caller

LOOP = """\
let count = 0;
setInterval(() => {
    count += 1;
}, 20);
console.log("ready");
"""

pytestmark = pytest.mark.each_adapter


@asynccontextmanager
async def running(command: list[str], folder: Path) -> AsyncIterator[Process]:
    """Run a program that prints a line when it is ready; kill it at the end."""
    async with await anyio.open_process(command, cwd=folder, stderr=None) as process:
        assert process.stdout is not None
        await process.stdout.receive()
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def node(caller: Caller, require_tool: Callable[[str], Path]) -> str:
    """Return the command of Node; js-debug is in the caller's PATH."""
    adapter, node = require_tool("js-debug-adapter"), require_tool("node")
    caller.env = {**caller.env, "PATH": f"{adapter.parent}:{node.parent}:{caller.env['PATH']}"}
    caller.write("loop.js", LOOP)
    return str(node)


@pytest.mark.parametrize("by", ["process id", "configuration of launch.json"])
async def test_process_is_asked_to_listen_for_a_debugger(
    caller: Caller, node: str, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dapkit.catalog.limits.DEBUG_PORT_SECONDS", 120.0)  # for a busy machine
    async with running([node, "--inspect-port=0", "loop.js"], caller.project) as process:
        configuration = {"name": "Loop", "type": "node", "request": "attach", "processId": str(process.pid)}
        caller.write(".vscode/launch.json", json.dumps({"configurations": [configuration]}))
        target = {"pid": process.pid} if by == "process id" else {"configuration": "Loop"}
        attached = await caller("attach", breakpoints=["loop.js:3"], timeout=60, **target)
        assert attached.details["snapshot"]["adapter"] == "js-debug-adapter"
        stopped = attached if attached.details.get("stop") else await caller("wait", timeout=60)
        assert stopped.details["snapshot"]["line"] == 3
        assert (await caller("evaluate", expression="process.pid")).text.startswith(f"Result: {process.pid}")
        assert "The program runs on." in (await caller("detach")).text
        assert process.returncode is None


async def test_process_that_cannot_have_its_port_is_refused(
    caller: Caller, node: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has the port is not attached to in its place."""
    monkeypatch.setattr("dapkit.catalog.limits.DEBUG_PORT_SECONDS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with running([node, f"--inspect-port={port}", "loop.js"], caller.project) as process:
            code, message = (await caller("attach", pid=process.pid)).error
            assert code == "invalid_arguments"
            assert f"process {process.pid} opened no port for a debugger" in message
            assert process.returncode is None


@pytest.mark.usefixtures("node")
async def test_process_of_another_interpreter_gets_no_signal(caller: Caller) -> None:
    async with running(["sh", "-c", "echo ready; exec sleep 100"], caller.project) as process:
        code, message = (await caller("attach", pid=process.pid, adapter="js-debug-adapter")).error
        assert code == "invalid_arguments"
        assert message.endswith(", and js-debug-adapter attaches to processes of node")
        os.kill(process.pid, 0)
        assert process.returncode is None
