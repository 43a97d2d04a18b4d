"""The answers to usual questions hold what was asked, and are as short as the page says."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_answers_are_whole_and_short() -> None:
    command = [sys.executable, "tools/answers_table.py", "--show"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    page = (ROOT / "docs/reference/answers.md").read_text(encoding="utf-8")
    questions = [line.split("|")[1:3] for line in done.stdout.splitlines() if line.startswith("| ")]
    assert questions == [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| ")][: len(questions)]
