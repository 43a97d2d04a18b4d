"""Which frames are the user's own code, and where a stop in the code of others is placed."""

from pathlib import Path

import pytest

from dapkit.protocol import ContinueBody, Source, StackFrame, StackTraceBody
from dapkit.sessions.own_code import is_own
from dapkit.sessions.registry import SessionRegistry
from dapkit.testing import reply
from fake_adapters import script, start, stopping

LIBC = Path("/usr/bin/env")  # a file of the system, and there


def frame(path: Path | str | None, number: int = 1, name: str = "f") -> StackFrame:
    """Make a frame."""
    source = None if path is None else Source(path=str(path))
    return StackFrame(id=number, name=name, line=1, column=1, source=source)


@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("src/main.c", True),
        ("missing.c", False),
        (".venv/lib/python3.13/site-packages/json.py", False),
        ("node_modules/left/pad.js", False),
        (LIBC, False),
        ("./nptl/pthread_kill.c", False),
    ],
)
def test_own_code_is_there_and_neither_of_the_system_nor_of_a_library(
    tmp_path: Path, path: str | Path, own: object
) -> None:
    if not str(path).startswith((".", "/", "missing")) or "venv" in str(path):
        path = tmp_path / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert is_own(frame(path), ()) is own
    assert is_own(frame(path), (tmp_path,)) is own


def test_project_within_a_folder_of_the_system_is_own_code() -> None:
    assert is_own(frame(LIBC), (LIBC.parent,))
    subtle = StackFrame(id=1, name="f", line=1, column=1, source=Source(path=str(LIBC)), presentation_hint="subtle")
    assert not is_own(subtle, (LIBC.parent,))


@pytest.mark.parametrize(("reason", "place"), [("signal", "crash"), ("exception", "crash"), ("step", "raise")])
async def test_crash_is_placed_in_the_innermost_own_frame_and_a_step_where_it_ends(
    sessions: SessionRegistry, tmp_path: Path, reason: str, place: str
) -> None:
    own = tmp_path / "main.c"
    own.write_text("")
    frames = [frame(LIBC, 1, "raise"), frame(None, 2, "abort"), frame(own, 3, "crash"), frame(own, 4, "main")]
    stack = reply(StackTraceBody(stack_frames=frames))
    session = await sessions.open(
        tmp_path, start(script({"stackTrace": [stack], "continue": [reply(ContinueBody()), stopping(reason)]}))
    )
    await session.execution.wait()
    stop = (await session.execution.resume()).stop
    assert stop is not None
    assert (stop.reason, stop.frame_name) == (reason, place)
    assert (stop.frame, stop.outermost) == ((2, 3) if place == "crash" else (0, None))
