"""The debug adapter for Python: one session, and which program it is about.

Requests that begin and end something are answered here. `run` is the program itself and the client's view of it; a
connector reaches it (`launch`, `attach`). Questions about the state of the program pass through to the engine inside it
(`state`).
"""

from typing import Any

import anyio
import msgspec

from dapkit.adapter import Adapter, Proceed, RequestFailed, ResponseBody, not_a_request
from dapkit.protocol import (
    Capabilities,
    ConfigurationDoneArguments,
    DisconnectArguments,
    InitializeRequestArguments,
    Request,
    TerminateArguments,
)
from dapkit.python.adapter.children.children import Children
from dapkit.python.adapter.children.debugpy_event import EVENT, TOKEN_KEY, is_token
from dapkit.python.adapter.configuration.arguments import PythonAttach, PythonLaunch
from dapkit.python.adapter.configuration.keys import abilities, remark_on, without_older_keys
from dapkit.python.adapter.launch.replacement import Replacement
from dapkit.python.adapter.session.attach import attach_connector
from dapkit.python.adapter.session.forwarding import ForwardingAdapter
from dapkit.python.adapter.session.launch import launch_connector
from dapkit.python.adapter.session.progress import with_progress
from dapkit.python.adapter.session.run import DebuggeeRun


async def _leave_nothing_of_a_failed_start(
    adapter: Adapter[Any, Any], request: Request, proceed: Proceed
) -> ResponseBody:
    """See to it that a start that fails, or is cancelled while it waits for the configuration, has left nothing."""
    try:
        return await proceed(request)
    except BaseException:
        if request.command in ("launch", "attach") and isinstance(adapter, PythonAdapter):
            await adapter.abandon()
        raise


class PythonAdapter(ForwardingAdapter[PythonLaunch, PythonAttach]):
    """Debugs one Python program."""

    middleware = (_leave_nothing_of_a_failed_start,)

    def __init__(self, *, ends_with_us: bool = False) -> None:
        """Take whether a program that is attached to ends if we are killed, as the child of a launched one does."""
        super().__init__()
        self._ends_with_us = ends_with_us
        self._start: PythonLaunch | PythonAttach | None = None
        self._configured = False
        self._ends_program: bool | None = None
        self._able = abilities(PythonLaunch())

    def capabilities_for(self, client: InitializeRequestArguments) -> Capabilities:
        """Report that there is no way back: that depends on how the program is started."""
        return msgspec.structs.replace(super().capabilities_for(client), supports_step_back=None)

    @property
    def is_admitted(self) -> bool:
        """Whether the client may attach to the child that is debugged here: who can connect at all may."""
        return True

    # Starting

    async def launch(self, args: PythonLaunch) -> None:
        """Start the program and wait until its engine can take breakpoints."""
        await self._begin(args)

    async def attach(self, args: PythonAttach) -> None:
        """Find the program and wait until its engine can take breakpoints."""
        await self._begin(args)

    async def _begin(self, args: PythonLaunch | PythonAttach) -> None:
        args = without_older_keys(args)
        await self._remark(args)
        self._start = args
        # A child may end at any moment, and that is right: that it was attached to is answered at once.
        self.holds_launch = not (isinstance(args, PythonAttach) and args.sub_process_id is not None)
        self.run = self._new_run(args)
        await self._ready(self.run, args)

    async def _remark(self, args: PythonLaunch | PythonAttach) -> None:
        if remark := remark_on(args):
            await self.output(remark, category="console")

    def _new_run(self, args: PythonLaunch | PythonAttach) -> DebuggeeRun:
        ours = isinstance(args, PythonLaunch)
        children = Children(self, args, _serves_child, end_with_us=ours or self._ends_with_us)
        connect = launch_connector(args) if isinstance(args, PythonLaunch) else attach_connector(args)
        return DebuggeeRun(self, connect, children, remembered=self.remembered, is_ours=ours)

    async def _ready(self, run: DebuggeeRun, start: PythonLaunch | PythonAttach) -> None:
        """Wait for a program; report its capabilities to the client where they have changed."""
        run.start()
        await with_progress(self, "Starting the program" if run.is_ours else "Waiting for the program", run.ready)
        able = abilities(start)
        if able != self._able:
            self._able = able
            await self.capabilities(able)

    async def configuration_done(self) -> None:
        """Let the program begin."""
        await self.ask(ConfigurationDoneArguments())
        self._configured = True
        if self.run is not None:
            await self.run.children.invite()
            self.start_soon(self.run.children.open_recorded)

    @not_a_request
    async def abandon(self) -> None:
        """Give up a program that has not begun."""
        run, self.run = self.run, None
        self.remembered.forget()
        if run is not None:
            run.is_reported = False
            with anyio.CancelScope(shield=True):
                await run.end(kill=run.is_ours)

    async def restart(self, args: PythonLaunch | PythonAttach | None) -> None:
        """End the program and start it again, with new arguments if there are any; breakpoints stay."""
        start = self._start if args is None else without_older_keys(args)
        if self.run is None or start is None:
            raise RequestFailed("restart: there is no program to restart")
        if args is not None:
            await self._remark(start)
        self._start = start
        old, self.run = self.run, None
        self.replacement = replacement = Replacement()
        try:
            await old.end_for_restart()
            self.run = self._new_run(start)
            await self._begin_again(self.run, start, replacement)
        except BaseException:
            await self.terminated()  # there is no program any more
            raise
        finally:
            self.replacement = None
            replacement.give_up()

    async def _begin_again(
        self, run: DebuggeeRun, start: PythonLaunch | PythonAttach, replacement: Replacement
    ) -> None:
        await self._ready(run, start)
        if run.debuggee is not None:
            for change in await self.remembered.set_again(run.debuggee.ask):
                await self.send_event(change)
            await replacement.serve(run.debuggee.ask)
        self.replacement = None  # from here on it is asked itself
        if self._configured:
            await self.ask(ConfigurationDoneArguments())

    # Ending

    async def terminate(self, args: TerminateArguments) -> None:
        """Interrupt the program, so that it can clean up; a second request kills it."""
        if self.run is None:
            raise RequestFailed("terminate: there is no program to end: it has not started")
        await self.run.terminate(args)

    async def disconnect(self, args: DisconnectArguments) -> None:
        """End the program, or release it; by default a launched program ends, and an attached one continues."""
        if self.run is None or self.run.debuggee is None:
            return
        suspends = args.suspend_debuggee is True
        ends = args.terminate_debuggee
        self._ends_program = self.run.is_ours and not suspends if ends is None else ends
        if not self._ends_program:
            await self.run.release(suspend=suspends)

    async def closing(self) -> None:
        """End the program, unless it was released."""
        if self.run is not None:
            await self.run.end(kill=self.run.is_ours if self._ends_program is None else self._ends_program)


class _GuardedAdapter(PythonAdapter):
    """Debugs the child of a program for a client that shows in `attach` that it was asked to."""

    def __init__(self, token: str, *, ends_with_us: bool) -> None:
        super().__init__(ends_with_us=ends_with_us)
        self._token = token
        self._is_admitted = False

    @property
    def is_admitted(self) -> bool:
        """Whether the client has shown the token."""
        return self._is_admitted

    async def launch(self, args: PythonLaunch) -> None:  # noqa: ARG002 - the protocol's signature
        """Refuse: this is only for children."""
        raise RequestFailed("launch: here is only the session of a child process, which is attached to")

    async def attach(self, args: PythonAttach) -> None:
        """Attach, if the client knows the token."""
        if not is_token(args.extra.get(TOKEN_KEY), self._token):
            raise RequestFailed(f"attach: {TOKEN_KEY} is missing or wrong; expected the one in the event {EVENT}")
        self._is_admitted = True
        await super().attach(msgspec.structs.replace(args, connect=None))


def _serves_child(ends_with_us: bool, token: str) -> PythonAdapter:
    if token:
        return _GuardedAdapter(token, ends_with_us=ends_with_us)
    return PythonAdapter(ends_with_us=ends_with_us)
