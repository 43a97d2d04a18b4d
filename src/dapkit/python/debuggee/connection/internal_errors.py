"""Errors of the engine itself: their traceback goes to the adapter's log, and the client learns of it once.

The adapter writes the event `dapkit/log` to the file of its `--log`. The client hears of an error of a
request by the response, and of any other by one `output` event, however often it occurs.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Final

from ..interpreter import limits
from ..interpreter.log import LOG, write
from .framing import Json

LOG_EVENT: Final = "dapkit/log"
RELEASED_EVENT: Final = "dapkit/released"
"""Says that errors keep the engine from continuing, and that the program does without it."""


class InternalErrors:
    """Reports errors of the engine."""

    def __init__(self, send_event: Callable[[str, Json], None]) -> None:
        self._send_event = send_event
        self._shown: set[str] = set()

    def log(self, error: BaseException, during: str) -> None:
        """Let the adapter log an error, with its context: a request, or an event."""
        self.remark(f"{during}: {type(error).__name__}: {error}\n{traceback_of(error)}")

    def remark(self, text: str) -> None:
        """Let the adapter log a text."""
        if LOG:
            write("error", text)
        self._send_event(LOG_EVENT, {"level": "error", "text": text[: limits.MESSAGE_CHARS]})

    def show(self, error: BaseException, during: str) -> None:
        """Let the adapter log an error that no response reports, and show the first one to the client."""
        self.log(error, during)
        where = _newest(error.__traceback__)
        text = f"Internal error of the debugger: {type(error).__name__}: {error}{where}"
        if text not in self._shown:
            self._shown.add(text)
            self._send_event("output", {"category": "stderr", "output": text + "\n"})


def _newest(traceback: TracebackType | None) -> str:
    if traceback is None:
        return ""
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return f" at line {traceback.tb_lineno} of {traceback.tb_frame.f_code.co_filename}"


def traceback_of(error: BaseException) -> str:
    """Return the text of `traceback`, without source lines: that module is not imported inside the program."""
    lines: list[str] = []
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        lines += [traceback_of(cause), f"{type(cause).__name__}: {cause}", "", "which led to:", ""]
    lines.append("Traceback (most recent call last):")
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        lines.append(f'  File "{code.co_filename}", line {traceback.tb_lineno}, in {code.co_qualname}')
        traceback = traceback.tb_next
    return "\n".join(lines)
