"""The command in a terminal, in a pipe, and in a shell that completes it."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dapkit.cli import exit_codes

SECONDS = 50


pytestmark = pytest.mark.usefixtures("runtime")


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every test here have a terminal of a certain kind and size."""
    for name, value in {"TERM": "xterm", "LINES": "40", "COLUMNS": "100"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)


def in_terminal(project: Path, *words: str, expect: int = exit_codes.DONE) -> str:
    """Run a command whose output and errors go to a terminal, and return what it shows."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "dapkit.cli", *words]
    with subprocess.Popen(command, cwd=project, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        try:
            while data := os.read(ours, 65536):
                shown += data
        except OSError:  # how a terminal ends
            pass
        assert process.wait(SECONDS) == expect, shown
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


ASKING = (
    "import sys\nprint('read', repr(input('name? ')), sys.stdin.isatty(), sys.stdout.isatty(), len(sys.stdin.read()))\n"
)


@pytest.mark.thorough
def test_program_reads_what_is_piped_into_the_command(project: Path) -> None:
    (project / "ask.py").write_text(ASKING)
    for words in (
        ["run", "ask.py"],
        ["launch", "--stdin-file", "-", "--timeout", "50", "--no-stop-on-entry", "ask.py"],
    ):
        command = [sys.executable, "-m", "dapkit.cli", *words]
        lines = f"Ada\n{'x' * 100_000}\n"
        done = subprocess.run(
            command, cwd=project, input=lines, capture_output=True, text=True, timeout=SECONDS, check=True
        )
        assert "name? read 'Ada' False False 100001\n" in done.stdout


@pytest.mark.each_adapter
def test_adapter_stays_the_same_where_it_cannot_have_the_input_read(
    project: Path, require_tool: Callable[[str], Path]
) -> None:
    require_tool("dlv")
    (project / "go.mod").write_text("module example.com/hello\n\ngo 1.19\n")
    (project / "main.go").write_text('package main\n\nfunc main() {\n\tprint("hello")\n}\n')
    command = [sys.executable, "-m", "dapkit.cli", "run", "--timeout", "50", "."]
    done = subprocess.run(command, cwd=project, input="x", capture_output=True, text=True, timeout=SECONDS, check=True)
    assert "hello" in done.stdout
    assert done.stderr.startswith("Note: under dlv the program reads nothing; --stdin-file - chooses an adapter")


@pytest.mark.thorough
def test_program_of_run_reads_what_is_typed_and_waits_for_nobody(project: Path) -> None:
    (project / "ask.py").write_text(ASKING)
    ours, theirs = pty.openpty()
    os.write(ours, b"Ada\nmore\n\x04")
    for program, expected in (("ask.py", "read 'Ada' True False 5\n"), ("app.py", "adding\n6\n")):
        command = [sys.executable, "-m", "dapkit.cli", "run", program]
        done = subprocess.run(
            command, cwd=project, stdin=theirs, stdout=subprocess.PIPE, text=True, timeout=SECONDS, check=True
        )
        assert expected in done.stdout
    os.close(theirs)
    os.close(ours)


def in_pipe(project: Path, *words: str) -> str:
    command = [sys.executable, "-m", "dapkit.cli", *words]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=SECONDS, check=True).stdout


@pytest.mark.thorough
def test_answers_have_colours_in_a_terminal_and_none_in_a_pipe(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in in_pipe(project, "launch", "-b", "app.py:5", "app.py")
    shown = in_terminal(project, "stack-trace")
    assert "\x1b[1mStack trace:\x1b[0m\n" in shown
    assert "\x1b" not in in_pipe(project, "stack-trace")
    monkeypatch.setenv("NO_COLOR", "")  # means nothing
    assert "\x1b[31;1mError:\x1b[0m Traceback" in in_terminal(project, "evaluate", "nowhere", expect=exit_codes.FAILED)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "Stack trace:\n- #" in in_terminal(project, "stack-trace")
    assert "\nError: Traceback" in "\n" + in_terminal(project, "evaluate", "nowhere", expect=exit_codes.FAILED)


@pytest.mark.thorough
def test_long_answers_go_through_the_pager_of_a_terminal(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", "cat -n")
    assert "     1\t" not in in_terminal(project, "config")
    monkeypatch.setenv("LINES", "5")
    assert in_terminal(project, "config").startswith("     1\tdebug.enabled")
    assert in_pipe(project, "config").startswith("debug.enabled")


@pytest.mark.thorough
def test_json_is_one_line_in_a_pipe_and_indented_in_a_terminal(project: Path) -> None:
    assert in_pipe(project, "sessions", "--json").count("\n") == 1
    assert '\n  "action": "sessions",\n' in in_terminal(project, "sessions", "--json")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("dapkit step-", {"step-over", "step-in", "step-out", "step-back"}),
        ("dapkit step-over --granularity ", {"statement", "line", "instruction"}),
        ("dapkit evaluate --expr", {"--expression", "--expressions"}),
        ("dapkit terminate --session s", {"shop"}),
        ("dapkit launch --adapter ll", {"lldb-dap"}),
        ("dapkit set-exception-breakpoints unc", {"uncaught"}),
        ("dapkit hub ", {"status", "stop"}),
    ],
)
def test_bash_completes_commands_options_and_sessions(
    project: Path, require_tool: Callable[[str], Path], line: str, expected: set[str]
) -> None:
    if "--session" in line or "exception" in line:
        in_pipe(project, "launch", "--session", "shop", "app.py")
    script = (
        'eval "$(dapkit completion bash)"; read -ra COMP_WORDS <<<"$1"; [[ $1 == *" " ]] && COMP_WORDS+=("");'
        'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _dapkit_completion dapkit; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    command = [str(require_tool("bash")), "--norc", "-c", script, "bash", line]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=SECONDS, check=True)
    assert set(done.stdout.split()) == expected
