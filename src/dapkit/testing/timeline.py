"""All messages of a conversation in order, and a test's expectations of them."""

from typing import Literal

import anyio

from dapkit.endpoint import Role, Violation
from dapkit.protocol import FrameDecoder, FramingError
from dapkit.testing.moments import Moment
from dapkit.testing.patterns import Found, Miss, Pattern
from dapkit.testing.schema import check_schema
from dapkit.transport import Tap


class Timeline:
    """The messages of both sides, in the order in which they passed one place.

    Give `tap` to a `Connection`, or take the timeline that a `Pair` or a fake
    peer keeps.

    Example:
        >>> from dapkit.protocol import ContinueArguments, ContinueBody, TerminatedEvent
        >>> from dapkit.testing import Pair, event, never, request, response
        >>> pair = Pair.running()
        >>> go_on = pair.client.send(ContinueArguments(thread_id=1))
        >>> pair.run_until_idle()
        >>> pair.adapter.respond(go_on, ContinueBody())
        >>> _ = pair.adapter.tell(TerminatedEvent())
        >>> pair.run_until_idle()
        >>> found = pair.timeline.expect(
        ...     request("continue", thread_id=1) >> never(event("terminated")) >> response("continue")
        ... )
        >>> print(found[-1])
        #8   adapter 5 response continue to 4 {}

    """

    def __init__(self) -> None:
        self.moments: list[Moment] = []
        self._frames = {role: FrameDecoder() for role in Role}
        self._grown: anyio.Event | None = None

    def record(self, speaker: Role, data: bytes) -> None:
        """Add bytes that one side sent, split anyhow."""
        try:
            payloads = self._frames[speaker].feed(data)
        except FramingError as error:
            payloads = [*error.payloads, data]
        for payload in payloads:
            self.moments.append(Moment(len(self.moments), speaker, payload))
        if self._grown is not None:
            self._grown.set()

    def tap(self, ours: Role) -> Tap:
        """Make a tap for the `Connection` of one end."""

        def listen(direction: Literal["sent", "received"], data: bytes) -> None:
            self.record(ours if direction == "sent" else ours.peer, data)

        return listen

    def expect(self, pattern: Pattern, *, after: Moment | None = None) -> Found:
        """Return the messages that satisfy a pattern; those up to `after` do not count.

        Raises:
            AssertionError: with the reason and the timeline, if a pattern is not satisfied.

        """
        result = self._find(pattern, after)
        if isinstance(result, Miss):
            raise AssertionError(f"expected {pattern}\nbut {result.reason}, in\n{self}")  # noqa: TRY004 - this is an assertion
        return result

    async def wait_for(self, pattern: Pattern, deadline: float = 5.0, *, after: Moment | None = None) -> Found:
        """Return the messages that satisfy a pattern as soon as they have passed.

        Raises:
            AssertionError: they have not within `deadline` seconds.

        """
        with anyio.move_on_after(deadline):
            while isinstance(result := self._find(pattern, after), Miss):
                self._grown = anyio.Event()
                await self._grown.wait()
            return result
        return self.expect(pattern, after=after)

    def violations(self) -> list[Violation]:
        """Check every message strictly against the schema."""
        return check_schema(self.moments)

    def __str__(self) -> str:
        """Print one message a line."""
        return "\n".join(map(str, self.moments)) or "(nothing was said)"

    def _find(self, pattern: Pattern, after: Moment | None) -> Found | Miss:
        return pattern.find(self.moments, 0 if after is None else after.index + 1, frozenset())
