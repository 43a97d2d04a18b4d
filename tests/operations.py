"""How much work a call is, in instructions of Python: the same on every machine, however busy."""

import sys
from collections.abc import Callable
from types import CodeType

_TOOL = 4


def operations(call: Callable[[], object]) -> int:
    """Call something; return how many instructions it has executed in Python, those of what it called included."""
    count = 0

    def note(_code: CodeType, _offset: int) -> None:
        nonlocal count
        count += 1

    monitoring = sys.monitoring
    monitoring.use_tool_id(_TOOL, "operations")
    monitoring.register_callback(_TOOL, monitoring.events.INSTRUCTION, note)
    monitoring.set_events(_TOOL, monitoring.events.INSTRUCTION)
    try:
        call()
    finally:
        monitoring.set_events(_TOOL, 0)
        monitoring.register_callback(_TOOL, monitoring.events.INSTRUCTION, None)
        monitoring.free_tool_id(_TOOL)
    return count
