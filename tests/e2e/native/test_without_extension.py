"""The tests of breakpoints once more, in a package that lacks the extension: Python serves."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.engine import engine_client
from e2e.engine.conftest import Start, python, start  # noqa: F401 - fixtures
from e2e.engine.test_breakpoints import *  # noqa: F403 - the tests


@pytest.fixture(scope="module", autouse=True)
def _package_without_extension(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("installed") / "debuggee"
    shutil.copytree(
        engine_client.ENTRY.parents[1], folder, ignore=shutil.ignore_patterns("*.so", "*.pyd", "native", "__pycache__")
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_client, "ENTRY", folder / "starting" / "entry.py")
        yield


def test_package_lacks_the_extension() -> None:
    names = {file.name for file in engine_client.ENTRY.parents[1].rglob("*")}
    assert "native.py" in names
    assert not any(name.endswith((".so", ".pyd")) for name in names)


@pytest.mark.thorough
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


def test_condition_leaves_neither_copies_of_variables_nor_takes_what_the_program_keeps(
    start: Start,  # noqa: F811 - the fixture
    python: str,  # noqa: F811 - the same
    tmp_path: Path,
) -> None:
    """On 3.12, `f_locals` is a dict that the frame keeps."""
    peer = start(
        """
        import weakref
        class Thing: pass
        def work():
            thing = Thing()
            weak, one, two = weakref.ref(thing), 1, 2
            thing = None
            return weak()
        def keep():
            mine = locals()
            mine["more"] = 1
            one, two = 1, 2
            locals()
            return sorted(mine)
        def leave():
            locals()["more"] = 1
            one, two = 1, 2
            return locals().get("more")
        print(work(), keep(), leave())
        """
    )
    plain = subprocess.run([python, "prog.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    peer.configure(breakpoints=[{"line": line, "condition": "one == 3"} for line in (6, 12, 17)])
    assert peer.finish() == (0, plain.stdout, "")


def test_breakpoint_in_code_that_starts_while_the_frames_are_listed_is_bound(
    start: Start,  # noqa: F811 - the fixture
    tmp_path: Path,
) -> None:
    """An audit event after the listing stands for any moment between two steps of the debugger.

    It waits for the code to run, which may have to wait for the debugger.
    """
    other = tmp_path / "other.py"
    other.write_text("state['runs'] = True\nn = 0\nwhile n >= 0:\n    n += 1\n")
    peer = start(
        """
        import sys, threading, time
        main, state = threading.get_ident(), {}
        def hook(event, arguments):
            if state or event != "object.__getattr__" or arguments[1] != "f_code": return
            if threading.get_ident() != main and arguments[0].f_globals is globals():
                state["is_listed"], until = True, time.monotonic() + 1
                while "runs" not in state and time.monotonic() < until: time.sleep(0.001)
        sys.addaudithook(hook)
        code = compile(open("other.py").read(), __file__.replace("prog", "other"), "exec")
        print("ready", flush=True)
        while not state: time.sleep(0.001)
        exec(code, {"state": state})
        """
    )
    peer.configure()
    assert peer.process.stdout is not None
    assert peer.process.stdout.readline() == b"ready\n"
    [breakpoint] = peer.ask("setBreakpoints", source={"path": str(other)}, breakpoints=[{"line": 4}])["breakpoints"]
    assert breakpoint["verified"]
    peer.stopped("breakpoint")
    assert peer.at() == ("<module>", 4)
