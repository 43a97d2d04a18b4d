"""The extension, or the reason why its tests cannot run."""

import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

from dapkit.python.debuggee.interpreter import native
from missing import missing

settings.register_profile("native", max_examples=int(os.environ.get("DAPKIT_NATIVE_EXAMPLES", "300")))
"""The check for memory errors runs the same tests, fifty times slower, with fewer examples."""


@pytest.fixture(autouse=True)
def _needs_the_extension() -> None:
    if not native.AVAILABLE:
        missing(native.REASON)


@pytest.fixture
def tool() -> Iterator[int]:
    """Return a tool id of sys.monitoring that is free again afterwards, with all its events and callbacks gone."""
    number = 4
    monitoring = sys.monitoring
    monitoring.use_tool_id(number, "test")
    yield number
    monitoring.set_events(number, 0)
    monitoring.register_callback(number, monitoring.events.LINE, None)
    monitoring.free_tool_id(number)
