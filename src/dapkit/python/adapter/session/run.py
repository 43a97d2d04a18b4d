"""One program under the debugger, from its start to its end: started by us, or found.

    starting --engine has introduced itself--> ready --configurationDone--> running --> over
       |                                                                               ^
       +--refused, or given up----------------------------------------------------------+

How a program is reached is a *connector* (`launch`, `attach`), a context in which its link and
its process are there. This module has the parts that all share: the events for the client, their order, and the end. A
session has one run after the other if it is restarted.
"""

import contextlib
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import msgspec
from anyio.abc import TaskGroup

from dapkit import limits as shared_limits
from dapkit.adapter import Adapter, RequestFailed
from dapkit.endpoint import EventReceived, Overtakes
from dapkit.protocol import (
    BreakpointEvent,
    DisconnectArguments,
    Event,
    EventBody,
    ExitedEvent,
    InitializedEvent,
    OutputEvent,
    RawJson,
    Request,
    StoppedEvent,
    TerminateArguments,
    ThreadEvent,
)
from dapkit.python import limits
from dapkit.python.adapter.children import children as child_sessions
from dapkit.python.adapter.children.children import Children
from dapkit.python.adapter.engine import engine_log
from dapkit.python.adapter.engine.breakpoint_store import BreakpointStore
from dapkit.python.adapter.engine.debuggee import Debuggee, ProgramDetached, ProgramGone
from dapkit.python.adapter.engine.marked_output import length
from dapkit.python.adapter.engine.resume_order import ResumeOrder
from dapkit.python.adapter.launch.launched_program import Category
from dapkit.python.adapter.time_travel.timeline import RESUMING_COMMANDS
from dapkit.system.signals import CRASHES
from dapkit.transport import Connection, ConversationLost, TransportError, background_tasks
from dapkit.transport.signals import signal_name

log = logging.getLogger(__name__)

_CUT = "the program has closed the connection of the debugger, and runs on without it"


type Connector = Callable[["DebuggeeRun"], AbstractAsyncContextManager[Debuggee]]


class ProgramEndedEarly(RequestFailed):
    """The program has ended before there was a session: nothing is wrong, but there is nothing to debug."""


class DebuggeeRun:
    """One program and its parts.

    Invariant: `debuggee` is there from the moment the engine is ready until the program has ended.

    Attributes:
        host: the adapter, which talks to the client.
        debuggee: see above.
        remembered: the client's breakpoints.
        children: processes that it starts.
        is_ours: whether the program ends with the session unless the client says otherwise.
        is_reported: whether it is reported to the client: not once it was released, or another run has taken its place.

    """

    def __init__(
        self,
        host: Adapter[Any, Any],
        connect: Connector,
        children: Children,
        *,
        remembered: BreakpointStore,
        is_ours: bool,
    ) -> None:
        self.host = host
        self.debuggee: Debuggee | None = None
        self.children = children
        self.is_ours = is_ours
        self.is_reported = True
        self.asked_to_end = False
        self._connect = connect
        self.remembered = remembered
        self._scope = anyio.CancelScope()
        self._settled = anyio.Event()
        self._over = anyio.Event()
        self._refusal: RequestFailed | None = None
        self._exit_code: int | None = None
        self._threads: set[int] = set()  # of the debuggee, also when it has ended

    @property
    def has_ended(self) -> bool:
        """Whether the program has ended, though that may not have been reported yet, or its children still run."""
        ended = self.debuggee is None or self.debuggee.process.returncode is not None
        return self._settled.is_set() and ended

    # Starting

    def start(self) -> None:
        """Begin, in the background."""
        self._scope = self.host.start_soon(self._live)

    async def ready(self) -> None:
        """Wait until the engine can take breakpoints.

        Raises:
            RequestFailed: there will be no engine.

        """
        await self._settled.wait()
        if self._refusal is not None:
            raise self._refusal

    async def _live(self) -> None:
        try:
            async with self.children.coming(), self._connect(self) as debuggee:
                self.debuggee = debuggee
                self._threads = debuggee.threads
                self._settled.set()
                await self._converse(debuggee)
        except ProgramEndedEarly:
            self._settled.set()
            await self.children.recorded_opened()
            await self._report_end(None)
        except (RequestFailed, TransportError) as error:
            if self._settled.is_set():
                raise
            self._refusal = error if isinstance(error, RequestFailed) else RequestFailed(str(error))
        except OSError as error:
            if self._settled.is_set():
                raise
            log.exception("the program could not be started")
            self._refusal = RequestFailed(f"the program could not be started: {error}")
        finally:
            self.debuggee = None
            if not self._settled.is_set() and self._refusal is None:
                self._refusal = RequestFailed("cancelled", message="cancelled")
            self._settled.set()
            self._over.set()

    # Listening

    async def _converse(self, debuggee: Debuggee) -> None:
        """Pass everything on until the program has ended, then say so."""
        try:
            async with background_tasks() as watches, anyio.create_task_group() as tasks:
                watches.start_soon(self._report_signals, debuggee)
                tasks.start_soon(self._pass_events_on, debuggee, watches)
                await debuggee.process.wait()
        finally:
            debuggee.end()
        self.debuggee = None
        await self.children.over()
        if self.is_reported:
            code = debuggee.process.returncode
            if debuggee.is_replay:
                await self._report_end_of_replay(code)
            else:
                await self._report_end(code if code is not None else self._exit_code)

    async def _report_signals(self, debuggee: Debuggee) -> None:
        async for text in debuggee.follow_signals():
            if self.is_reported:
                await self._report(OutputEvent(output=text, category="important"))

    async def _report_cut(self, debuggee: Debuggee) -> None:
        """Report that the program has closed the connection, as one does that closes all descriptors."""
        await anyio.sleep(limits.CUT_SECONDS)
        if self._exit_code is None and self.is_reported and debuggee.process.runs() and not debuggee.is_detached:
            debuggee.is_detached = True
            debuggee.order.end()
            if self.children.is_expecting:  # a session of its own debugs its replacement
                return
            await self._report(OutputEvent(output=f"{_CUT[0].upper()}{_CUT[1:]}.\n", category="important"))

    async def _pass_events_on(self, debuggee: Debuggee, watches: TaskGroup) -> None:
        event_count = 0
        async for happening in debuggee.incoming():
            match happening:
                case EventReceived(event) if debuggee.observe(event) or self._observe(event):
                    pass  # it is for us, and not for the client
                case EventReceived(event):
                    if self.is_reported:
                        await self._pass_on(event.body, debuggee)
                    else:
                        debuggee.process.marked.release()
                    if isinstance(event.body, StoppedEvent):
                        debuggee.order.pass_on()
                    if isinstance(event.body, OutputEvent):
                        event_count += length(event.body.output)
            if event_count >= limits.OUTPUT_TAKEN_CHARACTERS:
                await _report_taken(debuggee.link, event_count)
                event_count = 0
        debuggee.process.marked.release()
        watches.start_soon(self._report_cut, debuggee)

    def _observe(self, event: Event) -> bool:
        """Process an event of the engine that is meant for the session; return whether it was one."""
        match event.event:
            case engine_log.LOG_EVENT:
                engine_log.write_entry(event.body)
            case child_sessions.EXECUTES_EVENT:
                self.children.expect(event.body)
            case _:
                return False
        return True

    async def _pass_on(self, body: EventBody | RawJson | None, debuggee: Debuggee) -> None:
        match body:
            case InitializedEvent():
                pass  # the SDK sends ours
            case ExitedEvent(exit_code=code):
                self._exit_code = code  # is reported after the last output
            case StoppedEvent():
                await debuggee.process.report_output()  # its output before the stop
                await self._report_stop(body, debuggee)
            case OutputEvent(output=text):
                async for part in debuggee.process.marked.in_order(text):
                    await self._report(debuggee.paths.event(msgspec.structs.replace(body, output=part)))
            case BreakpointEvent():
                await self._report(debuggee.paths.event(self.remembered.of_client(body)))
            case ThreadEvent(reason=reason, thread_id=number):
                (debuggee.threads.add if reason == "started" else debuggee.threads.discard)(number)
                await self._report(body)
            case EventBody():
                await self._report(debuggee.paths.event(body))

    async def _report_stop(self, body: StoppedEvent, debuggee: Debuggee) -> None:
        for event in debuggee.events_of_stop(self.remembered.of_client(body)):
            await self._report(event, overtakes=debuggee.order.has_stop_before)

    async def report_output(self, text: str, category: Category) -> None:
        """Relay the program's output."""
        if self.is_reported:
            await self._report(OutputEvent(output=text, category=category))

    async def report_from_past(self, body: EventBody, order: ResumeOrder) -> None:
        """Relay the messages of a replay process."""

        def overtakes(request: Request) -> bool:
            return request.command in RESUMING_COMMANDS and order.has_stop_before(request)

        if self.is_reported:
            await self._report(body, overtakes=overtakes)

    async def _report(self, body: EventBody, *, overtakes: Overtakes = lambda _: False) -> None:
        try:
            await self.host.send_event(body, overtakes=overtakes)
        except ConversationLost as error:  # the session ends on its own account, and the program with it
            log.debug("the client did not receive %s: %s", body.event, error)

    async def _report_end(self, code: int | None) -> None:
        """Report how the program ended, as far as that is known."""
        self.is_reported = False
        if code is not None and code < 0 and not self.asked_to_end:
            await self.host.output(
                f"The program was ended by {signal_name(-code)}.{_hint(-code)}\n", category="console"
            )
        if code is not None:
            await self.host.exited(_exit_code(code))
        await self.host.terminated()

    async def _report_end_of_replay(self, code: int | None) -> None:
        """Report how the process has ended that executed a recording: it does not end by itself."""
        self.is_reported = False
        if not self.asked_to_end:
            how = "" if code is None else f" by {signal_name(-code)}" if code < 0 else f" with exit code {code}"
            text = f"The process that executed the recording has ended unexpectedly{how}. It can be opened again.\n"
            await self.host.output(text, category="important")
        await self.host.terminated()

    # Ending

    async def terminate(self, args: TerminateArguments) -> None:
        """Ask the program to end; kill it if it was asked before.

        Raises:
            RequestFailed: there is no program yet, or it does not listen; asking again kills it.

        """
        await self.children.terminate(args)
        if self.has_ended:
            await self._end_what_is_left()
            return
        if self.debuggee is None:
            raise RequestFailed("terminate: there is no program to end: it has not started")
        if self.asked_to_end or self.debuggee.is_replay:
            self.asked_to_end = True
            await self.debuggee.process.kill()
            return
        self.asked_to_end = True
        self.debuggee.process.interrupted()
        self._resume(self.debuggee)
        if self.debuggee.is_detached:
            self.debuggee.process.send_term()
            return
        with anyio.move_on_after(limits.INTERRUPT_SECONDS) as deadline:
            await self.debuggee.ask_live(args)
        if deadline.cancelled_caught:  # native code keeps the engine from running, and any interrupt from being noticed
            self.debuggee.process.send_term()

    async def _end_what_is_left(self) -> None:
        """End the children of an ended program with their sessions, the second time at once."""
        if self.debuggee is not None:
            self.debuggee.process.interrupted()
            if self.asked_to_end:
                await self.debuggee.process.kill()
        self.asked_to_end = True

    async def release(self, *, suspend: bool) -> None:
        """Let the program keep running without us, or stay stopped; after that the client only gets `terminated`.

        Raises:
            RequestFailed: there is no program.

        """
        debuggee = self.debuggee
        if debuggee is None:
            raise RequestFailed("disconnect: there is no program to release: it has not started, or has ended")
        self.is_reported = False
        await self.children.release()
        if self.debuggee is not None:  # else it has ended while its children were released
            suspend = self._resume(debuggee) or suspend
            debuggee.process.release()
            await self._ask_to_release(debuggee, suspend=suspend)
        await self.host.terminated()

    async def _ask_to_release(self, debuggee: Debuggee, *, suspend: bool) -> None:
        """Ask the engine to release the program, unless it cannot answer: then the end of the link releases it."""
        if debuggee.is_detached or debuggee.stopped_by or self.has_ended:
            return
        with contextlib.suppress(ProgramDetached, ProgramGone):  # who releases its parent may have been faster
            await debuggee.ask_live(DisconnectArguments(terminate_debuggee=False, suspend_debuggee=suspend))

    def _resume(self, debuggee: Debuggee) -> bool:
        """Continue a program that a signal has stopped, so that it handles requests; return whether it does."""
        was_stopped = bool(debuggee.stopped_by) and debuggee.process.resume()
        if was_stopped:
            debuggee.stopped_by = ""
        return was_stopped

    async def end_for_restart(self) -> None:
        """End the program, or let one that was found go, without a word: another run follows."""
        self.is_reported = False
        if self.debuggee is not None and not self.is_ours:
            with contextlib.suppress(RequestFailed):  # it has ended by itself meanwhile
                await self.debuggee.ask_live(DisconnectArguments(terminate_debuggee=False))
        await self.end(kill=self.is_ours)
        for number in sorted(self._threads):
            await self.host.thread("exited", number)

    async def _let_go(self) -> None:
        """Tell the engine to release a program whose client has gone: a child of a launched one ends with the link."""
        if self.debuggee is None or not self.is_reported or self.has_ended or self.debuggee.is_detached:
            return
        with anyio.move_on_after(shared_limits.CLOSE_SECONDS), contextlib.suppress(RequestFailed):
            await self.debuggee.ask_live(DisconnectArguments(terminate_debuggee=False))

    async def end(self, *, kill: bool) -> None:
        """See to it that this run is over; a program that is not killed keeps running."""
        if kill and self.debuggee is not None:
            await self.debuggee.process.kill()
        else:
            await self._let_go()
            self._scope.cancel()
        with anyio.move_on_after(shared_limits.CLOSE_SECONDS):
            await self._over.wait()
            return
        self._scope.cancel()
        await self._over.wait()


async def _report_taken(link: Connection, characters: int) -> None:
    """Report to the engine that there is room for more output; without that it waits, and so does the program."""
    try:
        await link.request_custom("dapkit/outputTaken", {"characters": characters})
    except ConversationLost as error:
        log.debug("the engine has gone: %s", error)


def _exit_code(code: int) -> int:
    """Return an exit code that the protocol has room for; a signal that ended the program is a negative number."""
    if code < 0:
        return 128 - code  # as shells count signals
    return code if code < 1 << 31 else code - (1 << 32)  # an error of Windows, which counts without a sign


def _hint(number: int) -> str:
    """Return how to learn more of a signal that comes of an error in native code.

    To show the stack of Python, something would have to handle the signal inside the program, which it can see.
    """
    if number not in CRASHES:
        return ""
    return " With PYTHONFAULTHANDLER=1 in its environment, Python writes its stack to stderr before that."
