"""The menu of diagnostics: an entry is chosen by the arrow keys, or by typing its name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from dapkit.agent.results.snapshot import Snapshot
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.menu import MENU
from dapkit.diagnostics.sessions import Where, snapshots

type OpenEntry = Callable[[Where], Screen[None]]
"""Makes the screen of an entry."""

_WIDTH = max(map(len, MENU)) + 2


class MenuScreen(Screen[None]):
    """The menu.

    Args:
        where: whose sessions are meant.
        entries: makes the screen of each entry, by its name.

    """

    DEFAULT_CSS = """
    MenuScreen #title { text-style: bold; padding: 0 1; background: $primary; color: $text; width: 100%; }
    MenuScreen #session { padding: 0 1; color: $text-muted; }
    MenuScreen #typed { padding: 0 1; height: 1; }
    MenuScreen OptionList { height: auto; max-height: 1fr; border: none; }
    MenuScreen OptionList:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "next_session", "Next session", priority=True),
        Binding("escape", "clear_or_leave", "Leave", priority=True),
    ]

    def __init__(self, where: Where, entries: Mapping[str, OpenEntry]) -> None:
        super().__init__()
        self._where = where
        self._entries = entries
        self._sessions: Sequence[Snapshot] = ()
        self._typed = ""

    def compose(self) -> ComposeResult:
        """Lay the menu out."""
        yield Static("dapkit diagnose", id="title", markup=False)
        yield Static("", id="session", markup=False)
        yield OptionList(*(Option(_prompt(name, summary), id=name) for name, summary in MENU.items()))
        yield Static("", id="typed", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        """Look for the sessions."""
        self.query_one(OptionList).focus()
        self._show_typed()
        self._look_again()

    def on_screen_resume(self) -> None:
        """Look again when an entry is left: a session may have ended meanwhile."""
        self._look_again()

    # Sessions

    def _look_again(self) -> None:
        self.run_worker(self._find_sessions, thread=True, exit_on_error=False, exclusive=True)

    def _find_sessions(self) -> None:
        try:
            sessions = snapshots(self._where)
        except DiagnosticsError as error:
            self.app.call_from_thread(self._show_session, str(error))
            return
        self.app.call_from_thread(self._take_sessions, sessions)

    def _take_sessions(self, sessions: Sequence[Snapshot]) -> None:
        self._sessions = sessions
        live = [session for session in sessions if session.status != "terminated"]
        names = [session.id for session in sessions]
        if self._where.session not in names and (latest := max(live or sessions, key=_last_used, default=None)):
            self._where = replace(self._where, session=latest.id)
        self._show_session(self._description())

    def _description(self) -> str:
        for session in self._sessions:
            if session.id == self._where.session:
                program = f", {session.program}" if session.program else ""
                return f"Session {session.id}: {session.status}{program} ({session.adapter})"
        return "There is no session: dapkit launch starts one. logs, system and clear-cache need none."

    def _show_session(self, text: str) -> None:
        self.query_one("#session", Static).update(text)

    def action_next_session(self) -> None:
        """Take the next session."""
        names = [session.id for session in self._sessions]
        if names:
            index = names.index(self._where.session) if self._where.session in names else -1
            self._where = replace(self._where, session=names[(index + 1) % len(names)])
            self._show_session(self._description())

    # Choosing

    def on_key(self, event: events.Key) -> None:
        """Take typed letters as the beginning of an entry's name."""
        if event.key == "backspace":
            self._type(self._typed[:-1])
        elif event.character and (event.character.isalnum() or event.character in "-_"):
            self._type(self._typed + event.character.lower().replace("_", "-"))

    def _type(self, typed: str) -> None:
        fitting = next((number for number, name in enumerate(MENU) if name.startswith(typed)), None)
        if fitting is None:
            self.notify(f"No entry begins with {typed}.", severity="warning")
            return
        self._typed = typed
        self.query_one(OptionList).highlighted = fitting
        self._show_typed()

    def _show_typed(self) -> None:
        self.query_one("#typed", Static).update(
            f"Name: {self._typed}" if self._typed else "Type a name, or use the arrows."
        )

    def action_clear_or_leave(self) -> None:
        """Forget the typed letters; leave, if there were none."""
        if self._typed:
            self._type("")
        else:
            self.app.exit()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open an entry."""
        self._typed = ""
        self._show_typed()
        if event.option_id is not None:
            self.app.push_screen(self._entries[event.option_id](self._where))


def _last_used(session: Snapshot) -> str:
    return session.last_used_at


def _prompt(name: str, summary: str) -> Text:
    return Text.assemble((f"{name:{_WIDTH}}", "bold"), summary)
