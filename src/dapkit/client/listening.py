"""Who is told at once, in the order of the wire, of all that happens in a tree of sessions.

Streams of events are read when their reader comes to it. Whoever keeps a state of
his own beside that of the sessions, such as a hub, has to be told as things
happen instead, or the two would differ for a moment.
"""

from typing import TYPE_CHECKING, Protocol

from dapkit.client.events import SessionEvent

if TYPE_CHECKING:
    from dapkit.client.session import Session
    from dapkit.client.terminal import Terminal


class Listener(Protocol):
    """Told of a session and of all its children; its methods only take note, and never raise."""

    def changed(self, session: "Session", event: SessionEvent | None, /) -> None:
        """Take note of a message that has brought a session up to date; nobody who waits was woken yet.

        `event` is None for a response, and for the end of the conversation.
        """
        ...

    def wrote(self, session: "Session", terminal: "Terminal | None", text: str, /) -> None:
        """Take note of what a program wrote to a terminal of a session.

        Without a terminal it is what came on the stdout and stderr of an adapter that does not speak
        the protocol there: programs under delve write to the same.
        """
        ...
