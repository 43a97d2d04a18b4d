"""The live program of a session with time travel.

Its clock counts the lines of the program's own code that were begun; copies of the process are made as it goes. The
clock is a tool of sys.monitoring of its own, the one that is called first. The engine's work in a thread of the program
is kept apart from the program's: the callbacks of sys.monitoring run in `engine_context`.
"""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ..connection.framing import Json
from ..evaluation.jobs import Around, as_it_is
from ..execution.history_role import HistoryRole
from ..interpreter.errors import RequestRefused
from ..interpreter.gc_tracking import untrack_members
from ..interpreter.recursion_headroom import with_headroom
from ..options import RecordingOptions
from ..system import at_fork
from . import line_counter, record_only, replay, signal_state, standard_streams
from .replay_backend import REASON, backend

if TYPE_CHECKING:
    from ..engine.engine import Engine

RECORDING_ENDS: Final = "dapkit/recordingEnds"
_RETURNED: Final = "returned"
"""In the reason of an end: the program has returned, and was not ended in the middle."""


def claim(engine: "Engine") -> None:
    """Take the tool of the clock, before the engine's monitor takes it for another purpose.

    Raises:
        RequestRefused: time travel is not available here, or another tool is in use.

    """
    if REASON:
        raise RequestRefused(REASON)
    try:
        line_counter.claim()
    except ValueError as error:
        raise RequestRefused(
            f"tool {line_counter.TOOL} of sys.monitoring, which time travel needs, is in use"
        ) from error
    travel = engine.options.travel
    is_replay = travel is not None and travel.recording is not None
    engine.take_role(_role(backend.read_only(as_it_is) if is_replay else as_it_is, is_replay=is_replay))
    _keep_link_quiet(engine)


def _keep_link_quiet(engine: "Engine") -> None:
    def after_turn() -> None:
        engine.looks.check_tool()
        backend.disturbed()

    engine.link.be_quiet(after_turn)
    backend.copy_while_free(engine.link.working)


def _role(job_wrapper: Around, *, is_replay: bool = False, arrival: int | None = None) -> HistoryRole:
    """Return the role of the live program, or of the process that executes a recording."""
    return HistoryRole(
        _stands,
        backend.clock,
        backend.object_at,
        callback_wrapper=backend.engine_context,
        fork_wrapper=backend.live_only,
        forks_again=is_replay,
        job_wrapper=job_wrapper,
        is_copy=backend.is_copy,
        arrival=arrival,
    )


def continue_as_live(engine: "Engine") -> None:
    """Continue as the live program, in a process that was a replay process: `engine` was the replay's."""
    _keep_link_quiet(engine)
    engine.continue_as_live(_role(as_it_is, arrival=backend.clock()))  # where it stands is not to stop it once more
    untrack_members(engine)


def begin(engine: "Engine", run: Callable[[], None]) -> Callable[[], None]:
    """Begin to record the program's inputs; return the function that runs it so."""
    options = engine.options.travel
    if options is None:
        return run
    recording = options.recording
    counts = line_counter.counted(engine.sources, everything=not engine.options.just_my_code and recording is None)
    if recording is not None:
        _execute_again(engine, recording)
    backend.begin(
        options.socket,
        options.token,
        options.interval,
        options.ends_with_threads,
        options.may_branch,
        line_counter.TOOL,
        with_headroom(replay.run),
        counts,
        sys.monitoring.set_local_events,
    )
    line_counter.count()
    return backend.program_context(run)


def _execute_again(engine: "Engine", recording: RecordingOptions) -> None:
    """Replay the recorded inputs."""
    if recording.hides_seed:
        record_only.hide_seed()
    if recording.zone:
        record_only.set_zone(recording.zone)
    signal_state.make_again(recording.signals)
    output, errors = standard_streams.make_again(recording.streams)

    def ended(how: str) -> None:
        if how.split(" ")[2:3] == [_RETURNED]:
            standard_streams.flush((output, errors))
        engine.link.event(RECORDING_ENDS, {"how": how, **_stands()})

    at_fork(after_in_child=backend.continue_in_fork)
    folder = recording.folder
    backend.replay(f"{folder}/notes", f"{folder}/collections", recording.began, output, errors, ended)


def _stands() -> Json:
    """Return where the live program stops: how many copies it has had made, how much it has written, and its time."""
    return {
        "clock": backend.stand(),
        "copies": backend.count_copies(),
        "written": backend.count_written(),
        "time": backend.time_of_program(),
        "isOver": backend.is_over(),
        "endedBy": backend.ended_by(),
    }
