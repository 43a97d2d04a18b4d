"""The list of commands, in the help and by the words that users of other debuggers type."""

import re

import click
import pytest
from click.testing import CliRunner

from dapkit.agent.command_words import ALIASES, OF_JOB, OPTION_OF_RUN, flags
from dapkit.agent.skill import opening
from dapkit.agent.table import ACTIONS
from dapkit.cli import main
from dapkit.cli.command_list import WORDS_OF_OTHERS

COLUMNS = {"COLUMNS": "80"}


def commands() -> list[str]:
    """Return the names of all commands."""
    return main.dapkit.list_commands(click.Context(main.dapkit))


def output_of(*words: str) -> str:
    """Return what a command prints in a terminal of 80 columns."""
    ended = CliRunner().invoke(main.dapkit, words, env=COLUMNS)
    assert ended.exit_code == 0
    return ended.output


def test_help_is_one_screen_whose_commands_exist() -> None:
    text = output_of("--help")
    assert len(text.encode()) <= 1500
    assert len(text.splitlines()) <= 34
    usual, _ = text[text.index("\nCommands:") :].split("More:")
    named = {word for line in usual.splitlines()[2:] for word in re.split(r"[,\s]+", line[10:]) if word}
    assert "launch" in named
    assert named <= set(commands())


def test_help_of_topics_lists_every_command() -> None:
    assert {name.replace("_", "-") for name in ACTIONS if name not in (OPTION_OF_RUN, *OF_JOB)} <= set(commands())
    listed = {line.split()[0] for line in output_of("help", "commands").splitlines() if line.strip()}
    assert set(commands()) <= listed
    topics = re.findall(r"^  ([a-z-]+) ", output_of("help"), re.MULTILINE)
    assert {"commands", "breakpoints", "time-travel", "exit-codes"} <= set(topics)
    for topic in topics:
        assert output_of("help", topic)
    codes = [line.split()[0] for line in output_of("help", "exit-codes").splitlines() if line.startswith("  1")]
    assert codes == ["1", "10", "11", "130"]


@pytest.mark.parametrize("name", commands())
def test_help_of_a_command_is_short_and_leads_to_all_options(name: str) -> None:
    text = output_of(name, "--help")
    assert len(text.encode()) <= 1200
    assert "Example: " in text or isinstance(main.dapkit.get_command(click.Context(main.dapkit), name), click.Group)
    whole = output_of("help", name)
    if "All options: " in text:
        assert f"dapkit help {name}" in text
        assert "--json" in whole or "--most" in whole
    else:
        assert text in whole


def test_wrong_topic_leads_to_the_list_of_topics() -> None:
    ended = CliRunner().invoke(main.dapkit, ["help", "breakpoint"])
    assert ended.exit_code == 2
    assert "There is no topic or command 'breakpoint'; dapkit help lists the topics." in ended.output


def test_skill_is_a_page_whose_beginning_fits_into_instructions() -> None:
    page = output_of("skill")
    assert len(page.split()) < 600
    assert opening() == "".join(page.splitlines(keepends=True)[:10])
    for name in re.findall(r"`dapkit ([a-z-]+)", page):
        assert name in commands()


@pytest.mark.parametrize("word", WORDS_OF_OTHERS)
def test_word_of_another_debugger_proposes_a_command(word: str) -> None:
    ended = CliRunner().invoke(main.dapkit, [word])
    assert ended.exit_code == 2
    assert f"No such command '{word}'. Did you mean {WORDS_OF_OTHERS[word]}?" in ended.output
    assert WORDS_OF_OTHERS[word] in main.dapkit.list_commands(click.Context(main.dapkit))


@pytest.mark.parametrize("word", ALIASES)
def test_word_of_another_debugger_is_the_command(word: str) -> None:
    assert output_of(word, "--help").splitlines()[0].startswith(f"Usage: dapkit {ALIASES[word]} ")
    assert ALIASES[word] in main.dapkit.list_commands(click.Context(main.dapkit))
    assert word not in WORDS_OF_OTHERS


def test_report_takes_no_process() -> None:
    ended = CliRunner().invoke(main.dapkit, ["dump", "4711"])
    assert ended.exit_code == 2
    assert "The threads of a process: dapkit stacks 4711" in ended.output


def test_condition_has_a_second_name() -> None:
    assert flags("condition") == ["-c", "--condition", "--when"]
    assert "-c, --condition TEXT" in output_of("probe", "--help")
