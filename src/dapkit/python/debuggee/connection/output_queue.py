"""Log messages that wait to be sent, joined where they are many and come from the same place.

A loop logs faster than single events can be sent and shown. Messages in quick succession wait here for a moment, for
others; `link` decides when they are sent, and that nothing overtakes them.
"""

from ..interpreter import limits
from .framing import Json
from .output_marks import Message, position_of


class OutputQueue:
    """Messages in the order in which they came.

    Any thread may add to `messages`; one at a time may take.
    """

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def __bool__(self) -> bool:
        return bool(self.messages)

    def take(self) -> list[Json]:
        """Take those that wait by now, as bodies of events."""
        batch = self.messages[:]
        del self.messages[: len(batch)]  # others may go on adding
        # An editor shows the place of an event beside its first line alone; in a flood the user follows no single
        # place.
        are_few = len(batch) <= limits.REMARKS_APART
        joined: list[list[Message]] = []
        size = 0
        last: Message | None = None
        for message in batch:
            is_apart = are_few and last is not None and last[0].endswith("\n")
            if last is None or message[1] != last[1] or size > limits.REMARK_CHARS or is_apart:
                joined.append([])
                size = 0
            joined[-1].append(message)
            size += len(message[0])
            last = message
        return [{**messages[0][1], "output": _output_of(messages)} for messages in joined]


def _output_of(messages: list[Message]) -> str:
    """Join texts; texts without output of the program between them have one position, the position of the last."""
    parts: list[str] = []
    texts: list[str] = []
    last = messages[0]
    for message in messages:
        if message[3:] != last[3:]:
            parts += position_of(*last[2:]), *texts
            texts = []
        texts.append(message[0])
        last = message
    return "".join((*parts, position_of(*last[2:]), *texts))
