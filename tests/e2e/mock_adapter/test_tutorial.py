"""The tutorial: its programs are run as a reader would run them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TUTORIAL = ROOT / "docs" / "tutorial" / "write-an-adapter.md"
TEXT = TUTORIAL.read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Save every program under the name that the text gives it."""
    named = re.findall(r"[Ss]ave this (?:beside it )?as `(\w+\.py)`.*?\n```python\n(.*?)```", TEXT, re.DOTALL)
    named += re.findall(r"save this beside it as `(\w+\.py)`[^\n]*\n\n```python\n(.*?)```", TEXT)
    for name, code in named:
        (tmp_path / name).write_text(code)
    return tmp_path


def printed(folder: Path, program: str) -> str:
    done = subprocess.run(
        [sys.executable, program], cwd=folder, capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_every_block_of_python_is_a_program_that_is_saved(folder: Path) -> None:
    assert len(list(folder.iterdir())) == TEXT.count("```python\n") == 4


@pytest.mark.thorough
def test_the_smallest_adapter_answers(folder: Path) -> None:
    assert printed(folder, "try_smallest.py") == "['main']\n"


def test_the_smallest_adapter_is_as_small_as_it_says(folder: Path) -> None:
    lines = (folder / "smallest.py").read_text().splitlines()
    assert len([line for line in lines if line]) <= 15


@pytest.mark.thorough
def test_the_countdown_is_stepped_through(folder: Path) -> None:
    assert printed(folder, "try_countdown.py").split() == ["3", "2", "0", "3", "2", "1"]


def test_the_example_stays_readable_in_one_sitting() -> None:
    modules = (ROOT / "examples" / "mock_adapter").glob("*.py")
    lines = [line for module in modules for line in module.read_text(encoding="utf-8").splitlines()]
    assert len(lines) < 510


@pytest.mark.parametrize("name", re.findall(r":pyobject: (?:MockAdapter|Mark)\.(\w+)", TEXT))
def test_what_the_text_shows_of_the_example_exists(name: str) -> None:
    source = (ROOT / "examples" / "mock_adapter" / "mock_adapter.py").read_text(encoding="utf-8")
    assert f"def {name}(" in source
