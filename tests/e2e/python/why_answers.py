"""The answers of `why` for a program, and those that its forward run gives."""

import ast
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec

from dapkit.protocol.time_travel import WhyArguments, WhyBody
from e2e.python.adapter_client import AdapterClient

LOG = Path(__file__).with_name("why_log.py")
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


async def wrong_answers(
    driver: AdapterClient, program: Path, expected: dict[str, int]
) -> dict[str, tuple[int, WhyBody]]:
    """Ask about expressions at the stop; return the answers with other lines than expected."""
    [frame, *_] = await driver.frames()
    wrong = {}
    for expression, line in expected.items():
        arguments = WhyArguments(expression=expression, frame_id=frame.id)
        answer = await driver.session.request_custom("dapkit/why", arguments, deadline=PATIENCE)
        change = msgspec.convert(answer, WhyBody)
        if (change.path, change.line) != (str(program), line) or change.clock is None:
            wrong[expression] = (line, change)
    return wrong
