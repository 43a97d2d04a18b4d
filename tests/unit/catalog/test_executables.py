"""Where commands are looked for."""

from pathlib import Path

from dapkit.catalog.executables import search


def program(path: Path) -> Path:
    """Make a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_program_of_the_project_comes_before_those_on_path(tmp_path: Path) -> None:
    own, other = program(tmp_path / "project/bin/gdb"), program(tmp_path / "other/gdb")
    found = search("gdb", [tmp_path / "project"], {"PATH": str(other.parent)})
    assert found is not None
    assert (found.path, found.kind) == (own, "project")


def test_folder_on_path_has_its_place_there_though_it_is_named_like_one_of_a_project(tmp_path: Path) -> None:
    system, first = program(tmp_path / "bin/gdb"), program(tmp_path / "local/gdb")
    found = search("gdb", [tmp_path], {"PATH": f"{first.parent}:{system.parent}"})
    assert found is not None
    assert (found.path, found.kind) == (first, "PATH")
