"""The menu: entries by arrow keys and by name, and which session they are about."""

from collections.abc import Sequence
from typing import Any, Literal

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import OptionList, Static

from dapkit.agent.results.snapshot import Snapshot
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.menu import MENU
from dapkit.diagnostics.sessions import Where
from dapkit.protocol import changed
from dapkit.tui import menu
from dapkit.tui.menu import MenuScreen
from unit.agent.samples import ANYWHERE


def session(
    name: str,
    status: Literal["stopped", "running", "terminated"] = "stopped",
    *,
    used: str = "2026-01-01T00:00:00+00:00",
) -> Snapshot:
    return changed(ANYWHERE, id=name, adapter="dapkit", program=None, status=status, last_used_at=used)


class Menu(App[None]):
    """Shows the menu, and remembers what it opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[tuple[str, str | None]] = []

    def on_mount(self) -> None:
        self.push_screen(MenuScreen(Where("/project"), {name: self._opens(name) for name in MENU}))

    def _opens(self, name: str) -> menu.OpenEntry:
        def make(where: Where) -> Screen[None]:
            self.opened.append((name, where.session))
            return Screen()

        return make


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> list[Snapshot]:
    found: list[Snapshot] = []
    monkeypatch.setattr(menu, "snapshots", lambda _where: list(found))
    return found


async def ready(pilot: Pilot[Any]) -> None:
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def text(app: App[None], name: str) -> str:
    return str(app.screen.query_one(f"#{name}", Static).render())


def names(listed: OptionList) -> Sequence[str | None]:
    return [listed.get_option_at_index(index).id for index in range(listed.option_count)]


@pytest.mark.usefixtures("sessions")
async def test_ten_routes_of_the_contract_are_listed_with_a_line_each() -> None:
    app = Menu()
    async with app.run_test() as pilot:
        await ready(pilot)
        listed = app.screen.query_one(OptionList)
        assert names(listed) == [
            "open-artifacts",
            "performance",
            "work",
            "dump",
            "memory",
            "logs",
            "system",
            "raw-sse",
            "transcript",
            "clear-cache",
        ]
        assert all(len(summary) > 20 for summary in MENU.values())


@pytest.mark.usefixtures("sessions")
async def test_route_is_chosen_by_arrow_keys() -> None:
    app = Menu()
    async with app.run_test() as pilot:
        await ready(pilot)
        await pilot.press("down", "down", "enter")
        assert app.opened == [("work", None)]


@pytest.mark.thorough
@pytest.mark.parametrize("name", MENU)
@pytest.mark.usefixtures("sessions")
async def test_route_is_chosen_by_its_own_name(name: str) -> None:
    app = Menu()
    async with app.run_test() as pilot:
        await ready(pilot)
        await pilot.press(*("minus" if letter == "-" else letter for letter in name), "enter")
        assert app.opened == [(name, None)]


@pytest.mark.usefixtures("sessions")
async def test_name_of_no_route_is_refused_and_what_was_typed_stays() -> None:
    app = Menu()
    async with app.run_test() as pilot:
        await ready(pilot)
        await pilot.press("s", "q")
        assert text(app, "typed") == "Name: s"
        await pilot.press("backspace")
        assert text(app, "typed") == "Type a name, or use the arrows."
        await pilot.press("t", "escape")
        assert text(app, "typed") == "Type a name, or use the arrows."
        assert app.is_running
        await pilot.press("escape")
    assert app.return_code == 0


async def test_session_that_lives_is_taken_and_the_next_one_by_a_key(sessions: list[Snapshot]) -> None:
    sessions += [
        session("debug-1", used="2026-01-02T00:00:00+00:00"),
        session("debug-2", "running", used="2026-01-03T00:00:00+00:00"),
        session("debug-3", "terminated", used="2026-01-04T00:00:00+00:00"),
    ]
    app = Menu()
    async with app.run_test() as pilot:
        await ready(pilot)
        assert text(app, "session") == "Session debug-2: running (dapkit)"
        await pilot.press("enter")
        app.pop_screen()
        await ready(pilot)
        await pilot.press("tab", "tab", "enter")
        assert app.opened == [("open-artifacts", "debug-2"), ("open-artifacts", "debug-1")]


@pytest.mark.usefixtures("sessions")
async def test_without_a_session_it_says_what_can_be_done() -> None:
    app = Menu()
    async with app.run_test() as pilot:
        await ready(pilot)
        assert text(app, "session").startswith("There is no session: dapkit launch starts one.")


async def test_hub_that_cannot_be_reached_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_where: Where) -> list[Snapshot]:
        raise DiagnosticsError("hub_unavailable", "No hub could be started.", "Its log has more.")

    monkeypatch.setattr(menu, "snapshots", fail)
    app = Menu()
    async with app.run_test() as pilot:
        await ready(pilot)
        assert text(app, "session") == "No hub could be started.\nIts log has more."
