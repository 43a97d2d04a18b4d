"""Which folder is the project of a call."""

from pathlib import Path

import pytest

from dapkit.hub.folder import project_of
from dapkit.system.user_folders import HOME


def test_folder_without_marks_is_its_own_project(tmp_path: Path) -> None:
    assert project_of(str(tmp_path)) == str(tmp_path)


@pytest.mark.parametrize("marker", [".git", ".dapkit.toml", "go.mod"])
def test_folder_below_a_marked_one_belongs_to_it(tmp_path: Path, marker: str) -> None:
    (tmp_path / marker).touch()
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert project_of(str(below)) == str(tmp_path)


def test_nearest_marked_folder_counts(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "Cargo.toml").touch()
    assert project_of(str(inner)) == str(inner)


def test_home_is_no_project_of_what_lies_below_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME, str(tmp_path))
    (tmp_path / ".git").mkdir()
    below = tmp_path / "scratch"
    below.mkdir()
    assert project_of(str(below)) == str(below)


def test_links_lead_to_one_project(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    assert project_of(str(tmp_path / "link")) == project_of(str(real))
