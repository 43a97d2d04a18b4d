"""What mypy says about an adapter: the signatures of handlers are checked against the protocol, and names are known."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

HEAD = """
from dapkit.adapter import Adapter, NoAttach
from dapkit.protocol import EvaluateArguments, EvaluateBody, LaunchRequestArguments, RawJson
from dapkit.protocol import ScopesArguments, ThreadsBody

class Launch(LaunchRequestArguments, frozen=True, kw_only=True):
    program: str

class A(Adapter[Launch, NoAttach]):
    async def launch(self, args: Launch) -> None:
        await self.stopped("entry", thread_id=1)
"""

RIGHT = """
    async def restart(self, args: Launch | None) -> None: ...
    async def threads(self) -> RawJson: return RawJson(b"{}")
    async def evaluate(self, args: EvaluateArguments) -> EvaluateBody:
        return EvaluateBody(result=args.expression, variables_reference=0)
"""


STAR = """
from dapkit.protocol import *

thread: Thread = Thread(id=1, name="main")
frames: StackTraceArguments = StackTraceArguments(thread_id=thread.id)
payload: bytes = encode(Request(1, "stackTrace", frames))
"""

WRONG = {
    "async def threads(self) -> None: ...": "[override]",
    "async def threads(self, args: ScopesArguments) -> ThreadsBody: raise ValueError": "[override]",
    "async def evaluate(self, args: ScopesArguments) -> EvaluateBody: raise ValueError": "[override]",
    "async def restart(self, args: LaunchRequestArguments) -> None: ...": "[override]",
    "async def closing(self) -> None: await self.stopped(3)": "[arg-type]",
    "async def closing(self) -> None: await self.output('', categroy='stdout')": "[call-arg]",
}
"""Handlers, and what is wrong with them."""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return what mypy, run once, says about each handler, about the right ones, and about a star import."""
    folder = tmp_path_factory.mktemp("adapters")
    modules = {f"wrong{number}": f"{HEAD}    {handler}\n" for number, handler in enumerate(WRONG)}
    modules |= {"right": HEAD + RIGHT, "star": STAR}
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--python-version",
        "3.12",
        *(f"{name}.py" for name in modules),
    ]
    environment = {"MYPYPATH": str(ROOT / "src"), "PATH": "", "MYPY_CACHE_DIR": str(folder / "cache")}
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=110, check=False)
    assert ran.stderr == ""
    lines = ran.stdout.splitlines()
    return {
        told: "\n".join(line for line in lines if line.startswith(f"{name}.py:"))
        for name, told in zip(modules, [*WRONG, "right", "star"], strict=True)
    }


@pytest.mark.thorough
@pytest.mark.timeout(120)
def test_right_signatures_are_accepted(told: dict[str, str]) -> None:
    assert told["right"] == ""


@pytest.mark.thorough
@pytest.mark.timeout(120)
@pytest.mark.parametrize(("handler", "complaint"), WRONG.items())
def test_wrong_signatures_are_found(told: dict[str, str], handler: str, complaint: str) -> None:
    assert complaint in told[handler]


@pytest.mark.thorough
@pytest.mark.timeout(120)
def test_star_import_brings_names_that_mypy_knows(told: dict[str, str]) -> None:
    assert told["star"] == ""
