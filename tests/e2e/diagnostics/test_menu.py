"""The menu in a terminal, and where there is none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from dapkit.cli import exit_codes
from dapkit.cli.command_list import WORDS_OF_OTHERS
from dapkit.cli.main import dapkit as command
from dapkit.diagnostics import menu
from dapkit.tui.app import SCREENS
from e2e.diagnostics.commands import MENU, dapkit
from screens import keep_picture, terminal

pytestmark = [pytest.mark.usefixtures("runtime"), pytest.mark.timeout(300)]

DOWN, ESCAPE = "\x1b[B", "\x1b"


def test_every_route_has_a_screen_and_a_command() -> None:
    assert sorted(SCREENS) == sorted(menu.MENU)
    assert {WORDS_OF_OTHERS.get(name, name) for name in menu.MENU} <= set(command.list_commands(click.Context(command)))


@pytest.mark.thorough
def test_route_is_chosen_by_arrow_keys_and_left_again(project: Path) -> None:
    dapkit(project, "launch", "-b", "app.py:5", "app.py")
    with terminal(MENU, project, {}, columns=100, lines=24) as screen:
        screen.wait("Session debug-1: stopped")
        for name, summary in menu.MENU.items():
            screen.wait(f"{name:15} {summary}")
        screen.wait("esc Leave")
        keep_picture(screen, "menu", "dapkit diagnose")
        screen.type("\r")
        screen.wait("Nothing was written about debug-1 yet.")
        screen.type(ESCAPE)
        screen.wait("Type a name, or use the arrows.")
        screen.type(DOWN * (list(menu.MENU).index("system") - list(menu.MENU).index("open-artifacts")) + "\r")
        screen.wait("architecture")
        screen.type("q")
        screen.wait("Type a name, or use the arrows.")
        screen.type(ESCAPE)
        assert screen.wait_for_the_end() == 0


@pytest.mark.thorough
def test_errors_are_shown_in_the_menu_which_goes_on(project: Path) -> None:
    with terminal(MENU, project, {}, columns=100, lines=24) as screen:
        screen.wait("There is no session: dapkit launch starts one.")
        for entry in ("open-artifacts", "transcript", "work", "memory"):
            screen.wait("Type a name, or use the arrows.")
            screen.type(entry)
            screen.wait(f"Name: {entry}")
            screen.type("\r")
            screen.wait("There is no session: no hub runs.")
            screen.type("q")
        screen.wait("Type a name, or use the arrows.")
        screen.type(ESCAPE)
        assert screen.wait_for_the_end() == 0


def test_without_a_terminal_the_routes_are_listed(project: Path) -> None:
    error = dapkit(project, "diagnose", expect=exit_codes.USAGE)
    assert "The menu needs a terminal." in error
    for name, summary in menu.MENU.items():
        assert f"  dapkit {name:14}  {summary}" in error
    asked = subprocess.run([*MENU, "--json"], cwd=project, capture_output=True, text=True, timeout=60, check=False)
    answer = json.loads(asked.stdout)
    assert (answer["success"], answer["error"]["code"]) == (False, "no_terminal")


def test_menu_names_the_extra_that_draws_it(project: Path, tmp_path: Path) -> None:
    (tmp_path / "without" / "textual").mkdir(parents=True)
    (tmp_path / "without" / "textual" / "__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'textual'\", name='textual')\n"
    )
    code = "import sys; sys.argv[1:] = ['diagnose']; from dapkit.cli.entry import main; main()"
    hidden = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "without"), *filter(None, [os.environ.get("PYTHONPATH")])])}
    with terminal([sys.executable, "-c", code], project, hidden, columns=100, lines=24) as screen:
        screen.wait("pip install 'dapkit[tui]'")
        assert screen.wait_for_the_end() == exit_codes.NO_ADAPTER
