"""Every block of code in README and the documentation is what it says."""

import contextlib
import doctest
import importlib
import json
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from dapkit.agent.table import ACTIONS
from dapkit.catalog import load
from dapkit.cli.main import dapkit
from dapkit.client import BlockingSession, Session
from dapkit.endpoint import RequestFailed
from dapkit.protocol import OutputEvent
from dapkit.settings import Settings
from e2e.docs.blocks import APP, ROOT, RULES, Block, Check, Typed, all_blocks

BLOCKS = all_blocks()
ELSEWHERE = "/home/ada/shop"

BROKEN = """\
def share(total, count):
    return total / count

share(12, len([]))
"""
SECONDS = 50
BRANCH = re.compile(r"^(?P<depth>[│├└─ ]*)(?P<name>[A-Z]\w+)")


def checked(*checks: Check) -> list[Block]:
    return [block for block in BLOCKS if block.rule in checks]


def pages_with(check: Check) -> list[str]:
    return sorted({block.page for block in checked(check)})


def test_every_block_has_a_rule() -> None:
    assert [f"{block} ({block.language or 'no language'})" for block in BLOCKS if block.rule is None] == []


def test_every_rule_has_its_block() -> None:
    for place, rules in RULES.items():
        assert len([block for block in BLOCKS if (block.page, block.language) == place]) == len(rules), place


def test_json_is_json() -> None:
    for block in checked(Check.JSON):
        with contextlib.suppress(ValueError):
            json.loads(block.text)
            continue
        for line in block.text.splitlines():
            assert isinstance(json.loads(line), dict), block


def test_messages_in_the_text_are_messages() -> None:
    for block in checked(Check.WIRE):
        for line in block.text.splitlines():
            assert json.loads(line.partition(" ")[2])["type"] in {"request", "response", "event"}, block


@pytest.mark.parametrize("page", pages_with(Check.PROMPT))
def test_sessions_at_the_prompt_are_as_shown(page: str) -> None:
    results = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert results.attempted > 0
    assert results.failed == 0


def test_programs_compile() -> None:
    for block in checked(Check.PROGRAM):
        compile(block.text, str(block), "exec")


def test_files_in_toml_are_read() -> None:
    for block in checked(Check.TOML):
        assert tomllib.loads(block.text), block


def test_definitions_of_adapters_have_no_mistake(project: Path) -> None:
    for block in checked(Check.DEFINITIONS):
        (project / "dap.toml").write_text(block.text)
        catalog = load(project, project)
        assert catalog.problems == (), block
        assert tomllib.loads(block.text)["adapters"].keys() <= catalog.adapters.keys()


def test_settings_have_no_mistake(project: Path) -> None:
    for block in checked(Check.SETTINGS):
        (project / ".dapkit.toml").write_text(block.text)
        assert Settings.load(project).problems == (), block


def test_errors_are_where_the_tree_says() -> None:
    for block in checked(Check.ERRORS):
        layers = ("protocol", "endpoint", "transport", Path(block.page).stem)
        known = dict(chain.from_iterable(vars(importlib.import_module(f"dapkit.{it}")).items() for it in layers))
        above: list[tuple[int, type]] = []
        for branch in map(BRANCH.match, block.text.splitlines()):
            assert branch is not None, block
            depth, error = len(branch["depth"]), known[branch["name"]]
            above = [(it, parent) for it, parent in above if it < depth]
            assert all(issubclass(error, parent) for _, parent in above[-1:]), error
            above.append((depth, error))


def test_commands_exist_with_their_options() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for block in checked(Check.COMMANDS):
        for line in block.text.splitlines():
            name, *words = line.partition("  #")[0].split()
            match name:
                case "dapkit" if words != ["--version"]:
                    context = dapkit.make_context("dapkit", words[:1], resilient_parsing=True)
                    command = dapkit.get_command(context, words[0])
                    assert command is not None, line
                    command.make_context(words[0], words[1:], parent=context)
                case "make":
                    assert targets.issuperset(words), line
                case _:  # what `make` has built is installed
                    assert name in {"dapkit", "pip", "uv", "python", "python3.13", ".", "code"}, line


@pytest.mark.thorough
@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("page", pages_with(Check.CONSOLE))
def test_commands_print_what_the_page_says(project: Path, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for setting in ("ADAPTER_READY_SECONDS", "SESSION_INITIAL_STOP_SECONDS"):
        monkeypatch.setenv(f"DAPKIT_{setting}", "30")  # of a slow machine
    (project / "app.py").write_text(APP)
    (project / "broken.py").write_text(BROKEN)
    [shop] = [block.text for block in checked(Check.PROGRAM) if "def discounted" in block.text]
    (project / "shop.py").write_text(shop)
    for block in checked(Check.CONSOLE):
        for line, shown in commands(block.text) if block.page == page else ():
            done = subprocess.run(  # noqa: S602 - as a reader types it into a shell
                line, shell=True, cwd=project, capture_output=True, text=True, timeout=SECONDS, check=False
            )
            assert (done.returncode, done.stderr) == (0, ""), line
            assert plain(done.stdout, project) == plain(shown, project), line


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Take a block apart into commands and what they print."""
    first, *rest = re.split(r"^\$ ", text, flags=re.MULTILINE)
    assert not first
    for entry in rest:
        line, _, shown = entry.partition("\n")
        yield line, shown


def plain(text: str, folder: Path) -> str:
    """Leave out what differs from one machine and run to the next."""
    text = re.sub(r"^(\d+)  \d+ *(?=  )", r"\1  0", text, flags=re.MULTILINE)  # milliseconds of a probe
    return re.sub(r"0x[0-9a-f]+", "0x...", text.replace(str(folder), ELSEWHERE))


def write_named(folder: Path) -> None:
    """Save the programs that other blocks import or start."""
    for block, rule in typed():
        if rule.name is not None:
            (folder / rule.name).write_text(block.text)


@pytest.mark.thorough
def test_tests_in_the_text_pass(tmp_path: Path) -> None:
    write_named(tmp_path)
    for block in checked(Check.TESTS):
        (tmp_path / f"test_{block.number}.py").write_text(block.text)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
        cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert f"{len(checked(Check.TESTS))} passed" in done.stdout


def test_program_on_two_pages_is_the_same() -> None:
    shown = [block.text for block in checked(Check.PROGRAM) if "def price" in block.text]
    assert shown == [APP] * 2


def module(block: Block, rule: Typed) -> str:
    """Return a module with the block in it."""
    text = textwrap.indent(block.text, "    ") if rule.above.endswith(":\n") else block.text
    return rule.above + text


def typed() -> list[tuple[Block, Typed]]:
    return [(block, rule) for block in BLOCKS if isinstance(rule := block.rule, Typed)]


@pytest.mark.timeout(180)
def test_python_in_the_text_is_typed(tmp_path: Path) -> None:
    write_named(tmp_path)
    for block, rule in [*typed(), *((block, Typed()) for block in checked(Check.TESTS))]:
        if rule.name is None:
            (tmp_path / f"{re.sub(r'\W', '_', str(block))}.py").write_text(module(block, rule))
    config = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache")]
    env = os.environ | {"MYPYPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *config, str(tmp_path)],
        cwd=ROOT, env=env, capture_output=True, text=True, timeout=150, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_numbers_of_readme_are_right() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{len(ACTIONS)} actions" in text
    assert f"{len(load(ROOT, ROOT).adapters)} adapters" in text


def test_adapter_of_readme_can_be_started(tmp_path: Path) -> None:
    [adapter] = [block.text for block, _ in typed() if block.page == "README.md" and "Adapter[" in block.text]
    (tmp_path / "still.py").write_text(adapter)
    with BlockingSession(Session.spawn([sys.executable, str(tmp_path / "still.py")])) as session:
        session.launch({})
        assert [thread.name for thread in session.threads().threads] == ["main"]
        session.wait_for(OutputEvent, where=lambda event: event.output == "Hello from the adapter!\n")
        with pytest.raises(RequestFailed, match="stackTrace"):
            session.stack_trace(1)


@pytest.mark.thorough
@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize(
    ("block", "rule"), [pair for pair in typed() if pair[1].files is not None], ids=lambda it: getattr(it, "page", "")
)
def test_python_in_the_text_does_what_it_says(block: Block, rule: Typed, project: Path) -> None:
    write_named(project)
    for name, text in (rule.files or {}).items():
        (project / name).write_text(text)
    called = "\n\nimport anyio\nanyio.run(fragment)\n" if "def fragment" in rule.above else ""
    (project / "block.py").write_text(module(block, rule) + called)
    done = subprocess.run(
        [sys.executable, "block.py"], cwd=project, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert rule.prints in {None, done.stdout}
