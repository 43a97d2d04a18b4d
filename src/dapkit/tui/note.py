"""A line above a viewer: why there is nothing to see, or an error."""

from textual.widgets import Static

from dapkit.agent.text.escaping import printable


class Note(Static):
    """Shows a text, and takes no room without one."""

    DEFAULT_CSS = """
    Note { padding: 0 1; height: auto; }
    Note.failed { color: $error; }
    """

    def __init__(self) -> None:
        super().__init__("", id="note", markup=False)

    def say(self, text: str, *, failed: bool = False) -> None:
        """Show another text, as an error if something failed."""
        self.display = bool(text)
        self.set_class(failed, "failed")
        self.update(printable(text))
