"""Reports to a screen from the thread that works for it."""

from textual.message import Message


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
