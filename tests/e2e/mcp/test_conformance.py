"""The official conformance suite of MCP asks `dapkit mcp` on its standard streams.

The suite speaks streamable HTTP alone, so that a bridge passes each message on. Its other scenarios call tools of a
server that was written for it.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.usefixtures("runtime"), pytest.mark.thorough, pytest.mark.timeout(300)]

SECONDS = 120


class _Bridge:
    """A server on standard streams, whose answers are found by the numbers of the requests."""

    def __init__(self, project: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dapkit.cli", "mcp"], cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._lock = threading.Lock()

    def pass_on(self, message: dict[str, Any]) -> bytes:
        """Send a message, and return the answer to it; nothing for one that has none."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
            if "id" not in message:
                return b""
            while line := self._process.stdout.readline():
                if json.loads(line).get("id") == message["id"]:
                    return line
        raise AssertionError("the server has ended")

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(SECONDS)
        self._process.stdout.close()


@contextmanager
def _bridged(project: Path) -> Iterator[str]:
    """Serve over HTTP, each session with a server of its own; return the address."""
    bridges: dict[str, _Bridge] = {}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            session = self.headers.get("Mcp-Session-Id") or str(len(bridges))
            bridge = bridges.get(session)
            if bridge is None:
                bridge = bridges[session] = _Bridge(project)
            self._answer(bridge.pass_on(message), session)

        def do_GET(self) -> None:
            self.send_error(405)  # no stream of its own

        def do_DELETE(self) -> None:
            self._answer(b"", self.headers.get("Mcp-Session-Id") or "")

        def _answer(self, body: bytes, session: str) -> None:
            self.send_response(200 if body else 202)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Mcp-Session-Id", session)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/mcp"
        finally:
            server.shutdown()
            thread.join()
            for bridge in bridges.values():
                bridge.close()


@pytest.mark.parametrize("scenario", ["server-initialize", "ping", "tools-list", "resources-list", "prompts-list"])
def test_scenario_passes(scenario: str, project: Path, require_tool: Callable[[str], Path]) -> None:
    suite = require_tool("mcp-conformance")
    with _bridged(project) as address:
        done = subprocess.run(
            [suite, "server", "--url", address, "--scenario", scenario],
            cwd=project,
            env={**os.environ, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed: 1/1, 0 failed, 0 warnings" in done.stdout
