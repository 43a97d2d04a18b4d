"""The life of each thread of the program, and of the program as a whole, as tables of legal moves.

Every legal move is a row of THREAD_MOVES or of PROGRAM_MOVES, and ThreadStates is the only thing that makes one;
callbacks and requests ask it. `stops` carries out the consequences of a move (events, references, messages).

A thread:
                   park: it hits something
      ┌──────────────────────────────────────────────┐
      │ ┌─────────────── resume ───────────────────┐ │
      │ ▼                                          │ ▼
    RUNNING ── arrest ──▶ ARRESTING ── park ──▶ STOPPED ── evaluate ──▶ EVALUATING
      │ ▲                    ▲                    ▲ ▲ ▲                   │   │ ▲
      │ └─ step ended ─┐     │ arrest             │ │ └──── evaluated ────┘   │ │
      └──── step ───▶ STEPPING ────── park ───────┘ │                  resume │ │ arrest
                                                    │                         ▼ │
                                                    └─────── evaluated ──── FINISHING

A breakpoint in an expression stops the thread like any other: EVALUATING or FINISHING, park. When it goes on
from there, it is back in the expression: RUNNING, STEPPING or ARRESTING, reenter. A thread whose client has left,
or that is to end, does not stop again when its expression has ended: leave. A step can be given to a thread
that is not RUNNING; it is STEPPING once it runs. EXEMPT is the debugger's own thread, which nothing
stops, and those that the program has marked so.

The program:

    CONFIGURING ── configured ──▶ GOING ── stop ──▶ ALL_STOPPED ── suspend ──▶ SUSPENDED
         │ stop                     ▲◀── resume ──────┘   ▲
         ▼                          └ stop alone ┐        │
   STOPPED_EARLY ─────── configured ─────────────│────────┘
                                               ENDING ◀── end: from all of these

It is RELEASED from everywhere, for good, and FORKED in the child of a fork.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Final, Literal

from ..interpreter.errors import IllegalMove
from ..interpreter.log import LOG, write
from ..interpreter.thread_checks import CHECKED, under_lock

type ThreadState = Literal["running", "stepping", "arresting", "stopped", "evaluating", "finishing", "exempt"]
RUNNING: Final = "running"
"""It runs, and may hit something."""
STEPPING: Final = "stepping"
"""It runs, and is to stop where its step ends."""
ARRESTING: Final = "arresting"
"""It is stopped for the client, and parks at its next event; from inside native code that may take long."""
STOPPED: Final = "stopped"
"""It stands in a callback, and does the work that requests give it."""
EVALUATING: Final = "evaluating"
"""It is stopped for the client, and runs an expression in which breakpoints stop."""
FINISHING: Final = "finishing"
"""The client has let it continue while it was inside an expression; it stops again when that has ended."""
EXEMPT: Final = "exempt"
"""It is the debugger's own, or the program has marked it as one that no debugger is to stop."""

THREAD_STATES: Final[tuple[ThreadState, ...]] = (
    RUNNING, STEPPING, ARRESTING, STOPPED, EVALUATING, FINISHING, EXEMPT
)  # fmt: skip

type ThreadMove = Literal[
    "arrest", "park", "resume", "step", "step ended", "evaluate", "evaluated", "reenter", "leave", "exempt"
]

THREAD_MOVES: Final[Mapping[tuple[ThreadState, ThreadMove], ThreadState]] = {
    # The stop is reported to the client.
    (RUNNING, "arrest"): ARRESTING,
    (STEPPING, "arrest"): ARRESTING,
    (FINISHING, "arrest"): EVALUATING,
    # It is stopped: it was arrested, or it hit something itself.
    (ARRESTING, "park"): STOPPED,
    (RUNNING, "park"): STOPPED,
    (STEPPING, "park"): STOPPED,
    (EVALUATING, "park"): STOPPED,
    (FINISHING, "park"): STOPPED,
    # The client lets it continue.
    (STOPPED, "resume"): RUNNING,
    (ARRESTING, "resume"): RUNNING,
    (EVALUATING, "resume"): FINISHING,
    # A step begins at a stop, at the entry of the program, or at the call of a function that has a breakpoint.
    (RUNNING, "step"): STEPPING,
    (STEPPING, "step"): STEPPING,
    (ARRESTING, "step"): ARRESTING,
    (STOPPED, "step"): STOPPED,
    (EVALUATING, "step"): EVALUATING,
    (FINISHING, "step"): FINISHING,
    (STEPPING, "step ended"): RUNNING,
    (ARRESTING, "step ended"): ARRESTING,
    (STOPPED, "step ended"): STOPPED,
    (EVALUATING, "step ended"): EVALUATING,
    (FINISHING, "step ended"): FINISHING,
    (STOPPED, "evaluate"): EVALUATING,
    (EVALUATING, "evaluated"): STOPPED,
    (FINISHING, "evaluated"): STOPPED,
    # It continues from a stop inside an expression.
    (RUNNING, "reenter"): FINISHING,
    (STEPPING, "reenter"): FINISHING,
    (ARRESTING, "reenter"): EVALUATING,
    # It is not to stop again after an expression.
    (EVALUATING, "leave"): RUNNING,
    (FINISHING, "leave"): RUNNING,
    (RUNNING, "exempt"): EXEMPT,
    (ARRESTING, "exempt"): EXEMPT,
}
"""Changes of a thread's state; no other change is legal."""

_STANDING: Final = (ARRESTING, STOPPED, EVALUATING)

type ProgramPhase = Literal[
    "configuring", "stopped early", "going", "all stopped", "ending", "suspended", "released", "forked"
]
CONFIGURING: Final = "configuring"
"""The client has not sent configurationDone; a launched program waits for that."""
STOPPED_EARLY: Final = "stopped early"
"""The same, and all threads are stopped: an attached program hit a breakpoint, or was left suspended before."""
GOING: Final = "going"
"""Threads run, but for those that are stopped alone (`stopAllThreads: false`)."""
ALL_STOPPED: Final = "all stopped"
"""All threads are stopped, but for those that were let go alone."""
ENDING: Final = "ending"
"""The program was asked to end, and nothing is to stop it on its way."""
SUSPENDED: Final = "suspended"
"""The client has left; all threads are stopped until the next one takes them over."""
RELEASED: Final = "released"
"""The program keeps running undebugged."""
FORKED: Final = "forked"
"""This process is the child of a fork, which is not debugged."""

PROGRAM_PHASES: Final[tuple[ProgramPhase, ...]] = (
    CONFIGURING, STOPPED_EARLY, GOING, ALL_STOPPED, ENDING, SUSPENDED, RELEASED, FORKED
)  # fmt: skip
_DEBUGGED: Final[tuple[ProgramPhase, ...]] = (CONFIGURING, STOPPED_EARLY, GOING, ALL_STOPPED, ENDING, SUSPENDED)

type ProgramMove = Literal["configured", "stop", "stop alone", "resume", "end", "suspend", "release", "fork"]

PROGRAM_MOVES: Final[Mapping[tuple[ProgramPhase, ProgramMove], ProgramPhase]] = {
    (CONFIGURING, "configured"): GOING,
    (CONFIGURING, "stop"): STOPPED_EARLY,
    (STOPPED_EARLY, "configured"): ALL_STOPPED,
    (GOING, "stop"): ALL_STOPPED,
    (ENDING, "stop"): ALL_STOPPED,
    # A thread that was let go alone stops.
    (ALL_STOPPED, "stop"): ALL_STOPPED,
    (STOPPED_EARLY, "stop"): STOPPED_EARLY,
    (SUSPENDED, "stop"): SUSPENDED,
    (GOING, "stop alone"): GOING,
    (ENDING, "stop alone"): GOING,
    (CONFIGURING, "stop alone"): CONFIGURING,
    (ALL_STOPPED, "resume"): GOING,
    (STOPPED_EARLY, "resume"): CONFIGURING,
    (GOING, "resume"): GOING,
    (ENDING, "resume"): ENDING,
    **{(phase, "end"): ENDING for phase in (CONFIGURING, STOPPED_EARLY, GOING, ALL_STOPPED, ENDING)},
    **{(phase, "suspend"): SUSPENDED for phase in (CONFIGURING, STOPPED_EARLY, GOING, ALL_STOPPED, ENDING)},
    # The client may leave, and the program end, more than once.
    **{(phase, "release"): RELEASED for phase in (*_DEBUGGED, RELEASED)},
    **{(phase, "fork"): FORKED for phase in PROGRAM_PHASES},
}
"""Changes of the program's phase; no other change is legal."""

_STOPPING: Final = (STOPPED_EARLY, ALL_STOPPED, SUSPENDED)


class ThreadStates:
    """The state of each thread, and the phase of the program.

    Invariant: both change only along their tables. A thread without an entry has the state of `_others`, which is
    ARRESTING while the whole program is stopped, and RUNNING otherwise.

    Attributes:
        phase: of the program.
        arresting: whether any thread may have to notice that it is to stop.

    """

    def __init__(self, complain: Callable[[str], None]) -> None:
        """Begin before configurationDone; an illegal change is reported to `complain`, and not made."""
        self.phase: ProgramPhase = CONFIGURING
        self.arresting = False
        self._complain = complain
        self._threads: dict[int, ThreadState] = {}
        self._others: ThreadState = RUNNING

    # Questions, which need no lock

    def of(self, ident: int) -> ThreadState:
        """Return the state of a thread."""
        return self._threads.get(ident, self._others)

    def must_park(self, ident: int) -> bool:
        """Return whether a thread that runs must stop at the event that it is in."""
        return self._threads.get(ident, self._others) == ARRESTING

    def stands(self, ident: int) -> bool:
        """Return whether a thread is stopped for the client, though it may be evaluating something."""
        return self._threads.get(ident, self._others) in _STANDING

    def evaluates(self, ident: int) -> bool:
        """Return whether a thread runs an expression in which breakpoints stop."""
        return self._threads.get(ident, self._others) in (EVALUATING, FINISHING)

    def standing(self) -> list[int]:
        """Return the threads that are known to be stopped for the client, the longest known first."""
        return [ident for ident, state in list(self._threads.items()) if state in _STANDING]

    def all_in(self, thread_state: ThreadState) -> list[int]:
        """Return the threads that are known to be in a state."""
        return [ident for ident, state in list(self._threads.items()) if state == thread_state]

    @property
    def stopped(self) -> bool:
        """Whether the whole program is stopped."""
        return self.phase in _STOPPING

    @property
    def configured(self) -> bool:
        """Whether the program may run, or might have."""
        return self.phase not in (CONFIGURING, STOPPED_EARLY)

    @property
    def released(self) -> bool:
        """Whether nothing will stop the program any more."""
        return self.phase in (RELEASED, FORKED)

    # Moves

    @under_lock
    def move(self, ident: int, move: ThreadMove) -> bool:
        """Move one thread; return whether that was legal.

        Raises:
            IllegalMove: it was not, and marks are checked.

        """
        state = self.of(ident)
        new = THREAD_MOVES.get((state, move))
        if new is None:
            return self._refuse(f"thread {ident} is {state}: {move} is not a legal move")
        self._set(ident, new)
        self._look()
        if LOG:
            write("state", f"thread {ident}: {state} -{move}-> {new}")
        return True

    @under_lock
    def move_program(self, move: ProgramMove) -> bool:
        """Move the program, and with it the threads that this concerns; return whether that was legal.

        Raises:
            IllegalMove: it was not, and marks are checked.

        """
        return self._move_program(move)

    def fork(self) -> None:
        """Record that this is the child of a fork. No other thread exists, and the lock may be held for ever."""
        self._move_program("fork")

    @under_lock
    def forget(self, ident: int) -> None:
        """Drop the state of a thread: it has ended, or does not belong to the debugger any more."""
        self._threads.pop(ident, None)
        self._look()

    @under_lock
    def exempt(self, idents: Collection[int]) -> None:
        """Let nothing stop these running threads, and make others that were exempt ordinary ones."""
        for ident in self.all_in(EXEMPT):
            if ident not in idents:
                self.forget(ident)
        for ident in idents:
            if self.of(ident) in (RUNNING, ARRESTING):
                self.move(ident, "exempt")

    def _move_program(self, move: ProgramMove) -> bool:
        phase = self.phase
        new = PROGRAM_MOVES.get((phase, move))
        if new is None:
            return self._refuse(f"the program is {phase}: {move} is not a legal move")
        was_stopped = self.stopped
        self.phase = new
        if self.stopped and not was_stopped:
            self._others = ARRESTING
            self._move_all("arrest")
        elif move in ("resume", "end", "release", "fork"):
            self._others = RUNNING
            self._move_all("resume")
        self._look()
        if LOG:
            write("state", f"program: {phase} -{move}-> {new}")
        return True

    def _move_all(self, move: ThreadMove) -> None:
        """Move the threads that can move so."""
        for ident, state in list(self._threads.items()):
            self._set(ident, THREAD_MOVES.get((state, move), state))

    def _set(self, ident: int, state: ThreadState) -> None:
        if state == self._others:
            self._threads.pop(ident, None)
        else:
            self._threads[ident] = state

    def _look(self) -> None:
        self.arresting = self.stopped or ARRESTING in self._threads.values()

    def _refuse(self, text: str) -> bool:
        """Report an illegal move: where tests look on as an error, in the field by a word."""
        if CHECKED:
            raise IllegalMove(text)
        self._complain(text)
        return False
