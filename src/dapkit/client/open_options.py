"""Options of every way to open a session, and the listener among them.

Both are generic in the session that they are for, `dapkit.client.Session`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypedDict

from dapkit.client.breakpoints import Breakpoints
from dapkit.client.events import SessionEvent
from dapkit.client.reverse import Adopts
from dapkit.client.terminal import Terminal
from dapkit.protocol import InitializeRequestArguments
from dapkit.transport import Tap


class Listener[S](Protocol):
    """Is called at once, in the order of the wire, for all that happens in a session and its children.

    Streams of events are read when their reader comes to it. Code that keeps a state of its own beside that
    of the sessions, such as a hub, must be called as things happen instead, or the two would differ for a
    moment. The methods only take note, and never raise.
    """

    def changed(self, session: S, event: SessionEvent | None, /) -> None:
        """Record a message that has brought a session up to date; no task that waits was woken yet.

        `event` is None for a response, and for the end of the conversation.
        """
        ...

    def wrote(self, session: S, terminal: Terminal | None, text: str, category: str, /) -> None:
        """Process a program's output to a terminal of the session; the category is stdout or stderr.

        Without a terminal it is the stdout and stderr of an adapter that does not speak the protocol there: programs
        under delve write to the same streams.
        """
        ...


class OpenOptions[S](TypedDict, total=False):
    """Options of every way to open a session."""

    adapter_id: str
    """Name of the adapter in `initialize`; some expect their own."""
    introduction: InitializeRequestArguments | None
    """Fields of `initialize` that replace the defaults: another name or locale, lines that count from 0, and so on.

    Start from `dapkit.client.introduction(adapter_id)`. In the session lines and columns count from 1, and paths are
    paths, whatever goes over the wire.
    """
    transcript: Path | None
    """File for all messages, as `dapkit.transport.Recorder` writes it; children get files beside it."""
    breakpoints: Breakpoints | None
    """The breakpoints from the start, such as another session's `breakpoints_for_another()`."""
    adopts: Adopts
    """Says whether a child session is wanted; all are, unless it says otherwise."""
    program_input: Path | None
    """File that programs in terminals read instead of typed input; children read on where their parents stopped."""
    listener: Listener[S] | None
    """Called at once for all that happens in this session and in its children."""
    new_tap: Callable[[], Tap] | None
    """Called when this session, or a child, reaches its adapter; its result gets all bytes of the conversation."""
