"""What can be launched, and everything that can be said about it in the same call."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from action_fixtures import Caller

SAY = """\
import os, sys
print(sys.argv[1:])
print(os.environ.get("GREETING"), os.environ.get("GONE"))
print(os.path.basename(os.getcwd()))
"""

both = pytest.mark.parametrize("adapter", ["dapkit", pytest.param("debugpy", marks=pytest.mark.each_adapter)])


@both
async def test_arguments_environment_and_folder_reach_the_program(caller: Caller, adapter: str) -> None:
    caller.write("say.py", SAY)
    (caller.project / "below").mkdir()
    caller.env = {**caller.env, "GONE": "not yet"}
    launched = await caller(
        "launch",
        program="../say.py",
        cwd="below",
        args=["--fast", "a b"],
        env={"GREETING": "hello", "GONE": None},
        adapter=adapter,
        stop_on_entry=False,
    )
    assert launched.details["output"] == "['--fast', 'a b']\nhello None\nbelow\n"


@both
async def test_a_module_is_launched(caller: Caller, adapter: str) -> None:
    caller.write("pack/__init__.py", "")
    caller.write("pack/__main__.py", "import sys\nprint('main of', __package__, sys.argv[1:])\n")
    launched = await caller("launch", module="pack", args=["x"], adapter=adapter, breakpoints=["pack/__main__.py:2"])
    assert launched.details["snapshot"]["line"] == 2
    assert (await caller("continue")).details["output"] == "main of pack ['x']\n"


@pytest.mark.thorough
@both
async def test_a_test_is_launched_by_its_node_id(caller: Caller, adapter: str) -> None:
    caller.write(
        "test_sums.py",
        "def test_one():\n    assert False\n\ndef test_two():\n    total = 1 + 1\n    assert total == 2\n",
    )
    launched = await caller(
        "launch", test="test_sums.py::test_two", adapter=adapter, breakpoints=["test_sums.py:6"], timeout=60
    )
    stop = launched.details["stop"]
    assert [(variable["name"], variable["value"]) for variable in stop["locals"]] == [("total", "2")]
    ended = await caller("continue")
    assert "1 passed" in (await caller("output")).text
    assert ended.details["snapshot"]["exitCode"] == 0


async def test_a_configuration_of_launch_json_is_launched(caller: Caller) -> None:
    caller.write("say.py", SAY)
    configuration = {
        "name": "Say it",
        "type": "debugpy",
        "request": "launch",
        "program": "${workspaceFolder}/say.py",
        "args": ["from", "file"],
        "env": {"GREETING": "hi"},
        "console": "internalConsole",
    }
    caller.write(".vscode/launch.json", json.dumps({"configurations": [configuration]}))
    launched = await caller("launch", configuration="Say it", breakpoints=["say.py:3"], env={"GONE": "there"})
    assert launched.details["snapshot"]["line"] == 3
    ended = await caller("continue")
    assert ended.details["output"].startswith("hi there\n")


@pytest.mark.thorough
async def test_a_compound_of_launch_json_starts_all_of_its_configurations(caller: Caller) -> None:
    caller.write("say.py", SAY)
    both_of_them = [
        {"name": name, "type": "debugpy", "request": "launch", "program": "${workspaceFolder}/say.py", "args": [name]}
        for name in ("One", "Two")
    ]
    compound = {"name": "All", "configurations": ["One", "Two"]}
    caller.write(".vscode/launch.json", json.dumps({"configurations": both_of_them, "compounds": [compound]}))
    launched = await caller("launch", configuration="All", breakpoints=["say.py:3"])
    assert launched.details["notes"] == ["One is session debug-1", "Two is session debug-2"]
    listed = await caller("sessions")
    assert [session["id"] for session in listed.details["sessions"]] == ["debug-1", "debug-2"]


@pytest.mark.thorough
async def test_an_adapter_that_the_project_itself_defines_is_told_with_its_command(caller: Caller) -> None:
    caller.write("say.py", "print()\n")
    caller.write("dap.toml", '[adapters.debugpy]\ncommand = [["python3", "-Xdev", "-m", "debugpy.adapter"]]\n')
    launched = await caller("launch", program="say.py", adapter="debugpy", stop_on_entry=False)
    (note,) = launched.details["notes"]
    assert note.startswith(f"as {caller.project}/dap.toml of the project says, debugpy is started by: ")
    assert note.endswith("python3 -Xdev -m debugpy.adapter")


ASKING = {
    "configurations": [
        {
            "name": "Ask",
            "type": "debugpy",
            "request": "launch",
            "program": "${workspaceFolder}/say.py",
            "args": ["${input:word}", "${input:tone}", "${input:pin}"],
        }
    ],
    "inputs": [
        {"id": "word", "type": "promptString", "description": "What to say"},
        {
            "id": "tone",
            "type": "pickString",
            "options": ["soft", {"label": "Loud!", "value": "loud"}],
            "default": "soft",
        },
        {"id": "pin", "type": "promptString", "description": "PIN", "password": True},
    ],
}


async def test_a_configuration_gets_answers_to_what_it_asks_and_secret_ones_are_not_shown(caller: Caller) -> None:
    caller.write("say.py", "import sys\nprint(*sys.argv[1:])\n")
    caller.write(".vscode/launch.json", json.dumps(ASKING))
    launched = await caller(
        "launch", configuration="Ask", inputs={"word": "hello", "tone": "loud", "pin": "7x7x7x"}, timeout=30
    )
    assert launched.details["snapshot"]["status"] == "terminated"
    assert "hello loud [redacted]" in (await caller("output")).text


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({}, "${input:word} asks the user (What to say): give it in `inputs`, on a command line as --input word=VALUE"),
        ({"word": "a", "tone": "shrill"}, "${input:tone} was given as 'shrill', expected one of soft, loud"),
        ({"wrod": "a"}, "inputs: Ask does not ask for wrod; it asks for word, tone, pin"),
    ],
)
async def test_an_answer_that_is_missing_or_wrong_is_told_by_name(
    caller: Caller, inputs: dict[str, str], said: str
) -> None:
    caller.write(".vscode/launch.json", json.dumps(ASKING))
    code, message = (await caller("launch", configuration="Ask", inputs=inputs)).error
    assert code == "invalid_arguments"
    assert said in message


async def test_a_configuration_that_there_is_not_is_refused_with_those_that_there_are(caller: Caller) -> None:
    caller.write(".vscode/launch.json", '{"configurations": [{"name": "A", "type": "debugpy", "request": "launch"}]}')
    code, message = (await caller("launch", configuration="B")).error
    assert code == "invalid_arguments"
    assert '"A"' in message


@both
@pytest.mark.thorough
async def test_a_program_reads_a_file_as_its_input(caller: Caller, adapter: str) -> None:
    caller.write("ask.py", "print('got', input(), input())\n")
    caller.write("answers.txt", "one\ntwo\n")
    launched = await caller(
        "launch", program="ask.py", stdin_file="answers.txt", adapter=adapter, stop_on_entry=False, timeout=30
    )
    assert launched.details["snapshot"]["status"] == "terminated"
    assert "got one two" in (await caller("output")).text


@pytest.mark.thorough
@both
async def test_a_program_in_a_terminal_is_typed_to(caller: Caller, adapter: str) -> None:
    caller.write("ask.py", "name = input('who? ')\nprint('hello', name)\n")
    caller.settings = type(caller.settings)(session_initial_stop_seconds=1.0)  # as it waits for the name
    await caller("launch", program="ask.py", terminal=True, adapter=adapter, breakpoints=["ask.py:2"])
    typed = await caller("stdin", input="you\n")
    assert typed.text == "Typed 4 characters."
    stopped = await caller("wait")
    assert stopped.details["snapshot"]["line"] == 2
    await caller("continue")
    assert "hello you" in (await caller("output")).text


async def test_a_program_without_a_terminal_says_what_to_do_when_it_is_typed_to(caller: Caller) -> None:
    caller.write("say.py", SAY)
    await caller("launch", program="say.py")
    code, message = (await caller("stdin", input="x\n")).error
    assert (code, "terminal" in message) == ("unsupported", True)


async def test_a_program_stops_where_it_begins_if_nothing_else_is_to_stop_it(caller: Caller) -> None:
    caller.write("say.py", SAY)
    launched = await caller("launch", program="say.py")
    assert (launched.details["stop"]["reason"], launched.details["snapshot"]["line"]) == ("entry", 1)


@pytest.mark.thorough
@pytest.mark.parametrize("adapter", ["dapkit", "debugpy"])
async def test_children_of_a_program_are_shown_with_what_they_do(caller: Caller, adapter: str) -> None:
    caller.write("child.py", "def work(n):\n    result = n * 2\n    return result\nprint('child', work(21))\n")
    caller.write(
        "parent.py", "import subprocess, sys\nsubprocess.run([sys.executable, 'child.py'], check=True)\nprint('done')\n"
    )
    stopped = await caller("launch", program="parent.py", adapter=adapter, breakpoints=["child.py:3"], timeout=30)
    assert stopped.details["snapshot"]["child"] == 1
    assert ", thread MainThread\nProcess: child 1\n" in stopped.text
    assert (await caller("evaluate", expression="result")).text.startswith("Result: 42")
    listed = await caller("sessions")
    [child] = listed.details["sessions"][0]["children"]
    assert (child["number"], child["status"], child["line"]) == (1, "stopped", 3)
    assert f"\n  child=1 stopped at {caller.project / 'child.py'}:3 (pid {child['pid']}" in listed.text
    assert (await caller("continue")).details["snapshot"]["exitCode"] == 0
    [child] = (await caller("sessions")).details["sessions"][0]["children"]
    assert child["status"] == "terminated"


async def test_a_program_that_there_is_not_is_refused(caller: Caller) -> None:
    code, message = (await caller("launch", program="nowhere.py")).error
    assert (code, "nowhere.py" in message) == ("invalid_arguments", True)


async def test_an_adapter_that_there_is_not_is_refused(caller: Caller) -> None:
    caller.write("say.py", SAY)
    code, message = (await caller("launch", program="say.py", adapter="debugpi")).error
    assert (code, "debugpi" in message) == ("adapter_unavailable", True)


async def test_a_folder_is_refused_in_the_words_of_the_contract(
    caller: Caller, require_tool: Callable[[str], Path]
) -> None:
    require_tool("lldb-dap-22")
    (caller.project / "sub").mkdir()
    code, message = (await caller("launch", program="sub", adapter="lldb-dap")).error
    assert code == "invalid_arguments"
    assert message == (
        "launch program resolves to a directory: sub/. "
        "Pass an executable file path or choose an adapter that supports package directories."
    )


@pytest.mark.thorough
async def test_a_name_is_given_to_a_session_and_is_free_again_after_its_end(caller: Caller) -> None:
    caller.write("say.py", SAY)
    caller.session = "mine"
    launched = await caller("launch", program="say.py")
    assert launched.whole["session"] == launched.details["snapshot"]["id"] == "mine"
    code, message = (await caller("launch", program="say.py")).error
    assert (code, message.startswith("Debug session mine is still active.")) == ("invalid_arguments", True)
    await caller("terminate")
    assert (await caller("launch", program="say.py")).whole["success"]


async def test_two_sessions_have_to_be_named(caller: Caller) -> None:
    caller.write("say.py", SAY)
    await caller("launch", program="say.py")
    await caller("launch", program="say.py")
    code, message = (await caller("threads")).error
    assert (code, "debug-1, debug-2" in message) == ("no_session", True)
    caller.session = "debug-2"
    assert (await caller("threads")).whole["session"] == "debug-2"
    listed = (await caller("sessions")).text
    assert listed.startswith("debug-1: stopped\n  adapter=dapkit\n")
    assert "\n\ndebug-2: stopped\n" in listed


@pytest.mark.thorough
async def test_other_arguments_are_given_with_a_restart(caller: Caller) -> None:
    caller.write("say.py", SAY)
    await caller("launch", program="say.py", args=["one"], breakpoints=["say.py:3"])
    again = await caller("restart", args=["two"], env={"GREETING": "hi"})
    assert again.details["snapshot"]["line"] == 3
    assert (await caller("continue")).details["output"].startswith("hi None\n")
    assert "['two']\n" in (await caller("output")).details["output"]


async def test_a_caller_is_told_what_is_being_done(caller: Caller) -> None:
    caller.write("say.py", SAY)
    await caller("launch", program="say.py")
    ours = [told for told in caller.progress if not told.startswith("Starting the program")]  # the adapter's, if slow
    assert ours == ["choosing a debug adapter", "starting dapkit", "waiting for the first stop"]


@pytest.fixture(scope="module")
def old_python() -> Path:
    """Return the folder of an interpreter that our own adapter does not debug."""
    for folder in sorted(Path("~/.pyenv/versions").expanduser().glob("3.1[01].*/bin")):
        return folder
    pytest.skip("no Python before 3.12 is installed")


@pytest.mark.thorough
async def test_an_older_interpreter_is_debugged_by_debugpy_which_says_why(caller: Caller, old_python: Path) -> None:
    caller.write("say.py", SAY)
    caller.env = {**caller.env, "PATH": f"{old_python}:{caller.env['PATH']}"}
    launched = await caller("launch", program="say.py", timeout=60)
    assert launched.details["adapter"] == "debugpy"
    assert any("3.12 or later is needed" in note for note in launched.details["notes"])


@both
@pytest.mark.thorough
async def test_interpreter_and_its_program_are_a_launch_of_the_program(caller: Caller, adapter: str) -> None:
    caller.write("say.py", "import sys\nprint(sys.argv[1:], sys.flags.dev_mode, __name__)\n")
    given = {"program": sys.executable, "adapter": adapter, "stop_on_entry": False}
    for args, said in (
        (["-X", "dev", "say.py", "x"], "['x'] True __main__\n"),
        (["-m", "say", "-m"], "['-m'] False __main__\n"),
        (["-c", "import sys; print(sys.argv, 'code')", "y"], "['-c', 'y'] code\n"),
    ):
        launched = await caller("launch", args=args, **given)
        assert launched.details["output"] == said
        await caller("terminate")


@pytest.mark.thorough
async def test_command_of_path_is_a_program(caller: Caller) -> None:
    script = caller.write("bin/greet", f"#!{sys.executable}\nprint('hello')\n")
    script.chmod(0o755)
    caller.env = {**caller.env, "PATH": f"{script.parent}:{caller.env['PATH']}"}
    launched = await caller("launch", program="greet", stop_on_entry=False)
    assert launched.details["output"] == "hello\n"
    refused = await caller("launch", program="nowhere-at-all")
    assert "no command nowhere-at-all on PATH" in refused.text
