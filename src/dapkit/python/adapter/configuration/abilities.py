"""The adapter's capabilities: the abilities of the engine, before the engine exists.

Where a program runs without debugging (`noDebug`) all that needs a stop is taken back. Breakpoints may be set all the
same, and are answered as not verified: clients do so before they know.
"""

import msgspec

from dapkit.protocol import BreakpointMode, Capabilities
from dapkit.python.adapter.configuration.arguments import PythonAttach, PythonLaunch
from dapkit.python.debuggee.requests.capabilities import ONLY_WHEN_DEBUGGING, details

ANNOUNCED = msgspec.structs.replace(
    msgspec.convert(details(), Capabilities),
    supports_ansi_styling=True,  # the program's output is sent unchanged, and values are not styled
    breakpoint_modes=[
        BreakpointMode(
            mode="once",
            label="Once",
            description="Stop at the first hit, then remove the breakpoint.",
            applies_to=["source", "data", "instruction"],
        )
    ],
)
"""Capabilities that do not follow from the adapter's own handlers."""


def abilities(start: PythonLaunch | PythonAttach) -> Capabilities:
    """Return those capabilities that depend on how the program is started."""
    debugs = start.no_debug is not True if isinstance(start, PythonLaunch) else True
    able = msgspec.convert(dict.fromkeys(ONLY_WHEN_DEBUGGING, debugs), Capabilities)
    travels = debugs and isinstance(start, PythonLaunch) and start.travels
    return msgspec.structs.replace(able, supports_step_back=True) if travels else able
