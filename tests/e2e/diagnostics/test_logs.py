"""The log of a real hub: of its sessions, of its end by force, in a pipe, followed, and in the menu."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import pytest

from dapkit import hub
from dapkit.cli import exit_codes
from e2e.diagnostics.commands import SECONDS, as_json, dapkit, menu
from e2e.hub.processes import ended
from e2e.python.processes import kill
from screens import keep_picture

pytestmark = [pytest.mark.usefixtures("runtime"), pytest.mark.timeout(300)]

UP = "\x1b[A"
OLD = "2020-01-02"


def today() -> str:
    return date.today().isoformat()  # noqa: DTZ011 - as the hub names its files


def hub_pid() -> int:
    status = hub.status()
    assert status is not None
    pid = status["pid"]
    assert isinstance(pid, int)
    return pid


def older_day(runtime: Path, lines: int) -> None:
    """Have the hub a log of an older day."""
    content = "".join(f"{OLD} 05:03:12,417 7 INFO dapkit.hub.daemon: old {number}\n" for number in range(1, lines + 1))
    (runtime / "state" / "logs" / f"hub-{OLD}.log").write_bytes(content.encode())


@contextmanager
def following(project: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Follow the log, and interrupt that at the end."""
    command = [sys.executable, "-m", "dapkit.cli", "logs", "--follow", *words]
    with subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=SECONDS)


def line_with(process: subprocess.Popen[str], text: str) -> str:
    """Return the next line that has a text."""
    assert process.stdout is not None
    return next(line for line in process.stdout if text in line)


@pytest.mark.thorough
def test_log_has_what_the_hub_did_in_a_session_and_no_value(project: Path) -> None:
    dapkit(project, "launch", "-b", "app.py:5", "app.py")
    dapkit(project, "evaluate", "'planted-' + 'value'")
    dapkit(project, "evaluate", "nowhere", expect=exit_codes.FAILED)
    found = as_json(project, "logs")
    assert (found["day"], found["days"], found["problems"], found["limited"]) == (today(), [today()], [], False)
    records = found["records"]
    assert {record["pid"] for record in records} == {hub_pid()}
    assert records[0]["text"].startswith("dapkit ")
    done = [record["text"].rpartition(",")[0] for record in records if record["logger"] == "dapkit.agent.handler"]
    assert done == [
        "launch of debug-1: done",
        "evaluate of debug-1: done",
        "evaluate of debug-1: failed (adapter_failed)",
    ]
    assert "planted-value" not in dapkit(project, "logs")


@pytest.mark.thorough
def test_log_of_a_c_program(
    project: Path, compiled: Callable[[str], Path], require_tool: Callable[[str], Path]
) -> None:
    require_tool("lldb-dap-22")
    program = compiled("squares.c")
    dapkit(project, "launch", "--adapter", "lldb-dap", "--timeout", "60", "-b", "main", str(program))
    assert "launch of debug-1: done" in dapkit(project, "logs")


@pytest.mark.thorough
def test_lines_have_numbers_by_which_a_range_is_chosen(project: Path) -> None:
    dapkit(project, "sessions")
    dapkit(project, "sessions")
    lines = dapkit(project, "logs").splitlines()
    assert [line.split()[0] for line in lines] == ["1", "2", "3"]
    assert dapkit(project, "logs", "--range", "2:3").splitlines() == lines[1:]
    assert dapkit(project, "logs", "--lines", "1").splitlines() == lines[2:]
    assert dapkit(project, "logs", "--range", "7:9") == "None of the lines that were read is wanted; there are 3.\n"


@pytest.mark.thorough
def test_filters_by_process_and_level(project: Path) -> None:
    dapkit(project, "sessions")
    first = hub_pid()
    dapkit(project, "hub", "stop")
    dapkit(project, "sessions")
    records = as_json(project, "logs", "--pid", str(first))["records"]
    assert {record["pid"] for record in records} == {first}
    assert records[-1]["text"] == "ended"
    both = as_json(project, "logs", "--pid", str(first), "--pid", str(hub_pid()))["records"]
    assert len({record["pid"] for record in both}) == 2
    assert dapkit(project, "logs", "--level", "error").startswith("None of the lines that were read is wanted")


@pytest.mark.thorough
def test_log_of_a_hub_that_was_killed_stays_and_the_next_one_goes_on_in_it(project: Path) -> None:
    dapkit(project, "sessions")
    killed = hub_pid()
    kill(killed)
    assert ended(killed)
    assert {record["pid"] for record in as_json(project, "logs")["records"]} == {killed}
    dapkit(project, "sessions")
    assert [record["pid"] for record in as_json(project, "logs")["records"]][-1] == hub_pid()


@pytest.mark.thorough
def test_empty_log_is_a_message_and_older_days_are_named(project: Path, runtime: Path) -> None:
    assert dapkit(project, "logs") == f"The hub has logged nothing on {today()}.\n"
    older_day(runtime, 60)
    assert dapkit(project, "logs") == f"The hub has logged nothing on {today()}. There are logs of {OLD}.\n"
    assert len(dapkit(project, "logs", "--day", OLD).splitlines()) == 50
    assert as_json(project, "logs", "--day", OLD, "--lines", "1")["records"][0]["text"] == "old 60"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--day", "2026-13-01"], "expected a day such as "),
        (["--range", "9:3"], "expected the numbers of two lines, such as 120:140, found '9:3'"),
        (["--range", "x"], "expected the numbers of two lines"),
        (["--level", "loud"], "'loud' is not one of 'debug', 'info', 'warning', 'error', 'critical'"),
        (["--lines", "5001"], "5001 is not in the range 0<=x<=5000"),
        (["--pid", "0"], "0 is not in the range x>=1"),
        (["--follow", "--range", "1:2"], "--follow is for the log of today"),
        (["--follow", "--day", OLD], "--follow is for the log of today"),
    ],
)
def test_what_makes_no_sense_is_refused(project: Path, words: list[str], expected: str) -> None:
    assert expected in dapkit(project, "logs", *words, expect=exit_codes.USAGE)


@pytest.mark.thorough
def test_file_that_is_a_link_is_reported_and_does_not_keep_the_hub_from_working(project: Path, runtime: Path) -> None:
    folder = runtime / "state" / "logs"
    assert as_json(project, "logs")["records"] == []  # which makes the folder
    (runtime / "target").write_text("")
    (folder / f"hub-{today()}.log").symlink_to(runtime / "target")
    assert dapkit(project, "launch", "app.py")
    assert (runtime / "target").read_text() == ""
    [problem] = as_json(project, "logs")["problems"]
    assert problem == f"{folder}/hub-{today()}.log: it is a link"
    assert "launch of debug-1: done" in (runtime / "hub.log").read_text()


@pytest.mark.thorough
def test_log_is_followed_until_it_is_interrupted(project: Path) -> None:
    with following(project) as process:
        dapkit(project, "sessions")
        assert line_with(process, " listens at ").startswith("1  ")
        dapkit(project, "launch", "app.py")
        assert line_with(process, "launch of debug-1: done").startswith("3  ")
    assert process.returncode == exit_codes.DONE


@pytest.mark.thorough
def test_log_is_followed_as_json_and_by_level(project: Path) -> None:
    dapkit(project, "sessions")
    with following(project, "--json") as process:
        assert json.loads(line_with(process, "listens"))["number"] == 1
        dapkit(project, "sessions")
        assert json.loads(line_with(process, "sessions: done"))["pid"] == hub_pid()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("line", "expected"),
    [("dapkit logs --day 20", {OLD}), ("dapkit logs --level w", {"warning"}), ("dapkit logs --fo", {"--follow"})],
)
def test_bash_completes_days_and_levels(
    project: Path, runtime: Path, require_tool: Callable[[str], Path], line: str, expected: set[str]
) -> None:
    dapkit(project, "logs")
    older_day(runtime, 1)
    script = (
        'eval "$(dapkit completion bash)"; read -ra COMP_WORDS <<<"$1"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1));'
        '_dapkit_completion dapkit; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    command = [str(require_tool("bash")), "--norc", "-c", script, "bash", line]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=SECONDS, check=True)
    assert set(done.stdout.split()) == expected


@pytest.mark.thorough
def test_menu_shows_the_log_and_older_days_filters_and_a_range(project: Path, runtime: Path) -> None:
    dapkit(project, "launch", "-b", "app.py:5", "app.py")
    for name, arguments in [
        *[("step_over", {}), ("evaluate", {"expression": "result"}), ("evaluate", {"expression": "nowhere"})] * 6,
        *[("step_over", {}), ("stack_trace", {})] * 3,
    ]:
        hub.call(name, arguments, project=str(project))
    older_day(runtime, 60)
    with menu(project, "logs", lines=24) as screen:
        screen.wait(f" lines of {today()} | process any | level any")
        screen.type(UP * 3 + "v" + UP * 3)
        screen.wait("| 4 chosen |")
        assert "evaluate of debug-1: failed" in screen.text
        keep_picture(screen, "logs", "dapkit diagnose: logs")
        screen.type("p")
        screen.wait("Press Enter to go back.")
        assert screen.text.count(f"\n{today()} ") >= 3  # which the viewer has numbers before
        screen.type("\r")
        screen.wait(f" lines of {today()} |")
        screen.type("o")
        screen.wait(f" lines of {OLD} to {today()}")
        screen.type("f")
        screen.wait("process 7 ")
        screen.type("f")
        screen.wait(f"process {hub_pid()} ")
        screen.type("l" * 3)
        screen.wait("No line that was read passes the filters.")
        screen.type("q")
        screen.wait("Type a name, or use the arrows.")
        screen.type("\x1b")
        assert screen.wait_for_the_end() == 0


@pytest.mark.thorough
def test_menu_copies_by_printing_where_there_is_no_clipboard(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "SSH_TTY", "SSH_CONNECTION"):
        monkeypatch.delenv(variable, raising=False)
    dapkit(project, "sessions")
    with menu(project, "logs") as screen:
        screen.wait("sessions: done")
        screen.type("c")
        screen.wait("Press Enter to go back.")
        screen.type("\r")
        screen.wait("There is no clipboard: 1 line printed.")


@pytest.mark.thorough
def test_menu_says_that_the_log_is_empty(project: Path) -> None:
    with menu(project, "logs") as screen:
        screen.wait(f"The hub has logged nothing on {today()}.")
