"""A screen for one piece of work: its progress, its result, or its error.

The work is done in a thread. A key ends it early, with a partial result; an error is shown here, and raised nowhere.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, ProgressBar, Static

from dapkit.agent.text.escaping import printable
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.tui.copy_action import copy_text, print_text
from dapkit.tui.messages import Failed, Finished, Progressed

log = logging.getLogger(__name__)

type OnProgress = Callable[[str, float | None], None]
type Task = Callable[[OnProgress, threading.Event], str | Question]
"""Does the work and returns the result; it reports progress, and ends early once the event is set."""


@dataclass(frozen=True, slots=True)
class Question:
    """The question before the work.

    Attributes:
        text: the displayed question.
        prompt: the question.
        yes: the action if the answer is y.

    """

    text: str
    prompt: str
    yes: Task


class TaskScreen(Screen[None]):
    """Shows a piece of work and its result.

    Args:
        title: the name of the work.
        task: does it.
        any_key: whether any key ends it early; else only Escape.
        earlier: for work of several parts: the events that end each part but the last; a key ends the present one.

    """

    DEFAULT_CSS = """
    TaskScreen #title { text-style: bold; padding: 0 1; background: $primary; color: $text; width: 100%; }
    TaskScreen #progress { padding: 0 1; height: auto; }
    TaskScreen #result { padding: 0 1; width: 100%; }
    TaskScreen #result.failed { color: $error; }
    TaskScreen ProgressBar { padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Back"),
        Binding("c", "copy", "Copy"),
        Binding("p", "print", "Print"),
        Binding("y", "confirm", "Yes", show=False),
    ]

    def __init__(
        self, title: str, task: Task, *, any_key: bool = False, earlier: Sequence[threading.Event] = ()
    ) -> None:
        super().__init__()
        self._heading = title
        self._do = task
        self._any_key = any_key
        self._stop = threading.Event()
        self._ends = (*earlier, self._stop)
        self._working = True
        self._text = ""
        self._question: Question | None = None

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield Static(self._heading, id="title", markup=False)
        yield Static("", id="progress", markup=False)
        yield ProgressBar(total=100, show_eta=False)
        with VerticalScroll():
            yield Static("", id="result", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        """Begin the work."""
        self._begin()

    def on_unmount(self) -> None:
        """Let the thread end."""
        for event in self._ends:
            event.set()

    def on_key(self, event: events.Key) -> None:
        """End the work, if any key does."""
        if self._working and self._any_key:
            event.stop()
            event.prevent_default()
            self._end_early()

    # The work, in its thread

    def _work(self) -> None:
        try:
            self.post_message(Finished(self._do(self._report, self._stop)))
        except DiagnosticsError as error:
            self.post_message(Failed(str(error)))
        except Exception as error:
            log.exception("%s failed by an internal error", self._heading)
            self.post_message(Failed(f"Internal error: {type(error).__name__}: {error}"))

    def _report(self, text: str, percentage: float | None) -> None:
        self.post_message(Progressed(text, percentage))

    # Reports

    def on_progressed(self, report: Progressed) -> None:
        """Show how far it is."""
        self._note(report.text)
        bar = self.query_one(ProgressBar)
        bar.display = report.percentage is not None
        if report.percentage is not None:
            bar.update(progress=report.percentage)

    def on_finished(self, report: Finished[str | Question]) -> None:
        """Show the result, or ask."""
        match report.result:
            case Question() as question:
                self._question = question
                self._show(question.text, failed=False)
                self._note(f"{question.prompt} y: yes. Escape: no.")
            case text:
                self._show(text or "Nothing was found.", failed=False)

    def on_failed(self, report: Failed) -> None:
        """Show why it could not be done."""
        self._show(report.text, failed=True)

    # Keys

    def action_leave(self) -> None:
        """End the work, or go back."""
        if self._working:
            self._end_early()
        else:
            self.dismiss()

    def action_copy(self) -> None:
        """Copy the text on the screen."""
        if not self._working:
            self.notify(copy_text(self.app, self._text, f"{self._text.count('\n') + 1} lines"))

    def action_print(self) -> None:
        """Print the text on the screen."""
        if not self._working:
            print_text(self.app, self._text)

    def action_confirm(self) -> None:
        """Do the action in question."""
        if self._question is not None and not self._working:
            self._do, self._question = self._question.yes, None
            self._begin()

    def _begin(self) -> None:
        self._working = True
        self.query_one(ProgressBar).display = False
        self._note("Press any key to end it." if self._any_key else "Working. Escape ends it early.")
        self.run_worker(self._work, thread=True, exit_on_error=False)

    def _end_early(self) -> None:
        present = next((event for event in self._ends if not event.is_set()), self._stop)
        present.set()
        self._note("Ending it early, with a partial result.")

    def _note(self, text: str) -> None:
        self.query_one("#progress", Static).update(printable(text))

    def _show(self, text: str, *, failed: bool) -> None:
        self._working = False
        self._text = printable(text)
        self._note("")
        self.query_one(ProgressBar).display = False
        result = self.query_one("#result", Static)
        result.set_class(failed, "failed")
        result.update(self._text)
