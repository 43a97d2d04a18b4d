"""What strangers have left on the way up from the folder of the user is named, and neither read nor run."""

import os
import sys
from pathlib import Path

import pytest

from catalog_world import World
from dapkit.catalog import LaunchFileError, NoAdapter, NoProgram, launch_json, render_doctor, render_states, states
from dapkit.catalog.doctor import Checkup
from dapkit.catalog.interpreters import python_for
from dapkit.catalog.projects import up_to_repository
from dapkit.hub.folder import project_of

NOBODY = 65534

pytestmark = pytest.mark.usefixtures("root")


def give_away(path: Path) -> None:
    os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


@pytest.fixture
def trap(world: World) -> Path:
    """Have a stranger put an environment and more into a folder above the user's; return what it writes if it runs."""
    shared = world.project
    shared.chmod(0o1777)
    written = shared / "trapped"
    python = shared / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\necho here > {written}\n")
    python.chmod(0o755)
    for name in ("debugpy", "python3", "lldb-dap", "gdb"):
        (python.parent / name).symlink_to("python")
    (shared / ".git").mkdir()
    (shared / "dap.toml").write_text(f"[gdb]\ncommand = '{python}'\n")
    (shared / "pyproject.toml").touch()
    (shared / "user").mkdir()
    for name in (".venv", ".venv/bin", ".venv/bin/python", ".git", "dap.toml", "pyproject.toml"):
        give_away(shared / name)
    return written


def test_repository_of_a_stranger_is_none(world: World, trap: Path) -> None:
    assert up_to_repository(world.project / "user") == [world.project / "user"]
    assert project_of(str(world.project / "user")) == str(world.project / "user")
    assert not trap.exists()


def test_user_in_a_folder_of_strangers_runs_nothing_of_theirs_and_is_told(world: World, trap: Path) -> None:
    world.install_python("python3", "3.12.1", modules="debugpy")
    catalog = world.load()
    found = states(catalog, cwd=world.project)
    assert not trap.exists()
    for text in (render_states(found, catalog), render_doctor([Checkup(state, "works") for state in found], catalog)):
        python = f"{world.project}/.venv/bin/python"
        assert f"skipped {python}, which would have been run: {world.project}/.venv belongs to user {NOBODY}" in text
        assert f"left out: {world.project}/dap.toml: {world.project}/dap.toml belongs to user {NOBODY}" in text


def test_program_in_a_folder_of_strangers_gets_the_interpreter_of_the_user(world: World, trap: Path) -> None:
    python = world.install_python("python3", "3.12.1")
    world.write("user/app.py")
    (world.project / "app.py").touch()
    catalog = world.load()
    for place in (world.project / "user", world.project):
        choice = catalog.choose("app.py", cwd=place)
        assert choice.python == python
        assert (f"skipped {world.project}/.venv/bin/python" in "".join(choice.notices)) == (place == world.project)
    assert not trap.exists()


def test_program_of_a_stranger_in_a_project_is_not_run(world: World, trap: Path) -> None:
    own = world.install("lldb-dap")
    choice = world.load().choose(cwd=world.project, adapter="lldb-dap")
    assert choice.command[0] == str(own)
    assert not trap.exists()


def test_interpreter_that_was_named_is_run_whosever_it_is(world: World, trap: Path) -> None:
    world.write("app.py")
    with pytest.raises(NoAdapter):  # for it is none
        world.load().choose("app.py", cwd=world.project, adapter="dapkit", python=world.project / ".venv/bin/python")
    assert trap.exists()


def test_link_of_a_stranger_is_not_followed(world: World) -> None:
    real = world.install_python(str(world.home / "other/bin/python"), "3.12.0")
    (world.project / ".venv/bin").mkdir(parents=True)
    link = world.project / ".venv/bin/python"
    link.symlink_to(real)
    found = python_for(None, world.project, world.env)
    assert found is not None
    assert found.path == link
    give_away(link)
    skipped: list[str] = []
    python_for(None, world.project, world.env, skipped.append)
    assert skipped == [f"skipped {link}, which would have been run: {link} belongs to user {NOBODY}"]


def test_configurations_of_a_stranger_are_named_and_not_read(world: World) -> None:
    (world.project / ".git").mkdir()
    file = world.write(".vscode/launch.json", "{}")
    inner = world.write("inner/.vscode/launch.json", "{}")
    give_away(inner)
    assert launch_json.find(inner.parent.parent) == world.project
    give_away(file)
    with pytest.raises(
        LaunchFileError, match=f"{inner} belongs to user {NOBODY}, and others could have any command run"
    ):
        launch_json.find(inner.parent.parent)


@pytest.mark.parametrize("name", ["dap.toml", ".vscode/launch.json", "app.py"])
def test_nothing_waits_for_a_named_pipe_of_a_project(world: World, name: str) -> None:
    world.write("other.py")
    (world.project / ".vscode").mkdir()
    os.mkfifo(world.project / name)
    world.install_python("python3", "3.12.1")
    catalog = world.load()
    match name:
        case "dap.toml":
            assert catalog.problems[0].text == "cannot be read: it is a named pipe, expected a regular file"
        case "app.py":
            with pytest.raises(NoProgram, match="it is a named pipe"):
                catalog.choose("app.py", cwd=world.project)
        case _:
            with pytest.raises(LaunchFileError, match="it is a named pipe"):
                launch_json.read(world.project)
    assert catalog.choose("other.py", cwd=world.project).command[0] == sys.executable
