"""The folder for logs and artifacts: whose it is, and where."""

from pathlib import Path

import pytest

from dapkit.system.state_folder import NoStateFolder, state_folder


@pytest.fixture(autouse=True)
def _no_hub_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DAPKIT_RUNTIME_DIR", raising=False)


def test_folder_is_in_the_state_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert state_folder("logs") == str(tmp_path / "state" / "dapkit" / "logs")
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_folder() == str(tmp_path / ".local" / "state" / "dapkit")


def test_hub_of_its_own_keeps_everything_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAPKIT_RUNTIME_DIR", str(tmp_path / "hub"))
    assert state_folder("artifacts") == str(tmp_path / "hub" / "state" / "artifacts")


def test_usual_hub_whose_folder_is_named_by_its_starter_keeps_nothing_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("DAPKIT_RUNTIME_DIR", str(tmp_path / "dapkit"))
    assert state_folder("logs") == str(tmp_path / "state" / "dapkit" / "logs")


def test_folder_does_not_depend_on_the_current_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_folder() == str(tmp_path / ".local" / "state" / "dapkit")


def test_each_folder_that_is_made_is_closed_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    state_folder("artifacts", "shop")
    made = [tmp_path / "dapkit", tmp_path / "dapkit" / "artifacts", tmp_path / "dapkit" / "artifacts" / "shop"]
    assert [oct(folder.stat().st_mode & 0o777) for folder in made] == ["0o700"] * 3


def test_folder_that_is_open_to_others_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "dapkit").mkdir(mode=0o755)
    (tmp_path / "dapkit").chmod(0o755)
    with pytest.raises(NoStateFolder, match="open to others"):
        state_folder()


def test_file_in_its_place_is_an_error_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    (tmp_path / "file").write_text("")
    with pytest.raises(NoStateFolder, match=r"file/dapkit cannot be used: "):
        state_folder()
