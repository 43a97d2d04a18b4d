"""Frameworks that start Python processes: those that reload themselves, and pytest-xdist."""

import os
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from dapkit.client import Ended, Session, Stopped
from dapkit.protocol import ContinueArguments
from e2e.frameworks.web_programs import DJANGO, FASTAPI, FLASK, Visit, WebProgram, port_now
from e2e.python.adapter_client import adapter_client
from e2e.python.processes import ended, runs

pytestmark = pytest.mark.timeout(400)
PATIENCE = 150.0
WORKS = "reloading: breakpoints in views before and after an edit; ending ends all processes"


def process_of(session: Session) -> int:
    """Return the process of a session, 0 as long as it is not known."""
    process = session.debugged_process
    return process.system_process_id or 0 if process is not None else 0


async def serving(session: Session, after: int = 0) -> tuple[Session, int]:
    """Return the child session that serves, other than that of an earlier process, and its port."""
    with anyio.fail_after(PATIENCE):
        while True:
            for child in session.children:
                pid = process_of(child)
                if pid not in (0, after) and (port := port_now(pid)) is not None:
                    return child, port
            await anyio.sleep(0.05)


async def save_until_it_is_seen(file: Path, serves: int) -> None:
    """Save a file again and again until the process that serves ends: it may not look after its files yet."""
    with anyio.fail_after(PATIENCE):
        while runs(serves):
            os.utime(file)
            await anyio.sleep(0.05)


async def answer(child: Session, port: int, line: int) -> str:
    """Visit a view, which stops in a child; return what it answers in the end."""
    visit = Visit(port, "21")
    await child.settled(deadline=PATIENCE)
    assert isinstance(child.state, Stopped)
    [frame, *_] = (await child.stack_trace(child.state.thread_id)).stack_frames
    assert (frame.name, frame.line) == ("view", line)
    assert (await child.evaluate("n", frame_id=frame.id)).result == "21"
    await child.request(ContinueArguments(thread_id=child.state.thread_id))
    return await to_thread.run_sync(visit.answer)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(each, marks=pytest.mark.works_with(each.framework, WORKS), id=each.framework)
        for each in (FLASK, FASTAPI, DJANGO)
    ],
)
async def test_view_is_debugged_before_and_after_a_reload(tmp_path: Path, program: WebProgram) -> None:
    file, line = tmp_path / program.file, program.line("the view")
    file.write_text(program.text)
    async with adapter_client(tmp_path) as driver:
        session = driver.session
        await session.add_breakpoint(file, line)
        await driver.launch(**program.reloading)
        first, port = await serving(session)
        assert await answer(first, port, line) == "42"
        file.write_text(program.text.replace("n * 2", "n * 3"))
        await save_until_it_is_seen(file, process_of(first))
        second, port = await serving(session, after=process_of(first))
        assert await answer(second, port, line) == "63"
        processes = [process_of(each) for each in (session, *session.children)]
        await session.terminate()
        assert isinstance(await session.wait_until_ended(deadline=PATIENCE), Ended)
    for process in processes:
        await ended(process)


TESTS = """
def test_one():
    got = 1 + 1
    assert got == 2              # line 4

def test_two():
    got = 2
    assert got == 3              # line 8
"""


@pytest.mark.thorough
@pytest.mark.works_with("pytest-xdist", "breakpoints in tests of all workers, and the line that fails")
async def test_workers_of_xdist_stop_at_breakpoints_and_at_the_line_that_fails(tmp_path: Path) -> None:
    file = tmp_path / "test_shop.py"
    file.write_text(TESTS)
    async with adapter_client(tmp_path) as driver:
        session = driver.session
        await session.add_breakpoint(file, 4)
        await session.break_on_exceptions("userUnhandled")
        await driver.launch(module="pytest", args=["-q", "-n", "2", "-p", "no:cacheprovider"])
        seen = set()
        children = await session.wait_for_children(2, deadline=PATIENCE)
        with anyio.fail_after(PATIENCE):
            while not isinstance(session.state, Ended):
                for child in children:
                    if isinstance(child.state, Stopped):
                        [frame, *_] = (await child.stack_trace(child.state.thread_id)).stack_frames
                        seen.add((child.state.event.reason, frame.name, frame.line))
                        # Not until its next stop or its end: that is when all workers have ended.
                        await child.request(ContinueArguments(thread_id=child.state.thread_id))
                await anyio.sleep(0.05)
        assert seen == {("breakpoint", "test_one", 4), ("exception", "test_two", 8)}
        assert session.state == Ended(1)
