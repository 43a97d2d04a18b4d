"""Progress of a long call, on one line of a terminal that the answer wipes out again."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

_CLEAR = "\r\x1b[K"


class ProgressLine:
    """A line on stderr, if that is a terminal; nothing otherwise."""

    def __init__(self) -> None:
        self._shown = False
        self._wanted = sys.stderr.isatty()

    def __enter__(self) -> "Self":
        return self

    def __exit__(
        self, kind: "type[BaseException] | None", error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        if self._shown:
            self._write(_CLEAR)

    def show(self, message: str, percentage: float | None) -> None:
        """Show the progress; without a percentage, only the current step."""
        if self._wanted:
            self._shown = True
            percent = "" if percentage is None else f" {percentage:.0f} %"
            self._write(f"{_CLEAR}{message}{percent}")

    def before(self, show: "Callable[[str], None]") -> "Callable[[str], None]":
        """Wipe the line before a text is shown."""

        def wiped(text: str) -> None:
            if self._shown:
                self._write(_CLEAR)
            show(text)

        return wiped

    @staticmethod
    def _write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
