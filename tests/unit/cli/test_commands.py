"""The list of commands, in the help and by the words that users of other debuggers type."""

import click
import pytest
from click.testing import CliRunner

from dapkit.agent.table import ACTIONS
from dapkit.cli import main


def test_help_lists_every_command() -> None:
    listed = {
        line.split()[0] for line in CliRunner().invoke(main.dapkit, ["--help"]).output.splitlines() if line.strip()
    }
    commands = main.dapkit.list_commands(click.Context(main.dapkit))
    assert {name.replace("_", "-") for name in ACTIONS} <= set(commands)
    assert set(commands) <= listed


@pytest.mark.parametrize("word", main.WORDS_OF_OTHERS)
def test_word_of_another_debugger_proposes_a_command(word: str) -> None:
    ended = CliRunner().invoke(main.dapkit, [word])
    assert ended.exit_code == 2
    assert f"No such command '{word}'. Did you mean {main.WORDS_OF_OTHERS[word]}?" in ended.output
    assert main.WORDS_OF_OTHERS[word] in main.dapkit.list_commands(click.Context(main.dapkit))


def test_report_takes_no_process() -> None:
    ended = CliRunner().invoke(main.dapkit, ["dump", "4711"])
    assert ended.exit_code == 2
    assert "The threads of a process: dapkit stacks 4711" in ended.output
