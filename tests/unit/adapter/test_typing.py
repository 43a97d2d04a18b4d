"""What mypy says about an adapter: the signatures of handlers are checked against the protocol."""

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


def mypy(folder: Path, body: str) -> str:
    program = folder / "adapter.py"
    program.write_text(HEAD + body)
    command = [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.12", str(program)]
    environment = {"MYPYPATH": str(ROOT / "src"), "PATH": "", "MYPY_CACHE_DIR": str(folder.parent / "cache")}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    ).stdout


def test_right_signatures_are_accepted(tmp_path: Path) -> None:
    assert "Success" in mypy(tmp_path, RIGHT)


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("handler", "complaint"),
    [
        ("async def threads(self) -> None: ...", "[override]"),
        ("async def threads(self, args: ScopesArguments) -> ThreadsBody: raise ValueError", "[override]"),
        ("async def evaluate(self, args: ScopesArguments) -> EvaluateBody: raise ValueError", "[override]"),
        ("async def restart(self, args: LaunchRequestArguments) -> None: ...", "[override]"),
        ("async def closing(self) -> None: await self.stopped(3)", "[arg-type]"),
        ("async def closing(self) -> None: await self.output('', categroy='stdout')", "[call-arg]"),
    ],
)
def test_wrong_signatures_are_found(tmp_path: Path, handler: str, complaint: str) -> None:
    assert complaint in mypy(tmp_path, f"    {handler}\n")
