"""`why` on a corpus: the line that made a value what it is, as the program's own forward run has logged it."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from dapkit.protocol.time_travel import WhyArguments, WhyBody
from e2e.python.adapter_client import AdapterClient
from interpreters import OURS, interpreter

pytestmark = pytest.mark.each_python

LOG = Path(__file__).with_name("why_log.py")
PROGRAMS = sorted(Path(__file__).with_name("travel").glob("why/*.py"))
PATIENCE = 120
"""Seconds for a run forwards or an answer, each of which takes one of them."""


def watched(program: Path) -> list[str]:
    """Return the expressions to ask about: the names that statements of the module bind, and those that it names."""
    text = program.read_text()
    names = list(dict.fromkeys(_bound(ast.parse(text))))
    more = ", ".join(re.findall(r"^# watch: (.*)$", text, re.MULTILINE))
    return [*names, *filter(None, more.split(", "))]


def _bound(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield from node.names
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def logged(python: str, program: Path, expressions: list[str]) -> dict[str, int]:
    """Run a program forwards, and return the line that has changed each value last."""
    done = subprocess.run(
        [python, str(LOG), str(program), *expressions], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    lines: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return lines


@pytest.mark.thorough
@pytest.mark.timeout(600)
@pytest.mark.row("reverseContinue")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
async def test_why_names_the_line_that_the_run_has_logged(driver: AdapterClient, python: str, program: Path) -> None:
    if program.stem == "library_objects":
        if python != str(interpreter(OURS)):
            pytest.skip("the libraries are in the environment of the tests")
        python = sys.executable
    text = program.read_text()  # noqa: ASYNC240 - a small file
    last = text[: text.index('print("end")')].count("\n") + 1
    await driver.start(text, last, python=python, timeTravel=True)
    await driver.session.next_stop()
    expected = logged(python, driver.file, watched(program))
    assert len(expected) >= 5
    [frame, *_] = await driver.frames()
    wrong = {}
    for expression, line in expected.items():
        arguments = WhyArguments(expression=expression, frame_id=frame.id)
        answer = await driver.session.request_custom("dapkit/why", arguments, deadline=PATIENCE)
        change = msgspec.convert(answer, WhyBody)
        if (change.path, change.line) != (str(driver.file), line) or change.clock is None:
            wrong[expression] = (line, change)
    assert wrong == {}


FAR = """
class Shop:
    pass
shop = Shop()
shop.total = 5
prices = {number: number for number in range(1000)}
prices[7] = 70
count = 1
def work(times):
    reached = 0
    for step in range(times):
        reached += step
work(1_000_000)
print("end")
"""


@pytest.mark.thorough
@pytest.mark.timeout(600)
@pytest.mark.row("reverseContinue")
async def test_why_reaches_across_millions_of_lines(driver: AdapterClient, python: str) -> None:
    """Each answer comes within the deadline of a request; a look at each line took minutes."""
    await driver.start(FAR, 13, python=python, timeTravel=True)
    await driver.session.next_stop()
    [frame, *_] = await driver.frames()
    lines = {}
    for expression in ("count", "shop.total", "prices[7]", "prices"):
        arguments = WhyArguments(expression=expression, frame_id=frame.id)
        change = msgspec.convert(await driver.session.request_custom("dapkit/why", arguments), WhyBody)
        lines[expression] = change.line
    assert lines == {"count": 7, "shop.total": 4, "prices[7]": 6, "prices": 6}
