import grp
import os
import pwd
from collections.abc import Callable
from pathlib import Path

import pytest

from dapkit.system.trusted_files import is_trusted, objection_to, read_file

NOBODY = 65534

needs_root = pytest.mark.usefixtures("root")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file in a folder in a folder, all our own."""
    path = tmp_path / "above" / "folder" / "file"
    path.parent.mkdir(parents=True)
    path.write_text("text")
    path.chmod(0o644)
    return path


def test_file_of_ours_is_trusted(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert objection_to(file) is None
    monkeypatch.chdir(file.parent)
    assert objection_to("file") is None
    assert objection_to("../folder/./file") is None
    assert objection_to(f"/proc/../{file}") is None


@pytest.mark.parametrize("level", [0, 1, 2])
def test_file_that_everybody_can_write_or_replace_is_not(file: Path, level: int) -> None:
    place = [file, *file.parents][level]
    place.chmod(0o777)
    assert objection_to(file) == f"everybody can write to {place}"


@needs_root
@pytest.mark.parametrize("level", [0, 1, 2])
def test_file_that_a_stranger_owns_or_could_replace_is_not(file: Path, level: int) -> None:
    place = [file, *file.parents][level]
    os.chown(place, NOBODY, NOBODY)
    assert objection_to(file) == f"{place} belongs to user {NOBODY}"


def test_nobody_can_replace_what_is_ours_in_a_sticky_folder(file: Path) -> None:
    file.parent.chmod(0o1777)
    assert objection_to(file) is None


@needs_root
def test_sticky_folder_is_no_exception_for_what_a_stranger_has_put_there(file: Path) -> None:
    file.parent.chmod(0o1777)
    os.chown(file, NOBODY, NOBODY)
    assert objection_to(file) == f"{file} belongs to user {NOBODY}"


@needs_root
@pytest.mark.parametrize("kind", ["link of a stranger", "folder of a stranger"])
def test_links_are_followed_and_each_step_has_to_be_safe(file: Path, tmp_path: Path, kind: str) -> None:
    link = tmp_path / "link"
    link.symlink_to("above/folder/../folder")
    assert objection_to(link / "file") is None
    place = link if kind == "link of a stranger" else file.parent
    os.chown(place, NOBODY, NOBODY, follow_symlinks=False)
    assert objection_to(link / "file") == f"{place} belongs to user {NOBODY}"


@needs_root
def test_files_of_root_are_nobodys_in_a_namespace_without_root_and_may_be_passed(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.lstat
    monkeypatch.setattr(
        os,
        "lstat",
        lambda path: os.stat_result([*real(path)[:4], NOBODY, *real(path)[5:]]) if path == "/" else real(path),
    )
    os.chown(file.parent, NOBODY, NOBODY)
    assert objection_to(file) is None
    (tmp_path / "link").symlink_to(file)
    (tmp_path / "folder").symlink_to(file.parent)
    os.chown(file, NOBODY, NOBODY)
    assert objection_to(tmp_path / "link") is None  # the user has said where it leads
    assert objection_to(file) == objection_to(tmp_path / "folder/file") == f"{file} belongs to user {NOBODY}"


def test_links_in_a_circle_are_given_up(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert objection_to(tmp_path / "a") == f"{tmp_path}/a leads through too many links"


def test_what_is_not_there_is_not_trusted(tmp_path: Path) -> None:
    assert objection_to(tmp_path / "missing") == f"{tmp_path}/missing cannot be looked at: No such file or directory"
    assert not is_trusted(tmp_path / "missing")


@needs_root
def test_group_may_write_only_if_nobody_else_is_in_it(file: Path) -> None:
    file.chmod(0o664)
    user = pwd.getpwuid(os.geteuid())
    assert objection_to(file) is None  # root's own group
    shared = next(group for group in grp.getgrall() if group.gr_name not in {user.pw_name, "root"})
    os.chown(file, -1, shared.gr_gid)
    assert objection_to(file) == f"group {shared.gr_gid} can write to {file}"


def test_regular_file_is_read_up_to_a_limit(file: Path) -> None:
    assert read_file(file, 4) == b"text"
    with pytest.raises(OSError, match="it is larger than 3 bytes"):
        read_file(file, 3)


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (os.mkfifo, "a named pipe"),
        (lambda path: path.mkdir(), "a folder"),
        (lambda path: path.symlink_to("/dev/zero"), "a device"),
        (lambda path: path.symlink_to("/proc/self/fd"), "a folder"),
    ],
)
def test_nothing_but_regular_files_is_read(tmp_path: Path, make: Callable[[Path], None], kind: str) -> None:
    make(tmp_path / "it")
    with pytest.raises(OSError, match=f"it is {kind}, expected a regular file"):
        read_file(tmp_path / "it", 100)


def test_file_that_never_ends_is_read_up_to_the_limit_alone(tmp_path: Path) -> None:
    (tmp_path / "sparse").touch()
    os.truncate(tmp_path / "sparse", 1 << 40)
    with pytest.raises(OSError, match="it is larger than 1000 bytes"):
        read_file(tmp_path / "sparse", 1000)
