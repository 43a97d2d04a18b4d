"""The client sessions of one run's tree: the program, and its children.

Whether a target is stopped is read from its client session each time, so that it always agrees with the messages. Kept
here is the stop that was published last.
"""

from typing import NamedTuple

from dapkit.client import Ended, Session, Stopped
from dapkit.sessions.stops import Stop


class Lifetime(NamedTuple):
    """The lifetime of object references: one stop of a target, or one run between two stops.

    Attributes:
        run: which run of the session it is: restarts count.
        epoch: the last stop of the target, by its own count.
        stopped: whether it still stands there.
        over: whether debugging has ended.

    """

    run: int
    epoch: int
    stopped: bool
    over: bool


class Target:
    """One client session of the tree.

    Attributes:
        number: 0 is the program, others are its children in the order in which they appeared.
        session: the conversation with its adapter.
        run: which run of the session it belongs to.
        stops: how often it has stopped, by its own count.
        last_stop: the last stop that was published, which may be over.

    """

    def __init__(self, number: int, session: Session, *, run: int) -> None:
        self.number = number
        self.session = session
        self.run = run
        self.stops = 0
        self.last_stop: Stop | None = None
        self._epoch = 0

    @property
    def live(self) -> bool:
        """Whether there is still something to debug."""
        return not isinstance(self.session.state, Ended)

    @property
    def stop(self) -> Stop | None:
        """Where it is stopped, once that is known."""
        match self.session.state:
            case Stopped(epoch=epoch) if epoch == self._epoch:
                return self.last_stop
            case _:
                return None

    @property
    def lifetime(self) -> Lifetime:
        """The owner of a reference that is given out now."""
        state = self.session.state
        epoch = state.epoch if isinstance(state, Stopped) else self.stops
        return Lifetime(self.run, epoch, isinstance(state, Stopped), isinstance(state, Ended))

    @property
    def shows_program(self) -> bool:
        """Whether it debugs anything itself; the root of js-debug only starts children."""
        return self.session.debugged_process is not None or bool(self.session.known_threads) or self.stops > 0

    def notice(self) -> Stopped | None:
        """Return the state if it is a stop that was not noticed before."""
        state = self.session.state
        if not isinstance(state, Stopped) or state.epoch <= self.stops:
            return None
        self.stops = state.epoch
        return state

    def stands_at(self, stopped: Stopped) -> bool:
        """Whether it still is in this stop."""
        return self.session.state is stopped

    def publish(self, stopped: Stopped, stop: Stop) -> None:
        """Make a stop public."""
        self._epoch = stopped.epoch
        self.last_stop = stop
