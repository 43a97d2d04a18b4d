"""What makes threads park is no more work for each of very many."""

from collections.abc import Callable

from dapkit.python.debuggee.execution.arrest import ThreadArrest
from dapkit.python.debuggee.execution.monitor import Monitor
from dapkit.python.debuggee.execution.states import ThreadStates
from dapkit.python.debuggee.threads.table import ThreadTable
from operations import operations


def stopped_with(threads: int) -> Callable[[], None]:
    """Stop a program of so many threads, half of which have parked; return what one more of them does."""
    states, table = ThreadStates(lambda _text: None), ThreadTable(1, lambda _event, _body: None)
    hold = ThreadArrest(Monitor(), states, table)
    states.move_program("configured")
    states.move_program("stop")
    for ident in range(threads // 2):
        states.move(ident, "park")

    def park() -> None:
        states.move(threads, "park")
        hold.expect_no_more(threads)
        hold.settle()

    return park


def test_a_thread_that_parks_is_as_much_work_among_many_threads_as_among_few() -> None:
    assert operations(stopped_with(2_000)) == operations(stopped_with(20))
