"""The life of a session: launched or attached, detached, disconnected.

This module decides the fate of the program: leaving a session ends a program that was launched, and releases one that
was attached to.
"""

import logging
from collections.abc import Callable

import anyio

from dapkit import limits
from dapkit.client.adapter_connection import AdapterConnection
from dapkit.client.breakpoint_sync import BreakpointSync
from dapkit.client.handshake import run_handshake
from dapkit.client.received_state import ReceivedState
from dapkit.endpoint import CapabilityMissing
from dapkit.protocol import AttachRequestArguments, DapkitError, DisconnectArguments, LaunchRequestArguments

log = logging.getLogger(__name__)


class SessionLife:
    """Starts the program, and releases or ends it.

    Attributes:
        ends_program: whether the program ends with the session; the session of a child asks its parent.

    """

    def __init__(
        self,
        adapter: AdapterConnection,
        breakpoints: BreakpointSync,
        state: ReceivedState,
        *,
        ends_program: Callable[[], bool] | None,
    ) -> None:
        self.ends_program = self._was_launched if ends_program is None else ends_program
        self._adapter = adapter
        self._breakpoints = breakpoints
        self._state = state
        self._start: LaunchRequestArguments | AttachRequestArguments | None = None
        self._released = False

    async def start(self, arguments: LaunchRequestArguments | AttachRequestArguments, *, deadline: float) -> None:
        """Launch or attach, and send the breakpoints. Raises: as `Session.launch`."""
        self._start = arguments
        await run_handshake(
            arguments.command,
            start=lambda: self._adapter.request_checked(arguments, deadline=deadline),
            configure=self._breakpoints.configure,
            initialized=lambda: self._state.initialized,
            under_way=lambda: self._state.started,
            updates=self._state.updates,
        )
        self._state.program.note_start()
        self._state.updates.notify()

    def check_release(self) -> None:
        """Raise CapabilityMissing if the program was launched and the adapter cannot let it go."""
        if self.ends_program() and not self._chooses_end:
            raise CapabilityMissing("detach from a launched program", "supportTerminateDebuggee", "adapter")

    async def release(self, *, deadline: float) -> None:
        """Let the program keep running without a debugger."""
        await self._withdraw()
        self._released = True
        arguments = DisconnectArguments(terminate_debuggee=False if self._chooses_end else None)
        await self._adapter.request_checked(arguments, deadline=deadline)

    async def leave(self) -> None:
        """Disconnect, unless that was done; an adapter that does not answer is left alone."""
        if self._adapter.ended:
            return
        if self._adapter.disconnecting:
            with anyio.move_on_after(limits.CLOSE_SECONDS):
                await self._state.updates.until(lambda: self._state.disconnected or self._adapter.ended)
            return
        if not self.ends_program() and not self._state.ended:
            await self._withdraw()
        arguments = DisconnectArguments(terminate_debuggee=self.ends_program() if self._chooses_end else None)
        try:
            await self._adapter.request_checked(arguments, deadline=limits.CLOSE_SECONDS)
        except DapkitError as error:
            log.debug("the adapter did not take the disconnect request: %s", error)

    async def _withdraw(self) -> None:
        """Take the breakpoints out of the program; an adapter that does not answer is left alone."""
        with anyio.move_on_after(limits.CLOSE_SECONDS):
            try:
                await self._breakpoints.withdraw()
            except DapkitError as error:
                log.info("the breakpoints could not be removed before the program was released: %s", error)

    @property
    def left_program(self) -> bool:
        """Whether the adapter is gone, or hangs, and has neither ended nor released the program that it launched."""
        ended = self._state.ended and not self._state.program.adapter_lost
        return self.ends_program() and not (ended or self._state.disconnected or self._released)

    @property
    def _chooses_end(self) -> bool:
        """Whether a `disconnect` request can choose between ending and releasing the program."""
        return bool(self._adapter.capabilities.support_terminate_debuggee)

    def _was_launched(self) -> bool:
        return isinstance(self._start, LaunchRequestArguments)
