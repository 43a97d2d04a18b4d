import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dapkit.system import runtime_folder
from dapkit.system.runtime_folder import NoPrivateFolder, private_folder, private_folders
from missing import require_root

USER = os.geteuid()
NOBODY = 65534

needs_root = pytest.mark.usefixtures("root")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make the places of a machine where the folder may be; the user has logged in without the usual variable."""
    with tempfile.TemporaryDirectory() as short:  # sockets have short paths
        root = Path(short)
        for place in (f"run/{USER}", "tmp", "home"):
            (root / place).mkdir(parents=True, mode=0o700)
        (root / "tmp").chmod(0o1777)
        monkeypatch.setattr(runtime_folder, "RUN", str(root / "run"))
        monkeypatch.setattr(runtime_folder, "TEMPORARY", str(root / "tmp"))
        monkeypatch.setenv("HOME", str(root / "home"))
        monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
        yield root


def without_login(machine: Path) -> None:
    (machine / "run" / str(USER)).rmdir()


def test_folder_that_the_system_made_at_the_login_comes_first(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert private_folder() == f"{machine}/run/{USER}/dapkit"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(machine / "home"))
    assert private_folder() == f"{machine}/home/dapkit"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(machine / "missing"))
    assert private_folder() == f"{machine}/run/{USER}/dapkit"
    assert not (machine / "missing").exists()


def test_folder_without_a_login_is_one_for_each_user(machine: Path) -> None:
    without_login(machine)
    assert private_folder() == str(machine / "tmp" / f"dapkit-{USER}")
    assert stat.S_IMODE((machine / "tmp" / f"dapkit-{USER}").stat().st_mode) == 0o700


@pytest.mark.parametrize("squat", ["file", "link", "open folder", "folder"])
def test_name_that_somebody_has_taken_keeps_nobody_out(machine: Path, squat: str) -> None:
    without_login(machine)
    taken = machine / "tmp" / f"dapkit-{USER}"
    match squat:
        case "file":
            taken.touch()
        case "link":
            taken.symlink_to(machine / "home")
        case "open folder":
            taken.mkdir()
            taken.chmod(0o755)
        case "folder":
            require_root()
            taken.mkdir(mode=0o700)
            os.chown(taken, NOBODY, NOBODY)
            (machine / "tmp" / f"dapkit-{USER}-000").mkdir()
            os.chown(machine / "tmp" / f"dapkit-{USER}-000", NOBODY, NOBODY)
    found = private_folder()
    assert found.startswith(str(machine / "tmp" / f"dapkit-{USER}-"))
    assert private_folder() == found
    assert found in private_folders()
    assert str(taken) not in private_folders()


def test_other_names_are_looked_for_only_where_the_usual_one_is_taken(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listdir(path: str) -> list[str]:
        raise AssertionError(f"{path} was listed")

    monkeypatch.setattr(os, "listdir", listdir)
    assert private_folder() == next(private_folders()) == f"{machine}/run/{USER}/dapkit"


def test_home_serves_where_nothing_else_can_be_written(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_login(machine)
    monkeypatch.setattr(runtime_folder, "TEMPORARY", "/proc")
    assert private_folder() == f"{machine}/home/.cache/dapkit/run"


@needs_root
def test_folder_below_one_of_another_user_is_passed_over(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.chown(machine / "home", NOBODY, NOBODY)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(machine / "home"))
    assert private_folder() == f"{machine}/run/{USER}/dapkit"


@needs_root
@pytest.mark.parametrize("kept", ["XDG_RUNTIME_DIR", "HOME"])
def test_nothing_is_made_in_a_folder_of_another_user(machine: Path, monkeypatch: pytest.MonkeyPatch, kept: str) -> None:
    theirs = machine / "theirs"
    theirs.mkdir(mode=0o700)
    os.chown(theirs, NOBODY, NOBODY)
    monkeypatch.setenv(kept, str(theirs))  # as `sudo -E` and `su` do
    if kept == "HOME":
        without_login(machine)
        monkeypatch.setattr(runtime_folder, "TEMPORARY", "/proc")
        with pytest.raises(NoPrivateFolder, match=f"{theirs} belongs to user {NOBODY}"):
            private_folder()
    else:
        assert private_folder() == f"{machine}/run/{USER}/dapkit"
    assert list(theirs.iterdir()) == []


def test_folder_is_made_in_one_of_the_system_where_root_is_nobody(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_login(machine)
    tmp = str(machine / "tmp")

    def lstat(path: str) -> os.stat_result:
        found = real(path)
        of_root = path in {"/", tmp}
        return os.stat_result((*found[:4], NOBODY, NOBODY, *found[6:])) if of_root else found

    real = os.lstat
    with monkeypatch.context() as context:
        context.setattr(os, "lstat", lstat)
        assert private_folder() == str(machine / "tmp" / f"dapkit-{USER}")


def test_error_names_each_place_and_why_it_cannot_be_used(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine / "run" / str(USER) / "dapkit").touch()
    monkeypatch.setattr(runtime_folder, "TEMPORARY", "/proc")
    monkeypatch.setenv("HOME", "/proc")
    with pytest.raises(NoPrivateFolder) as refusal:
        private_folder()
    assert f"{machine}/run/{USER}/dapkit has to be a folder, and is not one" in str(refusal.value)
    assert f"/proc/dapkit-{USER} cannot be used: No such file or directory" in str(refusal.value)
    assert "/proc/.cache/dapkit/run cannot be used" in str(refusal.value)
