"""Tests that fail, under pytest: where User Unhandled stops."""

from pathlib import Path

import pytest

from e2e.frameworks.conftest import Start

TESTS = """\
import asyncio, unittest, pytest

def total(prices):
    return {"none": 0}[prices]   # line 4: raised here

@pytest.fixture
def broken():
    raise RuntimeError("in a fixture")

def test_assertion():
    got = 1 + 1
    assert got == 3              # line 12

def test_error():
    total("all")

def test_caught():
    with pytest.raises(KeyError):
        total("some")

def test_skipped():
    pytest.skip("not on this machine")

def test_failing():
    pytest.fail("said so")       # line 25

def test_fixture(broken):
    pass

@pytest.mark.asyncio
async def test_asynchronous():
    await asyncio.sleep(0)
    assert asyncio is None       # line 33

class OldTest(unittest.TestCase):
    def test_old(self):
        self.assertEqual(1, 2)   # line 37
"""
STOPS = [
    ("AssertionError", "test_assertion", 12),
    ("KeyError", "total", 4),
    ("Failed", "test_failing", 25),
    ("RuntimeError", "broken", 8),
    ("AssertionError", "test_asynchronous", 33),
    ("AssertionError", "OldTest.test_old", 37),
]


@pytest.mark.each_python
@pytest.mark.works_with(
    "pytest", "breakpoints in tests; User Unhandled stops at the line that fails, also of pytest-asyncio"
)
def test_each_failing_test_stops_at_its_line_and_no_other_does(start: Start, tmp_path: Path) -> None:
    (tmp_path / "test_shop.py").write_text(TESTS)
    words = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "test_shop.py")
    peer = start("--module", "pytest", "--", *words)
    peer.configure(path=tmp_path / "test_shop.py", lines=[11, 32], filters=["userUnhandled"])
    for line, name in ((11, "test_assertion"),):
        peer.stopped("breakpoint")
        assert peer.at() == (name, line)
        assert peer.step() == (name, 12)
        assert peer.value("got") == "2"
        peer.go()
    for kind, name, line in STOPS:
        if name == "test_asynchronous":
            peer.stopped("breakpoint")
            assert peer.step() == (name, line)
            peer.go()
        assert peer.stopped("exception")["text"] == kind
        assert peer.at() == (name, line)
        peer.go()
    code, output, _ = peer.finish()
    assert (code, output.splitlines()[-1].partition(" in ")[0]) == (1, "5 failed, 1 passed, 1 skipped, 1 error")
