"""The screen of each route of the menu."""

from collections.abc import Mapping

from dapkit.tui import tasks
from dapkit.tui.log_screen import LogScreen
from dapkit.tui.menu import OpenRoute
from dapkit.tui.wire_screen import WireScreen

ROUTE_SCREENS: Mapping[str, OpenRoute] = {
    "open-artifacts": tasks.open_artifacts_screen,
    "performance": tasks.performance_screen,
    "work": tasks.work_screen,
    "dump": tasks.dump_screen,
    "memory": tasks.memory_screen,
    "logs": LogScreen,
    "system": tasks.system_screen,
    "raw-sse": WireScreen,
    "transcript": tasks.transcript_screen,
    "clear-cache": tasks.clear_cache_screen,
}
