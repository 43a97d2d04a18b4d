"""What programs take from outside is the same in their past: each of `travel/programs` is executed again as a whole.

Its globals that begin with `s_` are compared at the last line with those of the live program, addresses included. No
moment may differ without its being said. Moments before are in `test_history_robustness.py`.
"""

from pathlib import Path

import msgspec
import pytest

from dapkit.endpoint import RequestFailed
from dapkit.protocol.time_travel import TimelineBody
from e2e.python.adapter_client import AdapterClient, adapter_client
from e2e.python.forward_run import STATE
from e2e.python.travelled_programs import PROGRAMS

pytestmark = pytest.mark.each_python
QUICK = ("asyncio_streams", "files", "generators", "signals", "subprocesses", "threads_locks", "tracebacks")
"""Programs that stand for the others where the tests are to be quick."""

MAY_DIVERGE = ("threads", "signals")
"""Programs whose past cannot be shown now and then, which has to be said; see the limits in `time-travel.md`."""

RUNS = 10
"""Of such a program, of which one at least has to be shown whole: so many do not diverge by chance."""


async def state(driver: AdapterClient, thread: int) -> tuple[list[tuple[str, int]], str]:
    """Return the stack of a thread, and what the program has taken from outside."""
    frames = await driver.frames(thread)
    shown = await driver.session.evaluate(STATE, frame_id=frames[-1].id, context="clipboard")
    return [(frame.name, frame.line) for frame in frames], shown.result


async def travel(driver: AdapterClient, clock: int) -> tuple[list[tuple[str, int]], str]:
    """Execute the program again from its beginning, and return the state at a moment of it."""
    stopped = await driver.travel(clock, from_beginning=True)
    return await state(driver, stopped.thread_id or 1)


async def compare(driver: AdapterClient, python: str, program: Path) -> None:
    """Run a program to its last line, and compare its past with what it was."""
    last = len(program.read_text().splitlines())  # noqa: ASYNC240 - a small file
    await driver.session.add_breakpoint(program, last)
    await driver.session.break_on_exceptions()
    await driver.session.launch(
        {"program": str(program), "cwd": str(driver.folder), "python": python, "timeTravel": True}
    )
    await driver.session.next_stop()
    assert await driver.where() == ("<module>", last)
    live = await state(driver, 1)
    answer = await driver.session.request_custom("dapkit/timeline")
    timeline = msgspec.convert(answer, TimelineBody)
    assert await travel(driver, timeline.live) == live


@pytest.mark.timeout(300)
@pytest.mark.row("reverseContinue")
@pytest.mark.parametrize(
    "program",
    [pytest.param(path, marks=[] if path.stem in QUICK else [pytest.mark.thorough], id=path.stem) for path in PROGRAMS],
)
async def test_the_past_is_as_it_was(tmp_path: Path, python: str, program: Path) -> None:
    # With threads it may be noticed, seldom, that a moment cannot be shown: locks of the interpreter are those of the
    # debugger's thread, too. It has to be said, then, and what was shown before is still there.
    for left in reversed(range(RUNS if program.stem.startswith(MAY_DIVERGE) else 1)):
        async with adapter_client(tmp_path) as driver:
            try:
                await compare(driver, python, program)
            except RequestFailed as error:
                if not left or "diverged" not in error.text:
                    raise
                assert await driver.frames(1)
                timeline = msgspec.convert(await driver.session.request_custom("dapkit/timeline"), TimelineBody)
                assert timeline.beginning <= timeline.now <= timeline.live
            else:
                return
