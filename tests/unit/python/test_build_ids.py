"""Identities of files: the build ID that a linker has written, or the SHA-256."""

import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from dapkit.python.recording.build_ids import has_identity, identity_of

pytestmark = pytest.mark.skipif("sys.platform == 'win32'")


def built(folder: Path, compiler: Path, number: int, *options: str) -> Path:
    source, library = folder / f"made{number}.c", folder / f"made{number}.so"
    source.write_text(f"int number(void) {{ return {number}; }}\n")
    subprocess.run([compiler, "-shared", "-fPIC", *options, "-o", library, source], check=True)
    return library


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_another_build_has_another_identity(tmp_path: Path, require_tool: Callable[[str], Path]) -> None:
    first, second = (built(tmp_path, require_tool("cc"), number, "-Wl,--build-id") for number in (1, 2))
    identity = identity_of(str(first))
    assert identity.startswith("build ID ")
    assert len(identity) == len("build ID ") + 40
    assert has_identity(str(first), identity)
    assert not has_identity(str(second), identity)
    copy = tmp_path / "copy"
    copy.write_bytes(first.read_bytes())
    assert has_identity(str(copy), identity)
    assert has_identity(str(first), sha256(first))  # as an earlier version has recorded it


def test_without_a_build_id_the_hash_counts(tmp_path: Path, require_tool: Callable[[str], Path]) -> None:
    library = built(tmp_path, require_tool("cc"), 1, "-Wl,--build-id=none")
    assert identity_of(str(library)) == sha256(library)
    assert has_identity(str(library), sha256(library))


def test_of_a_library_that_was_cut_off_the_hash_counts(tmp_path: Path, require_tool: Callable[[str], Path]) -> None:
    library = built(tmp_path, require_tool("cc"), 1, "-Wl,--build-id")
    for size in (3, 20, 58, 70, 200):
        cut = tmp_path / f"cut{size}"
        cut.write_bytes(library.read_bytes()[:size])
        assert identity_of(str(cut)) == sha256(cut)


def test_what_is_not_a_file_has_no_identity(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing", Path("/dev/zero")):
        assert identity_of(str(path)) == ""
        assert not has_identity(str(path), "0" * 64)
