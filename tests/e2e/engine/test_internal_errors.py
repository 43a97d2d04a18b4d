"""Errors of the engine itself: broken marks, illegal moves, and how the adapter and the client hear of them."""

import textwrap

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Refused

PROGRAM = """
    def f(x):
        return x + 1
    f(1)
    f(2)
"""
ENGINE = "__import__('_codecs').lookup_error('dapkit.engine')('connection.current_engine').engine"


def stopped(start: Start) -> EngineClient:
    peer = start(PROGRAM)
    peer.configure(lines=[2])
    peer.stopped("breakpoint")
    return peer


def reported(peer: EngineClient) -> str:
    """Return the error that the engine reports, which is meant to be there."""
    text: str = peer.event("dapkit/log")["text"]
    assert peer.errors.pop() == text
    return text


def test_function_of_the_link_thread_cannot_be_called_in_another(start: Start) -> None:
    peer = stopped(start)
    with pytest.raises(Refused, match=r"MarkBroken: Link.after is called outside the link's thread"):
        peer.value(f"{ENGINE}.link.after(0, print)")


def test_function_that_needs_the_lock_cannot_be_called_without_it(start: Start) -> None:
    peer = stopped(start)
    with pytest.raises(Refused, match=r"MarkBroken: ThreadStates.move is called without the engine's lock"):
        peer.value(f"{ENGINE}.states.move(1, 'park')")


def test_function_that_waits_cannot_be_called_in_the_link_thread(start: Start) -> None:
    peer = stopped(start)
    peer.value(f"{ENGINE}.link.soon({ENGINE}.stops.wait_for_room)")
    assert "MarkBroken: Stops.wait_for_room is called in the link's thread" in reported(peer)


def test_illegal_move_is_an_error(start: Start) -> None:
    peer = stopped(start)
    peer.value(f"{ENGINE}.link.soon(lambda e={ENGINE}: e.lock.__enter__() and e.states.move(1, 'evaluate'))")
    assert "IllegalMove: thread 1 is arresting: evaluate is not a legal move" in reported(peer)


def test_error_in_the_link_thread_is_reported_with_its_traceback_and_shown_once(start: Start) -> None:
    peer = stopped(start)
    for _ in range(2):
        peer.value(f"{ENGINE}.link.soon(lambda: 1 / 0)")
        lines = reported(peer).splitlines()
        assert lines[0] == "an action of the link's thread: ZeroDivisionError: division by zero"
        assert lines[1] == "Traceback (most recent call last):"
        assert lines[2].endswith("in Link._run")
        assert lines[-1] == '  File "<dapkit: evaluate>", line 1, in <lambda>'
    peer.go()
    peer.stopped("breakpoint")
    peer.go()
    assert peer.finish()[0] == 0
    shown = [event["body"] for event in peer.events() if event["event"] == "output"]
    assert [body["output"] for body in shown if body["category"] == "stderr"] == [
        "Internal error of the debugger: ZeroDivisionError: division by zero at line 1 of <dapkit: evaluate>\n"
    ]


def test_error_in_a_request_is_its_answer_and_its_traceback_is_reported(start: Start) -> None:
    peer = stopped(start)
    table = "__import__('_codecs').lookup_error('dapkit.engine')('requests.dispatch').HANDLERS"
    peer.value(f"{table}.update(modules=lambda engine, request: engine.missing)")
    seq = peer.send("modules")
    answer = peer.answer(seq)
    assert (
        answer["message"]
        == "internal error of the debugger: AttributeError: 'Engine' object has no attribute 'missing'"
    )
    text = reported(peer)
    assert text.startswith(
        f"request {seq} modules: AttributeError: 'Engine' object has no attribute 'missing'\nTraceback"
    )
    assert "in Dispatcher.answer" in text
    assert not [event for event in peer.events() if event["event"] == "output"]


@pytest.mark.parametrize("only", [None, 1])
def test_error_while_threads_go_on_keeps_none_of_them(start: Start, only: int | None) -> None:
    peer = stopped(start)
    failing = f"""
        callbacks = {ENGINE}.callbacks
        def fail(callbacks=callbacks, usual=callbacks.threads_resumed):
            callbacks.threads_resumed = usual
            raise OSError("once")
        callbacks.threads_resumed = fail
    """
    peer.ask("evaluate", expression=textwrap.dedent(failing), context="repl", frameId=peer.stack()[0]["id"])
    peer.ask("continue", threadId=1, singleThread=only is not None)
    assert "OSError: once" in reported(peer)
    peer.stopped("breakpoint")
    assert peer.value("x") == "2"
    peer.go()
    assert peer.finish()[0] == 0


FAILING_LINK = """
    link = {engine}.link
    usual, left = link._milliseconds, [{times}]
    def fail(left=left, usual=usual):
        if left[0]:
            left[0] -= 1
            raise ValueError("the clock is broken")
        return usual()
    link._milliseconds = fail
"""


def break_link(peer: EngineClient, times: int) -> None:
    failing = textwrap.dedent(FAILING_LINK.format(engine=ENGINE, times=times))
    peer.ask("evaluate", expression=failing, context="repl", frameId=peer.stack()[0]["id"])


def test_error_in_the_loop_of_the_link_is_reported_and_the_program_is_debugged_on(start: Start) -> None:
    peer = stopped(start)
    break_link(peer, 1)
    text = reported(peer)
    assert text.startswith("the link's thread: ValueError: the clock is broken\nTraceback")
    assert peer.value("x") == "1"
    peer.go()
    peer.stopped("breakpoint")
    peer.go()
    assert peer.finish()[0] == 0
    [shown] = [event["body"]["output"] for event in peer.events() if event["event"] == "output"]
    assert "Internal error of the debugger: ValueError: the clock is broken" in shown


def test_errors_that_keep_the_link_from_being_served_release_the_program_with_a_word(start: Start) -> None:
    peer = stopped(start)
    break_link(peer, 9)
    for _ in range(2):
        reported(peer)
    assert peer.finish()[0] == 0
    shown = [event["body"]["output"] for event in peer.events() if event["event"] == "output"]
    assert shown[-1] == "The debugger cannot go on because of internal errors; the program runs on without it.\n"


def test_error_that_nobody_expects_fails_the_test(start: Start) -> None:
    peer = stopped(start)
    peer.value(f"{ENGINE}.link.soon(lambda: 1 / 0)")
    peer.event("dapkit/log")
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        peer.__exit__(None, None, None)
    peer.errors.clear()


CUT_SHORT = """
    import _codecs, threading
    engine = _codecs.lookup_error("dapkit.engine")("connection.current_engine").engine
    def ended(ident, usual=engine.threads.ended):
        engine.threads.ended = usual
        engine.lock.acquire()
        engine.link._sending.acquire()
        raise SystemExit  # as `terminateThreads` does it, between a lock and its block: possible from 3.14 on
    engine.threads.ended = ended
    thread = threading.Thread(target=print)
    thread.start()
    thread.join()
    x = 1
"""


def test_exception_that_comes_into_a_callback_leaves_no_lock_with_its_thread(start: Start) -> None:
    peer = start(CUT_SHORT)
    peer.configure(lines=[12])
    peer.stopped("breakpoint")
    peer.go()
    assert peer.finish()[0] == 0


ENDS = """
    import _codecs, os, time
    engine = _codecs.lookup_error("dapkit.engine")("connection.current_engine").engine
    with engine.lock:
        engine.stops.release()  # which is how a program ends; then the link is closed
    open("released", "w").close()
    while not os.path.exists("go"):
        time.sleep(0.01)
"""


def test_pause_that_comes_when_the_program_is_about_to_end_does_nothing(start: Start) -> None:
    peer = start(ENDS)
    peer.configure()
    while not (peer.folder / "released").exists():
        assert peer.process.poll() is None
    peer.ask("pause", threadId=1)
    peer.ask("threads")
    (peer.folder / "go").touch()
    assert peer.finish()[0] == 0
