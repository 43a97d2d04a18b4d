"""Profiles in a terminal: as commands, and in the menu."""

import os
import sys
import termios
from pathlib import Path

import pytest

from dapkit.cli import exit_codes
from dapkit.diagnostics.profiling.profile import Profile
from dapkit.diagnostics.profiling.samples import WAITING
from e2e.diagnostics.commands import dapkit, menu
from e2e.diagnostics.profiled import PYTHON, SHOP, running, seen
from screens import WRITE_PICTURES, Terminal, keep_picture, terminal

pytestmark = [pytest.mark.usefixtures("runtime"), pytest.mark.timeout(300)]

COMMAND = [sys.executable, "-m", "dapkit.cli"]
ESCAPE, CTRL_C = "\x1b", "\x03"
IN_DOCS = Path(__file__).parents[3] / "docs" / "how-to" / "diagnose"


@pytest.fixture(autouse=True)
def _no_desktop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test open a picture on the desktop of who runs it."""
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"):
        monkeypatch.delenv(variable, raising=False)


def modes(screen: Terminal) -> object:
    """Return the modes of a terminal."""
    return termios.tcgetattr(screen._descriptor)[:4]


@pytest.mark.thorough
def test_work_in_the_menu_ends_early_with_what_it_has(project: Path) -> None:
    running(project, "shop.py", SHOP)
    with menu(project, "work", lines=40) as screen:
        screen.wait("Work profile: 3 of 30 s")
        screen.type(ESCAPE)
        screen.wait("There is no desktop to open it.")
        screen.wait("<module> (shop.py)")  # among the calls, at the end
        keep_picture(screen, "work", "dapkit diagnose: work")
        screen.type(ESCAPE)
        screen.wait("Type a name, or use the arrows.")
        screen.type(ESCAPE)
        assert screen.wait_for_the_end() == 0


@pytest.mark.thorough
def test_performance_in_the_menu_is_ended_by_a_key_for_each_profile(project: Path) -> None:
    running(project, "shop.py", SHOP)
    with menu(project, "performance", lines=40) as screen:
        screen.wait("CPU profile: 2 s. Any key ends it")
        screen.type("x")
        screen.wait("Work profile: 2 of 30 s")
        screen.type(" ")
        screen.wait("Only time on a processor")
        screen.wait("Condition.wait (threading.py")
        keep_picture(screen, "performance", "dapkit diagnose: performance")
        screen.type("q")
        screen.wait("Type a name, or use the arrows.")
        screen.type(ESCAPE)
        assert screen.wait_for_the_end() == 0


@pytest.mark.thorough
def test_errors_are_shown_in_the_menu(project: Path) -> None:
    dapkit(project, "launch", "-b", "app.py:5", "app.py")
    for entry in ("work", "performance"):
        with menu(project, entry) as screen:
            screen.wait("Continue it first: dapkit continue")
            screen.type("q")
            screen.wait("Type a name, or use the arrows.")
            screen.type(ESCAPE)
            assert screen.wait_for_the_end() == 0


@pytest.mark.thorough
def test_keys_end_the_profiles_of_the_command_and_the_terminal_is_as_before(project: Path) -> None:
    running(project, "busy.py", PYTHON)
    for first, second in (("x", "\r"), (CTRL_C, CTRL_C)):
        with terminal([*COMMAND, "performance"], project, {"PAGER": "cat"}, columns=120, lines=60) as screen:
            before = modes(screen)
            screen.wait("CPU profile: 1 s (any key ends it)")
            assert modes(screen) != before
            screen.type(first)
            screen.wait("Work profile: 1 of 30 s (any key ends it)")
            screen.type(second)
            screen.wait("profiles are in profiles/")
            assert screen.wait_for_the_end() == exit_codes.DONE
            assert modes(screen) == before


@pytest.mark.thorough
def test_terminal_is_as_before_after_a_command_that_was_asked_to_end(project: Path) -> None:
    running(project, "busy.py", PYTHON)
    with terminal([*COMMAND, "performance"], project, {}) as screen:
        before = modes(screen)
        screen.wait("CPU profile: 1 s (any key ends it)")
        screen.process.terminate()
        screen.wait_for_the_end()
        assert modes(screen) == before


@pytest.mark.thorough
def test_work_in_a_terminal_prints_the_path_where_there_is_no_desktop(project: Path) -> None:
    running(project, "busy.py", PYTHON)
    with terminal([*COMMAND, "work", "--seconds", "2"], project, {"PAGER": "cat"}, lines=40) as screen:
        screen.wait("Work profile: 1 of 2 s")
        screen.wait("Flame graph: /")
        assert screen.wait_for_the_end() == exit_codes.DONE
        assert "spin (busy.py" in screen.text


@pytest.mark.thorough
def test_work_is_opened_on_a_desktop(project: Path, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    (tmp_path / "bin").mkdir()
    opener = tmp_path / "bin" / "xdg-open"
    opener.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}.new && mv {opened}.new {opened}\n')
    opener.chmod(0o755)
    running(project, "busy.py", PYTHON)
    desktop = {"DISPLAY": ":99", "PATH": f"{opener.parent}{os.pathsep}{os.environ['PATH']}", "PAGER": "cat"}
    for option, is_opened in (("--no-open", False), ("--open", True)):
        with terminal([*COMMAND, "work", "--seconds", "1", option], project, desktop, lines=40) as screen:
            assert screen.wait_for_the_end() == exit_codes.DONE
            assert opened.exists() == is_opened
    assert Path(opened.read_text()).read_text().startswith("<svg ")


@pytest.mark.thorough
def test_flame_graph_of_the_documentation_is_one_of_a_real_program(project: Path) -> None:
    where = running(project, "shop.py", SHOP)

    def has_everything(profile: Profile) -> bool:
        frames = {frame.function for stack in profile.stacks for frame in stack}
        return {"total_of", "discounted", "count_all", "news", "mail_*", WAITING.function} <= frames

    drawn = seen(where, has_everything).path.read_text()
    if WRITE_PICTURES:
        (IN_DOCS / "work-flame-graph.svg").write_text(drawn)
    assert (IN_DOCS / "work-flame-graph.svg").read_text().startswith("<svg ")
