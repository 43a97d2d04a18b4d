"""Settings that cannot be read, such as those on a file server that is gone."""

import re
import threading
from pathlib import Path

import mcp
import pytest

from dapkit.hub import limits
from dapkit.mcp.sdk_server import DebugServer
from dapkit.settings import Settings


async def test_settings_that_cannot_be_read_in_time_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()
    monkeypatch.setattr(Settings, "load", lambda *_, **__: answers.wait())
    monkeypatch.setattr(limits, "CONFIGURATION_SECONDS", 0.01)
    try:
        async with mcp.Client(DebugServer(tmp_path).protocol) as client:
            with pytest.raises(mcp.MCPError, match=re.escape(f"the settings of {tmp_path} could not be read within")):
                await client.list_tools()
    finally:
        answers.set()
