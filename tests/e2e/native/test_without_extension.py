"""The tests of breakpoints once more, in a package that lacks the extension: Python serves."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.debuggee import peer
from e2e.debuggee.conftest import python, start  # noqa: F401 - fixtures
from e2e.debuggee.test_breakpoints import *  # noqa: F403 - the tests


@pytest.fixture(scope="module", autouse=True)
def _package_without_extension(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("installed") / "debuggee"
    shutil.copytree(peer.ENTRY.parent, folder, ignore=shutil.ignore_patterns("*.so", "native", "__pycache__"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(peer, "ENTRY", folder / "entry.py")
        yield


def test_package_lacks_the_extension() -> None:
    names = {file.name for file in Path(peer.ENTRY).parent.iterdir()}
    assert "native.py" in names
    assert not any(name.endswith(".so") for name in names)
