"""A job of many processes as one debug session: groups are threads, and their representatives have the values."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from dapkit.client import Session
from dapkit.cluster.registrations import read_all
from dapkit.protocol import (
    ContinueArguments,
    EvaluateArguments,
    NextArguments,
    ScopesArguments,
    SetBreakpointsArguments,
    Source,
    SourceBreakpoint,
    StackTraceArguments,
    StoppedEvent,
    Thread,
    ThreadsArguments,
    VariablesArguments,
)
from job_helpers import SECONDS, marked_line

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

TRAINING = Path(__file__).parent / "programs" / "training.py"


def job_of_four(start_job: Callable[..., int], tmp_path: Path) -> str:
    folder = tmp_path / "job"
    folder.mkdir(mode=0o700)
    wrapper = [sys.executable, "-m", "dapkit.cluster.run", "--job", str(folder), "--"]
    start_job("store", *wrapper, str(TRAINING), ranks=4)
    end = time.monotonic() + SECONDS
    while len(read_all(folder)) < 4 or not all(Path(each["socket"]).exists() for each in read_all(folder)):
        assert time.monotonic() < end
        time.sleep(0.05)
    return str(folder)


def steps(folder: Path) -> list[int]:
    """Return how many steps each rank has made."""
    return [(folder / f"steps-{rank}").stat().st_size for rank in range(4)]


async def groups(session: Session, fits: Callable[[list[str]], bool]) -> list[Thread]:
    """Return the threads once their names fit."""
    with anyio.fail_after(SECONDS):
        while True:
            threads = (await session.request(ThreadsArguments())).threads
            if fits([thread.name for thread in threads]):
                return threads
            await anyio.sleep(0.05)


async def test_an_editor_sees_groups_as_threads(start_job: Callable[..., int], tmp_path: Path) -> None:
    job = job_of_four(start_job, tmp_path)
    async with Session.spawn([sys.executable, "-m", "dapkit.cluster.adapter"]) as session:
        await session.attach({"job": job})
        computed, done = marked_line(TRAINING, "computed"), marked_line(TRAINING, "done")
        placed = await session.request(
            SetBreakpointsArguments(source=Source(path=str(TRAINING)), breakpoints=[SourceBreakpoint(line=computed)])
        )
        assert [each.verified for each in placed.breakpoints] == [True]
        [group] = await groups(session, lambda names: names == [f"4 x step training.py:{computed}"])
        frames = (await session.request(StackTraceArguments(thread_id=group.id))).stack_frames
        assert (frames[0].name, frames[0].line) == ("step", computed)
        scopes = (await session.request(ScopesArguments(frame_id=frames[0].id))).scopes
        variables = (
            await session.request(VariablesArguments(variables_reference=scopes[0].variables_reference))
        ).variables
        assert {"loss", "number"} <= {variable.name for variable in variables}
        answer = await session.request(EvaluateArguments(expression="rank", frame_id=frames[0].id))
        assert answer.result in {"0", "1", "2", "3"}

        await session.request(NextArguments(thread_id=group.id))
        [stepped] = await groups(session, lambda names: names == [f"4 x step training.py:{done}"])
        await session.request(SetBreakpointsArguments(source=Source(path=str(TRAINING)), breakpoints=[]))
        await session.request(ContinueArguments(thread_id=stepped.id))
        await groups(session, lambda names: names == ["4 x running"])
    await anyio.to_thread.run_sync(all_go_on, tmp_path)  # the end of the session has let all members go


def all_go_on(folder: Path) -> None:
    before, end = steps(folder), time.monotonic() + SECONDS
    while not all(now > then + 3 for now, then in zip(steps(folder), before, strict=True)):
        assert time.monotonic() < end
        time.sleep(0.05)


async def test_each_group_is_reported_with_its_members(start_job: Callable[..., int], tmp_path: Path) -> None:
    job = job_of_four(start_job, tmp_path)
    async with Session.spawn([sys.executable, "-m", "dapkit.cluster.adapter"]) as session:
        await session.attach({"job": job, "members": "rank > 1"})
        await session.request(
            SetBreakpointsArguments(
                source=Source(path=str(TRAINING)), breakpoints=[SourceBreakpoint(line=marked_line(TRAINING, "done"))]
            )
        )
        with anyio.fail_after(SECONDS):
            async for event in session.events():
                if isinstance(event, StoppedEvent):
                    assert event.all_threads_stopped is False
                    if event.description == "2 of 4 members: 2-3":
                        break
        await groups(session, lambda names: "2 x running" in names)


async def test_a_member_gets_a_session_of_its_own(start_job: Callable[..., int], tmp_path: Path) -> None:
    job = job_of_four(start_job, tmp_path)
    async with Session.spawn([sys.executable, "-m", "dapkit.cluster.adapter"]) as session:
        await session.attach({"job": job})
        computed = marked_line(TRAINING, "computed")
        await session.request(
            SetBreakpointsArguments(source=Source(path=str(TRAINING)), breakpoints=[SourceBreakpoint(line=computed)])
        )
        await groups(session, lambda names: names == [f"4 x step training.py:{computed}"])
        await session.request(EvaluateArguments(expression="focus 2", context="repl"))
        [member] = await session.wait_for_children(1)
        stop = await member.next_stop()
        frames = (await member.request(StackTraceArguments(thread_id=stop.thread_id))).stack_frames
        answer = await member.request(EvaluateArguments(expression="rank", frame_id=frames[0].id))
        assert (frames[0].line, answer.result) == (computed, "2")


async def test_a_job_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    async with Session.spawn([sys.executable, "-m", "dapkit.cluster.adapter"]) as session:
        with pytest.raises(Exception, match="there is no job 'nowhere'"):
            await session.attach({"job": "nowhere", "cwd": str(tmp_path)})
