"""The state of a session, from the messages of its adapter.

All state follows the order of the wire: each message brings it up to date before
a task that waits for it is woken.
"""

from collections.abc import Callable

from dapkit.client.breakpoints import Breakpoints
from dapkit.client.events import CustomEvent, EventLog, SessionEvent
from dapkit.client.output import TextLog
from dapkit.client.state import Ended, Starting, TrackedProgram
from dapkit.endpoint import ConversationEnded, EventReceived, Happening, ResponseReceived
from dapkit.protocol import (
    BreakpointEvent,
    Event,
    EventBody,
    InitializedEvent,
    OutputEvent,
    RawJson,
    decode_as,
)
from dapkit.transport import StateChange


class ReceivedState:
    """The program, its breakpoints, its output and its events, as reported so far.

    Invariant: `updates` is notified after each message that may have changed something, and after `changed` was called.

    Attributes:
        initialized: whether the adapter has reported that it takes breakpoints now (event `initialized`).
        disconnected: whether it has answered a `disconnect` request.

    """

    def __init__(self, breakpoints: Breakpoints, *, changed: Callable[[SessionEvent | None], None]) -> None:
        self.breakpoints = breakpoints
        self.program = TrackedProgram()
        self.events = EventLog()
        self.output = TextLog()
        self.updates = StateChange()
        self.initialized = False
        self.disconnected = False
        self._changed = changed

    @property
    def started(self) -> bool:
        """Whether the program runs, stands or has ended."""
        return not isinstance(self.program.state, Starting)

    @property
    def ended(self) -> bool:
        """Whether debugging is over."""
        return isinstance(self.program.state, Ended)

    def watch(self, happening: Happening) -> None:
        """Process a message of the adapter."""
        event: SessionEvent | None = None
        match happening:
            case EventReceived(received):
                event = self._add(received)
            case ResponseReceived(request, response) if response.success:
                self.breakpoints.note_response(request.arguments, response.body)
                self.program.note_response(request, response.body)
                self.disconnected = self.disconnected or request.command == "disconnect"
            case ResponseReceived(request):
                self.program.note_refusal(request.arguments)
            case ConversationEnded():
                self.end()
                return
        self._changed(event)
        self.updates.notify()

    def end(self) -> None:
        """Record that the conversation is over."""
        self.program.end(adapter_lost=not self.disconnected)
        self.events.close()
        self._changed(None)
        self.updates.notify()

    def _add(self, received: Event) -> SessionEvent:
        body = received.body
        event = body if isinstance(body, EventBody) else CustomEvent(received.event, _plain(body))
        self.events.add(event)
        self.program.note_event(event, position=self.events.position)
        match event:
            case InitializedEvent():
                self.initialized = True
            case OutputEvent():
                self.output.append(event.output, event.category or "console")
            case BreakpointEvent():
                self.breakpoints.note_event(event)
            case _:
                pass
        return event


def _plain(raw: object) -> object:
    return decode_as(object, raw) if isinstance(raw, RawJson) else None
