"""The engine: its parts put together, and the life of one debugged program.

    connecting -> configuring (the program waits) -> running -> exited, with the program
                                                   -> released: the program keeps running undebugged

A launched program dies with its debugger: if the link is lost it ends at once, with
`limits.LINK_LOST_EXIT_CODE`, without flushing anything (who would have read it is gone, and a
full pipe must not keep it alive). If the program has closed the link itself, or internal errors end that,
the program is released.
"""

import _signal  # type: ignore[import-not-found]  # the C half of `signal`, which brings `enum`
import _socket
import _thread
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from ..bytecode.texts import ProgramTexts
from ..children import launch_hooks
from ..connection import current_engine
from ..connection.framing import Json
from ..connection.link import Link
from ..connection.request import IncomingRequest
from ..data_breakpoints.table import DataBreakpointTable
from ..evaluation.interrupts import interrupt
from ..exceptions.table import ExceptionBreakpointTable
from ..execution.history_role import HistoryRole
from ..execution.job_queue import JobQueue
from ..execution.monitor import Monitor
from ..execution.states import FORKED, SUSPENDED, ThreadStates
from ..execution.stepping import Stepping
from ..execution.stops import Stops
from ..expressions.console import Console
from ..interpreter import limits, log, thread_checks
from ..interpreter.gc_pause import gc_pause
from ..interpreter.gc_tracking import track_again, untrack_members, untrack_modules
from ..interpreter.hidden_frames import hidden_frame
from ..interpreter.safe_types import forget_classes
from ..interpreter.thread_checks import in_link_thread, under_lock
from ..options import EngineOptions
from ..program import termination as asking_to_end
from ..program.output import RedirectedOutput
from ..sources.auto_reload import Reloader
from ..sources.fileless_code import UnfiledTexts
from ..sources.files import Sources
from ..sources.modules import ModuleTable
from ..sources.source_contents import ShownSources
from ..stacks.frames import FrameDetails, Stacks
from ..threads.table import MAIN, ThreadTable
from ..values.memory import MemoryReferences
from ..values.references import ObjectReferences
from ..values.variables import VariableReader
from . import interpreter_checks
from .forks import Forks
from .link_thread import LinkThread
from .monitoring_callbacks import MonitoringCallbacks
from .periodic_checks import PeriodicChecks
from .program_calls import ProgramCalls

if TYPE_CHECKING:
    from ..connection.listener import Protection
    from ..values.references import Numbered


class RequestDispatcher(Protocol):
    """The handler of the client's requests: made by the code that makes the engine, which knows no request."""

    def handle(self, message: Json) -> None:
        """Take a message from the link."""

    def again(self, request: IncomingRequest) -> None:
        """Answer a request that was put off."""

    def cancel(self, seq: object) -> None:
        """Drop the work for a request, if it is not done yet."""


class Engine:
    """Everything there is of the debugger in this process.

    Invariant: one link and one monitoring tool for the whole of its life; `released` is final.
    To be made in the main thread, unless that is given as `main`, in a program that was running before.
    """

    def __init__(
        self,
        connection: _socket.socket,
        name: str,
        dispatcher: Callable[["Engine"], RequestDispatcher],
        *,
        main: int | None = None,
        early: bytes = b"",
        protection: "Protection | None" = None,
        before: "Engine | None" = None,
        folder: str | None = None,
        history: HistoryRole | None = None,
    ) -> None:
        """Take a connection, and the data that its other end has `early` on it.

        Further the engine whose client left suspended before, the folder that file names are relative to, if it is
        not the one that the program is in, and the role of a process that shows the program's past.
        """
        self.owned = main is None
        """Whether the program was launched for us, and ends with us."""
        self.asked_to_end = False
        """Whether `terminate` has asked the program to end."""
        self.name = name
        self.lock = thread_checks.engine_lock()
        self.options = EngineOptions()
        self.link = Link(connection, early, protection)
        unfiled = UnfiledTexts()
        self.sources = Sources(unfiled, folder)
        self.references = ObjectReferences()
        self.texts = ProgramTexts(self.sources)
        self.threads = ThreadTable(_thread.get_ident() if main is None else main, self.link.event)
        self.monitor = Monitor()
        self.states = ThreadStates(self.link.errors.remark)
        self.stops = Stops(
            self.link,
            self.threads,
            self.monitor,
            states=self.states,
            references=self.references,
            options=self.options,
            lock=self.lock,
            listener=self,
        )
        self.jobs = JobQueue(self.link, self.stops)
        self.stepping = Stepping(self.monitor, self.sources, self.options, self.states)
        self.exceptions = ExceptionBreakpointTable(
            self.monitor, self.sources, self._complain, shows=self.stepping.may_show
        )
        self.callbacks = MonitoringCallbacks(
            self.link,
            self.monitor,
            sources=self.sources,
            threads=self.threads,
            stops=self.stops,
            stepping=self.stepping,
            exceptions=self.exceptions,
            lock=self.lock,
            texts=self.texts,
            options=self.options,
        )
        self.data_breakpoints = DataBreakpointTable(
            self.link,
            self.stops,
            self.sources,
            self.monitor,
            lock=self.lock,
            shield=self.callbacks.shielded,
            later=self.callbacks.at_next_instruction_of,
            complain=self._complain,
        )
        self.modules = ModuleTable(self.sources, self.link.event)
        self.shown = ShownSources(self.sources, unfiled, self.link.event)
        frame_details = FrameDetails(
            self.callbacks.breakpoints.addresses, self.texts, self.stops, self.callbacks.arguments
        )
        self.stacks = Stacks(self.sources, self.references, self.modules, self.shown, frame_details)
        self.memory = MemoryReferences(self.references)
        self.reader = VariableReader(self.references, self.memory)
        self.console = Console(self.options)
        self.redirected_output = RedirectedOutput(self._report_output)
        self.calls = ProgramCalls(
            self.threads,
            self.stops,
            self.monitor,
            callbacks=self.callbacks,
            exceptions=self.exceptions,
            lock=self.lock,
        )
        self.looks = PeriodicChecks(
            self.link, self.monitor, self.callbacks.breakpoints, states=self.states, lock=self.lock
        )
        self.when_released: Callable[[Engine], None] | None = None
        """Called in a child, with the engine, once its debugger has left it."""
        self._exit_code = 0
        self._may_run = _thread.allocate_lock()
        self._may_run.acquire()
        self.dispatcher = dispatcher(self)
        self.link_thread = LinkThread(
            self.link,
            self.threads,
            self.states,
            lock=self.lock,
            handle=self.dispatcher.handle,
            over=self._link_is_over,
            complain=self._complain,
        )
        self.forks = Forks(self.link, self.link_thread, self.threads, self.states, self.callbacks)
        self._before = before
        self._hidden: list[object] = []
        if history is not None:
            self.take_role(history)

    def take_role(self, role: HistoryRole) -> None:
        """Take a role in the history of the program, which is to have one."""
        self.stops.history = role
        self.monitor.accompanied_by_clock(role.callback_wrapper)

    @property
    def is_attended(self) -> bool:
        """Whether a client has configured its session, and is still there."""
        return self.states.configured and not self.link.closed and not self.states.released

    @property
    def is_suspended(self) -> bool:
        """Whether its client has left the program suspended."""
        return self.states.phase == SUSPENDED

    def start(self) -> None:
        """Take the monitoring tool, serve the link, and return when the client has configured everything.

        Raises:
            RequestRefused: if another debugger is active in this process.

        """
        if self.owned:  # else it is taken when the client attaches
            self.monitor.claim()
        self.link_thread.start()
        self._may_run.acquire()
        self._look_after_forks()

    def _look_after_forks(self) -> None:
        self.forks.look_after(self.forget_in_child, self.stops.history)

    def start_in_past(self) -> None:
        """Serve the link in a replay process, and return when the adapter has configured everything."""
        self.link_thread.start()
        self._may_run.acquire()
        if self.stops.history is not None and self.stops.history.forks_again:
            self._look_after_forks()

    def continue_as_live(self, role: HistoryRole) -> None:
        """Become the engine of the live program, in a process that was a replay process."""
        self.owned = True
        self.take_role(role)
        self._look_after_forks()
        self._tell_of_process()

    def _link_is_over(self) -> None:
        """Decide the fate of a program whose link will not be served again."""
        ends = self.owned or self.options.ends_with_link
        if self.link.is_lost and ends and not self.states.released:
            os._exit(limits.LINK_LOST_EXIT_CODE)
        self._let_go()
        when_released, self.when_released = self.when_released, None
        if when_released is not None:
            when_released(self)

    def _let_go(self) -> None:
        """Leave the program to itself, whatever state the engine is in."""
        if self.is_suspended or self.states.released:
            return
        try:
            self.release()
        except BaseException as error:
            self.link.errors.show(error, "the release of the program")
            self.monitor.release()

    @hidden_frame
    def serve_attached(self, others: dict[int, Callable[[], None]]) -> None:
        """Serve a client that has come to the running program, in this thread, until it leaves."""
        self.link_thread.take()
        self._hidden = untrack_members(self)  # before the modules, from which there is a way to it
        untrack_modules()
        self.link_thread.serve(others)
        self._let_go()

    def discard(self) -> None:
        """Drop all parts that exist only for a session that is over for good: nothing leads here any more."""
        self.link.discard()
        self.track_again()

    def track_again(self) -> None:
        """Let the collector have it; a job, which is never tracked, leads to all of it."""
        self.jobs.forget()
        track_again(self._hidden)

    def take_hold(self) -> None:
        """Take the monitoring tool, and the state that another client has left suspended.

        Raises:
            RequestRefused: if another debugger is active in this process.

        """
        with self.lock:
            if self._before is not None:
                self._before.monitor.release()
            self.monitor.claim()
            if self._before is not None:
                self.stops.take_over(self._before.stops)

    @in_link_thread
    def configuration_done(self) -> None:
        """Let the program start."""
        if self.owned:
            self.tell_of_program()
        with self.lock:
            self.states.move_program("configured")
            if self.options.debugs:
                self.callbacks.install()
                if not self.owned:
                    self.looks.check_tool()
                    self.data_breakpoints.program_runs()
            else:
                self.monitor.release()
            if self.options.debugs and self.options.stop_on_entry:
                self.stepping.start_at_entry(self.threads.main)
                self.callbacks.choose()
        if self.options.debugs:
            self.callbacks.breakpoint_calls.take()
        if self.options.debugs and self.options.auto_reload is not None:
            console = self.callbacks.breakpoints.console
            self.looks.for_saved_files(Reloader(self.options.auto_reload, self.sources, self.link.event, console))
        if self.options.redirect_output:
            for problem in self.redirected_output.begin():
                self._complain(problem)
        if self._before is not None:
            self._before = None
            self.stops.report_taken()
        self._may_run.release()
        current_engine.settle(came=True)

    @in_link_thread
    def tell_of_program(self) -> None:
        """Tell of the program and its threads before it can stop: clients take a thread that is new for one that runs.

        A program that runs can stop as soon as it has breakpoints.
        """
        self._tell_of_process()
        if remark := interpreter_checks.remark():
            self.link.event("output", {"category": "console", "output": f"{remark}\n"})
        self.link.event("thread", {"reason": "started", "threadId": MAIN})
        if not self.owned:
            self.threads.look()  # tells of the others

    def _tell_of_process(self) -> None:
        method = "launch" if self.owned else "attach"
        self.link.event(
            "process",
            {"name": self.name, "systemProcessId": os.getpid(), "isLocalProcess": True, "startMethod": method},
        )

    def let_link_take_turn(self) -> None:
        """Let the link's thread take a turn, including its first look after the tool.

        Objects that it makes anew in each turn are not hidden; but their number is the same whenever the program counts
        objects.
        """
        turn = _thread.allocate_lock()
        turn.acquire()

        def look() -> None:
            if self.options.debugs:
                self.looks.check_tool()
            turn.release()

        self.link.soon(look)
        if not self.link.closed:
            turn.acquire(True, limits.TOOL_SECONDS)  # noqa: FBT003 - positional only

    @in_link_thread
    def release(self) -> None:
        """Let the program run on for good, undebugged, at full speed."""
        launch_hooks.disable()
        self.redirected_output.end()
        with self.lock:
            has_begun = self.states.configured
            self.stepping.cancel()
            self.callbacks.breakpoints.clear()
            self.data_breakpoints.clear()
            self.stops.release()
            self.callbacks.breakpoint_calls.give_back()
        if not has_begun:
            self._may_run.release()
        self.link.close()

    def terminate(self) -> None:
        """Ask the program to end as by Ctrl-C, so that its `finally` blocks run. Nothing stops it on its way."""
        with self.lock:
            self.asked_to_end = True
            has_begun = self.states.configured
            standing = self.stops.standing
            self.stepping.cancel()
            self.callbacks.breakpoints.clear()
            self.data_breakpoints.clear()
            self.exceptions.set([])
            if standing:
                self.link.event("continued", {"threadId": self.threads.number(standing), "allThreadsContinued": True})
            self.stops.end_program()
        if not has_begun:
            self._may_run.release()
        asking_to_end.ask(self.threads.main, self.link)

    @in_link_thread
    def end(self) -> None:
        """End the process at once."""
        os._exit(limits.LINK_LOST_EXIT_CODE)

    @in_link_thread
    def suspend(self) -> None:
        """Let the client go, and keep the program stopped.

        Threads of a program that can be attached to again stay where they are until then. Another is stopped as by
        Ctrl-Z, and keeps running without us once it is continued (SIGCONT).
        """
        if self.owned or not self.monitor.active:
            os.kill(os.getpid(), _signal.SIGSTOP)
            self.release()
            return
        self.redirected_output.end()
        with self.lock:
            self.stepping.cancel()
            self.callbacks.breakpoints.clear()
            self.data_breakpoints.clear()
            self.exceptions.set([])
        self.stops.suspend(self.threads.main)
        self.link.close()

    def end_thread(self, ident: int) -> None:
        """Raise SystemExit in a thread: at once where it stands or runs, else when its native call returns."""
        if not self.stops.end_thread(ident):
            interrupt(ident, SystemExit)

    # Reports of `stops`

    def thread_stops(self) -> None:
        """Take note, in the thread itself and without the lock, that it is about to stop the program."""
        self.forks.end_rest()

    @under_lock
    def thread_stopped(self, ident: int) -> None:
        """Record that a stop begins, because of this thread."""
        self.callbacks.thread_stopped(ident)
        self.data_breakpoints.stops_changed()

    @under_lock
    def thread_parked(self) -> None:
        """Record that a thread is stopped that was arrested."""
        self.data_breakpoints.thread_parked()

    @under_lock
    def threads_resumed(self) -> None:
        """Record that some thread, or all, may continue."""
        self.jobs.withdraw(lambda ident: not self.states.stands(ident))
        self.callbacks.threads_resumed()
        self.data_breakpoints.stops_changed()

    def references_released(self, objects: list["Numbered"]) -> None:
        """Drop the objects that were kept for a stop, in the thread to which they belong."""
        objects.clear()
        self.console.let_go()
        forget_classes()

    def _report_output(self, text: str, place: Json) -> None:
        """Report the program's output, in the thread that wrote it."""
        self.link.remark(text, place)
        self.stops.wait_for_room()

    def _complain(self, text: str) -> None:
        self.link.event("output", {"category": "stderr", "output": text + "\n"})

    def note_exit_code(self, code: int) -> None:
        """Remember how the program ended, for the `exited` event."""
        self._exit_code = code

    def finish(self, exit_code: int | None = None) -> None:
        """Say the last words, when nothing of the program will run any more. In the main thread.

        Of a program that was not launched by us the exit code is reported where the caller knows it.
        """
        self.when_released = None
        if self.states.released or self.link.closed:
            return
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):
                continue  # None, closed, or a stand-in of the program
        self.callbacks.breakpoints.report_missed()
        if self.stepping.waits_for_entry:
            self._complain("stopOnEntry: the program has run no code of its own, only libraries.")
        if self.owned:
            exit_code = self._exit_code
        with self.lock:
            self.data_breakpoints.clear()
            self.stops.release()
        if exit_code is not None:
            self.link.event("exited", {"exitCode": exit_code})
        self.link.close()

    def forget_in_child(self) -> None:
        """Leave the child of a fork undebugged, once: the link and the threads stayed with the parent."""
        if self.states.phase == FORKED:
            return
        self.redirected_output.end()
        self.forks.forget()
        gc_pause.release()
        self.stops.forget()
        self.monitor.release()
        self.data_breakpoints.forget_in_child()
        self.link.drop()
        log.close()
