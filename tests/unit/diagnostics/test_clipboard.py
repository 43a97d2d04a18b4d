"""The clipboard of the system, where there is one."""

from pathlib import Path

import pytest

from dapkit.tui import copy_action


@pytest.fixture(autouse=True)
def _no_desktop(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("WAYLAND_DISPLAY", "DISPLAY", "WSL_DISTRO_NAME", "SSH_TTY", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


def put_program(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_text_is_given_to_the_program_of_the_desktop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    put_program(tmp_path, "wl-copy", f'cat > "{tmp_path}/copied"')
    assert copy_action.copy("Größe\n")
    assert (tmp_path / "copied").read_text() == "Größe\n"


def test_without_a_desktop_there_is_no_clipboard(tmp_path: Path) -> None:
    put_program(tmp_path, "wl-copy", "exit 0")
    assert not copy_action.copy("x")


def test_program_that_fails_or_hangs_copies_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    put_program(tmp_path, "xclip", "exit 1")
    assert not copy_action.copy("x")
    put_program(tmp_path, "xclip", "exec sleep 600")
    monkeypatch.setattr("dapkit.diagnostics.limits.CLIPBOARD_SECONDS", 0.2)
    assert not copy_action.copy("x")


def test_terminal_of_another_machine_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not copy_action.over_ssh()
    monkeypatch.setenv("SSH_TTY", "/dev/pts/1")
    assert copy_action.over_ssh()
