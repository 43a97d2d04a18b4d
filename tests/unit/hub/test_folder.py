import os
import stat
from pathlib import Path

import pytest

from dapkit.hub import FolderRefused
from dapkit.hub.folder import runtime_folder

NOBODY = 65534

needs_root = pytest.mark.usefixtures("root")


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that the environment names; it does not exist yet."""
    monkeypatch.setenv("DAPKIT_RUNTIME_DIR", str(tmp_path / "of" / "hub"))
    return tmp_path / "of" / "hub"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folder_that_the_environment_names_is_made_for_us_alone(named: Path) -> None:
    before = os.umask(0)
    try:
        assert runtime_folder() == str(named)
    finally:
        os.umask(before)
    assert mode(named) == 0o700
    assert runtime_folder() == str(named)


def test_folder_is_in_the_runtime_folder_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DAPKIT_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert runtime_folder() == f"{tmp_path}/dapkit"


def test_folder_open_to_others_is_refused(named: Path) -> None:
    named.mkdir(parents=True)
    named.chmod(0o750)
    with pytest.raises(FolderRefused, match=r"is open to others \(mode 0750\): chmod it to 0700"):
        runtime_folder()


def test_link_to_a_folder_is_refused(named: Path, tmp_path: Path) -> None:
    named.parent.mkdir()
    named.symlink_to(tmp_path)
    with pytest.raises(FolderRefused, match="has to be a folder, and is not one"):
        runtime_folder()


def test_file_in_its_place_is_refused(named: Path) -> None:
    named.parent.mkdir()
    named.touch()
    with pytest.raises(FolderRefused, match="has to be a folder, and is not one"):
        runtime_folder()


def test_folder_that_others_could_replace_is_refused(named: Path) -> None:
    named.mkdir(parents=True, mode=0o700)
    named.parent.chmod(0o777)
    with pytest.raises(FolderRefused, match=f"everybody can write to {named.parent}"):
        runtime_folder()


@needs_root
def test_folder_of_another_user_is_refused(named: Path) -> None:
    named.mkdir(parents=True)
    os.chown(named, NOBODY, NOBODY)
    with pytest.raises(FolderRefused, match=f"belongs to user {NOBODY}, expected user 0"):
        runtime_folder()


def test_folder_that_is_too_long_for_a_socket_is_refused(named: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAPKIT_RUNTIME_DIR", str(named / ("x" * 80)))
    with pytest.raises(FolderRefused, match="is too long for a unix socket in it: expected at most 98 bytes"):
        runtime_folder()
