"""The program's output, reported to the client as well as written: `redirectOutput`.

For programs whose output is not in the adapter's pipes: those in a terminal, and those that were running before.
The streams keep their identity; only `write` of each and of its `buffer` reports the text that it wrote. A stream
hands its text to its own buffer, in `write` or in `flush`: that was reported as text already. Output to a descriptor,
from native code or other processes, is not seen.
"""

import _codecs
import _thread
import sys
from collections.abc import Callable
from typing import Any, Final

from ..connection.framing import Json

type Report = Callable[[str, Json], None]

_CATEGORIES: Final = ("stdout", "stderr")


class RedirectedOutput:
    """The two streams, while they are reported."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._redirected: list[tuple[Any, str, Callable[..., Any]]] = []

    def begin(self) -> list[str]:
        """Begin to report; return a message about streams that cannot be reported."""
        problems: list[str] = []
        for category in _CATEGORIES:
            stream: Any = getattr(sys, category)
            if stream is None:
                continue
            reported = _ReportedStream(stream, self._reporter(category))
            try:
                for owner, name, replacement in reported.replacements():
                    setattr(owner, name, replacement)
                    self._redirected.append((owner, name, replacement))
            except (AttributeError, TypeError) as error:
                problems.append(f"redirectOutput: sys.{category} cannot be listened to: {error}")
        return problems

    def _reporter(self, category: str) -> Callable[[str], None]:
        return lambda text: self._report(text, {"category": category})

    def end(self) -> None:
        """End the reports, and leave the streams as they were. Takes no lock."""
        redirected, self._redirected = self._redirected, []
        for owner, name, replacement in redirected:
            if getattr(owner, "__dict__", {}).get(name) is replacement:
                delattr(owner, name)


class _ReportedStream:
    """One stream.

    Invariant: `_writers` holds the threads in which the stream itself may write to its buffer.
    """

    def __init__(self, stream: Any, report: Callable[[str], None]) -> None:  # noqa: ANN401 - whatever the program has
        self._stream = stream
        self._report = report
        self._writers: set[int] = set()
        self._rest = b""
        """The beginning of a character whose end was not written yet."""

    def replacements(self) -> list[tuple[Any, str, Callable[..., Any]]]:
        """Return the replacements of methods: owner, name and function."""
        stream: Any = self._stream
        methods: list[tuple[Any, str, Callable[..., Any]]] = [(stream, "write", self._write(stream.write))]
        buffer: Any = getattr(stream, "buffer", None)
        if hasattr(buffer, "__dict__"):
            methods += [
                (stream, "flush", self._in_stream(stream.flush)),
                (buffer, "write", self._write_bytes(buffer.write)),
            ]
        return methods

    def _write(self, write: Callable[[str], int]) -> Callable[[str], int]:
        write_in_stream = self._in_stream(write)

        def write_and_report(text: str) -> int:
            count: int = write_in_stream(text)
            if text:
                self._report(text)
            return count

        return write_and_report

    def _in_stream(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:  # noqa: ANN401 - the method's arguments
            ident = _thread.get_ident()
            if ident in self._writers:  # a handler of a signal writes, too
                return method(*arguments)
            self._writers.add(ident)
            try:
                return method(*arguments)
            finally:
                self._writers.discard(ident)

        return call

    def _write_bytes(self, write: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def write_and_report(data: Any) -> Any:  # noqa: ANN401 - anything that has bytes
            count = write(data)
            if _thread.get_ident() not in self._writers and isinstance(count, int):
                self._report_bytes(bytes(memoryview(data).cast("B")[:count]))
            return count

        return write_and_report

    def _report_bytes(self, data: bytes) -> None:
        data = self._rest + data
        text, length = _codecs.utf_8_decode(data, "backslashreplace", False)  # noqa: FBT003 - takes no keywords
        self._rest = data[length:]
        if text:
            self._report(text)
