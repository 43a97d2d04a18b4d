"""The command `dapkit`, run as a user runs it, on real programs and through a real hub."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dapkit.cli import exit_codes
from e2e.hub.processes import ended
from interpreters import interpreter

SECONDS = 50


@pytest.fixture(autouse=True)
def _own_hub(runtime: Path) -> None:
    """Let every test here have a hub of its own."""


def dapkit(project: Path, *words: str, expect: int = exit_codes.DONE) -> str:
    """Run a command and return what it wrote; its errors if it is to fail."""
    command = [sys.executable, "-m", "dapkit.cli", *words]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == expect, (done.stdout, done.stderr)
    return done.stderr if expect else done.stdout


def run_that_fails(project: Path, *words: str) -> str:
    """Return the output of a run whose program ends with 1."""
    command = [sys.executable, "-m", "dapkit.cli", "run", *words]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    return done.stdout


def details(project: Path, *words: str) -> dict[str, Any]:
    """Run a command and return the details of its object."""
    answer = json.loads(dapkit(project, *words, "--json"))
    assert answer["success"]
    found: dict[str, Any] = answer["details"]
    return found


def test_program_is_debugged_by_one_command_after_the_other(project: Path) -> None:
    stopped = dapkit(project, "launch", "-b", "app.py:5", "app.py")
    assert "Stop 1: breakpoint" in stopped
    assert "app.py:5" in stopped
    assert dapkit(project, "evaluate", "price").startswith("Result: 1\n")
    assert details(project, "step-over")["snapshot"]["line"] == 4
    assert "set_breakpoint" not in dapkit(project, "set-breakpoint", "app.py:6", "--condition", "result > 5")
    assert "line 5: verified" not in dapkit(project, "remove-breakpoint", "app.py:5")
    assert details(project, "continue")["snapshot"]["line"] == 6
    assert details(project, "variables", "--variable-ref", str(locals_of(project)))["variables"][0]["name"]
    ended = details(project, "continue")
    assert (ended["state"], ended["snapshot"]["exitCode"]) == ("terminated", 0)


@pytest.mark.thorough
def test_breakpoints_stay_what_they_were_when_the_program_has_ended(project: Path) -> None:
    dapkit(project, "launch", "-b", "app.py:5", "-b", "nowhere.py:3", "-b", "nothing", "app.py")
    while details(project, "continue")["state"] != "terminated":
        pass
    found = details(project, "breakpoints")
    states = {Path(row["path"]).name: (row["verified"], row.get("hits")) for row in found["breakpoints"]}
    assert states == {"app.py": (True, 3), "nowhere.py": (False, None)}
    (function,) = found["functionBreakpoints"]
    assert (function["verified"], "hits" in function) == (False, False)
    shown = dapkit(project, "breakpoints")
    assert "app.py line 5: verified (hit 3 times)" in shown
    assert "not set yet" not in shown
    dapkit(project, "set-breakpoint", "app.py:6")
    assert "line 6: pending (not set yet: it will be with the next start of the program)" in dapkit(
        project, "breakpoints"
    )


MISSPELT = {
    "5": "app.py:5",
    "app.py": "app.py:12",
    "total:5": "the name of a function without a line: total",
    "app.py:5 if result = 3": "compared with ==",
    "app.py:5, app.py:6": "app.py:5 and app.py:6",
    "app.py:result +=": '"text": "result +="',
}


@pytest.mark.thorough
def test_misspelt_breakpoint_is_refused_before_anything_runs(project: Path) -> None:
    for wrong, right in MISSPELT.items():
        assert right in dapkit(project, "run", "-b", wrong, "app.py", expect=exit_codes.USAGE)
    assert details(project, "sessions")["sessions"] == []
    dapkit(project, "launch", "-b", "app.py:5", "app.py")
    assert "app.py:12" in dapkit(project, "set-breakpoint", "app.py:abc", expect=exit_codes.USAGE)
    refused = dapkit(project, "set-breakpoint", "app.py:6", "--condition", "result = 3", expect=exit_codes.USAGE)
    assert "compared with ==" in refused
    assert len(details(project, "breakpoints")["breakpoints"]) == 1


@pytest.mark.thorough
def test_option_of_ours_after_the_program_is_named(project: Path) -> None:
    (project / "say.py").write_text("import sys\nprint(sys.argv[1:])\n")
    for words, named in (
        (["run", "say.py", "--timeout", "5", "--fast"], ["--timeout 5"]),
        (["launch", "say.py", "--json", "-b=say.py:2"], ["--json", "-b=say.py:2"]),
        (["run", "--", "say.py", "--timeout", "5"], []),
    ):
        command = [sys.executable, "-m", "dapkit.cli", *words]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert done.returncode == 0
        assert [line.split(" after ")[0] for line in done.stderr.splitlines()] == [f"Note: {name}" for name in named]
    assert "['--timeout', '5']" in dapkit(project, "run", "--", "say.py", "--timeout", "5")


def locals_of(project: Path) -> int:
    reference: int = details(project, "scopes")["scopes"][0]["variablesReference"]
    return reference


@pytest.mark.thorough
def test_whole_session_in_one_call_shows_values_output_and_exit_code(project: Path) -> None:
    shown = dapkit(project, "run", "-b", "app.py:5", "-e", "result", "-e", "price * 2", "--", "app.py")
    assert [line.strip() for line in shown.splitlines() if " = " in line] == [
        "result = 0",
        "price * 2 = 2",
        "2: result = 1  price * 2 = 4",
        "3: result = 3  price * 2 = 6",
    ]
    assert "adding\n6\n" in shown
    assert shown.rstrip().endswith("Exit code: 0")


@pytest.mark.thorough
def test_run_ends_with_the_exit_code_of_the_program(project: Path) -> None:
    (project / "fails.py").write_text("import sys\nsys.exit(3)\n")
    dapkit(project, "run", "fails.py", expect=3)


def test_run_shows_a_stop_by_its_place_and_no_stop_that_was_not_asked_for(project: Path) -> None:
    (project / "ends.py").write_text(
        "import sys\ndef f(n):\n    return n * 2\nfor n in range(2):\n    f(n)\n"
        "for n in range(15):\n    print('line', n)\nsys.exit(True)\n"
    )
    shown = run_that_fails(project, "-b", "ends.py:3", "-e", "n", "ends.py")
    place = f"{project / 'ends.py'}:3 in f, called from line 5"
    assert shown.startswith(f"{place}\n  n = 0\n2: n = 1\nOutput:\n(5 earlier lines left out;")
    assert "line 4\n" not in shown
    assert shown.endswith("line 5\n" + "".join(f"line {n}\n" for n in range(6, 15)) + "\nExit code: 1\n")
    assert "line 0\n" in run_that_fails(project, "--output-lines", "0", "ends.py")
    asked = run_that_fails(project, "-b", "ends.py:3", "-e", "n", "-x", "uncaught", "ends.py")
    assert f"\n{project / 'ends.py'}:8 in <module>\nException: SystemExit: True\n" in asked
    assert asked.count("\n  n = ") == 1  # expressions are of the places with breakpoints


def test_run_evaluates_an_expression_at_the_breakpoint_before_it(project: Path) -> None:
    words = ["-e", "result", "-b", "app.py:4", "-b", "app.py:5", "-e", "price", "-b", "app.py:6", "-e", "prices"]
    shown = dapkit(project, "run", *words, "app.py")
    assert f"{project / 'app.py'}:4 in total, called from line 8\n  result = 0\n  price = " in shown
    assert "  result = 6\n  prices = [1, 2, 3]\n" in shown
    assert shown.count("prices = ") == 1


def test_run_compares_two_runs(project: Path) -> None:
    (project / "seed.py").write_text("import os, sys\nvalue = os.environ['A'] + sys.argv[1]\nprint(value)\n")
    words = ["-b", "seed.py:3", "-e", "value", "--compare"]
    place = f"{project / 'seed.py'}:3 in <module>"
    shown = run_that_fails(project, *words, "A=1", "seed.py", "x", "--", "A=2", "seed.py", "x")
    assert f"- {place}\n-   value = '1x'\n+ {place}\n+   value = '2x'\n" in shown
    alike = dapkit(project, "run", *words, "A=1", "seed.py", "x", "--", "A=1", "seed.py", "x")
    assert alike.startswith("Stops of the first run: 1, of the second: 1, alike: 1.\n")
    limited = dapkit(project, "run", "--stops", "20", *words, "A=1", "seed.py", "x", "--", "A=1", "seed.py", "x")
    assert limited == alike
    assert "two programs with --" in dapkit(project, "run", "--compare", "seed.py", expect=exit_codes.USAGE)
    assert "no program" in dapkit(project, "run", "--compare", "A=1", "--", "seed.py", expect=exit_codes.USAGE)


def test_run_names_the_interpreter_where_a_module_is_not_found_and_takes_another(project: Path) -> None:
    (project / "imports.py").write_text("import sys\nprint(sys.version_info[:2])\nimport nosuch\n")
    shown = run_that_fails(project, "--python", str(interpreter("3.12")), "imports.py")
    assert shown.startswith(
        f"{project / 'imports.py'}:3 in <module>\nException: ModuleNotFoundError: No module named 'nosuch'"
    )
    assert f"\nInterpreter: {interpreter('3.12')}; --python chooses another.\n" in shown
    assert "(3, 12)" in shown


@pytest.mark.thorough
def test_run_shows_the_crash_with_its_values(project: Path) -> None:
    (project / "crash.py").write_text("def half(of):\n    return of / 0\nhalf(21)\n")
    whole = json.loads(run_json(project, "crash.py"))
    (stop,) = whole["stops"]
    assert stop["stop"]["reason"] == "exception"
    assert {"name": "of", "value": "21"}.items() <= stop["stop"]["locals"][0].items()
    assert whole["exitCode"] == 1


def run_json(project: Path, *words: str) -> str:
    command = [sys.executable, "-m", "dapkit.cli", "run", "--json", *words]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=SECONDS, check=False).stdout


@pytest.mark.thorough
def test_run_shows_values_and_errors_that_cannot_steer_a_terminal(project: Path) -> None:
    (project / "hostile.py").write_text(
        "class Hostile:\n    def __repr__(self): return 'a\\x1b[2Jb'\nvalue = Hostile()\nprint(1)\n"
    )
    shown = dapkit(project, "run", "-b", "hostile.py:4", "-e", "value", "-e", "{}[repr(value)]", "hostile.py")
    assert "  value = a\\x1b[2Jb (__main__.Hostile)\n" in shown
    assert "\x1b" not in shown


def test_run_shows_no_secret_of_the_program(project: Path) -> None:
    (project / "login.py").write_text(
        "def login(password):\n    length = len(password)\n    return 1 / 0\nlogin(''.join(['hun', 'ter22']))\n"
    )
    for words in (["-b", "login.py:3", "-e", "password"], ["-b", "login.py:3"], []):
        shown = run_that_fails(project, *words, "login.py")
        assert "[redacted]" in shown
        assert "hunter22" not in shown
        assert "Output:\n(traceback of the exception above)\n" in shown


def test_run_shows_a_traceback_that_says_more_than_the_stop(project: Path) -> None:
    (project / "chain.py").write_text(
        "try:\n    {}[1]\nexcept KeyError as error:\n    raise ValueError('no') from error\n"
    )
    shown = run_that_fails(project, "chain.py")
    assert "The above exception was the direct cause" in shown
    assert "ValueError: no\n\nExit code: 1" in shown


@pytest.mark.thorough
def test_run_shows_some_stops_and_lets_the_program_run_to_its_end(project: Path) -> None:
    (project / "long.py").write_text("for i in range(1000):\n    x = i\nprint('done', x)\nexit(3)\n")
    command = [sys.executable, "-m", "dapkit.cli", "run", "-b", "long.py:2", "--stops", "2", "-e", "i", "long.py"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.stdout.count(" i = ") == 2
    assert "Output:\ndone 999\n" in done.stdout
    assert done.stdout.endswith("It ran on without stopping after stop 2: --stops shows more.\nExit code: 3\n")
    assert done.returncode == 3
    assert details(project, "sessions") == {"sessions": [], "endedRuns": 1}


@pytest.mark.thorough
def test_run_names_each_breakpoint_that_was_not_set_or_never_hit(project: Path) -> None:
    words = ["-b", "app.py:5", "-b", "nowhere.py:3", "-b", "app.py:4 if len(prices) > 7", "-b", "nothing", "app.py"]
    command = [sys.executable, "-m", "dapkit.cli", "run", *words]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == exit_codes.NOT_SET
    (named,) = [part for part in done.stdout.split("\n\n") if part.startswith("Breakpoints:\n")]
    never, nowhere, nothing = named.splitlines()[1:]
    assert never.startswith(
        f"- {project / 'app.py'}:4 was never hit: its condition (len(prices) > 7) was never met, or"
    )
    assert nowhere.startswith(f"- {project / 'nowhere.py'}:3 was not set: ")
    assert nothing.startswith("- nothing was not set: ")
    found = json.loads(run_json(project, *words))["breakpoints"]
    assert [(each["verified"], each["hits"], each["problem"] is None) for each in found] == [
        (True, 0, False),
        (True, 3, True),
        (False, 0, False),
        (False, 0, False),
    ]
    assert "Breakpoints:" not in dapkit(project, "run", "-b", "app.py:5", "-e", "1", "app.py")
    assert "app.py:4 was never hit" in dapkit(project, "run", "-b", "app.py:4 if len(prices) > 7", "app.py")
    assert (
        "app.py:4 was never hit: its condition raised NameError: name 'nosuch' is not defined, which counts as false; "
        in dapkit(project, "run", "-b", "app.py:4 if nosuch > 7", "app.py")
    )


@pytest.mark.thorough
@pytest.mark.parametrize("stopped", [True, False])
def test_killed_run_leaves_neither_program_nor_session(project: Path, *, stopped: bool) -> None:
    (project / "long.py").write_text("import os, threading\nprint(os.getpid(), flush=True)\nthreading.Event().wait()\n")
    words = ["-b", "long.py:3"] if stopped else []
    command = [sys.executable, "-m", "dapkit.cli", "run", "--timeout", "300", *words, "-e", "os.getpid()", "long.py"]
    with subprocess.Popen(command, cwd=project) as running:
        pid = int(shown_by_program(project))
        running.kill()
    assert ended(pid)
    deadline = time.monotonic() + SECONDS
    while details(project, "sessions")["sessions"]:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def shown_by_program(project: Path) -> str:
    """Wait for the first output of the only session."""
    command = [sys.executable, "-m", "dapkit.cli", "output", "--json"]
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        shown = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=SECONDS, check=False)
        answer = json.loads(shown.stdout)
        if answer["success"] and answer["details"]["output"]:
            return str(answer["details"]["output"])
        time.sleep(0.1)
    raise AssertionError(shown)


@pytest.mark.thorough
@pytest.mark.timeout(120)
def test_run_waits_for_a_program_that_takes_its_time(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAPKIT_SESSION_INITIAL_STOP_SECONDS", "0")  # launch tells of every program that it runs
    shown = dapkit(project, "run", "-b", "app.py:5", "-e", "result", "--", "app.py")
    assert shown.count(" result = ") == 3
    (project / "long.py").write_text("import threading\nprint('began')\nthreading.Event().wait()\n")
    command = [sys.executable, "-m", "dapkit.cli", "run", "--timeout", "25.5", "long.py"]
    began = time.monotonic()
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (exit_codes.TIMED_OUT, "")
    assert time.monotonic() - began >= 25.5
    assert done.stdout.startswith("Output:\nbegan\n\nThe program still ran when 25.5 s were over")
    assert not [each for each in details(project, "sessions")["sessions"] if each["status"] != "terminated"]


FAILURES: list[tuple[list[str], int, str]] = [
    (["step-over"], exit_codes.NO_SESSION, "No active debug session. Launch or attach first."),
    (["launch"], exit_codes.USAGE, "program is required for launch"),
    (["evaluate"], exit_codes.USAGE, "expression is required for evaluate"),
    (["launch", "nowhere.py"], exit_codes.USAGE, "nowhere.py"),
    (["launch", "--adapter", "nothing", "app.py"], exit_codes.NO_ADAPTER, "nothing"),
    (["--read-only"], exit_codes.USAGE, "No such option"),
    (["evaluate", "1", "--read-only"], exit_codes.REFUSED, "read"),
]


@pytest.mark.thorough
def test_failures_say_what_is_wrong_and_have_codes_of_their_own(project: Path) -> None:
    for words, code, expected in FAILURES:
        assert expected in dapkit(project, *words, expect=code)


@pytest.mark.thorough
def test_session_of_another_project_is_not_met(project: Path, tmp_path: Path) -> None:
    dapkit(project, "launch", "-b", "app.py:5", "app.py")
    other = tmp_path / "other"
    other.mkdir()
    assert "No active debug session" in dapkit(other, "evaluate", "1", expect=exit_codes.NO_SESSION)
    assert dapkit(other, "evaluate", "1", "--project", str(project)).startswith("Result: 1")


def test_list_of_sessions_leaves_out_ended_runs_and_names_those_near(project: Path) -> None:
    dapkit(project, "run", "app.py")
    dapkit(project, "launch", "-b", "app.py:5", "app.py")
    listed = dapkit(project, "sessions")
    assert listed.startswith("debug-1: stopped")
    assert listed.endswith("(1 ended run is not listed)\n")
    inner = project / "inner"
    inner.mkdir()
    (inner / "go.mod").touch()  # a project of its own
    assert dapkit(inner, "sessions") == f"No debug sessions.\nElsewhere: debug-1 in {project}\n"
    problem = dapkit(inner, "continue", expect=exit_codes.NO_SESSION)
    assert f"Session debug-1 belongs to {project} (--project {project})." in problem


@pytest.mark.thorough
def test_two_sessions_are_told_apart_by_name(project: Path) -> None:
    dapkit(project, "launch", "-s", "one", "-b", "app.py:5", "app.py")
    dapkit(project, "launch", "-s", "two", "-b", "app.py:6", "app.py")
    assert "one" in dapkit(project, "evaluate", "1", expect=exit_codes.NO_SESSION)
    assert dapkit(project, "evaluate", "result", "-s", "two").startswith("Result: 6")


@pytest.mark.thorough
def test_interrupted_command_gives_its_call_up_and_leaves_the_session(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAPKIT_SESSION_INITIAL_STOP_SECONDS", "0")  # nothing stops it
    dapkit(project, "launch", "--no-stop-on-entry", "app.py", "wait")
    command = [sys.executable, "-m", "dapkit.cli", "wait", "--timeout", "300"]
    with subprocess.Popen(command, cwd=project, stderr=subprocess.PIPE, text=True) as waiting:
        until_a_call_is_under_way(project)
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait(SECONDS) == exit_codes.INTERRUPTED
    assert "\nStop 1: pause" in dapkit(project, "pause")


def until_a_call_is_under_way(project: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while json.loads(dapkit(project, "hub", "status", "--json"))["calls"] == 0:
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.thorough
def test_hub_is_shown_and_ended(project: Path) -> None:
    assert dapkit(project, "hub", "status") == "No hub runs.\n"
    before = datetime.now(UTC).replace(microsecond=0)
    dapkit(project, "sessions")
    status = json.loads(dapkit(project, "hub", "status", "--json"))
    assert status["running"]
    assert f"started: {status['started']}\n" in dapkit(project, "hub", "status")
    assert before <= datetime.fromisoformat(status["started"]) <= datetime.now(UTC)
    assert dapkit(project, "hub", "stop") == "The hub has ended.\n"
    assert not json.loads(dapkit(project, "hub", "status", "--json"))["running"]


@pytest.mark.thorough
def test_adapters_are_listed_and_explained(project: Path) -> None:
    found = {adapter["name"]: adapter for adapter in json.loads(dapkit(project, "adapters", "--json"))}
    assert found["debugpy"]["installed"]
    assert json.loads(dapkit(project, "adapters", "why", "app.py", "--json"))["adapter"] == "dapkit"
    assert "there is no program" in run_words(project, "adapters", "why", "nowhere.py")
    assert dapkit(project, "adapters", "app.py") == dapkit(project, "adapters", "why", "app.py")
    assert "there is no program" in run_words(project, "adapters", "nowhere.py")


def run_words(project: Path, *words: str) -> str:
    command = [sys.executable, "-m", "dapkit.cli", *words]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=SECONDS, check=False).stdout


@pytest.mark.thorough
def test_question_of_a_configuration_is_asked_in_a_terminal(project: Path) -> None:
    (project / ".vscode").mkdir()
    inputs = [
        {"id": "price", "type": "promptString", "description": "Which price"},
        {"id": "pin", "type": "promptString", "description": "PIN", "password": True},
    ]
    launched = {"name": "Ask", "type": "debugpy", "request": "launch", "program": "${workspaceFolder}/app.py"}
    asking = {"configurations": [{**launched, "args": ["${input:price}", "${input:pin}"]}], "inputs": inputs}
    (project / ".vscode/launch.json").write_text(json.dumps(asking))
    ours, terminal = os.openpty()
    command = [sys.executable, "-m", "dapkit.cli", "launch", "--configuration", "Ask", "-b", "app.py:5"]
    with subprocess.Popen(
        command, cwd=project, stdin=terminal, stdout=subprocess.PIPE, stderr=terminal, text=True, start_new_session=True
    ) as asked:
        os.close(terminal)
        for question, answer in (("Which price: ", b"7\n"), ("PIN: ", b"1x2y3z\n")):
            read_until(ours, question)
            os.write(ours, answer)
        said, _ = asked.communicate(timeout=SECONDS)
    os.close(ours)
    assert "Stop 1: breakpoint" in said
    assert dapkit(project, "evaluate", "__import__('sys').argv[1:]").startswith("Result: ['7', '[redacted]']")
    dapkit(project, "evaluate", "globals().update(password='hunter22')")
    assert dapkit(project, "evaluate", "globals()['password']").startswith("Result: '[redacted]'")
    assert dapkit(project, "set-expression", "password", "'hunter33'").endswith("Value: '[redacted]'\n")


def read_until(terminal: int, text: str) -> None:
    """Read from a terminal until it shows a text."""
    shown = ""
    while text not in shown:
        assert select.select([terminal], [], [], SECONDS)[0], shown
        shown += os.read(terminal, 1000).decode()


@pytest.mark.thorough
def test_text_that_the_encoding_lacks_is_shown_escaped(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dapkit(project, "launch", "-b", "app.py:5", "app.py")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    assert dapkit(project, "evaluate", "chr(233)").startswith("Result: '\\xe9'\n")
    assert details(project, "evaluate", "chr(233)")["evaluation"]["result"] == "'é'"


@pytest.mark.thorough
def test_output_into_a_closed_pipe_is_no_error(project: Path) -> None:
    command = f"{sys.executable} -m dapkit.cli adapters | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["/bin/bash", "-c", command], cwd=project, capture_output=True, text=True, check=False, env=os.environ
    )
    assert done.stderr == ""
