"""The pages show what the command really prints."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HOW_TO = ROOT / "docs/how-to/debug-from-an-agent.md"
ELSEWHERE = "/home/ada/shop"
SECONDS = 50


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(block: str) -> list[tuple[str, str]]:
    """Take a block apart into commands and what they print."""
    first, *rest = re.split(r"^\$ ", block, flags=re.MULTILINE)
    assert not first
    return [(line, shown) for line, _, shown in (entry.partition("\n") for entry in rest)]


def printed(line: str, folder: Path) -> str:
    """Run a command as the page has it."""
    name, *words = shlex.split(line)
    assert name == "dapkit"
    command = [sys.executable, "-m", "dapkit.cli", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=True)
    return done.stdout


def plain(text: str, folder: Path) -> str:
    """Leave out what differs from one machine and run to the next."""
    return re.sub(r"0x[0-9a-f]+", "0x...", text.replace(str(folder), ELSEWHERE))


@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("page", [HOW_TO, ROOT / "README.md"], ids=lambda page: page.stem)
def test_commands_print_what_the_page_says(project: Path, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAPKIT_SESSION_INITIAL_STOP_SECONDS", "30")  # of a slow machine
    [program] = [block for block in blocks(HOW_TO, "python") if "def price" in block]
    (project / "app.py").write_text(program, encoding="utf-8")
    examples = [example for block in blocks(page, "console") for example in commands(block)]
    assert examples
    for line, shown in examples:
        assert plain(printed(line, project), project) == plain(shown, project), line
