"""The tests of breakpoints once more, in a package that lacks the extension: Python serves."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.debuggee import peer
from e2e.debuggee.conftest import Start, python, start  # noqa: F401 - fixtures
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


@pytest.mark.parametrize(
    "specs",
    [
        [{"line": 4}],
        [{"line": 4, "condition": "n"}],
        [{"line": 4, "hitCondition": ">0"}, {"line": 7, "condition": "0"}],
    ],
    ids=["plain", "condition", "several"],
)
def test_breakpoints_too_near_to_the_recursion_limit_are_reported_as_missed(
    start: Start,  # noqa: F811 - the fixture
    specs: list[dict[str, object]],
) -> None:
    peer = start(
        """
        import traceback
        def f(n):
            if n > 985:
                deep = n
            return f(n + 1)
        try:
            f(1)
        except RecursionError as error:
            files = {frame.filename for frame in traceback.extract_tb(error.__traceback__)}
            print(files == {__file__}, error.__context__)
        """
    )
    peer.configure(breakpoints=specs)
    assert peer.finish() == (0, "True None\n", "")
    [said] = [event["body"]["output"] for event in peer.events() if event["event"] == "output"]
    assert said.startswith("Breakpoints in f (")
    assert said.endswith("prog.py:2) were missed: there is no room for the debugger so near to the recursion limit.\n")
