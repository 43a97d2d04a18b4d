"""The engine: its parts put together, and the life of one debugged program.

    connecting -> configuring (the program waits) -> running -> exited, with the program
                                                   -> released: the program runs on undebugged

A launched program dies with its debugger: if the link is lost it ends at once, with
`limits.LINK_LOST_EXIT_CODE`, without flushing anything (who would have read it is gone, and a
full pipe must not keep it alive).
"""

import _signal  # type: ignore[import-not-found]  # the C half of `signal`, which brings `enum`
import _socket
import _thread
import os
import sys
from collections.abc import Callable
from time import monotonic, sleep
from types import FrameType
from typing import TYPE_CHECKING, Protocol

from . import limits
from .bytecode.positions import ProgramTexts as Texts
from .callbacks import Callbacks
from .connection import current
from .connection.link import Link
from .connection.request import IncomingRequest as Request
from .connection.wire import Json
from .data_breakpoints.table import DataBreakpointTable as DataBreakpoints
from .evaluation.interrupts import interrupt
from .exceptions.table import ExceptionBreakpointTable as Exceptions
from .execution.monitor import Monitor
from .execution.stepping import Stepping
from .execution.stops import Parked, World
from .expressions.console import Console
from .options import SessionOptions as Options
from .program import termination as asking_to_end
from .program.output import RedirectedOutput as ToldOutput
from .sources.files import Sources
from .sources.modules import ModuleTable as Modules
from .sources.shown import ShownSources
from .stacks.details import FrameDetails
from .stacks.frames import Stacks
from .threads.table import MAIN
from .threads.table import ThreadTable as Threads
from .values.memory import MemoryReferences as Memory
from .values.references import ObjectReferences as References
from .values.variables import VariableReader as Reader

if TYPE_CHECKING:
    from .sources.auto_reload import Reloader as Reloading


class RequestDispatcher(Protocol):
    """What answers the requests of the client: made by whoever makes the engine, which knows no request."""

    def handle(self, message: Json) -> None:
        """Take a message from the link."""

    def again(self, request: Request) -> None:
        """Answer a request that was put off."""


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
    ) -> None:
        self.owned = main is None
        """Whether the program was launched for us, and ends with us."""
        self.name = name
        self.lock = _thread.RLock()
        self.link = Link(connection)
        self.sources = Sources()
        self.references = References()
        self.texts = Texts(self.sources)
        self.threads = Threads(_thread.get_ident() if main is None else main, self.link.event)
        self.monitor = Monitor()
        self.world = World(self.link, self.threads, self.monitor, references=self.references, lock=self.lock)
        self.stepping = Stepping(self.monitor, self.sources)
        self.exceptions = Exceptions(self.monitor, self.sources, self._complain)
        self.callbacks = Callbacks(
            self.link,
            self.monitor,
            sources=self.sources,
            threads=self.threads,
            world=self.world,
            stepping=self.stepping,
            exceptions=self.exceptions,
            lock=self.lock,
            texts=self.texts,
        )
        self.data_breakpoints = DataBreakpoints(
            self.link,
            self.world,
            self.sources,
            lock=self.lock,
            shield=self.callbacks.shielded,
            later=self.callbacks.at_next_instruction_of,
            complain=self._complain,
        )
        self.world.changed = self._world_changed
        self.world.joined = self.data_breakpoints.thread_parks
        self.modules = Modules(self.sources, self.link.event)
        self.shown = ShownSources(self.sources, self.link.event)
        self.stacks = Stacks(self.sources, self.references, self.modules, self.shown)
        self.stacks.details = FrameDetails(
            self.callbacks.breakpoints.addresses, self.texts, self.world, self.callbacks.arguments
        ).of
        self.memory = Memory(self.references)
        self.reader = Reader(self.references, self.memory)
        self.console = Console()
        self.told_output = ToldOutput(self._tell_output)
        self.options = Options()
        self.configured = False
        self._exit_code = 0
        self._may_run = _thread.allocate_lock()
        self._may_run.acquire()
        self._known = _thread.allocate_lock()
        self._serving = _thread.allocate_lock()  # held while the link's thread lives
        self.dispatcher = dispatcher(self)
        self._rests = False
        self.held: Engine | None = None
        """The engine of a client that has left the program suspended, before us."""
        self.is_held = False
        """Whether our client has left the program suspended."""
        self._hooked = False

    @property
    def is_attended(self) -> bool:
        """Whether a client has configured its session, and is still there."""
        return self.configured and not self.link.closed and not self.world.released

    def start(self) -> None:
        """Take the monitoring tool, serve the link, and return when the client has configured everything.

        Raises:
            RequestRefused: if another debugger is active in this process.

        """
        self.monitor.claim()
        os.register_at_fork(
            before=self._rest_for_fork, after_in_parent=self._go_on_after_fork, after_in_child=self.forget_in_child
        )
        self._start_serving()
        self._may_run.acquire()

    def _start_serving(self) -> None:
        self._known.acquire()
        self._serving.acquire()
        _thread.start_new_thread(self._serve, ())
        with self._known:  # released once the thread has said who it is
            return

    def _serve(self) -> None:
        self.world.exempt.discard(self.threads.link)
        self.threads.link = _thread.get_ident()
        self.world.exempt.add(self.threads.link)
        self._known.release()
        rests = False
        try:
            rests = self.link.serve(self.dispatcher.handle)
        finally:
            if not rests and not self.world.released:
                os._exit(limits.LINK_LOST_EXIT_CODE)
            self._serving.release()

    def serve_attached(self, others: dict[int, Callable[[], None]]) -> None:
        """Serve a client that has come to the running program, in this thread, until it leaves."""
        self.threads.link = _thread.get_ident()
        self.world.exempt.add(self.threads.link)
        self.link.others = others
        try:
            self.link.serve(self.dispatcher.handle)
        finally:
            if not self.is_held and not self.world.released:
                self.release()
            self.link.others = {}

    def take_hold(self) -> None:
        """Take the monitoring tool, and what another client has left suspended.

        Raises:
            RequestRefused: if another debugger is active in this process.

        """
        with self.lock:
            if self.held is not None:
                self.held.monitor.release()
            self.monitor.claim()
            if self.held is not None:
                self.world.take_over(self.held.world)

    def configuration_done(self) -> None:
        """Let the program start. In the link's thread."""
        self.configured = True
        with self.lock:
            if self.options.debugs:
                self.callbacks.install()
                if not self.owned:
                    self.data_breakpoints.program_runs()
            else:
                self.monitor.release()
            if self.options.debugs and self.options.stop_on_entry:
                self.stepping.start_at_entry(self.threads.main)
                self.callbacks.choose()
        if self.options.debugs and current.takes_breakpoint_calls():
            sys.breakpointhook, self._hooked = current.hook, True
        if self.options.debugs and self.options.auto_reload is not None:
            from .sources.auto_reload import Reloader as Reloading

            console = self.callbacks.breakpoints.console
            self._look_for_saved_files(Reloading(self.options.auto_reload, self.sources, self.link.event, console))
        if self.options.redirect_output:
            for problem in self.told_output.begin():
                self._complain(problem)
        method = "launch" if self.owned else "attach"
        self.link.event(
            "process",
            {"name": self.name, "systemProcessId": os.getpid(), "isLocalProcess": True, "startMethod": method},
        )
        self.link.event("thread", {"reason": "started", "threadId": MAIN})
        if not self.owned:
            self.threads.look()  # tells of the others
        if self.held is not None:
            self.held = None
            self.world.tell_taken()
        self._may_run.release()
        current.settle(came=True)

    def _look_for_saved_files(self, reloading: "Reloading") -> None:
        if not self.world.released:
            reloading.look()
            self.link.after(reloading.seconds, lambda: self._look_for_saved_files(reloading))

    def stop_in(self, frame: FrameType) -> None:
        """Stop in a frame of the calling thread as soon as it goes on."""
        if not current.is_debugged() or not self.monitor.active:
            return
        ident = _thread.get_ident()
        if ident in self.world.parked and ident not in self.world.evaluating:
            return  # called by something that is evaluated at a stop
        self.callbacks.at_next_instruction_of(frame, lambda: self.world.halt(Parked(ident, frame), "breakpoint"))

    def release(self) -> None:
        """Let the program run on for good, undebugged, at full speed. In the link's thread."""
        self.told_output.end()
        with self.lock:
            self.stepping.cancel()
            self.callbacks.breakpoints.clear()
            self.data_breakpoints.clear()
            self.world.release()
            if self._hooked and sys.breakpointhook is current.hook:
                sys.breakpointhook = sys.__breakpointhook__
        if not self.configured:
            self._may_run.release()
        self.link.close()

    def terminate(self) -> None:
        """Ask the program to end as by Ctrl-C, so that its `finally` blocks run. Nothing stops it on its way."""
        with self.lock:
            standing = self.world.standing
            self.world.ending = bool(self.world.evaluating) or bool(standing)
            self.stepping.cancel()
            self.callbacks.breakpoints.clear()
            self.data_breakpoints.clear()
            self.exceptions.set([])
            if standing:
                self.link.event("continued", {"threadId": self.threads.number(standing), "allThreadsContinued": True})
            self.world.resume()
        if not self.configured:
            self.configured = True
            self._may_run.release()
        asking_to_end.ask(self.threads.main, self.link)

    def end(self) -> None:
        """End the process at once. In the link's thread."""
        os._exit(limits.LINK_LOST_EXIT_CODE)

    def suspend(self) -> None:
        """Let the client go, and keep the program stopped. In the link's thread.

        Threads of a program that can be attached to again stay where they are until then. Another is stopped as by
        Ctrl-Z, and runs on without us once it is continued (SIGCONT).
        """
        if self.owned or not self.monitor.active:
            os.kill(os.getpid(), _signal.SIGSTOP)
            self.release()
            return
        self.told_output.end()
        with self.lock:
            self.stepping.cancel()
            self.callbacks.breakpoints.clear()
            self.data_breakpoints.clear()
            self.exceptions.set([])
        self.world.freeze(self.threads.main)
        self.is_held = True
        self.link.close()

    def end_thread(self, ident: int) -> None:
        """Raise SystemExit in a thread: at once where it stands or runs, else when its native call returns."""
        if not self.world.end(ident):
            interrupt(ident, SystemExit)

    def _world_changed(self, stopped: int) -> None:
        self.callbacks.world_changed(stopped)
        self.data_breakpoints.world_changed()

    def _tell_output(self, text: str, place: Json) -> None:
        """Tell of what the program writes, in the thread that does."""
        self.link.remark(text, place)
        self.world.wait_for_room()

    def _complain(self, text: str) -> None:
        self.link.event("output", {"category": "stderr", "output": text + "\n"})

    def note_exit_code(self, code: int) -> None:
        """Remember how the program ended, for the `exited` event."""
        self._exit_code = code

    def finish(self) -> None:
        """Say the last words, when nothing of the program will run any more. In the main thread."""
        if self.world.released or self.link.closed:
            return
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):
                continue  # None, closed, or a stand-in of the program
        body: Json = {"exitCode": self._exit_code}
        with self.lock:
            self.data_breakpoints.clear()
            self.world.release()
        if self.owned:  # else nobody has told us how it ends
            self.link.event("exited", body)
        self.link.close()

    def _rest_for_fork(self) -> None:
        """End the link's thread before a fork: a program of one thread must not be warned that it has two."""
        ours = _thread.get_ident() == self.threads.link
        if self.world.released or ours or not self.configured or not self.threads.alone():
            return
        threads = _system_threads()
        self._rests = True
        self.link.rest()
        with self._serving:
            deadline = monotonic() + limits.REST_SECONDS
        # It is the threads of the system that the interpreter counts, and ours may take a moment to go.
        while _system_threads() >= threads > 0 and monotonic() < deadline:
            sleep(0)

    def _go_on_after_fork(self) -> None:
        """Serve the link again."""
        if not self._rests:
            return
        self._rests = False
        # From 3.13 on the interpreter counts the threads only after this. At a stop it may: nothing is executed there.
        forking = sys._getframe(1)
        if sys.version_info < (3, 13) or self.world.stands(_thread.get_ident()):
            self._start_serving()
        else:
            self.callbacks.at_next_instruction_of(forking, self._start_serving)

    def forget_in_child(self) -> None:
        """Leave the child of a fork undebugged: the link and the threads stayed with the parent."""
        self.told_output.end()
        self.world.forget()
        self.data_breakpoints.forget_in_child()
        self.monitor.release()
        self.link.drop()


def _system_threads() -> int:
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 0  # a system without /proc
