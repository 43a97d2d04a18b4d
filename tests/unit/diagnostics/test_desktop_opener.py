"""Opening by the desktop's program."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from dapkit.diagnostics import desktop_opener, limits
from dapkit.diagnostics.desktop_opener import open_path

type Opener = Callable[[str], Path]


@pytest.fixture
def opener(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opener:
    """Return a function that makes an opener of a script, on a desktop; it returns the file that the script knows."""
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"):
        monkeypatch.delenv(variable, raising=False)

    def make(script: str) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir()
        program = folder / "xdg-open"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("DISPLAY", ":7")
        monkeypatch.setenv("OPENED", str(tmp_path / "opened"))
        return tmp_path / "opened"

    return make


def test_path_goes_to_the_program_of_the_desktop(opener: Opener) -> None:
    opened = opener('echo "$1" > "$OPENED"; echo noise; echo noise >&2')
    assert open_path(Path("/a b"))
    assert opened.read_text() == "/a b\n"


def test_program_that_fails_has_opened_nothing(opener: Opener) -> None:
    opener("exit 3")
    assert not open_path(Path("/a"))


def test_program_that_stays_is_not_waited_for(opener: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "OPENING_SECONDS", 0.1)
    opened = opener('echo $$ > "$OPENED.new"; mv "$OPENED.new" "$OPENED"; exec sleep 100')
    assert open_path(Path("/a"))
    while not opened.exists():
        os.sched_yield()
    [shows] = desktop_opener._SHOWING
    assert shows.pid == int(opened.read_text())
    shows.kill()
    shows.wait(20)


def test_without_a_desktop_nothing_is_opened(opener: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = opener('touch "$OPENED"')
    monkeypatch.delenv("DISPLAY")
    assert not open_path(Path("/a"))
    assert not opened.exists()
