"""Which files of presenters a program is debugged with."""

from pathlib import Path

import pytest

from dapkit.python.adapter.configuration.presenters import PresenterFiles, presenter_files


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder below that of a project which names two files, of which one can be written by everybody."""
    (tmp_path / "pyproject.toml").write_text('[tool.dapkit]\npresenters = ["ours.py", "theirs.py"]\n')
    (tmp_path / "ours.py").touch(0o644)
    (tmp_path / "theirs.py").touch()
    (tmp_path / "theirs.py").chmod(0o666)
    (tmp_path / "package").mkdir()
    return tmp_path


def test_files_are_those_of_the_nearest_project_that_nobody_else_can_have_written(project: Path) -> None:
    paths, [problem] = presenter_files(None, project / "package")
    assert paths == (str(project / "ours.py"),)
    assert problem.startswith(f"presenters {project / 'theirs.py'} are not used: ")
    (project / "pyproject.toml").chmod(0o666)
    paths, [problem] = presenter_files(None, project / "package")
    assert paths == ()
    assert problem.startswith(f"the presenters of {project / 'pyproject.toml'} are not used: ")
    (project / "package" / "pyproject.toml").write_text("[tool.other]\n")
    assert presenter_files(None, project / "package") == PresenterFiles()


def test_configuration_names_others_or_none(project: Path) -> None:
    assert presenter_files(["more.py"], project / "package").paths == (str(project / "package" / "more.py"),)
    assert presenter_files([], project / "package") == PresenterFiles()


@pytest.mark.parametrize("text", ["[tool.dapkit", 'tool = "tool.dapkit"', "[tool.dapkit]\npresenters = []"])
def test_project_file_that_says_nothing_of_it_is_passed_over(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert presenter_files(None, tmp_path) == PresenterFiles()


def test_presenters_that_are_no_list_of_paths_are_reported(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.dapkit]\npresenters = "one.py"\n')
    [problem] = presenter_files(None, tmp_path).problems
    assert problem == f"{tmp_path / 'pyproject.toml'}: tool.dapkit.presenters is 'one.py', expected a list of paths"
