"""The application of the menu, and the screen of each entry."""

from collections.abc import Mapping
from typing import Any

from textual.app import App

from dapkit.diagnostics.sessions import Where
from dapkit.tui import tasks
from dapkit.tui.log_screen import LogScreen
from dapkit.tui.menu import MenuScreen, OpenEntry
from dapkit.tui.wire_screen import WireScreen

SCREENS: Mapping[str, OpenEntry] = {
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


class DiagnosticsApp(App[None]):
    """The menu of diagnostics, for the sessions of one project."""

    TITLE = "dapkit diagnose"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, where: Where) -> None:
        super().__init__()
        self._where = where

    def on_mount(self) -> None:
        """Show the menu."""
        self.push_screen(MenuScreen(self._where, SCREENS))


def run(where: Where) -> None:
    """Show the menu until the user leaves it."""
    app: App[Any] = DiagnosticsApp(where)
    app.run()
