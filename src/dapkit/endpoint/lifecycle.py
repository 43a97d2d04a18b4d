"""Lifecycle of one debug session.

Every legal move is a row of MOVES, every phase that is short of commands a row
of ONLY; nothing else may change the phase or forbid a request.
This module does not know whether we are the client or the adapter.

    FRESH ──initialize──▶ INITIALIZING ──response──▶ READY
                                                       │ initialized
             ┌─────────── stopped ──────────┐          ▼
             ▼                              │     CONFIGURING
          STOPPED ──resumed, continued──▶ RUNNING ◀────┘ configurationDone
             └──────────────┬───────────────┘
                            ▼ terminated, disconnect
                           OVER

Real adapters leave out `initialized`, send it early or twice, stop before
configurationDone, or fail a launch after it; each of these has its row or flag.
"""

import enum
from collections.abc import Mapping
from typing import Literal, NamedTuple

from dapkit.protocol.time_travel import STEP_BACK_INTO, TRAVEL_TO


class Phase(enum.Enum):
    """Where a session stands."""

    FRESH = "no initialize request yet"
    INITIALIZING = "initialize was requested and not answered yet"
    READY = "launch or attach may be requested"
    CONFIGURING = "the initialized event was sent: breakpoints may be set"
    RUNNING = "the program runs"
    STOPPED = "at least one thread is stopped"
    OVER = "terminated or disconnected"


type TriggerKind = Literal["request", "response", "failure", "event"]


class Trigger(NamedTuple):
    """Something that passed between the two ends; a failure is the response to a request that failed."""

    kind: TriggerKind
    """The message that was sent or received."""

    name: str
    """Its command, or the name of the event."""


RESUMING = (
    "continue",
    "next",
    "stepIn",
    "stepOut",
    "stepBack",
    "reverseContinue",
    "goto",
    "restartFrame",
    "restart",
    STEP_BACK_INTO,
    TRAVEL_TO,
)
"""Commands that set a stopped program going, or show it at another moment."""

STOPPING = (*RESUMING, "pause", "configurationDone", "launch", "attach")
"""Commands whose effect may be a stopped event, which must wait for their response."""

ONLY: Mapping[Phase, frozenset[str]] = {
    Phase.FRESH: frozenset({"initialize", "disconnect"}),
    Phase.INITIALIZING: frozenset({"disconnect"}),
    Phase.OVER: frozenset({"disconnect", "terminate", "cancel"}),
}
"""Phases in which no other requests are legal, in either direction."""

_OBJECTIONS = {
    Phase.FRESH: "came before initialize, which has to be the first request",
    Phase.INITIALIZING: "came before the response to initialize",
    Phase.OVER: "came after the session had ended: only disconnect is left",
}

_STARTS = ("launch", "attach")
_LIVE = (Phase.READY, Phase.CONFIGURING, Phase.RUNNING, Phase.STOPPED)

MOVES: Mapping[tuple[Phase, Trigger], Phase] = {
    (Phase.FRESH, Trigger("request", "initialize")): Phase.INITIALIZING,
    (Phase.INITIALIZING, Trigger("response", "initialize")): Phase.READY,
    (Phase.INITIALIZING, Trigger("failure", "initialize")): Phase.FRESH,
    (Phase.READY, Trigger("event", "initialized")): Phase.CONFIGURING,
    (Phase.CONFIGURING, Trigger("response", "configurationDone")): Phase.RUNNING,
    # Adapters that never send initialized.
    (Phase.READY, Trigger("response", "configurationDone")): Phase.RUNNING,
    # Adapters without configurationDone start to run by themselves.
    (Phase.READY, Trigger("event", "stopped")): Phase.STOPPED,
    (Phase.READY, Trigger("event", "continued")): Phase.RUNNING,
    (Phase.CONFIGURING, Trigger("event", "stopped")): Phase.STOPPED,
    (Phase.CONFIGURING, Trigger("event", "continued")): Phase.RUNNING,
    (Phase.RUNNING, Trigger("event", "stopped")): Phase.STOPPED,
    (Phase.STOPPED, Trigger("event", "continued")): Phase.RUNNING,
    **{(Phase.STOPPED, Trigger("response", command)): Phase.RUNNING for command in RESUMING},
    # A launch that fails after configurationDone: there is no program, and another launch may follow.
    **{
        (phase, Trigger("failure", start)): Phase.CONFIGURING
        for phase in (Phase.RUNNING, Phase.STOPPED)
        for start in _STARTS
    },
    **{(phase, Trigger("event", "terminated")): Phase.OVER for phase in _LIVE},
    **{(phase, Trigger("response", "disconnect")): Phase.OVER for phase in Phase},
}
"""Messages that change the phase; all others leave it as it is."""

_MATTERING = frozenset(
    {
        *(step for _, step in MOVES),
        *(Trigger(kind, name) for kind in ("request", "failure") for name in (*_STARTS, "configurationDone")),
        *(Trigger(kind, name) for kind in ("request", "response", "failure") for name in RESUMING),
    }
)
"""All messages that `note` considers: most messages are not among them."""


class Lifecycle:
    """The phase of a session and the requests that it allows.

    Invariant: `phase` changes only along MOVES; `start` is the launch or attach
    request that was made and has not failed, and configurationDone and
    initialized come once for each of them.
    """

    def __init__(self) -> None:
        self.phase = Phase.FRESH
        self.start: str | None = None
        self.initialized_is_due = True
        self._configured = False
        self._resuming = 0
        self._overtaken = 0

    @property
    def introduced(self) -> bool:
        """Whether initialize has been answered, before which nothing else may be said."""
        return self.phase not in (Phase.FRESH, Phase.INITIALIZING)

    def objection(self, command: str) -> str | None:
        """Why a request is not legal now, or None if it is."""
        if command not in ONLY.get(self.phase, (command,)):
            return f"{command} {_OBJECTIONS[self.phase]}"
        if command == "initialize" and self.phase is not Phase.FRESH:
            return "initialize may be requested only once"
        if command in _STARTS and self.start is not None:
            return f"{command} came after {self.start}: one of them starts a session, once"
        if command == "configurationDone" and self._configured:
            return "configurationDone may be requested only once"
        return None

    def note(self, kind: TriggerKind, name: str, *, all_threads: bool = True) -> None:
        """Take account of something that passed, whichever peer said it.

        A message that does not concern all threads leaves a stopped session stopped.
        """
        if (kind, name) not in _MATTERING:
            return
        match kind, name:
            case "request", "launch" | "attach":
                self.start = name
            case "failure", "launch" | "attach":
                self.start = None
                self._configured = False
                self.initialized_is_due = True
            case "request", "configurationDone":
                self._configured = True
            case "failure", "configurationDone":
                self._configured = False
            case "event", "initialized":
                self.initialized_is_due = False
        if all_threads and not self._is_stale(kind, name):
            self.phase = MOVES.get((self.phase, Trigger(kind, name)), self.phase)
        if self.phase is Phase.READY and not self.initialized_is_due:
            # It came before the response to initialize.
            self.phase = MOVES[self.phase, Trigger("event", "initialized")]

    def _is_stale(self, kind: TriggerKind, name: str) -> bool:
        """Whether this is a response that came after the stop that its request led to (rdbg).

        A request that was made while the program ran cannot have led to a stop that comes before its response.
        """
        if (kind, name) == ("event", "stopped"):
            self._overtaken = self._resuming
        if name not in RESUMING or kind == "event":
            return False
        if kind == "request":
            self._resuming += self.phase is Phase.STOPPED
            return False
        self._resuming = max(0, self._resuming - 1)
        stale = self._overtaken > 0
        self._overtaken -= stale
        return stale
