"""Reports to a screen from the thread that works for it, and the line above a viewer that shows errors."""

from textual.message import Message
from textual.widgets import Static

from dapkit.agent.text.escaping import printable


class Progressed(Message):
    """Something is being done; `percentage` of it, if that is known."""

    def __init__(self, text: str, percentage: float | None) -> None:
        super().__init__()
        self.text = text
        self.percentage = percentage


class Finished[R](Message):
    """It is done; `result` is the value to show."""

    def __init__(self, result: R) -> None:
        super().__init__()
        self.result = result


class Failed(Message):
    """It failed; `text` says why, and what to do."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


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
