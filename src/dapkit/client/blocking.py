"""Sessions for scripts, shells and tests: the same names, without `async` and `await`.

The session itself runs in the event loop of a thread of its own; each call waits
for the coroutine of the same name there. Children and terminals live in the loop
of the session that they belong to.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from anyio.from_thread import BlockingPortal, start_blocking_portal

from dapkit import limits
from dapkit.client.blocking_requests import BlockingRequests
from dapkit.client.breakpoints import Breakpoints, SessionBreakpoint
from dapkit.client.events import EventStream, SessionEvent
from dapkit.client.output import OutputText, TextLog
from dapkit.client.portal import Facade, blocking
from dapkit.client.session import Session
from dapkit.client.state import KnownThread, State
from dapkit.client.terminal import Terminal
from dapkit.endpoint import Violation
from dapkit.protocol import Arguments, Capabilities, DapkitError, ProcessEvent, StoppedEvent


class BlockingSession(BlockingRequests[Session]):
    """A `Session` as a context manager without `async`.

    Example:
        with BlockingSession(Session.spawn(["python", "-m", "debugpy.adapter"])) as session:
            session.add_breakpoint("program.py", 3)
            session.launch({"program": "program.py"})
            stop = session.next_stop()

    """

    def __init__(self, session: Session, *, portal: BlockingPortal | None = None) -> None:
        super().__init__(session, portal=portal)
        self._exit = ExitStack()

    def __enter__(self) -> Self:
        """Reach the adapter and initialize it."""
        with ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal(name="dapkit session"))
            try:
                stack.enter_context(self._portal.wrap_async_context_manager(self._inner))
            except DapkitError as error:
                raise error.with_traceback(
                    None
                ) from error.__cause__  # the way through the loop says nothing to the caller
            self._exit = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Disconnect and end everything that the session started."""
        return self._exit.__exit__(kind, error, trace)

    # Asking

    def request[B](self, arguments: Arguments[B], *, deadline: float = limits.REQUEST_SECONDS) -> B:
        """Ask the adapter and wait for its answer (see `Session.request`)."""

        async def ask() -> B:
            return await self._inner.request(arguments, deadline=deadline)

        return self._wait(ask)

    request_custom = blocking(Session.request_custom)
    launch = blocking(Session.launch)
    attach = blocking(Session.attach)
    start = blocking(Session.start)
    detach = blocking(Session.detach)

    # Breakpoints

    add_breakpoint = blocking(Session.add_breakpoint)
    add_function_breakpoint = blocking(Session.add_function_breakpoint)
    add_data_breakpoint = blocking(Session.add_data_breakpoint)
    add_instruction_breakpoint = blocking(Session.add_instruction_breakpoint)
    add_breakpoint_spec = blocking(Session.add_breakpoint_spec)
    remove_breakpoint = blocking(Session.remove_breakpoint)
    clear_breakpoints = blocking(Session.clear_breakpoints)
    break_on_exceptions = blocking(Session.break_on_exceptions)

    def breakpoint(self, number: int) -> SessionBreakpoint | None:
        """Look up the present state of a breakpoint; None if no breakpoint has this number."""
        return self._look(lambda: self._inner.breakpoint(number))

    def breakpoints_for_another(self) -> Breakpoints:
        """Copy the breakpoints, for a session that debugs the program once more."""
        return self._look(self._inner.breakpoints_for_another)

    @property
    def exception_breakpoint_ids(self) -> frozenset[int]:
        """The adapter's numbers for the exceptions that stop, as `hit_breakpoint_ids` of a stop may name them."""
        return self._look(lambda: self._inner.exception_breakpoint_ids)

    # Waiting

    next_stop = blocking(Session.next_stop)
    resume = blocking(Session.resume)
    settled = blocking(Session.settled)
    wait_for_adapter_exit = blocking(Session.wait_for_adapter_exit)
    wait_until_ended = blocking(Session.wait_until_ended)

    def wait_for[E: SessionEvent](
        self,
        kind: type[E],
        *,
        where: Callable[[E], bool] = lambda _: True,
        since: int | None = None,
        deadline: float = limits.REQUEST_SECONDS,
    ) -> E:
        """Return the first event of a kind since the program was last set going (see `Session.wait_for`)."""

        async def wait() -> E:
            return await self._inner.wait_for(kind, where=where, since=since, deadline=deadline)

        return self._wait(wait)

    def events(self, *, since: int | None = None) -> "BlockingEvents":
        """Listen to events: an iterator of its own, from now or from an earlier position on."""
        return BlockingEvents(self._look(lambda: self._inner.events(since=since)), portal=self._portal)

    def wait_for_children(
        self, count: int = 1, *, deadline: float = limits.REQUEST_SECONDS
    ) -> Sequence["BlockingSession"]:
        """Wait until there were at least so many children (see `Session.wait_for_children`)."""
        self._wait(lambda: self._inner.wait_for_children(count, deadline=deadline))
        return self.children

    def wait_for_terminal(self, *, deadline: float = limits.REQUEST_SECONDS) -> "BlockingTerminal":
        """Wait until the adapter has asked for a terminal (see `Session.wait_for_terminal`)."""
        terminal = self._wait(lambda: self._inner.wait_for_terminal(deadline=deadline))
        return BlockingTerminal(terminal, portal=self._portal)

    # State

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities that the adapter announced."""
        return self._look(lambda: self._inner.capabilities)

    @property
    def state(self) -> State:
        """The state of the program."""
        return self._look(lambda: self._inner.state)

    @property
    def known_threads(self) -> Mapping[int, KnownThread]:
        """Threads by id, as far as events and `threads` responses reported them."""
        return self._look(lambda: self._inner.known_threads)

    @property
    def stops_beside(self) -> Mapping[int, StoppedEvent]:
        """Stops of single threads, by their ids, which came while another thread stood already and still hold."""
        return self._look(lambda: self._inner.stops_beside)

    @property
    def debugged_process(self) -> ProcessEvent | None:
        """The process that is debugged, as far as the adapter reports it."""
        return self._look(lambda: self._inner.debugged_process)

    @property
    def initialized(self) -> bool:
        """Whether the adapter has said that it takes breakpoints now."""
        return self._look(lambda: self._inner.initialized)

    @property
    def configured(self) -> bool:
        """Whether the breakpoints are being sent, or were."""
        return self._look(lambda: self._inner.configured)

    @property
    def breakpoints(self) -> tuple[SessionBreakpoint, ...]:
        """All breakpoints in the present state, in the order in which they were added."""
        return self._look(lambda: self._inner.breakpoints)

    @property
    def adapter_pid(self) -> int | None:
        """Process of the adapter; None if dapkit did not start it."""
        return self._look(lambda: self._inner.adapter_pid)

    @property
    def adapter_exit_code(self) -> int | None:
        """Exit code of its process; None while it runs, or if dapkit did not start it."""
        return self._look(lambda: self._inner.adapter_exit_code)

    @property
    def adapter_stderr(self) -> str:
        """The end of the adapter's stderr (see `Session.adapter_stderr`)."""
        return self._look(lambda: self._inner.adapter_stderr)

    @property
    def violations(self) -> Sequence[Violation]:
        """Violations of the protocol by the adapter that were tolerated."""
        return self._look(lambda: self._inner.violations)

    @property
    def position(self) -> int:
        """Number of events that came so far."""
        return self._look(lambda: self._inner.position)

    @property
    def output(self) -> "BlockingOutput":
        """The output of the program and of the adapter, by category."""
        return BlockingOutput(self._inner.output, portal=self._portal)

    @property
    def children(self) -> Sequence["BlockingSession"]:
        """Sessions of child processes; their parent opens and closes them."""
        return [BlockingSession(child, portal=self._portal) for child in self._look(lambda: self._inner.children)]

    @property
    def terminals(self) -> Sequence["BlockingTerminal"]:
        """Terminals that the adapter asked for, oldest first."""
        return [BlockingTerminal(inner, portal=self._portal) for inner in self._look(lambda: self._inner.terminals)]


class BlockingEvents(Facade[EventStream]):
    """One listener: an iterator over typed events that ends with the conversation."""

    def __iter__(self) -> Iterator[SessionEvent]:
        return self

    def __next__(self) -> SessionEvent:
        async def read() -> SessionEvent | None:
            async for event in self._inner:
                return event
            return None

        event = self._wait(read)
        if event is None:
            raise StopIteration
        return event

    def next[E: SessionEvent](
        self,
        kind: type[E],
        *,
        where: Callable[[E], bool] = lambda _: True,
        deadline: float = limits.REQUEST_SECONDS,
    ) -> E:
        """Wait for the next event of a kind (see `EventStream.next`)."""

        async def wait() -> E:
            return await self._inner.next(kind, where=where, deadline=deadline)

        return self._wait(wait)


class BlockingTerminal(Facade[Terminal]):
    """A `Terminal` without `async`."""

    send_input = blocking(Terminal.send_input)
    wait_for_output = blocking(Terminal.wait_for_output)
    wait = blocking(Terminal.wait)

    def read(self, *, since: int = 0) -> OutputText:
        """Read the program's output since a position, as far as it is kept."""
        return self._look(lambda: self._inner.read(since=since))

    @property
    def returncode(self) -> int | None:
        """Exit code, or minus the signal that killed it; None while it runs."""
        return self._look(lambda: self._inner.returncode)


class BlockingOutput(Facade[TextLog]):
    """A `TextLog` that is read from another thread."""

    @property
    def categories(self) -> tuple[str, ...]:
        """Every category that anything came in, in order of appearance."""
        return self._look(lambda: self._inner.categories)

    def read(self, *categories: str, since: int = 0) -> OutputText:
        """Read the output in these categories (all if none is named) since a position."""
        return self._look(lambda: self._inner.read(*categories, since=since))
