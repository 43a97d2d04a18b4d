"""The live program of a session with time travel.

Its clock counts the lines of the program's own code that were begun; copies of the process are made as it goes. The
clock is a tool of sys.monitoring of its own, the one that is called first. Whatever the engine does in
a thread of the program is set apart from what the program does: the callbacks of sys.monitoring are `aside`.
"""

import sys
from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Final

from ..connection.wire import Json
from ..errors import RequestRefused
from ..execution import monitor
from ..execution.history_place import HistoryPlace
from ..sources.files import OURS, PROGRAM, starts_on_its_only_line
from . import past
from .boundary import AVAILABLE, REASON, boundary

if TYPE_CHECKING:
    from ..engine import Engine

_MONITORING = sys.monitoring
_EVENTS: Final = _MONITORING.events
_TOOL: Final = _MONITORING.OPTIMIZER_ID
"""The highest number: it is called before the others, and knows what time it is when they ask."""


def claim(engine: "Engine") -> None:
    """Take the tool of the clock, before the engine's monitor takes it for another purpose.

    Raises:
        RequestRefused: there is no time travel here, or somebody has the tool.

    """
    if not AVAILABLE:
        raise RequestRefused(REASON)
    try:
        _MONITORING.use_tool_id(_TOOL, "dapkit's clock")
    except ValueError as error:
        raise RequestRefused(f"tool {_TOOL} of sys.monitoring, which time travel needs, is in use") from error
    engine.monitor.accompanied_by_clock(boundary.aside)
    engine.set_apart = boundary.only_live

    def after_turn() -> None:
        engine.looks.after_tool()
        boundary.disturbed()

    engine.link.be_quiet(after_turn)


def begin(engine: "Engine", run: Callable[[], None]) -> Callable[[], None]:
    """Begin to note what the program takes from outside; return what runs it so."""
    options = engine.options.travel
    if options is None:
        return run
    sources, everything = engine.sources, not engine.options.just_my_code

    def counts(code: CodeType) -> int:
        kind = sources.kind(code.co_filename)
        if kind != PROGRAM and (kind == OURS or not everything):
            return 0
        return 2 if starts_on_its_only_line(code) else 1

    engine.stops.history = HistoryPlace(_stands, boundary.clock, boundary.is_copy)
    boundary.begin(
        options.socket, options.token, options.interval, _TOOL, past.arrive, counts, _MONITORING.set_local_events
    )
    for event, callback in (
        (_EVENTS.LINE, boundary.on_line),
        (_EVENTS.PY_START, boundary.on_start),
        (_EVENTS.PY_RESUME, boundary.on_start),
    ):
        _MONITORING.register_callback(_TOOL, event, callback)
    _MONITORING.set_events(_TOOL, monitor.DISCOVERY)
    return boundary.inside(run)


def _stands() -> Json:
    """Return where the live program stops: how many copies it has had made, and how much it has written."""
    return {"clock": boundary.stand(), "copies": boundary.count_copies(), "written": boundary.count_written()}
