"""Waits of a client: for events, stops, the end.

Races are made impossible in two ways. A wait for an *event* looks back first, to
where the program was last set going, so that an event cannot come too early. A
wait for a *stop* looks at the state, which counts as running from the moment when
a request to resume leaves, so that an old stop is never taken for the new one.
"""

from collections.abc import Callable

import anyio

from dapkit import limits
from dapkit.client.adapter_connection import AdapterConnection
from dapkit.client.errors import WaitExpired
from dapkit.client.events import EndOfEvents, SessionEvent
from dapkit.client.received_state import ReceivedState
from dapkit.client.state import Ended, State, Stopped
from dapkit.endpoint import OutOfOrder
from dapkit.protocol import Arguments, ContinueArguments


class Waits:
    """The waits of one session, over its state."""

    def __init__(self, state: ReceivedState, adapter: AdapterConnection) -> None:
        self._state = state
        self._adapter = adapter
        self._program = state.program

    async def wait_for[E: SessionEvent](
        self,
        kind: type[E],
        *,
        where: Callable[[E], bool] = lambda _: True,
        since: int | None = None,
        deadline: float = limits.REQUEST_SECONDS,
    ) -> E:
        """See `Session.wait_for`."""
        stream = self._state.events.stream(self._program.resumed_at if since is None else since)
        try:
            return await stream.next(kind, where=where, deadline=deadline)
        except EndOfEvents:
            raise await self._adapter.error_after(self._end_of_program()) from None

    async def next_stop(self, *, deadline: float = limits.REQUEST_SECONDS) -> Stopped:
        """Wait until the program is stopped; the present stop if it does already.

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
                raise await self._adapter.error_after(ended)
            case _:
                raise WaitExpired("a stop", deadline)

    async def resume(
        self, arguments: Arguments[object] | None = None, *, deadline: float = limits.REQUEST_SECONDS
    ) -> State:
        """Continue, or step with `arguments`, and wait for the outcome: `Stopped`, `Ended`, or still `Running`.

        A stop that another caller resumes at once is not missed. Raises: as `request`.
        """
        epoch = self._program.epoch
        ends = anyio.current_time() + deadline
        await self._adapter.request_checked(
            arguments or ContinueArguments(thread_id=self._standing_thread()), deadline=deadline
        )
        return await self._settled_after(epoch, deadline=ends - anyio.current_time())

    async def settled(self, *, deadline: float = limits.REQUEST_SECONDS) -> State:
        """Wait until the program does not run any more; at the deadline return the state that it is in."""
        if isinstance(self._program.state, Stopped | Ended):
            return self._program.state
        return await self._settled_after(self._program.epoch, deadline=deadline)

    async def wait_until_ended(self, *, deadline: float = limits.REQUEST_SECONDS) -> Ended:
        """Wait until debugging is over.

        Raises:
            WaitExpired: it is not.
            AdapterDied: the adapter is gone, without having said so.

        """
        with anyio.move_on_after(deadline):
            await self._state.updates.until(lambda: isinstance(self._program.state, Ended))
        if not isinstance(state := self._program.state, Ended):
            reason = f"it is stopped ({state.reason})" if isinstance(state, Stopped) else ""
            raise WaitExpired("the end of the program", deadline, reason)
        if state.adapter_lost:
            raise await self._adapter.error_after(state)
        return state

    async def _settled_after(self, epoch: int, *, deadline: float) -> State:
        with anyio.move_on_after(deadline):
            await self._state.updates.until(
                lambda: self._program.epoch > epoch or isinstance(self._program.state, Ended)
            )
        stop = self._program.last_stop
        return self._program.state if stop is None or stop.epoch <= epoch else stop

    def _end_of_program(self) -> Ended:
        return self._program.state if isinstance(self._program.state, Ended) else Ended(self._program.exit_code)

    def _standing_thread(self) -> int:
        match self._program.state:
            case Stopped() as stop:
                return stop.thread_id
            case state:
                raise OutOfOrder(f"nothing can be continued: the program is {type(state).__name__.lower()}")
