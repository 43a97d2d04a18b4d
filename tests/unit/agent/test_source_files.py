"""Files of breakpoints that are given by less than their path."""

from pathlib import Path

import pytest

from dapkit.agent.breakpoint_forms.source_files import SourceFinder
from dapkit.agent.calls.failures import InvalidArguments
from dapkit.client import SourceLocation


def files(folder: Path, *names: str) -> None:
    """Make files below a folder."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")


@pytest.fixture
def finder(tmp_path: Path) -> SourceFinder:
    """Return a finder for a project with some files."""
    files(tmp_path, "top.c", "src/one/util.c", "src/two/util.c", "src/two/only.c", ".git/only.c", "node_modules/only.c")
    return SourceFinder(folders=(tmp_path, tmp_path / "src"), project=tmp_path)


def meant(finder: SourceFinder, name: str) -> Path:
    """Return the file that a name means."""
    return finder.location(SourceLocation(finder.project / name, 3)).file


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("top.c", "top.c"),
        ("only.c", "src/two/only.c"),
        ("one/util.c", "src/one/util.c"),
        ("none.c", "none.c"),
    ],
)
def test_file_that_is_not_there_is_the_one_of_the_project_whose_path_ends_so(
    finder: SourceFinder, name: str, path: str
) -> None:
    assert meant(finder, name) == finder.project / path


def test_several_files_that_could_be_meant_are_named(finder: SourceFinder) -> None:
    with pytest.raises(InvalidArguments, match=r"util\.c could be any of .*/src/one/util\.c, .*/src/two/util\.c"):
        meant(finder, "util.c")


def test_source_that_the_session_knows_comes_first(tmp_path: Path) -> None:
    files(tmp_path, "copy/parse.c")
    finder = SourceFinder(folders=(tmp_path,), project=tmp_path, known=["/build/parse.c", "/build/other.c"])
    assert meant(finder, "parse.c") == Path("/build/parse.c")


def test_adapter_that_finds_files_by_their_names_is_given_the_name(tmp_path: Path) -> None:
    files(tmp_path, "here.c", "copy/parse.c")
    finder = SourceFinder(folders=(tmp_path,), project=tmp_path, finds_names=True)
    assert meant(finder, "parse.c") == Path("parse.c")
    assert meant(finder, "lib/parse.c") == Path("lib/parse.c")
    assert meant(finder, "here.c") == tmp_path / "here.c"
    by_text = finder.location(SourceLocation(tmp_path / "parse.c", text="return"))
    assert by_text.file == tmp_path / "copy/parse.c"  # whose text is searched


def test_source_is_found_in_the_names_that_an_executable_holds(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(
        b"\x7fELF\0/home/me/toml/parse.go\0/home/me/toml/lex.go\0not/parse.go.old\0no /no/parse.go\0/a/sub.go/sub.go\0"
    )
    finder = SourceFinder(folders=(tmp_path,), project=tmp_path, program=program)
    assert meant(finder, "parse.go") == Path("/home/me/toml/parse.go")
    assert meant(finder, "toml/lex.go") == Path("/home/me/toml/lex.go")
    assert meant(finder, "sub.go") == Path("/a/sub.go/sub.go")
    assert meant(finder, "sparse.go") == tmp_path / "sparse.go"


def test_path_outside_of_all_folders_is_left_as_it_is(finder: SourceFinder) -> None:
    assert finder.location(SourceLocation(Path("/nowhere/only.c"), 1)).file == Path("/nowhere/only.c")
