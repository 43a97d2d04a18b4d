"""`dapkit proxy` over every transport, between our client and a real adapter."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dapkit.client import AdapterDied, BlockingSession, Session

ROOT = Path(__file__).parents[3]
MOCK = [sys.executable, str(ROOT / "examples" / "mock_adapter")]
SHOPPING = ROOT / "examples" / "mock_adapter" / "shopping.md"
PROXY = [sys.executable, "-m", "dapkit.cli", "proxy"]


@pytest.fixture(autouse=True)
def runtime_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tokens be left where other tests do not look."""
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def debug(session: Session) -> None:
    """Debug the list of the mock adapter from its first breakpoint to its end."""
    with BlockingSession(session) as driven:
        driven.add_breakpoint(SHOPPING, 5)
        driven.launch({"program": str(SHOPPING)})
        assert driven.next_stop().reason == "breakpoint"
        driven.clear_breakpoints()
        driven.resume()
        assert driven.output.read("stdout").text.startswith("going shopping\n")


@contextmanager
def listening(*options: str, adapter: list[str]) -> Iterator[str]:
    """Start a proxy that listens; yields the place."""
    proxy = subprocess.Popen([*PROXY, *options, "--", *adapter], stdout=subprocess.PIPE, text=True)
    assert proxy.stdout is not None
    try:
        yield proxy.stdout.readline().removeprefix("DAP server listening at: ").strip()
        assert proxy.poll() is None, "the proxy did not survive its clients"
    finally:
        proxy.terminate()
        proxy.communicate(timeout=50)


def test_session_through_a_proxy_on_stdio_is_written_down(tmp_path: Path) -> None:
    transcript = tmp_path / "wire.jsonl"
    debug(Session.spawn([*PROXY, "--transcript", str(transcript), "--", *MOCK]))
    said = lines(transcript)
    assert {entry["from"] for entry in said} == {"client", "adapter"}
    asked = [entry["message"]["command"] for entry in said if entry["message"]["type"] == "request"]
    assert asked[0] == "initialize"
    assert asked[-1] == "disconnect"
    assert {"launch", "setBreakpoints", "continue"} < set(asked)
    assert transcript.stat().st_mode & 0o777 == 0o600


@pytest.mark.thorough
def test_proxy_on_a_port_leads_each_client_to_an_adapter_of_its_own(tmp_path: Path) -> None:
    transcript = tmp_path / "wire.jsonl"
    adapter = [*MOCK, "--listen", "127.0.0.1:${port}"]
    with listening("--listen", "127.0.0.1:0", "--transcript", str(transcript), adapter=adapter) as place:
        host, _, port = place.rpartition(":")
        with BlockingSession(Session.connect(host, int(port))) as first:
            first.launch({"program": str(SHOPPING), "stopOnEntry": True})
            assert first.next_stop().reason == "entry"
            debug(Session.connect(host, int(port)))
    assert [len(lines(path)) > 5 for path in (transcript, tmp_path / "wire-2.jsonl")] == [True, True]


@pytest.mark.thorough
def test_proxy_on_a_unix_socket_leads_to_an_adapter_on_one(tmp_path: Path) -> None:
    socket = tmp_path / "run" / "proxy"
    with listening("--socket", str(socket), adapter=[*MOCK, "--socket", "${socket}"]) as place:
        assert place == str(socket)
        debug(Session.connect_unix(socket))


@pytest.mark.thorough
def test_proxy_connects_to_an_adapter_that_listens() -> None:
    adapter = subprocess.Popen([*MOCK, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    assert adapter.stdout is not None
    try:
        place = adapter.stdout.readline().removeprefix("DAP server listening at: ").strip()
        debug(Session.spawn([*PROXY, "--connect", place]))
    finally:
        adapter.terminate()
        adapter.communicate(timeout=50)


@pytest.mark.thorough
def test_adapter_ends_with_its_proxy(tmp_path: Path) -> None:
    left = tmp_path / "pid"
    script = f"import os, pathlib, sys; pathlib.Path({str(left)!r}).write_text(str(os.getpid())); sys.stdin.read()"
    subprocess.run([*PROXY, "--", sys.executable, "-c", script], stdin=subprocess.DEVNULL, timeout=50, check=True)
    with pytest.raises(ProcessLookupError):
        os.kill(int(left.read_text()), 0)


@pytest.mark.thorough
def test_adapter_that_is_not_there_is_an_error_in_words() -> None:
    done = subprocess.run([*PROXY, "--", "nosuch-dap"], capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 1
    assert "nosuch-dap was not found on PATH" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_the_adapter_writes_to_stderr_is_shown() -> None:
    with (
        pytest.raises(AdapterDied, match="no licence"),
        BlockingSession(Session.spawn([*PROXY, "--", sys.executable, "-c", "raise SystemExit('no licence')"])),
    ):
        pass


@pytest.mark.thorough
def test_session_goes_on_when_nobody_reads_stderr_any_more() -> None:
    script = (
        "import os, sys\n"
        "sys.stdin.buffer.read(1)\n"
        "os.write(2, b'warning')\n"
        "os.close(2)\n"
        "sys.stdin.buffer.read(1)\n"
        "os.write(1, b'Content-Length: 2\\r\\n\\r\\n{}')\n"
    )
    proxy = subprocess.Popen(
        [*PROXY, "--", sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert proxy.stdin is not None
    assert proxy.stderr is not None
    proxy.stderr.close()
    proxy.stdin.write(b"Content-Length: 2\r\n\r\n{}")
    proxy.stdin.flush()
    said, _ = proxy.communicate(timeout=50)
    assert said == b"Content-Length: 2\r\n\r\n{}"
    assert proxy.returncode == 0


@pytest.mark.thorough
@pytest.mark.each_adapter
def test_child_session_that_cannot_reach_its_adapter_is_warned_of(
    tmp_path: Path, require_tool: Callable[[str], Path]
) -> None:
    require_tool("node")
    adapter = [str(require_tool("js-debug-adapter")), "${port}", "127.0.0.1"]
    program = tmp_path / "shop.js"
    program.write_text("console.log(1);\n")
    initialize = {"clientID": "test", "adapterID": "pwa-node", "supportsStartDebuggingRequest": True}
    launch = {"type": "pwa-node", "request": "launch", "program": str(program), "console": "internalConsole"}
    requests: list[tuple[str, object]] = [("initialize", initialize), ("launch", launch), ("configurationDone", {})]
    with subprocess.Popen(
        [*PROXY, "--", *adapter], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as proxy:
        assert proxy.stdin is not None
        assert proxy.stderr is not None
        for number, (command, arguments) in enumerate(requests, start=1):
            payload = json.dumps({"seq": number, "type": "request", "command": command, "arguments": arguments})
            proxy.stdin.write(f"Content-Length: {len(payload)}\r\n\r\n{payload}")
            proxy.stdin.flush()
        assert next(line for line in proxy.stderr if line.startswith("Warning: this session has a child session"))


@pytest.mark.parametrize("words", [[], ["--connect", "127.0.0.1:1", "--", "cat"], ["--connect", "nowhere", "--"]])
def test_wrong_words_are_refused(words: list[str]) -> None:
    done = subprocess.run([*PROXY, *words], capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 2
    assert "expected" in done.stderr
