"""The demo, run as `make demo` runs it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "examples" / "demo" / "run.py"


def run_demo(*arguments: str, demo: Path = DEMO) -> str:
    finished = subprocess.run(
        [sys.executable, demo, *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=40,
        stdin=subprocess.DEVNULL,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def test_the_demo_of_a_job_names_the_rank_that_the_others_wait_for(runtime: Path) -> None:  # noqa: ARG001 - its hub
    screen = run_demo(demo=DEMO.with_name("cluster.py"))
    line = next(
        number
        for number, text in enumerate(DEMO.with_name("cluster_job.py").read_text().splitlines(), 1)
        if "batch_is_there.wait()" in text
    )
    assert "rank 11 is LATE" in screen
    assert f"load @ cluster_job.py:{line}" in screen
    assert "15 members 0-10,12-15 (most)" in screen


def test_demo_shows_the_fault_of_the_shop() -> None:
    screen = run_demo()
    for seen in (
        "A breakpoint is hit",
        "❱ 30             booking = ledger.book(order)",
        "threads: MainThread *, receipts",
        "ZeroDivisionError (unhandled)",
        "total   Fraction(0, 1)",
        "Donald     1 x teapot       8.00",
        "exit code 1",
    ):
        assert seen in screen
    watched = re.findall(r"30  booking = ledger.book\(order\) +'(\w+)' +\[(.*)\]", screen)
    assert [(who, shared.count("1/4")) for who, shared in watched] == [
        ("Grace", 0),
        ("Edsger", 1),
        ("Barbara", 2),
        ("Donald", 2),
    ]


@pytest.mark.thorough
def test_demo_writes_the_messages_on_the_wire(tmp_path: Path) -> None:
    transcript = tmp_path / "wire.jsonl"
    assert str(transcript) in run_demo("--transcript", str(transcript))
    lines = [json.loads(line) for line in transcript.read_text().splitlines()]
    assert {line["from"] for line in lines} == {"client", "adapter"}
    commands = [line["message"]["command"] for line in lines if line["message"]["type"] == "request"]
    assert commands[:3] == ["initialize", "launch", "setBreakpoints"]
    assert lines[-1]["message"]["command"] == "disconnect"


@pytest.mark.thorough
def test_demo_of_time_travel_finds_the_fault_backwards() -> None:
    screen = run_demo(demo=DEMO.with_name("backwards.py"))
    assert "ZeroDivisionError (unhandled)" in screen
    rows = re.findall(r"ledger.py:49 +'(\w+)' +'([^']*)' +'([^']*)'", screen)
    assert [(who, before.count("1/4"), after.count("1/4")) for who, before, after in rows] == [
        ("Frances", 3, 4),
        ("Donald", 2, 3),
        ("Edsger", 1, 2),
        ("Grace", 0, 1),
    ]
    assert "❱ 49         found.append(CODES[order.code])" in screen.replace("│ ", "")
    assert screen.count("Donald     1 x teapot       8.00") == 1
    assert "exit code 1" in screen
