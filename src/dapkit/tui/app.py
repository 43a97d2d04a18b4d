"""The application of the menu: which screen each route has."""

from typing import Any

from textual.app import App

from dapkit.diagnostics.sessions import Where
from dapkit.tui.menu import MenuScreen
from dapkit.tui.routes import ROUTE_SCREENS


class DiagnosticsApp(App[None]):
    """The menu of diagnostics, for the sessions of one project."""

    TITLE = "dapkit diagnose"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, where: Where) -> None:
        super().__init__()
        self._where = where

    def on_mount(self) -> None:
        """Show the menu."""
        self.push_screen(MenuScreen(self._where, ROUTE_SCREENS))


def run(where: Where) -> None:
    """Show the menu until the user leaves it."""
    app: App[Any] = DiagnosticsApp(where)
    app.run()
