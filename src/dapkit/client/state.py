"""The state of the program, according to events and to the client's requests.

    Starting ──handshake done, stopped──▶ Running ◀──resumed── Stopped
        └──────────────┬──────────────────┘ └──────stopped─────▶┘
                       ▼ terminated, adapter gone
                     Ended

A program counts as running from the moment when it is asked to, not from the
answer: some adapters send `stopped` before the response (rdbg), and no frame may
be relied on in between. A refusal takes that back.

Each stop after a resumption has the next `epoch`; frames, scopes and variables
belong to the epoch in which they were asked for. A thread that stops by itself
while another stands does not change the state: its stop is kept, and becomes the
state, with an epoch of its own, once the other was let go and it was not.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dapkit.endpoint import RESUMING
from dapkit.protocol import (
    ContinueArguments,
    ContinueBody,
    ContinuedEvent,
    ExitedEvent,
    ProcessEvent,
    ProtocolObject,
    Request,
    ReverseContinueArguments,
    StoppedEvent,
    TerminatedEvent,
    ThreadEvent,
    ThreadsBody,
)

RESUMING_COMMANDS = frozenset({*RESUMING, "restart"})
"""Requests after which the program runs, until it says otherwise."""


@dataclass(frozen=True, slots=True)
class Starting:
    """Nothing was launched or attached to yet, or it has not answered."""


@dataclass(frozen=True, slots=True)
class Running:
    """The program runs, or was asked to."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """The program is stopped."""

    event: StoppedEvent
    """The adapter's description of the stop."""

    epoch: int
    """Which stop of the session this is, from 1."""

    @property
    def reason(self) -> str:
        """Why it stopped, in the adapter's word: `breakpoint`, `step`, `exception`, `entry`, `pause`, ..."""
        return self.event.reason

    @property
    def thread_id(self) -> int:
        """The thread that stopped; 0 if the adapter named none."""
        return self.event.thread_id or 0


@dataclass(frozen=True, slots=True)
class Ended:
    """Debugging is over."""

    exit_code: int | None
    """The program's exit code; None if the adapter did not report it (delve and js-debug never do)."""

    adapter_lost: bool = False
    """Whether the adapter went away without `terminated`; the program may be in any state then."""


type State = Starting | Running | Stopped | Ended
"""The state of the program."""


@dataclass(frozen=True, slots=True)
class KnownThread:
    """A thread as far as events and `threads` responses reported it; not every adapter sends events for all."""

    id: int
    """Its id."""

    name: str | None = None
    """Its name, if it was reported."""

    stopped: bool = False
    """Whether it is stopped."""


@dataclass(frozen=True, slots=True, eq=False)
class CustomRequest:
    """A request by its name, whose arguments are plain JSON; it resumes the program if one with typed arguments does.

    Attributes:
        command: its name.
        single_thread: whether it asks for one thread alone.
        thread_id: which.

    """

    command: str
    single_thread: bool
    thread_id: int | None

    @classmethod
    def read(cls, command: str, arguments: object) -> "CustomRequest":
        """Read the fields on which the state of the program depends."""
        fields = arguments if isinstance(arguments, Mapping) else {}
        return cls(command, bool(fields.get("singleThread")), fields.get("threadId"))


@dataclass(frozen=True, slots=True)
class _Before:
    """The state to return to after a refused resumption."""

    request: object
    state: State
    threads: dict[int, KnownThread]
    beside: dict[int, StoppedEvent]
    resumed_at: int


class TrackedProgram:
    """The state of the debugged program.

    Invariant: `last_stop` is the stop of epoch `epoch`, and the state is either
    that or something later; `resumed_at` is the position of the first event that
    can belong to the present run; `beside` has the stops of single threads that
    stand, but for the one of the state.
    """

    def __init__(self) -> None:
        self.state: State = Starting()
        self.threads: dict[int, KnownThread] = {}
        self.process: ProcessEvent | None = None
        self.last_stop: Stopped | None = None
        self.epoch = 0
        self.resumed_at = 0
        self.exit_code: int | None = None
        self.beside: dict[int, StoppedEvent] = {}
        self._gone: int | None = None
        self._before: _Before | None = None

    @property
    def adapter_lost(self) -> bool:
        """Whether the adapter went away without reporting the end."""
        return isinstance(self.state, Ended) and self.state.adapter_lost

    def note_start(self) -> None:
        """Record that launch or attach went through."""
        if isinstance(self.state, Starting):
            self.state = Running()

    def note_request(self, arguments: ProtocolObject | CustomRequest, *, position: int) -> None:
        """Record a request that is about to leave, at this position in the events."""
        if getattr(arguments, "command", None) not in RESUMING_COMMANDS:
            return
        self._before = _Before(arguments, self.state, dict(self.threads), dict(self.beside), self.resumed_at)
        alone = getattr(arguments, "thread_id", None) if getattr(arguments, "single_thread", None) else None
        self._run(alone, position)

    def note_refusal(self, arguments: object) -> None:
        """Take back a resumption that did not come about, unless something happened since."""
        before = self._before
        if before is None or before.request is not arguments or not isinstance(self.state, Running):
            return
        self._before = None
        self.state, self.threads, self.resumed_at = before.state, before.threads, before.resumed_at
        self.beside = before.beside

    def note_response(self, request: Request, body: object) -> None:
        """Record a response to one of our requests."""
        match body:
            case ThreadsBody():
                threads = [KnownThread(thread.id, thread.name, self._is_stopped(thread.id)) for thread in body.threads]
                self.threads = self._standing() | {thread.id: thread for thread in threads}
            case ContinueBody(all_threads_continued=False) if self._before is not None:
                # The others stay as they were before the request.
                arguments = request.arguments
                alone = arguments.thread_id if isinstance(arguments, ContinueArguments) else None
                for thread in self._before.threads.values():
                    if thread.id != alone and thread.id in self.threads:
                        self.threads[thread.id] = replace(self.threads[thread.id], stopped=thread.stopped)
                self.beside |= {number: stop for number, stop in self._before.beside.items() if number != alone}
        if isinstance(request.arguments, ContinueArguments | ReverseContinueArguments):
            self._go_over()

    def note_event(self, event: object, *, position: int) -> None:
        """Process an event; `position` is the position after it."""
        match event:
            case StoppedEvent():
                self._stop(event)
            case ContinuedEvent():
                self._run(event.thread_id if event.all_threads_continued is False else None, position)
            case ThreadEvent(reason="exited"):
                self.threads.pop(event.thread_id, None)
                self.beside.pop(event.thread_id, None)
                if event.thread_id == self._gone:
                    self._go_over()
            case ThreadEvent():
                self.threads.setdefault(event.thread_id, KnownThread(event.thread_id))
            case ProcessEvent():
                self.process = event
            case ExitedEvent():
                self.exit_code = event.exit_code
                if isinstance(self.state, Ended):
                    self.state = Ended(event.exit_code)
            case TerminatedEvent():
                self.end()

    def end(self, *, adapter_lost: bool = False) -> None:
        """Record that nothing more will happen."""
        if not isinstance(self.state, Ended):
            self.state = Ended(self.exit_code, adapter_lost=adapter_lost)
            self.threads.clear()

    def _stop(self, event: StoppedEvent) -> None:
        for thread_id, thread in self.threads.items():
            if event.all_threads_stopped:
                self.threads[thread_id] = replace(thread, stopped=True)
        if event.thread_id is not None:
            stopped_thread = self.threads.get(event.thread_id, KnownThread(event.thread_id))
            self.threads[event.thread_id] = replace(stopped_thread, stopped=True)
        if isinstance(self.state, Starting | Running):
            self._stand(event)
        elif event.thread_id is not None and not event.all_threads_stopped and self._stands_elsewhere(event.thread_id):
            self.beside[event.thread_id] = event

    def _stands_elsewhere(self, thread_id: int) -> bool:
        return isinstance(self.state, Stopped) and self.state.thread_id != thread_id

    def _stand(self, event: StoppedEvent) -> None:
        self.epoch += 1
        self.state = self.last_stop = Stopped(event, self.epoch)
        self.beside.pop(self.state.thread_id, None)

    def _go_over(self) -> None:
        """Stand where another thread has stopped meanwhile, if one did and was not let go."""
        if isinstance(self.state, Running) and self.beside:
            self._stand(next(iter(self.beside.values())))

    def _run(self, alone: int | None, position: int) -> None:
        for thread_id, thread in self.threads.items():
            if alone is None or alone == thread_id:
                self.threads[thread_id] = replace(thread, stopped=False)
        self._gone = alone
        if alone is None:
            self.beside.clear()
        else:
            self.beside.pop(alone, None)
        standing = self.state.thread_id if isinstance(self.state, Stopped) else None
        if not isinstance(self.state, Ended) and (alone is None or standing in (alone, None)):
            self.state = Running()
            self.resumed_at = position

    def _standing(self) -> dict[int, KnownThread]:
        """Find the thread of the present stop; lldb-dap 22 may leave it out of a `threads` response for a while."""
        thread = self.threads.get(self.state.thread_id) if isinstance(self.state, Stopped) else None
        return {} if thread is None else {thread.id: thread}

    def _is_stopped(self, thread_id: int) -> bool:
        thread = self.threads.get(thread_id)
        if thread is not None:
            return thread.stopped
        return isinstance(self.state, Stopped) and bool(self.state.event.all_threads_stopped)
