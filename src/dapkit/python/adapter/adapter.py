"""The debug adapter for Python: one session, from launch to the end of the program.

Here is what the adapter decides itself: how a program is started and ended, what
happens to its output, and in which order the client hears of its end. Questions
about the state of the program pass through to the engine inside it (`state`).
"""

import contextlib
import os
import signal
from collections.abc import Awaitable, Callable

import anyio

from dapkit import limits
from dapkit.adapter import NoAttach, RequestFailed
from dapkit.endpoint import EventReceived
from dapkit.protocol import (
    DisconnectArguments,
    EventBody,
    ExitedEvent,
    InitializedEvent,
    InitializeRequestArguments,
    LaunchRequestArguments,
    ProcessEvent,
    RawJson,
    TerminateArguments,
)
from dapkit.python.adapter.arguments import PythonLaunch
from dapkit.python.adapter.command import Command, command_for
from dapkit.python.adapter.link import Listener, listening
from dapkit.python.adapter.program import Category, Program, started
from dapkit.python.adapter.state import ProgramState
from dapkit.transport import Connection, TransportError


class PythonAdapter(ProgramState[PythonLaunch, NoAttach]):
    """Debugs one Python program.

    Invariant: `_link` is there from the moment the engine is ready until the program has ended.
    """

    def __init__(self) -> None:
        super().__init__()
        self._ready = anyio.Event()
        self._refusal: RequestFailed | None = None
        self._program: Program | None = None
        self._ended = anyio.Event()
        self._terminal_process: int | None = None
        self._exit_code: int | None = None
        self._asked_to_end = False
        self._released = False

    # Starting

    async def launch(self, args: PythonLaunch) -> None:
        """Start the program and wait until its engine can take breakpoints."""
        self.start_soon(self._debug, args)
        await self._ready.wait()
        if self._refusal is not None:
            raise self._refusal

    async def _debug(self, launch: PythonLaunch) -> None:
        """Be with the program from its start to its end."""
        try:
            async with listening() as listener:
                command = command_for(launch, listener.path)
                if launch.console == "internalConsole":
                    await self._debug_here(command, launch, listener)
                else:
                    await self._debug_in_terminal(command, launch, listener)
        except (RequestFailed, TransportError) as error:
            if self._ready.is_set():
                raise
            self._refusal = error if isinstance(error, RequestFailed) else RequestFailed(str(error))
        finally:
            self._ended.set()
            self._ready.set()

    async def _debug_here(self, command: Command, launch: PythonLaunch, listener: Listener) -> None:
        async with started(command) as program, listener.accept(program.group.wait) as link:
            self._program = program
            await self._converse(link, launch, lambda: program.run(self._tell_output))

    async def _debug_in_terminal(self, command: Command, launch: PythonLaunch, listener: Listener) -> None:
        await self.run_in_terminal(
            kind="external" if launch.console == "externalTerminal" else "integrated",
            title=command.name,
            cwd=str(command.cwd),
            args=list(command.argv),
            env=dict(command.env) or None,
        )
        async with listener.accept(anyio.sleep_forever) as link:
            await self._converse(link, launch, link.wait_ended)

    async def _converse(self, link: Connection, launch: PythonLaunch, until: Callable[[], Awaitable[object]]) -> None:
        """Introduce ourselves, and pass everything on until the program has ended."""
        await link.request(InitializeRequestArguments(adapter_id="dapkit"))
        options: dict[str, object] = {"stopOnEntry": launch.stop_on_entry, "justMyCode": launch.just_my_code}
        await link.request(LaunchRequestArguments(extra=options))
        self.link = link
        self._ready.set()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._pass_events_on, link)
            await until()
            await link.wait_ended()
        self.link = None
        code = self._exit_code if self._program is None else self._program.group.returncode
        if code is not None:
            await self.exited(_shell_code(code))
        await self.terminated()

    async def _pass_events_on(self, link: Connection) -> None:
        async for happening in link.incoming():
            match happening:
                case EventReceived(event):
                    await self._pass_on(event.body)

    async def _pass_on(self, body: EventBody | RawJson | None) -> None:
        match body:
            case InitializedEvent():
                pass  # the SDK sends ours
            case ExitedEvent(exit_code=code):
                self._exit_code = code  # is told after the last output
            case ProcessEvent(system_process_id=int(pid)) if self._program is None:
                self._terminal_process = os.pidfd_open(pid)
                await self.send_event(body)
            case EventBody():
                await self.send_event(body)

    async def _tell_output(self, text: str, category: Category) -> None:
        await self.output(text, category=category)

    # Ending

    async def terminate(self, args: TerminateArguments) -> None:  # noqa: ARG002 - clients that restart send another launch
        """Interrupt the program, so that it can clean up; a second request kills it."""
        if self._asked_to_end:
            self._kill()
            return
        self._asked_to_end = True
        await self.ask(TerminateArguments())

    async def disconnect(self, args: DisconnectArguments) -> None:
        """End the program, or let it run on if the client says so."""
        if args.terminate_debuggee is not False or self.link is None:
            return
        await self.ask(args)
        if self._program is not None:
            self._program.release()
        self._released = True
        await self.terminated()

    async def closing(self) -> None:
        """End the program, unless it was released."""
        if not self._released:
            self._kill()
            with anyio.move_on_after(limits.CLOSE_SECONDS):
                await self._ended.wait()
        if self._terminal_process is not None:
            os.close(self._terminal_process)

    def _kill(self) -> None:
        if self._program is not None:
            self._program.group.send(signal.SIGKILL)
        elif self._terminal_process is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._terminal_process, signal.SIGKILL)


def _shell_code(code: int) -> int:
    """Exit code as shells tell it: 128 and the signal's number for a program that was killed."""
    return code if code >= 0 else 128 - code
