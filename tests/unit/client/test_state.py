"""What the program is doing, from events and requests alone."""

from dapkit.client.state import CustomRequest, Ended, KnownThread, Running, Starting, Stopped, TrackedProgram
from dapkit.protocol import (
    ContinueArguments,
    ContinueBody,
    ContinuedEvent,
    ExitedEvent,
    NextArguments,
    PauseArguments,
    Request,
    StoppedEvent,
    TerminatedEvent,
    Thread,
    ThreadEvent,
    ThreadsBody,
)


def stopped(thread: int = 1, *, everything: bool = True) -> StoppedEvent:
    return StoppedEvent(reason="breakpoint", thread_id=thread, all_threads_stopped=everything)


def standing() -> TrackedProgram:
    program = TrackedProgram()
    program.note_start()
    program.note_event(stopped(), position=1)
    return program


def test_program_starts_runs_stops_and_ends() -> None:
    program = TrackedProgram()
    states = [program.state]
    program.note_start()
    states.append(program.state)
    for position, event in enumerate([stopped(), ExitedEvent(exit_code=3), TerminatedEvent()], 1):
        program.note_event(event, position=position)
        states.append(program.state)
    stop = Stopped(stopped(), epoch=1)
    assert states == [Starting(), Running(), stop, stop, Ended(3)]


def test_stop_before_the_end_of_the_handshake_is_not_forgotten_by_it() -> None:
    program = TrackedProgram()
    program.note_event(stopped(), position=1)
    program.note_start()
    assert program.state == Stopped(stopped(), epoch=1)


def test_exit_code_that_comes_last_is_added() -> None:
    program = standing()
    program.note_event(TerminatedEvent(), position=2)
    program.note_event(ExitedEvent(exit_code=4), position=3)
    assert program.state == Ended(4)


def test_program_runs_from_the_moment_when_it_is_asked_to() -> None:
    program = standing()
    program.note_request(ContinueArguments(thread_id=1), position=5)
    assert program.state == Running()
    assert program.resumed_at == 5


def test_stop_before_the_response_counts() -> None:
    program = standing()
    asked = ContinueArguments(thread_id=1)
    program.note_request(asked, position=1)
    program.note_event(stopped(), position=2)
    program.note_response(Request(3, "continue", asked), ContinueBody())
    assert program.state == Stopped(stopped(), epoch=2)


def test_refused_resumption_is_taken_back() -> None:
    program = standing()
    before = program.state, dict(program.threads), program.resumed_at
    asked = NextArguments(thread_id=1)
    program.note_request(asked, position=9)
    program.note_refusal(asked)
    assert (program.state, program.threads, program.resumed_at) == before


def test_refusal_of_an_older_request_takes_nothing_back() -> None:
    program = standing()
    program.note_request(NextArguments(thread_id=1), position=1)
    program.note_refusal(PauseArguments(thread_id=1))
    assert program.state == Running()


def test_two_threads_that_stop_together_are_one_stop() -> None:
    program = standing()
    program.note_event(stopped(thread=2), position=2)
    assert program.state == Stopped(stopped(), epoch=1)
    assert program.threads[2].stopped


def test_continued_event_counts_as_a_resumption() -> None:
    program = standing()
    program.note_event(ContinuedEvent(thread_id=1), position=7)
    assert (program.state, program.resumed_at) == (Running(), 7)


def test_other_thread_that_goes_on_alone_leaves_the_stop() -> None:
    program = standing()
    program.note_event(ContinuedEvent(thread_id=2, all_threads_continued=False), position=7)
    assert program.state == Stopped(stopped(), epoch=1)


def test_thread_that_goes_on_alone_leaves_the_others_standing() -> None:
    program = standing()
    program.note_event(stopped(thread=2), position=2)
    program.note_request(ContinueArguments(thread_id=1, single_thread=True), position=3)
    assert [thread.stopped for thread in program.threads.values()] == [False, True]
    assert program.state == Running()


def test_thread_that_a_custom_request_resumes_alone_leaves_the_others_standing() -> None:
    program = standing()
    program.note_event(stopped(thread=2), position=2)
    program.note_request(CustomRequest.read("continue", {"threadId": 1, "singleThread": True}), position=3)
    assert [thread.stopped for thread in program.threads.values()] == [False, True]
    program.note_request(CustomRequest.read("evaluate", {"expression": "1"}), position=4)
    assert [thread.stopped for thread in program.threads.values()] == [False, True]


def test_response_that_says_so_leaves_the_others_standing() -> None:
    program = standing()
    program.note_event(stopped(thread=2), position=2)
    asked = ContinueArguments(thread_id=1)
    program.note_request(asked, position=3)
    program.note_response(Request(4, "continue", asked), ContinueBody(all_threads_continued=False))
    assert [thread.stopped for thread in program.threads.values()] == [False, True]


def test_threads_are_known_by_events_and_named_by_the_request() -> None:
    program = standing()
    program.note_event(ThreadEvent(reason="started", thread_id=2), position=2)
    program.note_event(ThreadEvent(reason="started", thread_id=3), position=3)
    program.note_event(ThreadEvent(reason="exited", thread_id=3), position=4)
    assert program.threads == {1: KnownThread(1, stopped=True), 2: KnownThread(2)}
    program.note_response(
        Request(1, "threads"), ThreadsBody(threads=[Thread(id=1, name="main"), Thread(id=4, name="new")])
    )
    assert program.threads == {1: KnownThread(1, "main", stopped=True), 4: KnownThread(4, "new", stopped=True)}


def test_thread_zero_is_a_thread() -> None:
    program = standing()
    program.note_request(ContinueArguments(thread_id=1), position=1)
    program.note_event(stopped(thread=0), position=2)
    assert program.threads[0].stopped


def test_adapter_that_is_lost_after_the_end_changes_nothing() -> None:
    program = standing()
    program.note_event(TerminatedEvent(), position=2)
    program.end(adapter_lost=True)
    assert program.state == Ended(None)


def test_thread_that_stopped_is_known_though_the_response_leaves_it_out() -> None:
    program = standing()
    program.note_response(Request(1, "threads"), ThreadsBody(threads=[Thread(id=2, name="other")]))
    assert program.threads == {1: KnownThread(1, stopped=True), 2: KnownThread(2, "other", stopped=True)}


# Threads that stop by themselves


def standing_beside_each_other() -> TrackedProgram:
    """Return a program whose first thread stands, and whose second came to a stop of its own then."""
    program = TrackedProgram()
    program.note_start()
    program.note_event(stopped(1, everything=False), position=1)
    program.note_event(stopped(2, everything=False), position=2)
    return program


def continued(program: TrackedProgram, thread: int) -> None:
    arguments = ContinueArguments(thread_id=thread, single_thread=True)
    program.note_request(arguments, position=3)
    program.note_response(Request(1, "continue", arguments), ContinueBody(all_threads_continued=False))


def test_stop_of_another_thread_comes_next_when_the_first_was_let_go() -> None:
    program = standing_beside_each_other()
    assert (program.state, list(program.beside)) == (Stopped(stopped(1, everything=False), epoch=1), [2])
    continued(program, 1)
    assert (program.state, program.beside) == (Stopped(stopped(2, everything=False), epoch=2), {})


def test_stop_of_another_thread_waits_for_the_end_of_a_step() -> None:
    program = standing_beside_each_other()
    arguments = NextArguments(thread_id=1, single_thread=True)
    program.note_request(arguments, position=3)
    program.note_response(Request(1, "next", arguments), None)
    states = [program.state]
    program.note_event(stopped(1, everything=False), position=4)
    states.append(program.state)
    assert states == [Running(), Stopped(stopped(1, everything=False), epoch=2)]
    assert list(program.beside) == [2]


def test_stop_of_another_thread_comes_next_when_the_first_ends() -> None:
    program = standing_beside_each_other()
    program.note_request(NextArguments(thread_id=1, single_thread=True), position=3)
    program.note_event(ThreadEvent(reason="exited", thread_id=1), position=4)
    assert program.state == Stopped(stopped(2, everything=False), epoch=2)


def test_stop_of_another_thread_is_over_when_all_go_on() -> None:
    program = standing_beside_each_other()
    program.note_request(ContinueArguments(thread_id=1), position=3)
    assert (program.state, program.beside) == (Running(), {})


def test_other_thread_that_is_let_go_alone_leaves_the_first_standing() -> None:
    program = standing_beside_each_other()
    continued(program, 2)
    assert (program.state, program.beside) == (Stopped(stopped(1, everything=False), epoch=1), {})


def test_adapter_that_let_only_one_thread_go_without_being_told_to_leaves_the_others() -> None:
    program = standing_beside_each_other()
    arguments = ContinueArguments(thread_id=1)
    program.note_request(arguments, position=3)
    program.note_response(Request(1, "continue", arguments), ContinueBody(all_threads_continued=False))
    assert program.state == Stopped(stopped(2, everything=False), epoch=2)


def test_refused_resumption_brings_the_other_stops_back() -> None:
    program = standing_beside_each_other()
    arguments = ContinueArguments(thread_id=1)
    program.note_request(arguments, position=3)
    program.note_refusal(arguments)
    assert (program.state, list(program.beside)) == (Stopped(stopped(1, everything=False), epoch=1), [2])
