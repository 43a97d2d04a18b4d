"""An event that is switched on while a callback decides stays on: the callback may not know what it is for."""

import sys
from collections.abc import Callable, Iterator
from types import CodeType

import pytest

from dapkit.python.debuggee.breakpoints.sites import HitCollector, SiteTable
from dapkit.python.debuggee.engine.monitoring_callbacks import MonitoringCallbacks
from dapkit.python.debuggee.execution.monitor import DISABLE, EVENTS, Monitor
from dapkit.python.debuggee.threads.table import ThreadTable


@pytest.fixture
def monitor() -> Iterator[Monitor]:
    """Return a monitor that has its tool."""
    monitor = Monitor()
    monitor.claim()
    yield monitor
    monitor.release()


def loop() -> int:
    n = 0
    while n < 3:
        n += 1
    return n


def lines_seen(monitor: Monitor, meanwhile: Callable[[], None]) -> list[int]:
    """Return the lines of `loop`, counted from its first, at which a callback was called that disables each of them.

    The third time it calls `meanwhile`.
    """
    callbacks = object.__new__(MonitoringCallbacks)
    callbacks._monitor = monitor
    callbacks._threads = ThreadTable(1, lambda _event, _body: None)
    seen: list[int] = []

    def handle(_frame: object, _code: CodeType, line: int) -> object:
        seen.append(line - loop.__code__.co_firstlineno)
        if len(seen) == 3:
            meanwhile()
        return DISABLE

    monitor.register_one(EVENTS.LINE, callbacks.shielded(handle))
    monitor.want(loop.__code__, "site", EVENTS.LINE)
    assert loop() == 3
    return seen


def test_line_is_disabled_once_it_was_looked_at(monitor: Monitor) -> None:
    assert lines_seen(monitor, lambda: None) == [1, 2, 3, 2, 4]  # a loop's test is there twice


def test_line_comes_again_if_its_events_were_switched_on_meanwhile(monitor: Monitor) -> None:
    def set_breakpoint() -> None:
        monitor.want(loop.__code__, "site", EVENTS.LINE, afresh=True)

    assert lines_seen(monitor, set_breakpoint) == [1, 2, 3, 2, 3, 4]


def test_table_that_was_replaced_disables_nothing(monitor: Monitor) -> None:
    sites = SiteTable(monitor, "site", EVENTS.LINE, HitCollector(lambda _hits: None))
    before = sites.dispatch
    assert before(loop.__code__, 1) is DISABLE
    sites.keep([(loop.__code__, 1)])
    assert before(loop.__code__, 1) is None
    assert sites.dispatch(loop.__code__, 1) is None
    assert sites.dispatch(loop.__code__, 2) is DISABLE
    assert sites.dispatch(sys._getframe().f_code, 1) is DISABLE
