"""Log messages that wait to be sent, joined where they are many and come from the same place.

A loop logs faster than single events can be sent and shown. What comes in quick
succession waits here for a moment, for others; when it is sent, and that nothing
overtakes it, is the business of `link`.
"""

from .. import limits
from .wire import Json


class OutputQueue:
    """Texts in the order in which they came, each with the other fields of its `output` event.

    Any thread may add; one at a time may take.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[str, Json]] = []

    def add(self, text: str, place: Json) -> int:
        """Add one; return how many wait now."""
        self._waiting.append((text, place))
        return len(self._waiting)

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def take(self) -> list[Json]:
        """Take those that wait by now, as bodies of events."""
        joined: list[tuple[Json, list[str]]] = []
        size = 0
        taken = self._waiting[:]
        del self._waiting[: len(taken)]  # others may go on adding
        # An editor shows the place of an event beside its first line alone; of a flood nobody follows each.
        are_few = len(taken) <= limits.REMARKS_APART
        for text, place in taken:
            is_apart = are_few and bool(joined) and joined[-1][1][-1].endswith("\n")
            if not joined or place != joined[-1][0] or size > limits.REMARK_CHARS or is_apart:
                joined.append((place, []))
                size = 0
            joined[-1][1].append(text)
            size += len(text)
        return [{**place, "output": "".join(texts)} for place, texts in joined]
