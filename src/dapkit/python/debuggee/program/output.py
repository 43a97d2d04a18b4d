"""What the program writes, reported to the client as well as written: `redirectOutput`.

For programs whose output is not in the adapter's pipes: those in a terminal, and those that were running before.
The streams stay what they are; only their `write` reports what passed through it. What goes to a stream's
`buffer` or to a descriptor, from native code or other processes, is not seen.
"""

import sys
from collections.abc import Callable
from typing import Any, Final

from ..connection.wire import Json

type Report = Callable[[str, Json], None]

_CATEGORIES: Final = ("stdout", "stderr")


class RedirectedOutput:
    """The two streams, while they are reported."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._redirected: list[tuple[Any, Callable[[str], int]]] = []

    def begin(self) -> list[str]:
        """Begin to report; return what is to be said about streams that cannot be."""
        problems: list[str] = []
        for category in _CATEGORIES:
            stream: Any = getattr(sys, category)
            if stream is None:
                continue
            try:
                write = self._reporting(stream.write, category)
                stream.write = write
            except (AttributeError, TypeError) as error:
                problems.append(f"redirectOutput: sys.{category} cannot be listened to: {error}")
            else:
                self._redirected.append((stream, write))
        return problems

    def _reporting(self, write: Callable[[str], int], category: str) -> Callable[[str], int]:
        def write_and_report(text: str) -> int:
            written = write(text)
            if text:
                self._report(text, {"category": category})
            return written

        return write_and_report

    def end(self) -> None:
        """End the reports, and leave the streams as they were. Takes no lock."""
        redirected, self._redirected = self._redirected, []
        for stream, write in redirected:
            if getattr(stream, "__dict__", {}).get("write") is write:
                del stream.write
