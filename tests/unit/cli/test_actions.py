"""Command lines of actions, and the parameters that they come to."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import click
import pytest

from dapkit import hub
from dapkit.agent.calls.failures import Code
from dapkit.agent.command_words import WITH_PROGRAM
from dapkit.agent.table import ACTIONS
from dapkit.cli import actions, arguments, exit_codes
from dapkit.cli.display import as_json_text
from dapkit.cli.main import dapkit
from dapkit.cli.proxy import proxy
from dapkit.diagnostics.errors import OWN_CODES


def parameters(line: str) -> dict[str, object]:
    """Return what an action would be asked with."""
    name, *words = shlex.split(line)
    context = actions.command(name).make_context(name, words)
    try:
        return arguments.parameters(name, context.params)
    except arguments.WrongWords as error:
        raise click.UsageError(str(error)) from error


def every_command(command: click.Command, *names: str) -> Iterator[tuple[click.Command, str]]:
    """List a command and all below it."""
    yield command, " ".join(names)
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            below = command.get_command(click.Context(command), name)
            assert below is not None
            yield from every_command(below, *names, name)


@pytest.mark.parametrize("width", [80, 40])
def test_help_fits_the_terminal_line_by_line(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for command, name in every_command(dapkit, "dapkit"):
        text = command.get_help(command.context_class(command, info_name=name, max_content_width=120))
        assert not [line for line in text.splitlines() if len(line) > width], name
        assert "\b" not in text
        assert "\\b" not in text
    whole = dapkit.get_help(dapkit.context_class(dapkit, info_name="dapkit"))
    assert "\n    dapkit evaluate 'len(items)'\n    dapkit step-over\n    dapkit terminate\n" in whole


@pytest.mark.parametrize("word", ["-", "/dev/stdin", "/dev/fd/0"])
def test_standard_input_of_the_command_is_named_for_another_process(word: str) -> None:
    named = parameters(f"launch --stdin-file {word} app.py")["stdin_file"]
    assert named == f"/proc/{os.getpid()}/fd/0"
    assert parameters("launch --stdin-file x app.py")["stdin_file"] == str(Path.cwd() / "x")


def test_options_behind_the_adapter_of_a_proxy_are_those_of_the_adapter() -> None:
    words = ["--transcript", "wire.jsonl", "dlv", "dap", "--listen=127.0.0.1:4711"]
    found = proxy.make_context("proxy", words).params
    assert (found["adapter"], found["listen"]) == (("dlv", "dap", "--listen=127.0.0.1:4711"), None)
    with pytest.raises(click.NoSuchOption):
        proxy.make_context("proxy", ["--transcripts", "wire.jsonl", "dlv"])


def absolute(named: dict[str, Any]) -> dict[str, object]:
    """Return parameters with their files as the command makes them."""
    return {key: str(Path.cwd() / value) if key in ("file", "core") else value for key, value in named.items()}


@pytest.mark.parametrize("name", ACTIONS)
def test_example_of_an_action_is_a_command_line_with_its_parameters(name: str) -> None:
    command = ["bash", "-c", f"printf '%s\\0' {actions.example(name)}"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    _, dashed, *words = said.removesuffix("\0").split("\0")
    assert dashed.replace("-", "_") == name
    found = parameters(shlex.join([name, *words]))
    if name in ("launch", "attach", "core", *WITH_PROGRAM):
        assert found.pop("cwd") == str(Path.cwd())
    assert found == absolute(dict(ACTIONS[name]["example"]))


@pytest.mark.parametrize("name", ACTIONS)
def test_help_of_an_action_shows_every_parameter_and_an_example(name: str) -> None:
    command = actions.command(name)
    text = command.get_help(click.Context(command, max_content_width=200))
    for parameter in ACTIONS[name]["parameters"]:
        assert f"--{parameter.replace('_', '-')}" in text
    assert "Example: dapkit " in text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("set_breakpoint app.py:12", {"file": "app.py", "line": 12}),
        ("set_breakpoint app.py:12:5", {"file": "app.py", "line": 12, "column": 5}),
        ("set_breakpoint main", {"function": "main"}),
        ("set_breakpoint Shop.total", {"function": "Shop.total"}),
        ("set_breakpoint shop::Cart::total", {"function": "shop::Cart::total"}),
        ("set_breakpoint ./app.py --text 'return x'", {"file": "app.py", "text": "return x"}),
        ("run_to --file app.py --line 3", {"file": "app.py", "line": 3}),
        ("breakpoints disable 1 3", {"do": "disable", "numbers": [1, 3]}),
        (
            "set_exception_breakpoints raised --condition raised=ValueError",
            {"filters": ["raised"], "conditions": {"raised": "ValueError"}},
        ),
        ("custom_request threads '{\"a\": 1}'", {"command": "threads", "arguments": {"a": 1}}),
        ("stdin --end", {"end": True}),
        ("stdin --no-end yes", {"input": "yes", "end": False}),
        ("continue --timeout 7.5", {"timeout": 7.5}),
    ],
)
def test_words_come_to_parameters(line: str, expected: dict[str, object]) -> None:
    assert parameters(line) == absolute(expected)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "launch -b app.py:3 app.py -x --fast",
            {"breakpoints": ["app.py:3"], "program": "app.py", "args": ["-x", "--fast"]},
        ),
        ("launch --module pytest -- -x tests", {"module": "pytest", "args": ["-x", "tests"]}),
        ("launch --configuration server", {"configuration": "server"}),
        ("launch --env A=b=c --env HOME app", {"env": {"A": "b=c", "HOME": None}, "program": "app"}),
        (
            'launch -b \'{"file": "a.c", "line": 3}\' app',
            {"breakpoints": [{"file": "a.c", "line": 3}], "program": "app"},
        ),
    ],
)
def test_program_and_its_arguments_come_last(line: str, expected: dict[str, object]) -> None:
    assert parameters(line) == {"cwd": str(Path.cwd()), **expected}


def test_arguments_may_stand_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "arguments.json"
    file.write_text('{"threadId": 1}')
    assert parameters(f"custom_request threads @{file}") == {"command": "threads", "arguments": {"threadId": 1}}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("evaluate x --expression y", "expression was given twice"),
        ("run_to main", "expected FILE:LINE, found 'main'"),
        ("custom_request threads '[1]'", "expected a JSON object, found list"),
        ("custom_request threads nonsense", "expected a JSON object"),
        ("custom_request threads @/nowhere", "cannot read /nowhere"),
        ("launch --env =b app", "expected NAME=VALUE"),
        ("step_over --granularity word", "'word' is not one of"),
        ("read_memory 0x1 many", "'many' is not a valid integer"),
    ],
)
def test_wrong_words_are_refused_with_what_was_expected(line: str, expected: str) -> None:
    with pytest.raises(click.UsageError) as refusal:
        parameters(line)
    assert expected in refusal.value.format_message()


def test_errors_have_exit_codes_that_tell_them_apart() -> None:
    def code(error: str) -> int:
        return exit_codes.code_of({"success": False, "error": {"code": error}})

    assert (code("invalid_arguments"), code("no_session"), code("adapter_unavailable")) == (
        exit_codes.USAGE,
        exit_codes.NO_SESSION,
        exit_codes.NO_ADAPTER,
    )
    assert code("something new") == exit_codes.FAILED
    assert exit_codes.code_of({"success": True}) == exit_codes.DONE


def test_unknown_command_is_answered_with_the_nearest() -> None:
    with pytest.raises(click.UsageError, match="Did you mean step-over"):
        dapkit.main(["stpe-over"], standalone_mode=False)


def test_settings_are_shown_with_where_they_are_from(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DAPKIT_REQUEST_TIMEOUT_SECONDS", "7")
    dapkit.main(["config", "--json"], standalone_mode=False)
    found = json.loads(capsys.readouterr().out)
    assert found["request.timeout_seconds"] == {
        "value": 7,
        "origin": "$DAPKIT_REQUEST_TIMEOUT_SECONDS",
        "unit": "seconds",
    }
    assert found["output.bytes"]["origin"] == "default"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed_for_a_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    dapkit.main(["completion", shell], standalone_mode=False)
    assert "_DAPKIT_COMPLETE" in capsys.readouterr().out


def test_page_of_the_commands_is_what_they_say() -> None:
    subprocess.run([sys.executable, "tools/commands_page.py", "--check"], check=True)


def test_every_error_of_an_action_of_the_hub_and_of_diagnostics_has_an_exit_code_or_is_a_failure() -> None:
    of_actions = set(get_args(Code.__value__))
    of_the_hub = {hub.HubError.code, *(kind.code for kind in hub.HubError.__subclasses__())}
    assert of_actions - set(exit_codes.OF_CODE) == {"adapter_failed", "internal"}
    assert OWN_CODES - set(exit_codes.OF_CODE) == {"no_folder", "tool_failed"}
    assert set(exit_codes.OF_CODE) - of_actions - OWN_CODES <= of_the_hub
    assert of_the_hub <= set(exit_codes.OF_CODE)


def test_every_exit_code_has_a_meaning() -> None:
    numbers = [number for number, _ in exit_codes.MEANINGS]
    beside = {exit_codes.DONE, exit_codes.FAILED, exit_codes.NOT_SET, exit_codes.NOT_KNOWN, exit_codes.INTERRUPTED}
    assert sorted({*exit_codes.OF_CODE.values(), *beside}) == numbers


def test_json_shows_characters_that_a_person_does_not_see() -> None:
    value = {"text": "naïve \u009b31m \u202e \U000e0041 日本"}
    text = as_json_text(value)
    assert text == '{"text": "naïve \\u009b31m \\u202e \\udb40\\udc41 日本"}'
    assert json.loads(text) == value
