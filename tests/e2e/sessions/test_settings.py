"""Settings of a project, where they hold for a session."""

import sys
from pathlib import Path

import pytest

from dapkit.client.routes import Listening
from dapkit.sessions.errors import StartFailed
from dapkit.sessions.registry import SessionRegistry
from dapkit.sessions.start_spec import StartSpec
from dapkit.settings import Settings
from hub_fixtures import python_start

DEAF = [sys.executable, "-c", "import time; time.sleep(100)", "${port}"]


@pytest.mark.thorough
async def test_adapter_that_does_not_listen_in_time_is_given_up(sessions: SessionRegistry, tmp_path: Path) -> None:
    start = StartSpec("deaf", Listening(DEAF), "launch", {}, cwd=tmp_path)
    with pytest.raises(StartFailed, match=r"deaf was not ready within 0.2 s"):
        await sessions.open(tmp_path, start, settings=Settings(adapter_ready_seconds=0.2))
    assert sessions.all == ()


async def test_no_more_output_is_kept_than_is_set(sessions: SessionRegistry, tmp_path: Path) -> None:
    program = tmp_path / "loud.py"
    program.write_text("print('0123456789' * 1000)\nprint('the end')\n")
    session = await sessions.open(tmp_path, python_start(program), settings=Settings(output_bytes=2000))
    assert (await session.execution.wait()).state == "terminated"
    text = session.output.read("stdout")
    assert len(text.text) == 2000
    assert text.text.endswith("9\nthe end\n")
    assert not text.complete
