"""A program to debug, and editors that have the configuration of their page."""

import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from e2e.editors.transcripts import Transcript
from e2e.python.listening_program import Listening, running
from missing import missing

ROOT = Path(__file__).parents[3]
PAGES = ROOT / "docs/how-to/editors"
SHOP = """
    def total(prices):
        result = 0
        for price in prices:
            result += price
        return result

    items = [1, 2, 3]
    print("sum", total(items))
    print("done")
"""


WAITING = """
    import dapkit
    dapkit.listen()
    dapkit.wait_for_client()
    count = 41
    print("went on", count, flush=True)
"""
"""A program that listens, and is to stop in its line 5."""


@pytest.fixture
def waiting(shop: Path) -> Iterator[Listening]:
    """A program that has begun to listen."""
    with running(WAITING, shop.parent, sys.executable) as program:
        program.read_place()
        yield program


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A program in a folder of its own, with a function whose line 4 runs three times."""
    file = tmp_path / "project" / "shop.py"
    file.parent.mkdir()
    file.write_text(textwrap.dedent(SHOP).lstrip())
    return file


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    """What the editor and the adapter say to each other."""
    return Transcript(tmp_path / "transcript.jsonl")


@pytest.fixture
def editor_env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """Variables that keep an editor from the settings of the user, and let it find our Python first."""
    home = tmp_path / "home"
    home.mkdir()
    folders = {"HOME": home, "XDG_CONFIG_HOME": home / "config", "XDG_CACHE_HOME": home / "cache"}
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    return {name: str(folder) for name, folder in folders.items()}


def editor(name: str) -> Path:
    """Return the program of an editor: that which tools/debian_trees.sh brings, or the one of the machine."""
    ours = ROOT / ".tools/bin" / name
    found = str(ours) if ours.exists() else shutil.which(name)
    if found is None:
        missing(f"{name} is not installed: run tools/debian_trees.sh")
    return Path(found)


def configuration(page: str, language: str, number: int = 0) -> str:
    """Return a configuration that the page of an editor shows: one of its blocks in a language."""
    found = re.findall(rf"```{language}\n(.*?)```", (PAGES / page).read_text(encoding="utf-8"), re.DOTALL)
    text: str = found[number]
    return text
