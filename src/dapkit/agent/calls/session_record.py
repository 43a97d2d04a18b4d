"""The actions of a session and their answers, kept within bounds: the source of its transcript."""

from collections import deque

from dapkit.agent import limits
from dapkit.agent.results.diagnostics import RecordedAction
from dapkit.protocol import changed, encode_value


class SessionRecord:
    """The first action of a session, which has started it, and the latest ones.

    Invariant: there are at most `limits.SESSION_RECORD_ENTRIES`, which have at most `limits.SESSION_RECORD_BYTES`.
    """

    def __init__(self) -> None:
        self._count = 0
        self._first: tuple[RecordedAction, int] | None = None
        self._latest: deque[tuple[RecordedAction, int, int]] = deque()
        self._bytes = 0

    def add(self, entry: RecordedAction, output_end: int = 0) -> None:
        """Keep an action, and where the output of the program had come to; its number is given here."""
        self._count += 1
        numbered = changed(entry, number=self._count)
        size = len(encode_value(numbered))
        if size > limits.SESSION_RECORD_ENTRY_BYTES:
            numbered = changed(numbered, details=None)
            size = len(encode_value(numbered))
        if self._first is None:
            self._first = (numbered, output_end)
            return
        self._latest.append((numbered, output_end, size))
        self._bytes += size
        while len(self._latest) >= limits.SESSION_RECORD_ENTRIES or self._bytes > limits.SESSION_RECORD_BYTES:
            self._bytes -= self._latest.popleft()[2]

    def entries(self) -> list[RecordedAction]:
        """Return those that are kept, in order."""
        return [entry for entry, _ in self.with_output()]

    def with_output(self) -> list[tuple[RecordedAction, int]]:
        """Return them with the positions that the output of the program had come to."""
        first = [] if self._first is None else [self._first]
        return first + [(entry, output_end) for entry, output_end, _ in self._latest]

    @property
    def dropped(self) -> int:
        """How many are not kept any more; they came after the first."""
        return self._count - len(self.entries())
