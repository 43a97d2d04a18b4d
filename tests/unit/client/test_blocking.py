"""The blocking session: the same names, parameters and results."""

import inspect
import itertools
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator

import anyio
import pytest
from anyio.from_thread import start_blocking_portal

from client_fixtures import able
from dapkit.client import AdapterDied, BlockingSession, BlockingTerminal, Ended, ProgramEnded, Session, Terminal
from dapkit.client.portal import Facade, blocking
from dapkit.endpoint import RequestFailed
from dapkit.protocol import (
    ContinueBody,
    EvaluateBody,
    ExitedEvent,
    OutputEvent,
    StoppedEvent,
    TerminatedEvent,
    ThreadsArguments,
)
from dapkit.testing import FakeAdapter, reply, tell
from dapkit.transport import CannotStart, memory_pair

OPENING = {"spawn", "spawn_listening", "connect", "connect_unix", "over"}


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


NOT_FOR_OUTSIDE = {"close", "read_all", "release", "resize"}


@pytest.mark.parametrize(("blocking", "asynchronous"), [(BlockingSession, Session), (BlockingTerminal, Terminal)])
def test_blocking_class_has_the_same_names(blocking: type, asynchronous: type) -> None:
    assert public(asynchronous) - public(blocking) <= OPENING | NOT_FOR_OUTSIDE
    assert public(blocking) - public(asynchronous) <= {"output"}  # an attribute of each session


@pytest.mark.parametrize("name", sorted(public(Session) & public(BlockingSession)))
def test_blocking_method_has_the_parameters_of_the_coroutine(name: str) -> None:
    ours, theirs = getattr(BlockingSession, name), getattr(Session, name)
    if callable(theirs):
        assert list(inspect.signature(ours).parameters) == list(inspect.signature(theirs).parameters)
    else:
        assert isinstance(ours, property)


@pytest.fixture
def session() -> Iterator[BlockingSession]:
    """Drive a fake adapter from outside of its loop."""
    ends = tell(ExitedEvent(exit_code=3), TerminatedEvent())
    script = able(
        {
            "evaluate": [reply(EvaluateBody(result="42", variables_reference=0))],
            "continue": [tell(OutputEvent(output="done\n", category="stdout")), reply(ContinueBody()), ends],
            "disconnect": [reply()],
        }
    )
    with start_blocking_portal() as portal:
        ours, theirs = memory_pair()
        with (
            portal.wrap_async_context_manager(FakeAdapter(theirs, script)),
            portal.wrap_async_context_manager(inner := Session.over(ours)),
        ):
            yield BlockingSession(inner, portal=portal)


def test_whole_session_without_async(session: BlockingSession) -> None:
    events = session.events(since=0)
    placed = session.add_breakpoint("/p/main.c", 3)
    session.launch({"program": "/p/main"})
    stop = session.next_stop()
    assert (stop.reason, session.state) == ("entry", stop)
    assert session.breakpoints[0].number == placed.number
    assert session.evaluate("6 * 7").result == "42"
    assert session.request(ThreadsArguments()).threads[0].name == "main"
    assert session.resume() == Ended(3)
    assert session.output.read("stdout").text == "done\n"
    assert events.next(StoppedEvent).reason == "entry"
    assert [type(event) for event in itertools.islice(events, 3)] == [OutputEvent, ExitedEvent, TerminatedEvent]
    assert session.capabilities.supports_configuration_done_request


def test_error_comes_out_as_it_is(session: BlockingSession) -> None:
    session.launch({})
    session.next_stop()
    session.continue_(1)
    with pytest.raises(ProgramEnded):
        session.next_stop()


def interrupt() -> None:
    """Interrupt the main thread, as Ctrl+C does, once it waits for the end of a coroutine."""
    names: set[str] = set()
    while not names & {"result", "_wait_for"}:
        stack = traceback.extract_stack(sys._current_frames()[threading.main_thread().ident or 0])
        names = {frame.name for frame in stack}
    if sys.platform == "win32":
        signal.raise_signal(signal.SIGINT)
    else:
        os.kill(os.getpid(), signal.SIGINT)


class Sleeper:
    """Sleeps, and records how that ended."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.is_cancelled = False

    async def interrupt_and_sleep(self) -> None:
        threading.Thread(target=interrupt).start()
        await self.sleep()

    async def sleep(self) -> None:
        try:
            await anyio.sleep(30)
        except anyio.get_cancelled_exc_class():
            self.is_cancelled = True
            raise
        finally:
            self.ended.set()


def test_interrupt_ends_a_wait() -> None:
    sleeper = Sleeper()
    with start_blocking_portal() as portal:
        facade = Facade(sleeper, portal=portal)
        with pytest.raises(KeyboardInterrupt):
            blocking(Sleeper.interrupt_and_sleep)(facade)
        assert sleeper.ended.wait(50)
    assert sleeper.is_cancelled


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl+C interrupts no wait for a lock there")
def test_interrupt_before_the_loop_has_answered_ends_the_coroutine_as_well() -> None:
    sleeper = Sleeper()
    is_interrupted = threading.Event()

    def handle(*_: object) -> None:
        is_interrupted.set()
        raise KeyboardInterrupt

    earlier = signal.signal(signal.SIGINT, handle)
    try:
        with start_blocking_portal() as portal:
            portal.start_task_soon(is_interrupted.wait, 50)  # the loop does not answer until the interrupt
            threading.Thread(target=interrupt).start()
            with pytest.raises(KeyboardInterrupt):
                blocking(Sleeper.sleep)(Facade(sleeper, portal=portal))
            assert sleeper.ended.wait(50)
    finally:
        signal.signal(signal.SIGINT, earlier)
    assert sleeper.is_cancelled


def test_session_that_is_not_open_says_so() -> None:
    with pytest.raises(RuntimeError, match="use it in a `with` block"):
        BlockingSession(Session.spawn(["adapter"])).threads()


def test_adapter_that_cannot_be_started_is_an_error_of_the_with_statement() -> None:
    with pytest.raises(CannotStart), BlockingSession(Session.spawn(["/no/such/adapter"])):
        pytest.fail("there is no such adapter")


def test_a_command_that_echoes_is_no_adapter() -> None:
    with (
        pytest.raises(RequestFailed, match="echoes all that it gets; it cannot be a debug adapter"),
        BlockingSession(Session.spawn(["cat"])),
    ):
        pass


def test_an_adapter_that_ends_at_once_is_reported_without_the_way_through_the_loop() -> None:
    command = [sys.executable, "-c", "raise SystemExit('its definition is wrong')"]
    with pytest.raises(AdapterDied, match="its definition is wrong") as caught, BlockingSession(Session.spawn(command)):
        pass
    assert len(caught.traceback) == 2
    assert caught.value.__cause__ is None
