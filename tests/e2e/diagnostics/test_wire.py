"""The messages of real sessions: each request has its response, bursts stay within limits, pipes and the viewer."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from client_fixtures import line_of
from dapkit import limits
from dapkit.cli import exit_codes
from e2e.diagnostics.commands import SECONDS, dapkit, menu
from screens import keep_picture

pytestmark = [pytest.mark.usefixtures("runtime"), pytest.mark.timeout(300)]

PLANTED = "hunter-22-tooth"
UP, END, ESCAPE = "\x1b[A", "\x1b[F", "\x1b"

BURST = """
import threading
for _ in range(650):
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
done = 1
"""
"""Each thread begins and ends with an event."""


def wire(project: Path, *words: str) -> list[Mapping[str, Any]]:
    """Return the messages that `dapkit wire --json` prints."""
    return [json.loads(line) for line in dapkit(project, "wire", *words, "--json").splitlines()]


@contextmanager
def followed(project: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    """Run `dapkit wire --follow` with its output in a pipe."""
    command = [sys.executable, "-m", "dapkit.cli", "wire", "--follow", *words]
    with subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout
        finally:
            process.kill()


def launched(project: Path, *words: str) -> None:
    dapkit(project, "launch", "--timeout", "60", *words)


def in_python(project: Path, _compiled: Callable[[str], Path]) -> None:
    launched(project, "-b", "app.py:5", "--env", f"API_TOKEN={PLANTED}", "app.py")


def in_c(project: Path, compiled: Callable[[str], Path]) -> None:
    program = str(compiled("squares.c"))
    line = line_of("squares.c", "counter += 1")
    launched(project, "--adapter", "lldb-dap", "-b", f"squares.c:{line}", "--env", f"API_TOKEN={PLANTED}", program)


@pytest.mark.thorough
@pytest.mark.parametrize("launch", [in_python, in_c])
def test_every_request_of_a_session_has_its_response_and_no_secret_is_shown(
    project: Path, compiled: Callable[[str], Path], require_tool: Callable[[str], Path], launch: Callable[..., None]
) -> None:
    require_tool("lldb-dap-22")
    launch(project, compiled)
    dapkit(project, "step-over")
    dapkit(project, "evaluate", "nowhere", expect=exit_codes.FAILED)
    dapkit(project, "terminate")
    messages = wire(project)
    assert [message["number"] for message in messages] == list(range(1, len(messages) + 1))
    assert [message["name"] for message in messages[:2]] == ["initialize", "initialize"]
    requests = [message for message in messages if message["kind"] == "request"]
    assert {"launch", "setBreakpoints", "configurationDone", "next", "evaluate", "disconnect"} <= {
        request["name"] for request in requests
    }
    for request in requests:
        response = messages[request["response"] - 1]
        assert (response["kind"], response["name"]) == ("response", request["name"])
        assert response["message"]["request_seq"] == request["message"]["seq"]
        assert response["sender"] != request["sender"]
        assert response["milliseconds"] == pytest.approx((response["time"] - request["time"]) * 1000, abs=0.01)
    failed = wire(project, "--failed", "--kind", "response")
    assert [response["name"] for response in failed] == ["evaluate"]
    assert [event["message"]["body"]["reason"] for event in wire(project, "--filter", '"event":"stopped"')] == [
        "breakpoint",
        "step",
    ]
    assert "API_TOKEN" in json.dumps(messages)
    assert PLANTED not in json.dumps(messages)


@pytest.mark.thorough
def test_burst_and_a_long_message_stay_within_the_limits(project: Path) -> None:
    (project / "burst.py").write_text(BURST.lstrip())
    launched(project, "-b", "burst.py:6", "burst.py")
    messages = wire(project)
    passed = messages[-1]["number"]
    assert passed > 1_300
    assert len(messages) == limits.WIRE_RECORDS
    assert [message["number"] for message in messages] == list(range(passed - 999, passed + 1))
    assert len([message for message in messages if message["name"] == "thread"]) > 900
    summary = summary_of(project)
    assert re.search(rf"{passed:,} messages passed, 1,000 kept with [\d,]+ characters; ", summary)
    assert f"{passed - 1_000:,} of {passed:,} dropped." in summary
    dapkit(project, "evaluate", f"len('{'x' * 100_000}')")
    [request] = wire(project, "--kind", "request", "--filter", "evaluate")
    assert request["length"] > 100_000
    assert "message" not in request
    text, _, marker = request["text"].rpartition("\n: dapkit-truncated, ")
    kept, whole = re.fullmatch(r"(\d+) of (\d+) characters", marker).groups()  # type: ignore[union-attr] # it matches
    assert int(whole) == request["length"]
    assert 63_900 < int(kept) < 64_000
    assert 63_800 < len(text) <= int(kept)
    answer = next(message for message in wire(project) if message["number"] == request["response"])
    assert (answer["request"], answer["message"]["body"]["result"]) == (request["number"], "100000")
    for number in range(9):
        dapkit(project, "evaluate", f"len('{number}{'x' * 100_000}')")
    found = re.search(r" ([\d,]+) kept with ([\d,]+) characters", summary_of(project))
    assert found is not None
    assert int(found[1].replace(",", "")) < 1_000
    assert int(found[2].replace(",", "")) <= limits.WIRE_CHARACTERS


def summary_of(project: Path) -> str:
    command = [sys.executable, "-m", "dapkit.cli", "wire"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=SECONDS, check=True)
    return done.stderr


@pytest.mark.thorough
def test_messages_are_followed_in_a_pipe_until_the_session_is_over(project: Path) -> None:
    launched(project, "-b", "app.py:5", "app.py")
    with followed(project, "debug-1", "--filter", "stopped", "--kind", "event") as (process, lines):
        assert re.match(r"\d\d:\d\d:\d\d\.\d{3} +\d+ <- event stopped \(\d+\) \{\"reason\":\"break", lines.readline())
        dapkit(project, "step-over")
        assert '{"reason":"step"' in lines.readline()
        dapkit(project, "terminate")
        assert lines.read() == ""
        assert process.wait(SECONDS) == exit_codes.DONE


@pytest.mark.thorough
def test_ctrl_c_ends_following_quietly(project: Path) -> None:
    launched(project, "-b", "app.py:5", "app.py")
    with followed(project, "--json") as (process, lines):
        assert json.loads(lines.readline())["name"] == "initialize"
        process.send_signal(signal.SIGINT)
        rest = lines.read()
        assert process.wait(SECONDS) == exit_codes.DONE
    assert all(json.loads(line) for line in rest.splitlines())


@pytest.mark.thorough
def test_reader_that_goes_away_ends_following_quietly(project: Path) -> None:
    launched(project, "-b", "app.py:5", "app.py")
    command = [sys.executable, "-m", "dapkit.cli", "wire", "--follow"]
    with subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert b"initialize" in os.read(process.stdout.fileno(), 100)
        process.stdout.close()
        try:
            assert process.wait(SECONDS) == exit_codes.DONE
        finally:
            process.kill()
        assert process.stderr.read() == b""


@pytest.mark.thorough
def test_hub_that_is_stopped_ends_following(project: Path) -> None:
    launched(project, "-b", "app.py:5", "app.py")
    with followed(project) as (process, lines):
        lines.readline()
        dapkit(project, "hub", "stop")
        assert "Error" not in lines.read()
        assert process.wait(SECONDS) == exit_codes.DONE


@pytest.mark.thorough
def test_without_a_session_the_error_says_what_to_do(project: Path) -> None:
    for words in (["wire"], ["wire", "--follow"]):
        error = dapkit(project, *words, expect=exit_codes.NO_SESSION)
        assert "There is no session: no hub runs.\ndapkit launch starts both." in error
    none = dapkit(project, "wire", "--mcp", expect=exit_codes.WRONG_STATE)
    assert "No MCP server by HTTP runs.\ndapkit mcp --http starts one." in none
    launched(project, "-b", "app.py:5", "app.py")
    assert "debug-1" in dapkit(project, "wire", "other", expect=exit_codes.NO_SESSION)
    two = dapkit(project, "wire", "debug-1", "-s", "other", expect=exit_codes.USAGE)
    assert "There are two sessions, debug-1 and other: give one." in two


@pytest.mark.thorough
def test_route_has_its_own_name_and_shows_messages_whole(project: Path) -> None:
    launched(project, "-b", "app.py:5", "app.py")
    shown = dapkit(project, "wire", "-s", "debug-1", "--kind", "request", "--filter", "setBreakpoints", "--whole")
    head, pair, *message = shown.strip().splitlines()
    assert re.match(r"\d\d:\d\d:\d\d\.\d{3} +\d+ -> request setBreakpoints #\d+ \(\d+ characters\)", head)
    assert re.fullmatch(r"Response: number \d+ after [\d.]+ ms", pair)
    assert json.loads("\n".join(message))["command"] == "setBreakpoints"


@pytest.mark.thorough
def test_viewer_follows_filters_and_shows_a_message_whole(project: Path) -> None:
    launched(project, "-b", "app.py:5", "app.py")
    with menu(project, "raw-sse", columns=100, lines=30) as screen:
        screen.wait("| following")
        assert "raw-sse: session debug-1" in screen.text
        dapkit(project, "step-over")
        screen.wait('event stopped (106) {"reason":"step"')
        screen.wait(f" {wire(project)[-1]['number']} passed")
        keep_picture(screen, "raw-sse", "dapkit diagnose: raw-sse")
        screen.type(UP * 2)
        screen.wait("not following: f follows")
        dapkit(project, "step-over")
        screen.type("f")
        screen.wait("| following")
        screen.type("/")
        screen.wait("text to look for")
        screen.type("stopped")
        screen.wait("3 shown | with 'stopped'")
        screen.type("\r")
        screen.wait("c Copy all")
        screen.type("\r")
        screen.wait('"reason": "breakpoint"')  # the second step has met the breakpoint again
        assert '"type": "event"' in screen.text
        screen.type("q")
        screen.wait("with 'stopped'")
        screen.type("m")
        screen.wait("No MCP server by HTTP runs")
        dapkit(project, "terminate")
        screen.wait("| over")
        screen.type("q")
        screen.wait("Type a name, or use the arrows.")
        screen.type(ESCAPE)
        assert screen.wait_for_the_end() == 0


@pytest.mark.thorough
def test_viewer_shows_that_there_is_no_session_and_is_left_at_once(project: Path) -> None:
    with menu(project, "raw-sse", columns=100, lines=30) as screen:
        screen.wait("There is no session: no hub runs.")
        screen.type("q")
        screen.wait("Type a name, or use the arrows.")
        screen.type(ESCAPE)
        assert screen.wait_for_the_end() == 0
