"""Packages' own tests, from their source distributions, which are downloaded once."""

import subprocess
import tarfile
import tempfile
from pathlib import Path

SUITES = {
    "click==8.1.8": "tests --ignore=tests/test_imports.py",
    "more-itertools==10.5.0": "tests",
    "markupsafe==3.0.2": "tests --ignore=tests/test_leak.py",  # it fails at times under debugpy, which makes objects
    "networkx==3.3": "networkx/classes networkx/utils",
}
"""What pytest gets, in the folder of the distribution: tests that need nothing but pytest."""


def unpacked(python: str, package: str) -> Path:
    """Return the folder of a source distribution."""
    store = Path(__file__).parents[2] / "build" / "suites"
    store.mkdir(parents=True, exist_ok=True)
    folder = store / package.replace("==", "-")
    if not folder.exists():
        base = subprocess.run(
            [python, "-c", "import sys; print(sys._base_executable)"], capture_output=True, text=True, check=True
        ).stdout.strip()
        download = ["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", str(store)]
        subprocess.run([base, *download, package], check=True)
        with (
            tarfile.open(next(store.glob(f"{folder.name.replace('-', '?')}*.tar.gz"))) as archive,
            tempfile.TemporaryDirectory(dir=store) as unfinished,
        ):
            archive.extractall(unfinished, filter="data")
            [made] = Path(unfinished).iterdir()
            made.rename(folder)
    return folder
