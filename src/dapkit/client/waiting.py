"""What a client waits for: events, stops, the end.

Races are made impossible in two ways. A wait for an *event* looks back first, to
where the program was last set going, so that an event cannot come too early. A
wait for a *stop* looks at the state, which counts as running from the moment when
a request to resume leaves, so that an old stop is never taken for the new one.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping

import anyio

from dapkit import limits
from dapkit.client.errors import WaitExpired
from dapkit.client.events import EndOfEvents, EventLog, EventStream, SessionEvent
from dapkit.client.requests import Requests
from dapkit.client.state import Ended, KnownThread, Program, State, Stopped
from dapkit.endpoint import OutOfOrder
from dapkit.protocol import Arguments, ContinueArguments, DapkitError, ProcessEvent, StoppedEvent
from dapkit.transport import Pulse


class Waiting(Requests):
    """The part of a session that waits for the program.

    Invariant: the pulse beats after each message that may have changed anything.
    """

    def __init__(self) -> None:
        self._program = Program()
        self._events = EventLog()
        self._pulse = Pulse()

    @abstractmethod
    async def _ending(self, ended: Ended) -> DapkitError:
        """Error for whoever waited for something else: the program ended, or the adapter is gone."""

    @property
    def state(self) -> State:
        """What the program is doing."""
        return self._program.state

    @property
    def known_threads(self) -> Mapping[int, KnownThread]:
        """Threads by id, as far as events and `threads` responses told of them."""
        return dict(self._program.threads)

    @property
    def stops_beside(self) -> Mapping[int, StoppedEvent]:
        """Stops of threads, by their ids, that have stopped by themselves while another one stands, and still do."""
        return dict(self._program.beside)

    @property
    def debugged_process(self) -> ProcessEvent | None:
        """The process that is debugged, as far as the adapter tells (event `process`)."""
        return self._program.process

    @property
    def position(self) -> int:
        """Number of events that came so far: a place in their order, for `events` and `wait_for`."""
        return self._events.position

    def events(self, *, since: int | None = None) -> EventStream:
        """Listen to events: an async iterator of its own, from now or from an earlier position on.

        It ends with the conversation. Any number of listeners get every event each.
        """
        return self._events.stream(since)

    async def wait_for[E: SessionEvent](
        self,
        kind: type[E],
        *,
        where: Callable[[E], bool] = lambda _: True,
        since: int | None = None,
        deadline: float = limits.REQUEST_SECONDS,
    ) -> E:
        """Return the first event of a kind since the program was last set going.

        An event that came already counts, so that none can come too early: between
        `continue_` and `wait_for`, say. Set going means launch, attach, any request that
        resumes the program, and a `continued` event. `since` looks from another position
        on; 0 is the start of the session.

        Raises:
            WaitExpired: none came in time.
            ProgramEnded: none can come any more.
            AdapterDied: the adapter is gone.

        """
        stream = self._events.stream(self._program.resumed_at if since is None else since)
        try:
            return await stream.next(kind, where=where, deadline=deadline)
        except EndOfEvents:
            raise await self._ending(self._end_of_program()) from None

    async def next_stop(self, *, deadline: float = limits.REQUEST_SECONDS) -> Stopped:
        """Wait until the program stands still; the present stop if it does already.

        After a request that resumes the program only a later stop counts, however fast it comes.

        Raises:
            ProgramEnded: it ended instead.
            AdapterDied: the adapter is gone.
            WaitExpired: it still runs.

        """
        match await self.settled(deadline=deadline):
            case Stopped() as stop:
                return stop
            case Ended() as ended:
                raise await self._ending(ended)
            case _:
                raise WaitExpired("a stop", deadline)

    async def resume(
        self, arguments: Arguments[object] | None = None, *, deadline: float = limits.REQUEST_SECONDS
    ) -> State:
        """Continue, or step with `arguments`, and wait for what comes of it: `Stopped`, `Ended`, or still `Running`.

        A stop that somebody else resumes at once is not missed. Raises: as `request`.
        """
        epoch = self._program.epoch
        ends = anyio.current_time() + deadline
        await self.request(arguments or ContinueArguments(thread_id=self._standing_thread()), deadline=deadline)
        return await self._settled_after(epoch, deadline=ends - anyio.current_time())

    async def settled(self, *, deadline: float = limits.REQUEST_SECONDS) -> State:
        """Wait until the program does not run any more; at the deadline return the state that it is in."""
        if isinstance(self.state, Stopped | Ended):
            return self.state
        return await self._settled_after(self._program.epoch, deadline=deadline)

    async def wait_until_ended(self, *, deadline: float = limits.REQUEST_SECONDS) -> Ended:
        """Wait until debugging is over.

        Raises:
            WaitExpired: it is not.
            AdapterDied: the adapter is gone, without having said so.

        """
        with anyio.move_on_after(deadline):
            await self._pulse.until(lambda: isinstance(self.state, Ended))
        if not isinstance(state := self.state, Ended):
            raise WaitExpired("the end of the program", deadline)
        if state.adapter_lost:
            raise await self._ending(state)
        return state

    async def _settled_after(self, epoch: int, *, deadline: float) -> State:
        with anyio.move_on_after(deadline):
            await self._pulse.until(lambda: self._program.epoch > epoch or isinstance(self.state, Ended))
        stop = self._program.last_stop
        return self.state if stop is None or stop.epoch <= epoch else stop

    def _end_of_program(self) -> Ended:
        return self.state if isinstance(self.state, Ended) else Ended(self._program.exit_code)

    def _standing_thread(self) -> int:
        match self.state:
            case Stopped() as stop:
                return stop.thread_id
            case state:
                raise OutOfOrder(f"nothing can be continued: the program is {type(state).__name__.lower()}")
