"""The actions as a caller has them performed, in one process with the hub."""

import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from dapkit import agent
from dapkit.agent import limits
from dapkit.agent.handler import ActionHandler
from dapkit.hub.calls import HubCall
from dapkit.sessions import limits as session_limits
from dapkit.sessions.registry import SessionRegistry
from dapkit.settings import Settings

OUR_PYTHON = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
"""A PATH on which `python` is one that our own adapter debugs."""

_TOOLS = Path(__file__).parents[1] / ".tools" / "bin"
OUR_PYTHON_AND_TOOLS = os.pathsep.join([str(Path(sys.executable).parent), str(_TOOLS), os.environ["PATH"]])
"""The same with gdb 16 before that of the system, where tools/debian_trees.sh has put it; there is a Python as well."""


def have_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give adapters as much time to say what there is to see at a stop as they need on a slow machine."""
    for name in ("STOP_CAPTURE_SECONDS", "CALL_STOP_SECONDS"):
        monkeypatch.setattr(session_limits, name, 30.0)
    for name in ("REPORT_SECONDS", "CONTENTS_SECONDS"):
        monkeypatch.setattr(limits, name, 30.0)


@cache
def _details_of(action: str) -> Draft202012Validator:
    """Return the published schema of what an action answers."""
    published = json.loads(Path(agent.__file__).with_name("schemas.json").read_text(encoding="utf-8"))
    schema = {"$defs": published["$defs"], **published["actions"][action]["details"]}
    return Draft202012Validator(schema)


@dataclass(frozen=True)
class Answer:
    """What came of an action."""

    whole: Mapping[str, Any]

    @property
    def text(self) -> str:
        """Its text."""
        text: str = self.whole["text"]
        return text

    @property
    def details(self) -> Any:  # noqa: ANN401 - JSON
        """Its details; of an action that was done."""
        assert self.whole["success"], self.text
        return self.whole["details"]

    @property
    def error(self) -> tuple[str, str]:
        """Code and message; of an action that failed."""
        assert not self.whole["success"], self.text
        return self.whole["error"]["code"], self.whole["error"]["message"]


@dataclass
class Caller:
    """Somebody who has actions performed in a project."""

    agent: ActionHandler
    project: Path
    settings: Settings = field(default_factory=Settings)
    read_only: bool = False
    session: str | None = None
    env: Mapping[str, str] = field(default_factory=lambda: {**os.environ, "PATH": OUR_PYTHON})
    progress: list[str] = field(default_factory=list)

    async def __call__(self, action: str, /, **arguments: object) -> Answer:
        """Have an action performed, and its details compared with the published schema."""
        answer = Answer(await self.unchecked(action, **arguments))
        if answer.whole["success"]:
            _details_of(action).validate(answer.whole["details"])
        return answer

    async def unchecked(self, action: str, /, **arguments: object) -> dict[str, Any]:
        """Have an action performed, whatever its result is."""
        call = HubCall(
            name=action,
            arguments=arguments,
            project=self.project,
            session=self.session,
            read_only=self.read_only,
            env=self.env,
            settings=self.settings,
            report=lambda text, _percentage: self.progress.append(text),
        )
        return await self.agent.handle(call)

    def write(self, name: str, text: str) -> Path:
        """Put a file into the project."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


@asynccontextmanager
async def patient_caller(
    monkeypatch: pytest.MonkeyPatch, project: Path, settings: Settings, *, path: str = OUR_PYTHON
) -> AsyncIterator[Caller]:
    """Let somebody who has patience with adapters have actions performed, with a hub that ends all that they start."""
    have_patience(monkeypatch)
    async with SessionRegistry() as sessions:
        yield Caller(ActionHandler(sessions), project, settings, env={**os.environ, "PATH": path})
