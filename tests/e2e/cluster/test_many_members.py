"""Faults of members that no real engine shows on demand: some that are silent, or answer something else."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest

from dapkit.cluster import ClusterJob, DebuggedJob, JobBreakpoint, Member
from dapkit.cluster.engines.engine import QuietEngine

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

SIMULATED = Path(__file__).parents[3] / "benchmarks" / "programs" / "simulated_members.py"
COUNT = 200


class SimulatedEngine(QuietEngine):
    """An engine whose members are all at one socket."""

    def __init__(self, path: Path, count: int) -> None:
        self.list = [Member(str(rank), rank, os.uname().nodename, 1, count, socket=str(path)) for rank in range(count)]

    def members(self) -> list[Member]:
        return self.list


@pytest.fixture
def simulate(tmp_path: Path) -> Iterator[Callable[[str], SimulatedEngine]]:
    processes: list[subprocess.Popen[str]] = []

    def start(fault: str) -> SimulatedEngine:
        command = [sys.executable, str(SIMULATED), str(tmp_path / "members"), *([fault] if fault else [])]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        processes.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return SimulatedEngine(tmp_path / "members", COUNT)

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        pytest.param("silent", "it did not answer setBreakpoints within 10 s", marks=pytest.mark.thorough),
        ("garbage", "something that is not a message"),
        ("wrong", "$.breakpoints: expected"),
    ],
)
async def test_a_tenth_of_the_members_is_faulty(
    fault: str, reason: str, simulate: Callable[[str], SimulatedEngine]
) -> None:
    debugged = DebuggedJob(ClusterJob("job", simulate(fault)))
    await debugged.open()
    assert len(debugged.links) == COUNT
    await debugged.set_breakpoint(JobBreakpoint(path="/work/part_0.py", line=10))
    await debugged.wait(quorum=0.9, deadline=60)
    stops = await debugged.stops()
    with anyio.fail_after(60):  # the quorum is one of the members that are left, and is reached before all have stopped
        while sum(len(group.members) for group in stops.groups) < COUNT * 9 // 10:
            await anyio.sleep(0.05)
            stops = await debugged.stops()
    assert [len(group.members) for group in stops.groups] == [COUNT * 9 // 10]
    faulty = {**stops.ended, **stops.problems}
    assert len(faulty) == COUNT // 10
    assert all(reason in each for each in faulty.values())
    assert stops.breakpoints[0].verified == COUNT * 9 // 10
    await debugged.close()


async def test_members_join_and_leave_in_a_storm(simulate: Callable[[str], SimulatedEngine]) -> None:
    engine = simulate("")
    everyone = engine.list
    engine.list = everyone[:10]
    debugged = DebuggedJob(ClusterJob("job", engine))
    await debugged.open()
    await debugged.set_breakpoint(JobBreakpoint(path="/work/part_0.py", line=10))
    for size in (50, 3, 120, 200, 7, 200):
        engine.list = everyone[:size]
        await debugged.connect_new()
    await debugged.wait(quorum=COUNT, deadline=60)
    stops = await debugged.stops()
    assert [len(group.members) for group in stops.groups] == [COUNT]
    await debugged.close()


async def test_a_wait_ends_with_its_deadline(simulate: Callable[[str], SimulatedEngine]) -> None:
    debugged = DebuggedJob(ClusterJob("job", simulate("")))
    await debugged.open()
    await debugged.wait(quorum=1, deadline=0.3)
    stops = await debugged.stops()
    assert (stops.groups, len(stops.running)) == ([], COUNT)
    await debugged.close()
