"""The debug adapter for Python: one session, from launch to the end of the program.

Here is what the adapter decides itself: how a program is started and ended, what
happens to its output, and in which order the client hears of its end. Questions
about the state of the program pass through to the engine inside it (`state`).
"""

import logging
import signal
import sys

import anyio

from dapkit import limits
from dapkit.adapter import NoAttach, RequestFailed
from dapkit.endpoint import CapabilityMissing, EventReceived
from dapkit.protocol import (
    DisconnectArguments,
    EventBody,
    ExitedEvent,
    InitializedEvent,
    InitializeRequestArguments,
    LaunchRequestArguments,
    OutputEvent,
    RawJson,
    StoppedEvent,
    TerminateArguments,
)
from dapkit.python.adapter.arguments import PythonLaunch, unknown_keys
from dapkit.python.adapter.command import Command, command_for
from dapkit.python.adapter.interpreter import objection_to
from dapkit.python.adapter.link import Listener, NeverCame, listening
from dapkit.python.adapter.program import Category, Program, started
from dapkit.python.adapter.state import ProgramState
from dapkit.python.adapter.terminal import TerminalProgram, found
from dapkit.transport import Connection, ConversationLost, TransportError

log = logging.getLogger(__name__)


class PythonAdapter(ProgramState[PythonLaunch, NoAttach]):
    """Debugs one Python program.

    Invariant: `link` is there from the moment the engine is ready until the program has ended,
    `_program` as long as its process is ours to end.
    """

    def __init__(self) -> None:
        super().__init__()
        self._program: Program | TerminalProgram | None = None
        self._debugging = anyio.CancelScope()
        self._over: anyio.Event | None = None
        self._exit_code: int | None = None
        self._asked_to_end = False
        self._released = False
        self._said_terminated = False

    # Starting

    async def launch(self, args: PythonLaunch) -> None:
        """Start the program and wait until its engine can take breakpoints."""
        if unknown := unknown_keys(args):
            await self.output(f"Launch arguments that dapkit does not know: {unknown}\n", category="console")
        self.debugs = not args.no_debug
        self._over = anyio.Event()
        start = _Start()
        self.start_soon(self._debug, args, start, self._over)
        await start.made.wait()
        if start.refusal is not None:
            raise start.refusal

    async def _debug(self, launch: PythonLaunch, start: "_Start", over: anyio.Event) -> None:
        """Be with the program from its start to its end."""
        try:
            with self._debugging:
                async with listening() as listener:
                    command = command_for(launch, listener.path)
                    if launch.console == "internalConsole":
                        await self._debug_here(command, launch, listener, start)
                    else:
                        await self._debug_in_terminal(command, launch, listener, start)
        except (RequestFailed, TransportError) as error:
            if start.made.is_set():
                raise
            start.refusal = error if isinstance(error, RequestFailed) else RequestFailed(str(error))
        finally:
            self.link = self._program = None
            start.made.set()
            over.set()

    async def _debug_here(self, command: Command, launch: PythonLaunch, listener: Listener, start: "_Start") -> None:
        async with started(command, self._tell_output) as program:
            self._program = program
            try:
                async with listener.accept(program.wait) as (link, _):
                    await self._introduce(link, launch, start)
                    await self._converse(link, program)
            except (NeverCame, TransportError) as error:
                if start.made.is_set():
                    raise
                raise await _why(command, program, error) from error

    async def _debug_in_terminal(
        self, command: Command, launch: PythonLaunch, listener: Listener, start: "_Start"
    ) -> None:
        if command.interpreter != (sys.executable,):
            objection = await objection_to(command.interpreter, command.environment())
            if objection is not None:
                raise RequestFailed(objection)
        try:
            await self.run_in_terminal(
                kind="external" if launch.console == "externalTerminal" else "integrated",
                title=command.name,
                cwd=str(command.cwd),
                args=list(command.argv),
                env=dict(command.env) or None,
            )
        except CapabilityMissing as error:
            raise RequestFailed(f"console is {launch.console!r}, but {error}; use internalConsole") from error
        async with listener.accept(anyio.sleep_forever) as (link, pid):
            with found(link, pid) as program:
                self._program = program
                await self._introduce(link, launch, start)
                await self._converse(link, program)

    async def _introduce(self, link: Connection, launch: PythonLaunch, start: "_Start") -> None:
        """Make the engine ready for breakpoints."""
        await link.request(InitializeRequestArguments(adapter_id="dapkit"))
        options: dict[str, object] = {
            "stopOnEntry": launch.stop_on_entry and self.debugs,
            "justMyCode": launch.just_my_code,
            "evaluateTimeout": launch.evaluate_timeout,
        }
        await link.request(LaunchRequestArguments(extra=options))
        self.link = link
        start.made.set()

    async def _converse(self, link: Connection, program: Program | TerminalProgram) -> None:
        """Pass everything on until the program has ended, then say so."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._pass_events_on, link, program)
            await program.wait()
            await link.wait_ended()
        self.link = None
        if not self._released:
            await self._tell_end(program.returncode if program.returncode is not None else self._exit_code)

    async def _pass_events_on(self, link: Connection, program: Program | TerminalProgram) -> None:
        async for happening in link.incoming():
            match happening:
                case EventReceived(event):
                    await self._pass_on(event.body, program)

    async def _pass_on(self, body: EventBody | RawJson | None, program: Program | TerminalProgram) -> None:
        match body:
            case InitializedEvent():
                pass  # the SDK sends ours
            case ExitedEvent(exit_code=code):
                self._exit_code = code  # is told after the last output
            case StoppedEvent():
                await program.tell_output()  # what it wrote before the stop
                await self._tell(body)
            case EventBody():
                await self._tell(body)

    async def _tell_output(self, text: str, category: Category) -> None:
        if not self._released:
            await self._tell(OutputEvent(output=text, category=category))

    async def _tell(self, body: EventBody) -> None:
        try:
            await self.send_event(body)
        except ConversationLost as error:  # the session ends on its own account, and the program with it
            log.debug("the client did not hear of %s: %s", body.event, error)

    async def _tell_end(self, code: int | None) -> None:
        """Tell how the program ended, as far as that is known."""
        if code is not None and code < 0:
            await self.output(f"The program was ended by {_signal_name(-code)}.\n", category="console")
        if code is not None:
            await self.exited(code if code >= 0 else 128 - code)  # as shells count signals
        await self._tell_terminated()

    async def _tell_terminated(self) -> None:
        if not self._said_terminated:
            self._said_terminated = True
            await self.terminated()

    # Ending

    async def terminate(self, args: TerminateArguments) -> None:
        """Interrupt the program, so that it can clean up; a second request kills it."""
        if self._program is None:
            raise RequestFailed("terminate: there is no program to end: it has not started, or has ended")
        if self._asked_to_end:
            self._program.kill()
            return
        self._asked_to_end = True
        self._program.interrupted()
        await self.ask(args)

    async def disconnect(self, args: DisconnectArguments) -> None:
        """End the program, or let it run on if the client says so."""
        if args.terminate_debuggee is not False or self._program is None or self.link is None:
            return
        self._released = True
        self._program.release()
        await self.ask(args)
        await self._tell_terminated()

    async def closing(self) -> None:
        """End the program, unless it was released."""
        if self._over is None:
            return
        if not self._released and self._program is not None:
            self._program.kill()
        if self._released or self.link is None:
            self._debugging.cancel()
        with anyio.move_on_after(limits.CLOSE_SECONDS):
            await self._over.wait()


class _Start:
    """A launch on its way: made, or refused, once `made` is set."""

    def __init__(self) -> None:
        self.made = anyio.Event()
        self.refusal: RequestFailed | None = None


async def _why(command: Command, program: Program, error: Exception) -> RequestFailed:
    """Find out why a program could not be debugged."""
    objection = await objection_to(command.interpreter, command.environment())
    if objection is not None:
        return RequestFailed(objection)
    code = program.returncode
    how = "" if code is None else f" (exit code {code})" if code >= 0 else f" ({_signal_name(-code)})"
    said = program.last_errors()
    return RequestFailed(f"{error}{how}{f'; it wrote:\n{said}' if said else ''}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"
