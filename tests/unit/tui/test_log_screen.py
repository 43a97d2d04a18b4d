"""The viewer of the log: windows of lines, filters, a range, and what is shown where there is nothing."""

from pathlib import Path
from typing import Any, override

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Static

from dapkit import limits
from dapkit.diagnostics.logs import today
from dapkit.diagnostics.sessions import Where
from dapkit.system.state_folder import LOGS, state_folder
from dapkit.tui import log_screen
from dapkit.tui.line_view import LineView
from dapkit.tui.log_screen import LogScreen

OLD = "2020-01-02"


class Shown(App[None]):
    """Shows the viewer."""

    def __init__(self) -> None:
        super().__init__()
        self.shown = LogScreen(Where("/"))
        self.notices: list[str] = []

    def on_mount(self) -> None:
        self.push_screen(self.shown)

    @override
    def notify(self, message: str, **options: Any) -> None:
        """Note the message beside showing it."""
        self.notices.append(message)
        super().notify(message, **options)

    def text(self, name: str) -> str:
        """Return what a part of the screen shows; nothing, if it is hidden."""
        part = self.shown.query_one(f"#{name}", Static)
        return str(part.render()) if part.display else ""

    @property
    def view(self) -> LineView:
        """The lines."""
        return self.shown.query_one(LineView)

    def on_screen(self) -> list[str]:
        """Return the lines as they are drawn."""
        drawn = [self.view.render_line(y).text.rstrip() for y in range(self.view.size.height)]
        return [line for line in drawn if line]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the logs."""
    monkeypatch.setenv("DAPKIT_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return Path(state_folder(LOGS))


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what is copied, instead of having it in the clipboard of the user."""
    texts: list[str] = []

    def copy(_app: App[Any], text: str, what: str) -> str:
        texts.append(text)
        return f"{what} copied."

    monkeypatch.setattr(log_screen, "copy_text", copy)
    return texts


def entry(text: str, *, pid: int = 1, level: str = "INFO") -> str:
    return f"{OLD} 05:03:12,417 {pid} {level} dapkit.hub: {text}\n"


def write(folder: Path, day: str, content: str) -> None:
    (folder / f"hub-{day}.log").write_text(content)


async def ready(pilot: Pilot[Any]) -> None:
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def test_newest_fifty_lines_are_shown_with_the_newest_at_the_bottom(folder: Path) -> None:
    write(folder, today(), "".join(entry(f"n {number}") for number in range(1, 121)))
    app = Shown()
    async with app.run_test(size=(100, 30)) as pilot:
        await ready(pilot)
        assert app.on_screen()[-1].endswith("120  05:03:12 n 120   (INFO dapkit.hub, process 1, 2020-01-02)")
        assert app.view.cursor == 49
        assert app.text("status") == f"50 lines of {today()} | process any | level any"


async def test_fifty_older_lines_are_put_before_by_a_key_and_at_the_top(folder: Path) -> None:
    write(folder, OLD, "".join(entry(f"old {number}") for number in range(60)))
    write(folder, today(), "".join(entry(f"n {number}") for number in range(1, 61)))
    app = Shown()
    async with app.run_test(size=(100, 30)) as pilot:
        await ready(pilot)
        await pilot.press("o")
        await ready(pilot)
        assert app.text("status").startswith(f"60 lines of {today()} |")
        assert app.view.cursor == 9
        await pilot.press("home", "pageup")
        await ready(pilot)
        assert app.text("status").startswith(f"110 lines of {OLD} to {today()} |")
        assert app.view.cursor == 49
        assert any("05:03:12 old 59 " in line for line in app.on_screen())
        await pilot.press("o")
        await ready(pilot)
        assert app.text("status").endswith("| there is nothing older")
        await pilot.press("o")
        assert app.notices == ["There is nothing older."]


async def test_limits_that_were_reached_are_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LOG_LINES", 70)
    write(folder, today(), entry("x") * 200)
    app = Shown()
    async with app.run_test(size=(120, 30)) as pilot:
        await ready(pilot)
        await pilot.press("o")
        await ready(pilot)
        assert app.text("status").startswith("70 lines of ")
        assert app.text("status").endswith("| not more: the last 5000 lines, and 2 MiB are read")


async def test_empty_log_is_a_message_and_older_days_can_be_loaded(folder: Path) -> None:
    write(folder, OLD, entry("old"))
    app = Shown()
    async with app.run_test(size=(100, 30)) as pilot:
        await ready(pilot)
        assert app.text("note") == f"The hub has logged nothing on {today()}. o loads older days."
        await pilot.press("c", "v", "up")
        await pilot.press("o")
        await ready(pilot)
        assert app.text("note") == ""
        assert app.on_screen() == ["1  05:03:12 old   (INFO dapkit.hub, process 1, 2020-01-02)"]


async def test_processes_and_levels_are_filtered_by_keys(folder: Path) -> None:
    write(
        folder,
        today(),
        entry("a", pid=1) + entry("b", pid=2, level="ERROR") + "  more\n" + entry("c", pid=2) + entry("d", pid=3),
    )
    app = Shown()
    async with app.run_test(size=(100, 30)) as pilot:
        await ready(pilot)

        def shown() -> list[str]:
            return [
                line.split("   (")[0].split(maxsplit=2)[-1] if "dapkit.hub" in line else line
                for line in app.on_screen()
            ]

        await pilot.press("f")
        assert shown() == ["a"]
        assert app.text("status").startswith(f"1 line of {today()}, 5 read | process 1 |")
        await pilot.press("f")
        assert shown() == ["b", "3    more", "c"]
        await pilot.press("l", "l")
        assert "level warning" in app.text("status")
        assert shown() == ["b", "3    more"]
        await pilot.press("f")
        assert app.text("note") == "No line that was read passes the filters."
        await pilot.press("f", "l", "l", "l")
        assert "process any | level any" in app.text("status")
        assert len(shown()) == 5


async def test_filters_hold_for_older_lines_too(folder: Path) -> None:
    write(folder, today(), entry("wanted", level="ERROR") + entry("x") * 200)
    app = Shown()
    async with app.run_test(size=(100, 30)) as pilot:
        await ready(pilot)
        await pilot.press("l", "l")
        assert app.text("note") == "No line that was read passes the filters."
        await pilot.press("o")
        await ready(pilot)
        assert app.on_screen() == ["1  05:03:12 wanted   (ERROR dapkit.hub, process 1, 2020-01-02)"]


@pytest.mark.thorough
@pytest.mark.parametrize("key", ["v", "space"])
async def test_line_or_range_is_copied(folder: Path, copied: list[str], key: str) -> None:
    write(folder, today(), "".join(entry(f"{number}") for number in range(5)))
    app = Shown()
    async with app.run_test(size=(100, 30)) as pilot:
        await ready(pilot)
        await pilot.press("up", "c")
        assert copied == [entry("3").strip()]
        await pilot.press(key, "up", "up", "c")
        assert "| 3 chosen |" in app.text("status")
        assert copied[1] == (entry("1") + entry("2") + entry("3")).strip()
        assert app.notices == ["1 line copied.", "3 lines copied."]
        await pilot.press("escape", "c")
        assert copied[2] == entry("1").strip()
        assert app.screen is app.shown
        await pilot.press("escape")
        assert app.screen is not app.shown


async def test_control_characters_and_markup_are_shown_as_they_are(folder: Path) -> None:
    write(folder, today(), entry("[bold]no\x1b[31m"))
    app = Shown()
    async with app.run_test(size=(100, 30)) as pilot:
        await ready(pilot)
        [line] = app.on_screen()
        assert "05:03:12 [bold]no\\x1b[31m " in line


async def test_what_was_written_meanwhile_is_read_by_a_key(folder: Path) -> None:
    write(folder, today(), entry("a"))
    app = Shown()
    async with app.run_test(size=(100, 30)) as pilot:
        await ready(pilot)
        write(folder, today(), entry("a") + entry("b"))
        await pilot.press("r")
        await ready(pilot)
        assert len(app.on_screen()) == 2


async def test_error_is_shown(folder: Path) -> None:
    folder.parent.chmod(0o755)
    app = Shown()
    async with app.run_test(size=(100, 30)) as pilot:
        await ready(pilot)
        assert "is open to others (mode 0755)" in app.text("note")
        folder.parent.chmod(0o700)
        await pilot.press("o", "f", "l", "c", "p", "r")
        await ready(pilot)
        assert app.text("note") == f"The hub has logged nothing on {today()}."
        await pilot.press("q")
        assert app.screen is not app.shown


async def test_file_that_cannot_be_read_is_named(folder: Path, tmp_path: Path) -> None:
    (folder / f"hub-{today()}.log").symlink_to(tmp_path / "x")
    app = Shown()
    async with app.run_test(size=(200, 30)) as pilot:
        await ready(pilot)
        assert f"not read: {folder}/hub-{today()}.log: it is a link" in app.text("status")


async def test_long_lines_are_moved_sideways(folder: Path) -> None:
    write(folder, today(), entry("x" * 200 + "end"))
    app = Shown()
    async with app.run_test(size=(80, 30)) as pilot:
        await ready(pilot)
        assert "end" not in app.on_screen()[0]
        app.view.scroll_x = 200
        await pilot.pause()
        assert "xend   (" in app.on_screen()[0]
