"""The screen of each route of the menu."""

from collections.abc import Mapping

from dapkit.tui.menu import OpenRoute

ROUTE_SCREENS: Mapping[str, OpenRoute] = {}
