"""The state of the programs of a session: the tree of targets, its stops, how it ended.

The parts of a session share one state. They ask it, and change it by its methods
alone, so that each change stands in one place.
"""

from collections.abc import Mapping, Sequence

from dapkit.sessions.errors import SessionError, SessionOver
from dapkit.sessions.run import ProgramRun
from dapkit.sessions.stops import Status, Stop
from dapkit.sessions.targets import Target
from dapkit.transport import StateChange


class DebugSessionState:
    """The state of one session.

    Invariant: `stops` counts the stops that were published; the latest that still
    stands is `stop`. There are targets from when an adapter is reached.

    Attributes:
        name: names the session within its project.
        stops: the number of published stops, including children and earlier runs.
        updates: notified after each change.
        pause_requested: whether a pause was asked for, and no stop was published since.
        stepping: whether the program was last resumed by a step.

    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.stops = 0
        self.updates = StateChange()
        self.pause_requested = False
        self.stepping = False
        self._run: ProgramRun | None = None
        self._starting = True
        self._ending = ""

    # State

    @property
    def run(self) -> ProgramRun | None:
        """The present run of the program, or the last one."""
        return self._run

    @property
    def targets(self) -> Mapping[int, Target]:
        """The sessions of the tree by number; 0 is the program itself."""
        return {} if self._run is None else self._run.targets

    @property
    def live_targets(self) -> Sequence[Target]:
        """The sessions of the tree that have not ended."""
        return [target for target in self.targets.values() if target.live]

    @property
    def starting(self) -> bool:
        """Whether the program is being started, or started again."""
        return self._starting

    @property
    def over(self) -> bool:
        """Whether there is nothing to debug any more; while the program is started there will be."""
        return not self._starting and (self._run is None or self._run.ended)

    @property
    def status(self) -> Status:
        """The state of the session, in one word."""
        run = self._run
        if self.over:
            return "terminated"
        if run is None or run.ended or not run.started:
            configuring = run is not None and run.root.initialized and not run.root.configured
            return "configuring" if configuring else "launching"
        return "running" if self.stop is None else "stopped"

    @property
    def stop(self) -> Stop | None:
        """Where the program stands: the latest stop in the tree that still holds."""
        standing = [target.stop for target in self.targets.values() if target.stop is not None]
        return max(standing, key=lambda stop: stop.number, default=None)

    @property
    def target(self) -> Target:
        """The foreground: the session of the tree that requests go to unless they name another.

        The one that stopped last and still stands; else the last that stood, if it lives; else the
        program itself, or the newest child of one that only starts children.

        Raises:
            SessionOver: the program has ended.

        """
        targets = self.targets
        if self.over or not targets:
            raise SessionOver(self.name, self.ending)
        if (stop := self.stop) is not None:
            return targets[stop.target]
        live = self.live_targets
        stood = [(target.last_stop.number, target) for target in live if target.last_stop is not None]
        if stood:
            return max(stood, key=lambda numbered: numbered[0])[1]
        root = targets[0]
        return root if root.shows_program or not live else live[-1]

    def target_of_thread(self, thread: int) -> Target:
        """Find the target that has a thread of this id: the foreground before others."""
        foreground = self.target
        others = [target for target in self.live_targets if target is not foreground]
        candidates = (foreground, *others)
        return next((target for target in candidates if thread in target.session.known_threads), foreground)

    def numbered_target(self, number: int) -> Target:
        """Look a target up by its number.

        Raises:
            SessionOver: the program has ended.
            SessionError: there is no such target.

        """
        targets = self.targets
        if self.over or not targets:
            raise SessionOver(self.name, self.ending)
        if number not in targets:
            raise SessionError(f"The session has no target {number}; it has: {', '.join(map(str, targets))}.")
        return targets[number]

    @property
    def exit_code(self) -> int | None:
        """Exit code of the program, once and if the adapter reported it."""
        return None if self._run is None else self._run.exit_code

    @property
    def exit_signal(self) -> str | None:
        """Name of the signal that killed the program, if one did."""
        return None if self._run is None else self._run.exit_signal

    @property
    def process_id(self) -> int | None:
        """Process of the program, if the adapter reported it.

        For a program that only starts children, the process of the first child.
        """
        processes = [target.session.debugged_process for target in self.targets.values()]
        return next((event.system_process_id for event in processes if event and event.system_process_id), None)

    @property
    def failure(self) -> str | None:
        """Why the present run broke off, if it did."""
        return None if self._run is None else self._run.failure

    @property
    def ending(self) -> str:
        """How the session came to its end, for people; empty while it lives."""
        if not self.over:
            return ""
        if self._ending or self.failure:
            return self._ending or self.failure or ""
        code = "" if self.exit_code is None else f" with exit code {self.exit_code}"
        killed = "" if self.exit_signal is None else f" ({self.exit_signal})"
        return f"the program ended{code}{killed}"

    # Changes

    def begin_start(self) -> None:
        """Count as alive while the program is started."""
        self._starting = True

    def end_start(self) -> None:
        """Record that the program was started, or could not be."""
        self._starting = False
        self.updates.notify()

    def begin_run(self, run: ProgramRun) -> None:
        """Put a new run in the place of the last one."""
        self._run = run
        self._ending = ""

    def end_because(self, reason: str) -> None:
        """Keep the reason for which the session ends, for people."""
        self._ending = reason

    def note_resumption(self, *, stepping: bool) -> None:
        """Record that the program is about to be resumed."""
        self.stepping = stepping

    def request_pause(self) -> None:
        """Record that the next stop may be the answer to a pause."""
        self.pause_requested = True

    def withdraw_pause(self) -> None:
        """Record that a pause was refused."""
        self.pause_requested = False

    def count_stop(self) -> int:
        """Give the next stop its number."""
        self.stops += 1
        return self.stops

    def stop_published(self) -> None:
        """Record that a stop is known to all; a pause that was asked for is answered by it."""
        self.pause_requested = False
        self.updates.notify()
