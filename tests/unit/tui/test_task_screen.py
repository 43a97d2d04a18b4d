"""The screen of one piece of work: progress, results, errors, questions, and an early end."""

import threading
from collections.abc import Sequence
from typing import Any

from textual.app import App
from textual.pilot import Pilot
from textual.widgets import ProgressBar, Static

from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.tui.task_screen import OnProgress, Question, Task, TaskScreen


class Shown(App[None]):
    """Shows one screen."""

    def __init__(self, task: Task, *, any_key: bool = False, earlier: Sequence[threading.Event] = ()) -> None:
        super().__init__()
        self.shown = TaskScreen("Work", task, any_key=any_key, earlier=earlier)

    def on_mount(self) -> None:
        self.push_screen(self.shown)


def text(app: Shown, name: str) -> str:
    return str(app.shown.query_one(f"#{name}", Static).render())


async def done(pilot: Pilot[Any]) -> None:
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def test_result_is_shown_as_it_is() -> None:
    app = Shown(lambda _report, _stop: "[bold]no markup[/bold]\x1b[31m")
    async with app.run_test() as pilot:
        await done(pilot)
        assert text(app, "result") == "[bold]no markup[/bold]\\x1b[31m"


async def test_error_is_shown_with_its_hint() -> None:
    def fail(_report: OnProgress, _stop: threading.Event) -> str:
        raise DiagnosticsError("not_installed", "It is missing.", "Install it.")

    app = Shown(fail)
    async with app.run_test() as pilot:
        await done(pilot)
        assert text(app, "result") == "It is missing.\nInstall it."
        assert app.shown.query_one("#result").has_class("failed")


async def test_internal_error_is_shown_and_ends_nothing() -> None:
    def fail(_report: OnProgress, _stop: threading.Event) -> str:
        raise ZeroDivisionError("by our own mistake")

    app = Shown(fail)
    async with app.run_test() as pilot:
        await done(pilot)
        assert text(app, "result") == "Internal error: ZeroDivisionError: by our own mistake"
        assert app.is_running


async def test_progress_is_shown_and_escape_ends_the_work_with_what_it_has() -> None:
    def work(report: OnProgress, stop: threading.Event) -> str:
        report("half of it", 50.0)
        assert stop.wait(50)
        return "half"

    app = Shown(work)
    async with app.run_test() as pilot:
        while text(app, "progress") != "half of it":
            await pilot.pause()
        assert app.shown.query_one(ProgressBar).progress == 50
        await pilot.press("escape")
        await done(pilot)
        assert text(app, "result") == "half"
        await pilot.press("escape")
        assert app.screen is not app.shown


async def test_any_key_ends_what_asks_for_one() -> None:
    def work(_report: OnProgress, stop: threading.Event) -> str:
        assert stop.wait(50)
        return "ended by a key"

    app = Shown(work, any_key=True)
    async with app.run_test() as pilot:
        await pilot.press("x")
        await done(pilot)
        assert text(app, "result") == "ended by a key"


async def test_keys_end_one_part_of_the_work_after_the_other() -> None:
    first = threading.Event()

    def work(report: OnProgress, stop: threading.Event) -> str:
        assert first.wait(50)
        report("second part", None)
        assert not stop.is_set()
        assert stop.wait(50)
        return "both parts"

    app = Shown(work, any_key=True, earlier=[first])
    async with app.run_test() as pilot:
        await pilot.press("x")
        while text(app, "progress") != "second part":
            await pilot.pause()
        await pilot.press("y")
        await done(pilot)
        assert text(app, "result") == "both parts"


async def test_question_does_what_it_asks_about_only_after_yes() -> None:
    removed = threading.Event()

    def remove(_report: OnProgress, _stop: threading.Event) -> str:
        removed.set()
        return "2 folders removed."

    app = Shown(lambda _report, _stop: Question("a\nb", "Remove 2 folders?", remove))
    async with app.run_test() as pilot:
        await done(pilot)
        assert text(app, "result") == "a\nb"
        assert text(app, "progress") == "Remove 2 folders? y: yes. Escape: no."
        await pilot.press("n")
        assert not removed.is_set()
        await pilot.press("y")
        await done(pilot)
        assert text(app, "result") == "2 folders removed."


async def test_empty_result_is_a_message() -> None:
    app = Shown(lambda _report, _stop: "")
    async with app.run_test() as pilot:
        await done(pilot)
        assert text(app, "result") == "Nothing was found."
