"""Temporary folders of processes that were killed go with the next one; folders in use, and those of others, stay."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from dapkit.system import scratch_folder as module
from dapkit.system.scratch_folder import scratch_folder

HOLDS = """
import sys
from dapkit.system.scratch_folder import scratch_folder
with scratch_folder("dapkit-test-") as folder:
    (folder / "file").write_text("x")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(module, "_YOUNG_SECONDS", 0.0)
    return tmp_path


def test_folder_is_there_while_the_block_lasts(temporary: Path) -> None:
    with scratch_folder("dapkit-test-") as folder:
        (folder / "file").write_text("x")
        assert folder.parent == temporary
        assert folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()


def test_folder_of_a_killed_process_goes_with_the_next_one_and_a_living_one_stays() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        with scratch_folder("dapkit-test-"):
            assert (left / "file").exists()
        process.kill()
        process.wait()
        assert (left / "file").exists()
        with scratch_folder("dapkit-test-"):
            assert not left.exists()


def test_links_files_and_young_folders_stay(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = temporary / "target"
    target.mkdir()
    (temporary / "dapkit-test-link").symlink_to(target)
    (temporary / "dapkit-test-file").write_text("x")
    other = temporary / "dapkit-other"
    other.mkdir()
    with scratch_folder("dapkit-test-"):
        assert target.exists()
        assert other.exists()
        assert (temporary / "dapkit-test-file").exists()
        assert (temporary / "dapkit-test-link").is_symlink()
    monkeypatch.setattr(module, "_YOUNG_SECONDS", 60.0)
    young = temporary / "dapkit-test-young"
    young.mkdir()
    with scratch_folder("dapkit-test-"):
        assert young.exists()
