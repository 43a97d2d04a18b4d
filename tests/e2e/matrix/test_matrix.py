"""Every action with every adapter, as docs/reference/adapters.md tells it."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import adapters_table
from action_fixtures import Caller
from dapkit.catalog import NoAdapter, load
from e2e.matrix.subjects import SUBJECTS, Subject
from e2e.matrix.tour import Tour
from missing import missing

MOCK_ADAPTER = Path(__file__).parents[3] / "examples" / "mock_adapter"
MOCK_LAUNCH = {"request": "launch", "program": "${program}", "stopOnEntry": "${stop_on_entry}"}


@pytest.mark.thorough
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(subject, id=subject.title, marks=[pytest.mark.each_adapter] if subject.once_more else [])
        for subject in SUBJECTS
    ],
)
async def test_each_action_does_with_this_adapter_what_the_page_says(
    caller: Caller,
    subject: Subject,
    require_tool: Callable[[str], Path],
    record_property: Callable[[str, object], None],
) -> None:
    record_property("adapter", subject.title)
    _define_adapters(caller, subject)
    _need(caller, subject, require_tool)
    subject.make(caller.project)
    verdicts = await Tour(caller, subject).take()
    record_property("verdicts", json.dumps(verdicts))
    assert verdicts == adapters_table.written().get(subject.title), "if it is so now: make adapters-table"


def test_the_page_has_a_column_for_each_adapter() -> None:
    assert sorted(adapters_table.written()) == sorted(subject.title for subject in SUBJECTS)


def _define_adapters(caller: Caller, subject: Subject) -> None:
    """Let the project know the mock adapter, and that the version of the adapter matters."""
    mock = {"command": [sys.executable, str(MOCK_ADAPTER)], "file_types": [".md"], "launch": MOCK_LAUNCH}
    adapters: dict[str, object] = {"mock": mock}
    if subject.version:
        adapters[subject.adapter] = {"needs_version": True}
    caller.write("dap.json", json.dumps({"adapters": adapters}))


def _need(caller: Caller, subject: Subject, require_tool: Callable[[str], Path]) -> None:
    """Make sure that the compiler and the adapter are there, the latter as the page tells of it."""
    if subject.language == "Rust" and not shutil.which("rustc"):
        pytest.skip("rustc is not installed, and CI does not install it")
    if subject.build:
        require_tool(subject.build[0])
    try:
        found = load(caller.project, env=caller.env).choose(cwd=caller.project, adapter=subject.adapter).version or ""
        problem = f"{subject.adapter} is version {found}, and the page tells of {subject.version}"
    except NoAdapter as error:
        found, problem = "none", error.problem
    if f"{found}.".startswith(f"{subject.version}." if subject.version else ""):
        return
    missing(problem)
