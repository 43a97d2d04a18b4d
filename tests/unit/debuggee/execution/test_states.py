"""The life of threads and of the program: pure tables, no thread is started here."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dapkit.python.debuggee.execution import states
from dapkit.python.debuggee.execution.states import (
    ALL_STOPPED,
    ARRESTING,
    CONFIGURING,
    ENDING,
    EVALUATING,
    EXEMPT,
    FINISHING,
    FORKED,
    GOING,
    PROGRAM_MOVES,
    PROGRAM_PHASES,
    RELEASED,
    RUNNING,
    STEPPING,
    STOPPED,
    STOPPED_EARLY,
    SUSPENDED,
    THREAD_MOVES,
    THREAD_STATES,
    ProgramMove,
    ProgramPhase,
    ThreadMove,
    ThreadState,
    ThreadStates,
)
from dapkit.python.debuggee.interpreter.errors import IllegalMove

ONE, OTHER = 11, 12
THREAD_MOVE_NAMES: tuple[ThreadMove, ...] = ThreadMove.__value__.__args__
PROGRAM_MOVE_NAMES: tuple[ProgramMove, ...] = ProgramMove.__value__.__args__

WAYS: dict[ThreadState, tuple[ThreadMove, ...]] = {
    RUNNING: (),
    STEPPING: ("step",),
    ARRESTING: ("arrest",),
    STOPPED: ("park",),
    EVALUATING: ("park", "evaluate"),
    FINISHING: ("park", "evaluate", "resume"),
    EXEMPT: ("exempt",),
}
"""How a thread comes into each state."""

PROGRAM_WAYS: dict[ProgramPhase, tuple[ProgramMove, ...]] = {
    CONFIGURING: (),
    STOPPED_EARLY: ("stop",),
    GOING: ("configured",),
    ALL_STOPPED: ("configured", "stop"),
    ENDING: ("configured", "end"),
    SUSPENDED: ("configured", "suspend"),
    RELEASED: ("release",),
    FORKED: ("fork",),
}
"""How the program comes into each phase."""


@pytest.fixture(autouse=True)
def _illegal_moves_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "CHECKED", True)


def thread_in(state: ThreadState) -> ThreadStates:
    made = ThreadStates(pytest.fail)
    for move in WAYS[state]:
        made.move(ONE, move)
    assert made.of(ONE) == state
    return made


def program_in(phase: ProgramPhase) -> ThreadStates:
    made = ThreadStates(pytest.fail)
    for move in PROGRAM_WAYS[phase]:
        made.move_program(move)
    assert made.phase == phase
    return made


def test_ways_lead_to_every_state_and_every_phase() -> None:
    assert set(WAYS) == set(THREAD_STATES) == set(ThreadState.__value__.__args__)
    assert set(PROGRAM_WAYS) == set(PROGRAM_PHASES) == set(ProgramPhase.__value__.__args__)


@pytest.mark.parametrize("state", THREAD_STATES)
@pytest.mark.parametrize("move", THREAD_MOVE_NAMES)
def test_thread_moves_along_the_table_and_in_no_other_way(state: ThreadState, move: ThreadMove) -> None:
    made = thread_in(state)
    if (state, move) in THREAD_MOVES:
        assert made.move(ONE, move) is True
        assert made.of(ONE) == THREAD_MOVES[state, move]
    else:
        with pytest.raises(IllegalMove, match=f"thread {ONE} is {state}: {move}"):
            made.move(ONE, move)
        assert made.of(ONE) == state


@pytest.mark.parametrize("phase", PROGRAM_PHASES)
@pytest.mark.parametrize("move", PROGRAM_MOVE_NAMES)
def test_program_moves_along_the_table_and_in_no_other_way(phase: ProgramPhase, move: ProgramMove) -> None:
    made = program_in(phase)
    if (phase, move) in PROGRAM_MOVES:
        assert made.move_program(move) is True
        assert made.phase == PROGRAM_MOVES[phase, move]
    else:
        with pytest.raises(IllegalMove, match=f"the program is {phase}: {move}"):
            made.move_program(move)
        assert made.phase == phase


def test_every_state_can_be_left_but_that_of_the_debugger_and_every_phase_but_the_last() -> None:
    assert {state for state, _ in THREAD_MOVES} == set(THREAD_STATES) - {EXEMPT}
    assert {phase for phase, move in PROGRAM_MOVES if move not in ("release", "fork")} == set(PROGRAM_PHASES) - {
        RELEASED,
        FORKED,
    }


def test_illegal_move_in_the_field_is_reported_and_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "CHECKED", False)
    reported: list[str] = []
    made = ThreadStates(reported.append)
    assert made.move(ONE, "resume") is False
    assert made.move_program("resume") is False
    assert (made.of(ONE), made.phase) == (RUNNING, CONFIGURING)
    assert [text.partition(":")[0] for text in reported] == [f"thread {ONE} is running", "the program is configuring"]


# Questions


@pytest.mark.parametrize("state", THREAD_STATES)
def test_questions_about_a_thread_in_each_state(state: ThreadState) -> None:
    made = thread_in(state)
    assert made.must_park(ONE) is (state == ARRESTING)
    assert made.stands(ONE) is (state in (ARRESTING, STOPPED, EVALUATING))
    assert made.evaluates(ONE) is (state in (EVALUATING, FINISHING))
    assert made.standing() == [ONE] * made.stands(ONE)
    assert made.arresting is (state == ARRESTING)
    assert not made.stands(OTHER)


@pytest.mark.parametrize("phase", PROGRAM_PHASES)
def test_questions_about_the_program_in_each_phase(phase: ProgramPhase) -> None:
    made = program_in(phase)
    stopped = phase in (STOPPED_EARLY, ALL_STOPPED, SUSPENDED)
    assert made.stopped is stopped
    assert made.arresting is stopped
    assert made.must_park(ONE) is stopped
    assert made.stands(ONE) is stopped
    assert made.configured is (phase not in (CONFIGURING, STOPPED_EARLY))
    assert made.released is (phase in (RELEASED, FORKED))


# What the program brings upon its threads


@pytest.mark.parametrize("state", THREAD_STATES)
def test_stop_of_the_program_arrests_what_runs(state: ThreadState) -> None:
    made = thread_in(state)
    made.move_program("configured")
    made.move_program("stop")
    assert made.of(ONE) == THREAD_MOVES.get((state, "arrest"), state)
    assert made.of(OTHER) == ARRESTING


@pytest.mark.parametrize("state", [RUNNING, STEPPING, ARRESTING, STOPPED, EVALUATING, FINISHING, EXEMPT])
@pytest.mark.parametrize("move", ["resume", "end", "release", "fork"])
def test_program_that_goes_on_takes_all_threads_along(state: ThreadState, move: ProgramMove) -> None:
    made = thread_in(state)
    made.move_program("configured")
    made.move_program("stop")
    before = made.of(ONE)
    made.move_program(move)
    assert made.of(ONE) == THREAD_MOVES.get((before, "resume"), before)
    assert made.of(OTHER) == RUNNING
    assert not made.arresting


def test_thread_that_was_let_go_alone_runs_on_while_the_program_is_stopped_again() -> None:
    made = program_in(ALL_STOPPED)
    for ident in (ONE, OTHER):
        made.move(ident, "park")
        made.move(ident, "resume")
    made.move(ONE, "park")
    made.move_program("stop")
    assert (made.of(ONE), made.of(OTHER)) == (STOPPED, RUNNING)


def test_thread_that_is_stopped_alone_leaves_the_others_alone() -> None:
    made = program_in(GOING)
    made.move(ONE, "arrest")
    made.move_program("stop alone")
    assert (made.arresting, made.stands(ONE), made.stands(OTHER)) == (True, True, False)
    made.move(ONE, "park")
    assert (made.arresting, made.stands(ONE), made.stands(OTHER)) == (False, True, False)


def test_expression_is_run_to_its_end_though_the_client_has_let_all_go_on() -> None:
    made = program_in(ALL_STOPPED)
    for move in ("park", "evaluate", "park"):
        made.move(ONE, move)
    made.move_program("resume")
    made.move(ONE, "reenter")
    assert made.of(ONE) == FINISHING
    assert not made.stands(ONE)
    made.move_program("stop")  # because of another thread
    assert made.of(ONE) == EVALUATING
    assert not made.must_park(ONE)
    made.move(ONE, "evaluated")
    assert made.of(ONE) == STOPPED


def test_forgotten_thread_is_like_all_others() -> None:
    made = program_in(ALL_STOPPED)
    made.move(ONE, "exempt")
    made.forget(ONE)
    assert made.must_park(ONE)


@given(st.lists(st.sampled_from([*((i, m) for i in (ONE, OTHER) for m in THREAD_MOVE_NAMES), *PROGRAM_MOVE_NAMES])))
def test_whatever_is_tried_in_whatever_order_the_invariants_hold(
    tried: list[tuple[int, ThreadMove] | ProgramMove],
) -> None:
    made = ThreadStates(lambda _: None)
    for trial in tried:
        before = {ident: made.of(ident) for ident in (ONE, OTHER)}, made.phase
        try:
            if isinstance(trial, tuple):
                made.move(*trial)
            else:
                made.move_program(trial)
        except IllegalMove:
            assert ({ident: made.of(ident) for ident in (ONE, OTHER)}, made.phase) == before
        assert made.arresting is (made.stopped or ARRESTING in (made.of(ONE), made.of(OTHER)))
        for ident in (ONE, OTHER):
            assert made.must_park(ident) <= made.stands(ident)
            assert ident in made.standing() or not made.stands(ident) or made.stopped
