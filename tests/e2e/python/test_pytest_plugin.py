"""`pytest --dapkit-record`: a failed test is debugged from what its run has left."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from dapkit.protocol import OutputEvent, StoppedEvent
from e2e.python.adapter_client import adapter_client

TESTS = """
import random
import time

def price(count):
    return random.random() * count

def test_good():
    assert price(1) < 1

def test_flaky():
    total = price(10) + time.time() % 1
    assert total < 0, f"total is {total!r}"

def test_other():
    assert price(2) < 2
"""
FAILS = 13
"""The line where it does."""

RUNS = 10
"""Of workers, which have threads; of these one at least has to be executed again whole."""

DEADLINE = 120


def run(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run pytest in a folder, whose recordings are in `kept`."""
    (folder / "test_shop.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--dapkit-recordings=kept", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=DEADLINE, check=False)


@pytest.mark.thorough
@pytest.mark.timeout(600)
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
async def test_a_failed_test_is_debugged_from_its_recording(tmp_path: Path, workers: tuple[str, ...]) -> None:
    for left in reversed(range(RUNS)):
        ended = run(tmp_path, "--dapkit-record=failed", *workers)
        assert ended.returncode == 1, ended.stderr
        assert "1 failed, 2 passed" in ended.stdout
        [(place, file, name)] = re.findall(r"^dapkit launch -b (\S+) (\S+)  # (\S+)$", ended.stdout, re.MULTILINE)
        assert (place, name) == (f"test_shop.py:{FAILS}", "test_shop.py::test_flaky")
        assert file in map(str, (tmp_path / "kept").iterdir())
        [total] = re.findall(r"total is ([\d.]+)$", ended.stdout, re.MULTILINE)[:1]
        async with adapter_client(tmp_path) as driver:
            await driver.session.add_breakpoint(tmp_path / "test_shop.py", FAILS)
            await driver.session.break_on_exceptions()
            position = driver.session.position
            await driver.session.launch({"program": file, "cwd": str(tmp_path)})
            stopped = await driver.session.wait_for(StoppedEvent, since=position)
            if left and any("diverged" in event.output for event in driver.told(OutputEvent)):
                continue
            assert stopped.reason == "breakpoint"
            [top, *_] = await driver.frames(stopped.thread_id or 1)
            assert (top.name, top.line) == ("test_flaky", FAILS)
            found = await driver.session.evaluate("total", frame_id=top.id, context="clipboard")
            assert found.result == total
            return


@pytest.mark.thorough
def test_what_is_kept(tmp_path: Path) -> None:
    passed = run(tmp_path, "--dapkit-record=failed", "-k", "good")
    assert passed.returncode == 0, passed.stderr
    assert list((tmp_path / "kept").iterdir()) == []
    passed = run(tmp_path, "--dapkit-record=all", "-k", "good")
    assert "recordings" not in passed.stdout
    assert len(list((tmp_path / "kept").iterdir())) == 1


@pytest.mark.thorough
def test_pytest_has_to_be_the_program(tmp_path: Path) -> None:
    (tmp_path / "runner.py").write_text("import pytest\npytest.main(['--dapkit-record=failed'])\n")
    refused = subprocess.run(
        [sys.executable, "runner.py"], cwd=tmp_path, capture_output=True, text=True, timeout=DEADLINE, check=False
    )
    assert "--dapkit-record needs pytest as the program" in refused.stdout + refused.stderr
